"""What Fig. 4A, 4B and 4C share: skills, the model calibrated on the first of them, claims and picture."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Convention
from lazyrich.experiments._claims import share_claim
from lazyrich.experiments._over_seeds import over_seeds

if TYPE_CHECKING:
    import xarray

REFERENCES = ("layerwise", "emergence", "quanta")
CONVENTION = Convention(
    loss="mean over samples of the squared error, no ½",
    time="t counts steps of the optimizer",
    time_unit="steps",
)
NETWORK = {"linestyle": "--", "marker": "o", "markersize": 2.5, "linewidth": 1}
ALSO = {"linestyle": ":", "linewidth": 1}
LEVEL = 0.5
"""Share of its full strength at which a skill counts as there."""


@dataclasses.dataclass(frozen=True)
class Skills:
    """The task and how networks are trained on it.

    The paper's settings are those of the emergence paper's code.
    """

    num_skills: int = 5
    num_bits: int = 32
    skill_bits: int = 3
    exponent: float = 1.6
    target_scale: float = 5.0
    batch_size: int = 4000
    learning_rate: float = 0.05
    initial_std: float = 0.01
    last_step: int = 30_000
    num_seeds: int = 10
    seeds_per_chunk: int = 5


def task(config: Skills) -> "tasks.SparseParity":
    """The skills."""
    return tasks.SparseParity(
        config.num_skills, config.num_bits, config.skill_bits, config.exponent, config.target_scale
    )


def trained(
    config: Skills, context: Context, steps: Any, *, widths: Sequence[int],
    sizes: Sequence[int] | None = None, optimizer: str = "sgd", decay_from: float = 1.0,
) -> "xarray.DataArray":  # fmt: skip
    """R_k/S of every network over (seed, case, time, skill), in chunks of seeds that are kept."""

    def piece(config: Skills, seeds: range) -> "xarray.Dataset":
        return simulate.parity_descent(
            task(config), steps, widths=widths, num_samples=sizes, initial_std=config.initial_std,
            learning_rate=config.learning_rate, decay_from=decay_from, optimizer=optimizer,
            batch_size=config.batch_size, seeds=seeds, context=context,
        )  # fmt: skip

    return over_seeds(piece, config, context, "chunks of seeds").strength


def dataset(
    strength: Any, resource: tuple[str, Any], model: Callable[[Any], Any], **more: Any
) -> "xarray.Dataset":
    """Strengths over (seed, resource, skill), and what the calibrated model says of them.

    For the picture also what it says between the points.
    """
    import xarray

    name, values = resource[0], np.asarray(resource[1])
    fine = np.geomspace(values[values > 0][0], values[-1], 300)
    fine = np.unique(np.round(fine)) if name == "samples" else fine
    predicted = model(values)
    skills = np.arange(1, predicted.shape[-1] + 1)
    return xarray.Dataset(
        {"strength": (("seed", name, "skill"), np.asarray(strength)),
         "predicted": ((name, "skill"), predicted), "curve": (("point", "skill"), model(fine)),
         "point_at": ("point", fine)},
        {name: values, "skill": skills}, CONVENTION.attributes(),
    ).assign(**more)  # fmt: skip


def emergence(resource: Any, curves: Any) -> np.ndarray:
    """Where each skill's strength, shape (resource, skill), passes half for good; inf where it does not."""
    return measures.crossing_time(np.asarray(resource), np.asarray(curves).T, LEVEL).time


def jackknife(strength: Any, value: Callable[[np.ndarray], Any]) -> tuple[Any, Any]:
    """A value of the mean over seeds, and its standard error by leaving out one seed at a time."""
    runs = np.asarray(strength)
    n = runs.shape[0]
    with np.errstate(invalid="ignore"):
        found = np.asarray(value(runs.mean(axis=0)))
        if n < 2:
            return found, found * np.nan
        without = np.array([value(np.delete(runs, i, axis=0).mean(axis=0)) for i in range(n)])
        return found, np.sqrt((n - 1) / n * np.sum((without - without.mean(axis=0)) ** 2, axis=0))


