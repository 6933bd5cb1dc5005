"""What the panels of Fig. 2 share: three modes whose strengths follow a power law, and how the loss rests."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, models, plotting, simulate, tasks, theory
from lazyrich.core import Claim, Context
from lazyrich.experiments._claims import clear_claim, mean_claim, worst_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments._times import time_to
from lazyrich.experiments.saddles import _panels

if TYPE_CHECKING:
    import xarray

CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
NUM_MODES, CONTEXT = 3, 32
NUM_RECORDS = 400
LEFT = 0.05
"""A run has learned when this share of the loss that can be learned is left."""
SHADES = ("#F0A030", "#D55E00", "#A02C7D", "#2D1160")
"""For cases in an order."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What the linear networks of a panel are computed from."""

    width: int = 100
    initial_std: float = 1e-6
    learning_rate: float = 0.01
    last_step: int = 4000
    num_samples: int = 8192
    population: bool = True
    num_seeds: int = 16
    seeds_per_chunk: int = 16


@dataclasses.dataclass(frozen=True)
class Both(Config):
    """What a panel with linear attention beside it is computed from."""

    heads: int = 25
    attention_initial_std: float = 5e-3
    attention_learning_rate: float = 0.1
    attention_last_step: int = 8000


def strengths(exponent: float) -> np.ndarray:
    """The singular values n^−κ, n = 1, 2, 3, over their sum."""
    return tasks.power_law_strengths(NUM_MODES, exponent)


def linear(config: Config, exponent: float = 1.0, **changes: Any) -> "simulate.Supervised":
    """A linear network whose inputs have covariance 1, so that W* = Σ_yz = diag(s); records the loss."""
    task = tasks.power_law_regression(NUM_MODES, exponent, config.num_samples)
    start = simulate.Supervised(
        models.TwoLayer(NUM_MODES, config.width, NUM_MODES),
        task, config.initial_std, config.population, records=(),
    )  # fmt: skip
    return dataclasses.replace(start, **changes)


def attention(config: Both, exponent: float = 1.0, merged: bool = False) -> "simulate.Supervised":
    """Linear attention of rank one on contexts whose covariance Λ gives the correlations NΛ² = diag(s)."""
    return simulate.Supervised(
        models.Attention(NUM_MODES + 1, config.heads, merged=merged),
        tasks.power_law_contexts(NUM_MODES, exponent, CONTEXT, config.num_samples),
        config.attention_initial_std, config.population, records=(),
    )  # fmt: skip


def linear_levels(exponent: float = 1.0) -> np.ndarray:
    """The loss with the first 0, 1, 2, 3 modes learned (Lemma 6, without its ½)."""
    points = theory.LinearFixedPoints(np.diag(strengths(exponent)), np.eye(NUM_MODES))
    return np.array([2 * points.loss(range(n)) for n in range(NUM_MODES + 1)], dtype=float)


def linear_saddles() -> np.ndarray:
    """The loss with each set of modes learned, for κ = 1, largest first."""
    points = theory.LinearFixedPoints(np.diag(strengths(1.0)), np.eye(NUM_MODES))
    return np.sort([float(2 * points.loss(modes)) for modes in _sets()])[::-1]


def attention_levels(exponent: float = 1.0) -> np.ndarray:
    """The loss of linear attention with each set of modes learned, largest first."""
    task = tasks.power_law_contexts(NUM_MODES, exponent, CONTEXT)
    saddles = theory.AttentionSaddles(task.covariance, CONTEXT)
    return np.sort([float(saddles.loss(modes)) for modes in _sets()])[::-1]


def sampled_saddles(training: "simulate.Supervised", seeds: range) -> "xarray.Dataset":
    """The loss of linear attention with each set of modes learned on each seed's own data, largest first.

    The best coefficients of the features that the modes use, all others zero: over the whole distribution
    these are the saddles of `theory.AttentionSaddles`. Those of 8192 samples differ from them by about 1 % of
    the initial loss. Equal singular values leave the modes' directions
    open; a sample then has its saddles elsewhere.
    """
    import xarray

    a, b, c = training.network.products  # pyright: ignore[reportAttributeAccessIssue]
    losses = []
    for seed in seeds:
        covariance, best, least = (np.asarray(x) for x in training.start(seed)[1])
        correlation = covariance @ best[:, 0]
        power = least + best[:, 0] @ correlation
        used = [
            np.flatnonzero((b == NUM_MODES) & (a == c) & np.isin(a, modes)) for modes in _sets()
        ]
        gains = [
            correlation[F] @ np.linalg.solve(covariance[np.ix_(F, F)], correlation[F]) for F in used
        ]
        losses.append(np.sort(power - gains)[::-1])
    return xarray.Dataset(
        {"saddle_loss": (("seed", "set"), np.array(losses))}, {"seed": list(seeds)}
    )


def _sets() -> list[list[int]]:
    """All sets of modes."""
    return [[k for k in range(NUM_MODES) if n >> k & 1] for n in range(2**NUM_MODES)]


def staircase(config: Config, exponent: float = 1.0) -> "theory.Staircase":
    """The prediction for a linear network; a loss without ½ runs twice as fast."""
    s = np.diag(strengths(exponent))
    return theory.Staircase(s, np.eye(NUM_MODES), initial_std=config.initial_std, width=config.width,
                            learning_rate=2 * config.learning_rate)  # fmt: skip