def order_claim(result: "xarray.Dataset", statement: str, source: str) -> Claim:
    """In what share of runs and neighbouring skills the more frequent one comes first.

    A pair of which neither emerges says nothing; one that never emerges comes last.
    """
    name = result.strength.dims[1]
    places = np.array([emergence(result[name], run) for run in result.strength.values])
    emerges = np.isfinite(places[:, :-1]) | np.isfinite(places[:, 1:])
    later = (places[:, 1:] >= places[:, :-1])[emerges]
    # a run's pairs of neighbours are not independent draws
    return share_claim(statement, source, later, 0.9, uncertainty=None, num_seeds=len(places))


def place_claims(
    result: "xarray.Dataset",
    config: Skills,
    words: str,
    source: str,
    *,
    tolerance: float,
    power: float,
) -> list[Claim]:
    """Where skills emerge, against 1/p_k and against the calibrated model."""
    name = result.strength.dims[1]
    x, p = result[name].values, task(config).frequencies
    predicted = emergence(x, result.predicted.values)
    seeds = result.sizes["seed"]
    law, law_error = jackknife(
        result.strength, lambda mean: measures.power_law(p, emergence(x, mean)).exponent
    )
    ratio, error = jackknife(result.strength, lambda mean: (emergence(x, mean) / predicted)[1:])
    worst = int(np.argmax(np.abs(np.log(ratio))))
    return [
        Claim(f"{words} grows as one over the skill's frequency (power of p_k)", source, -1.0, law,
              "absolute", power, uncertainty=law_error, num_seeds=seeds),
        Claim(f"{words}, measured over predicted from the first skill, where it is furthest off (k ≥ 2)",
              source, 1.0, ratio[worst], "relative", tolerance, uncertainty=error[worst], num_seeds=seeds),
    ]  # fmt: skip


def largest_gap(
    result: "xarray.Dataset", predicted: str = "predicted", first: int = 1
) -> tuple[Any, Any]:
    """Largest |R_k/S − model| of the mean over seeds, from a skill on (counted from 0), and its error."""
    model = result[predicted].values[:, first:]
    return jackknife(result.strength, lambda mean: np.max(np.abs(mean[:, first:] - model)))


def figure(
    result: "xarray.Dataset",
    xlabel: str,
    title: str,
    also: dict[str, str] | None = None,
    **axis: Any,
) -> Any:
    """The mean of each skill over seeds with its spread, dashed, over the model, solid."""
    picture, axes = plotting.new_figure(panel=(5.4, 3.2))
    panel, name = axes[0, 0], result.strength.dims[1]
    x, mean, spread = result[name], result.strength.mean("seed"), result.strength.std("seed")
    for k, colour in zip(range(result.sizes["skill"]), plotting.COLOURS * 2, strict=False):
        panel.plot(result.point_at, result.curve[:, k], color=colour, label=f"$k$ = {k + 1}")
        band = (each[:, k] for each in (mean - spread, mean, mean + spread))
        plotting.plot_band(panel, x, *band, colour=colour, **NETWORK)
        for variable in also or {}:
            panel.plot(result.point_at, result[variable][:, k], color=colour, **ALSO)
    panel.set(
        xlabel=xlabel,
        ylabel="skill strength $R_k/S$",
        title=title,
        ylim=(-0.1, 1.15),
        xscale="log",
        **axis,
    )
    panel.add_artist(panel.legend(loc="upper left", bbox_to_anchor=(1.02, 1)))
    styles = {"model": {"color": "black"}, "network": {"color": "black"} | NETWORK}
    styles |= {label: {"color": "black"} | ALSO for label in (also or {}).values()}
    plotting.curves_legend(panel, styles, loc="lower left", bbox_to_anchor=(1.02, 0))
    return picture