def train(
    name: str, dimension: str, trainings: "Mapping[Any, simulate.Supervised]", steps: np.ndarray,
    rate: float, config: Config, context: Context,
    kept: "Callable[[Any], Any]" = lambda record: record[["loss"]],
) -> "xarray.Dataset":  # fmt: skip
    """Gradient descent of each training from every seed; of its record the loss, or what `kept` keeps."""

    def compute(config: Config, training: "simulate.Supervised", seeds: range) -> "xarray.Dataset":
        return kept(simulate.gradient_descent(training, steps, learning_rate=rate, seeds=seeds))

    return over_cases({dimension: trainings}, compute, config, context, name=name)


Walks = list[list["measures.Plateaus"]]


def walks(losses: "xarray.DataArray") -> Walks:
    """Where each run of each case rests; dimensions (case, seed, time)."""
    time = losses[losses.dims[-1]].values
    return [[measures.plateaus(time, run) for run in case] for case in losses.values]


def resting(found: Walks) -> np.ndarray:
    """How long each run rests on plateaus between its first drop and its last, (case, seed)."""
    return np.array([[np.sum(p.ends[1:-1] - p.starts[1:-1]) for p in case] for case in found])


def learning_times(losses: "xarray.DataArray", levels: np.ndarray) -> np.ndarray:
    """When each run has learned, (case, seed)."""
    least = levels[-1] + LEFT * (levels[0] - levels[-1])
    return time_to(losses, least, along=str(losses.dims[-1]), falling=True)


def drop_times(losses: "xarray.DataArray", levels: np.ndarray) -> np.ndarray:
    """When the loss is half-way between neighbouring levels; last axis the drops."""
    halves, along = (levels[1:] + levels[:-1]) / 2, str(losses.dims[-1])
    return np.stack([time_to(losses, m, along=along, falling=True) for m in halves], axis=-1)


def ratio(above: np.ndarray, below: np.ndarray) -> tuple[float, float]:
    """Ratio of two medians over runs, and its standard error; a few runs may rest for very long."""
    one, other = measures.seed_median(above), measures.seed_median(below)
    ratio = one.median / other.median
    shares = (one.uncertainty / one.median, other.uncertainty / other.median)
    return float(ratio), float(ratio * np.hypot(*shares))


def falls_in(run: "measures.Plateaus", num_drops: int, levels: np.ndarray) -> bool:
    """Whether a run learns all there is in that many drops."""
    return run.num_drops == num_drops and has_learned(run, levels)


def has_learned(run: "measures.Plateaus", levels: np.ndarray) -> bool:
    """Whether a run ends at the least loss."""
    return bool(abs(run.levels[-1] - levels[-1]) < LEFT * (levels[0] - levels[-1]))


def trend(statement: str, source: str, values: np.ndarray) -> list[Claim]:
    """Claims that means over seeds fall from the first case to the last, and rise nowhere; (case, seed).

    The first alone sees that something falls: where nothing rests in any case, nothing rises either.
    """
    return [
        clear_claim(f"{statement} (the first less the last, steps)", source, 0.0, values[0] - values[-1]),
        worst_claim(f"{statement} (largest change from one to the next, steps)", source, 0.0,
                    np.diff(values, axis=0), "at-most"),
    ]  # fmt: skip


def drop_claim(measured: np.ndarray, predicted: Any, source: str) -> Claim:
    """The drops of linear networks come when predicted; (case, seed, drop) and (case, drop)."""
    each = np.moveaxis(measured, -1, 1).reshape(-1, measured.shape[1])
    return worst_claim(
        "Linear networks: each drop comes when the staircase says, without a fit (measured over predicted, "
        "the case that is farthest off)", source, 1.0, each / np.ravel(predicted)[:, None], "relative", 0.03,
    )  # fmt: skip


def level_claims(found: Walks, source: str, levels: np.ndarray, what: str) -> list[Claim]:
    """The plateaus of runs that learn one mode after the other lie at Lemma 6's losses."""
    runs = [p for case in found for p in case if p.num_drops == NUM_MODES]
    return [
        mean_claim(
            f"{what}: the loss rests at that of the fixed point with {number} of {NUM_MODES} modes", source,
            float(levels[number]), [p.levels[number] for p in runs], tolerance=0.05,
        )
        for number in range(1, NUM_MODES)
    ]  # fmt: skip


def saddle_claim(found: Walks, what: str, source: str, levels: Any) -> Claim:
    """Intermediate plateaus lie at the losses of fixed points, (case, seed, set), that of zero first."""
    distances = [
        np.min(np.abs(level - known)) / known[0]
        for case, of_case in zip(found, levels, strict=True)
        for p, known in zip(case, of_case, strict=True)
        for level in p.levels[1:-1]
    ]
    return mean_claim(
        f"{what}: the loss rests at those of fixed points (mean distance to the nearest, share of the loss "
        "of zero)", source, 0.01, distances, "at-most", num_seeds=len(found[0]),
    )  # fmt: skip


def draw_runs(panels: Sequence[Any], losses: "xarray.DataArray", colour: str, label: str) -> None:
    """All runs of a case, thin, and the one that rests for the median time on its way, bold."""
    time, values = losses[losses.dims[-1]].values, losses.values
    rests = resting(walks(losses.expand_dims("case")))[0]
    median = values[np.argsort(rests, kind="stable")[len(values) // 2]]
    for axes in panels:
        plotting.plot_runs(axes, time, values, median, colour=colour, label=label)


def draw_levels(axes: Any, levels: np.ndarray) -> None:
    """The losses of fixed points."""
    for level in levels:
        axes.axhline(level, color="#777777", linewidth=0.7, linestyle=":", zorder=0)


def draw_drops(axes: Any, times: Any, levels: np.ndarray, colour: str) -> None:
    """Predicted drops, half-way between levels."""
    halves = (levels[1:] + levels[:-1]) / 2
    axes.plot(times, halves, "o", color=colour, markeredgecolor="white", markersize=6, zorder=3)
