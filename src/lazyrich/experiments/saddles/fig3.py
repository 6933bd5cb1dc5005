"""Fig. 3: two-layer networks learn to tell MNIST digits apart."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import measures, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Convention, Departure, require_seeds
from lazyrich.experiments import _digits
from lazyrich.experiments._claims import deviation_claim, mean_claim, worst_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments._records import by_record, by_time
from lazyrich.experiments.saddles import _walks
from lazyrich.experiments.saddles._digit_pairs import LABELS, PAIRS, PRINTED, out_of_order

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig3"
TITLE = "Pairs of digits"
CAPTION = (
    "Loss (black) and the three largest singular values of the first layer (colours) of two-layer networks "
    "that learn by minibatches to tell two digits apart; one run bold, the others thin. The loss is that of "
    "a fixed part of the training set. Triangles, without a fit: when the loss of the linear network drops "
    "if each singular mode of Σ_yx grows on its own. Runs are 1.25 times as long as the modes need to grow "
    "from 1e-6 to 1, one after the other. Without MNIST the small digits set that comes with the install "
    "takes its place."
)
SECONDS = {"quick": 46, "paper": 630}
REFERENCES = ("saddles",)
CONVENTION = Convention(
    loss="mean over samples of the squared norm of the error, no ½ (Eq. 64)",
    time="t counts gradient-descent steps",
    time_unit="steps",
)
NETWORKS = ("linear", "relu")
NAMES = {"linear": "Linear", "relu": "ReLU"}
GROWS = (
    "the third singular value of the ReLU network grows with the second drop and after it, a thousandfold "
    "from its start, and more where digits are harder to distinguish; with 1000 units as with 40"
)
FEWEST_SEEDS = 4
"""Runs differ by little: their drops by 1 or 2 %."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 3 is computed from."""

    width: int = 1000
    initial_std: float = 1e-6
    learning_rate: float = 0.01
    batch_size: int = 64
    recorded_samples: int = 2000
    num_records: int = 60
    num_seeds: int = 8
    seeds_per_chunk: int = 2


PRESETS = {
    "quick": Config(width=40, recorded_samples=500, num_seeds=4, seeds_per_chunk=4),
    "paper": Config(),
}


data_fingerprint = _digits.data_fingerprint


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Both networks on all pairs, from every seed."""
    import xarray

    pairs = [tasks.DigitPair(*pair, source=context.data_folder) for pair in PAIRS]
    axes = {"network": NETWORKS, "pair": dict(zip(LABELS, pairs, strict=True))}
    runs = over_cases(axes, _train, config, context)
    theory = xarray.concat([_theory(pair, config) for pair in pairs], "pair")
    return runs.merge(theory.assign_coords(pair=list(LABELS))).assign_attrs(
        CONVENTION.attributes() | _digits.attributes(pairs[0].digits)
    )


def _steps(task: "tasks.DigitPair", config: Config) -> np.ndarray:
    """When to record."""
    s = np.linalg.svd(task.correlation, compute_uv=False)
    last = -1.25 * np.log(config.initial_std) * np.sum(1 / s) / (2 * config.learning_rate)
    return simulate.even_steps(last, config.num_records)


def _train(config: Config, network: str, task: "tasks.DigitPair", seeds: range) -> "xarray.Dataset":
    from lazyrich.experiments.saddles._pair_training import PairTraining

    model = models.TwoLayer(task.input_dimension, config.width, 2, network)
    training = PairTraining(
        model, task, config.initial_std, task.digits.white, config.recorded_samples
    )
    found = simulate.gradient_descent(
        training, _steps(task, config), learning_rate=config.learning_rate, seeds=seeds,
        batch_size=config.batch_size,
    )  # fmt: skip
    return by_record(found[["loss", "singular_value"]])


def _theory(task: "tasks.DigitPair", config: Config) -> "xarray.Dataset":
    """What a linear network does if weights keep to the singular vectors of Σ_yx = Σ s e fᵀ.

    The map is then Σ a e fᵀ. As the e are orthogonal, the loss is 1 + Σ (a² fᵀΣ_xx f − 2 a s): each mode
    learns on its own. From weights of size ε its strength a is ε²H/2 times (1 + 2ηs)^(2t) at first, with H
    units, and tends to s/(fᵀΣ_xx f). Half the drop is over when a is 1 − 1/√2 of that, as a logistic says.
    """
    import xarray

    _, s, F = np.linalg.svd(task.correlation, full_matrices=False)
    variance = np.einsum("ki,ij,kj->k", F, task.covariance, F)
    grown = (np.sqrt(2) - 1) * 2 * (s / variance) / (config.width * config.initial_std**2)
    drops = np.log(grown) / (2 * np.log1p(2 * config.learning_rate * s))
    levels = task.output_power - np.cumsum(s**2 / variance)
    values = {"strength": s, "predicted_drop": drops, "predicted_level": levels}
    return xarray.Dataset(
        {name: ("mode", value) for name, value in values.items()}, {"mode": [1, 2]}
    )


class _Walk(NamedTuple):
    """What a run did, or arrays of that; NaN where it did not drop twice."""

    drops: Any
    """When the loss dropped, (2,)."""
    growths: Any
    """When the first singular value had half its size on the plateau, the second half its last, (2,)."""
    plateau: Any
    """Loss on the intermediate plateau."""
    left: Any
    """Loss at the end."""
    third: Any
    """Third over second singular value: half-way on the plateau, after the second drop, at the end, (3,)."""
    grown: Any
    """The largest third singular value, over that at the start."""


def _walk(one: "xarray.Dataset") -> _Walk:
    time, loss, s = one.time.values, one.loss.values, one.singular_value.values.T
    found, grown = measures.plateaus(time, loss), s[2].max() / s[2, 0]
    if found.num_drops != 2:
        none = np.full(2, np.nan)
        return _Walk(none, none, np.nan, loss[-1], np.full(3, np.nan), grown)
    moments = (found.starts[1] + found.ends[1]) / 2, found.starts[2], time[-1]
    middle, *later = (int(np.argmin(np.abs(time - moment))) for moment in moments)
    sizes = np.array([s[0, middle], s[1, -1]])
    growths = measures.crossing_time(time, s[:2], sizes / 2).time
    third = s[2, [middle, *later]] / s[1, [middle, *later]]
    return _Walk(found.drop_times, growths, found.levels[1], loss[-1], third, grown)


def _walks_of(result: "xarray.Dataset", network: str) -> _Walk:
    """What the runs of a network did, each quantity as an array over (pair, seed) and its own axis."""
    runs = [
        [
            _walk(by_time(result, network=network, pair=pair).isel(seed=seed))
            for seed in range(result.sizes["seed"])
        ]
        for pair in result.pair.values
    ]
    return _Walk(
        *(np.array([[run[i] for run in row] for row in runs]) for i in range(len(_Walk._fields)))
    )


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 3, and when and where the linear network should rest."""
    found = {network: _walks_of(result, network) for network in NETWORKS}
    for_all = [claim for network in NETWORKS for claim in _picture(found[network], NAMES[network])]
    of_mnist = [
        *(claim for network in NETWORKS for claim in _third(found[network], NAMES[network])),
        *(_harder(found[network], NAMES[network]) for network in NETWORKS),
        *_table(found["linear"]),
    ]
    return [
        *require_seeds([*for_all, *_modes(found["linear"], result)], FEWEST_SEEDS),
        *_digits.require_mnist(require_seeds(of_mnist, FEWEST_SEEDS), result),
    ]


def _picture(found: _Walk, name: str) -> list[Claim]:
    """What is said of every pair."""
    length = found.drops[..., 1] - found.drops[..., 0]  # (pair, seed)
    return [
        _walks.share(f"{name}: the loss rests once on its way and drops twice", "Fig. 3",
                     np.isfinite(found.drops).all(axis=-1).ravel().tolist()),
        *(
            _largest(f"{name}: the growth of the {word} singular value coincides with the {word} drop",
                     "Fig. 3", 0.1, found.growths[..., k] / found.drops[..., k], 1.0)
            for k, word in enumerate(_walks.ORDINALS)
        ),
        mean_claim(f"{name}: the intermediate plateau is longer for 3, 5 than for 0, 1 (their ratio)",
                   "Fig. 3", 1, length[-1] / length[0], "at-least"),
    ]  # fmt: skip


def _third(found: _Walk, name: str) -> list[Claim]:
    """How close to zero the third singular value stays, beside the second at the same time."""
    words = "the third singular value is close to zero"
    moments = ("half-way through the plateau", "after the second drop", "at the end")
    relu = name == NAMES["relu"]
    departures = (None, Departure(GROWS, 0.105, 0.02), Departure(GROWS, 0.21, 0.05))
    return [
        worst_claim(f"{name}: {words} {moment} (largest share of the second)", "Fig. 3", 0.05,
                    found.third[..., k], "at-most", departure=departures[k] if relu else None)
        for k, moment in enumerate(moments)
    ]  # fmt: skip


def _modes(found: _Walk, result: "xarray.Dataset") -> list[Claim]:
    """What singular modes that grow on their own predict, without a fit."""
    drops, level = result.predicted_drop.values, result.predicted_level.values[:, 0]
    return [
        worst_claim("Linear: the third singular value stays what it was (largest over that at the start)",
                    "Fig. 3, Lemma 6", 1.1, found.grown, "at-most"),
        *(
            _largest(f"Linear: the {word} drop comes when the {word} singular mode of Σ_yx, growing on its "
                     "own, is due", "Sec. 5.1, beside Table 1", 0.05, found.drops[..., k], drops[:, k])
            for k, word in enumerate(_walks.ORDINALS)
        ),
        _largest("Linear: the intermediate plateau lies at the loss of the first mode alone",
                 "Sec. 5.1, beside Lemma 6", 0.05, found.plateau, level),
        _alike("Linear: the second drop comes at a time inverse to the second singular value of Σ_yx",
               "Sec. 5.1, beside Table 1", 0.1, found.drops[..., 1] * result.strength.values[:, None, 1]),
    ]  # fmt: skip


def _harder(found: _Walk, name: str) -> Claim:
    lengths = found.drops[..., 1] - found.drops[..., 0]
    length, left = (measures.seed_mean(x, -1).mean for x in (lengths, found.left))
    return Claim(
        f"{name}: the intermediate plateau is longer when digits are harder to distinguish, so that more "
        "loss is left in the end (pairs of columns in the wrong order)", "Fig. 3",
        0, out_of_order(-left, length), "absolute", num_seeds=found.left.shape[1],
    )  # fmt: skip


def _table(found: _Walk) -> list[Claim]:
    """Plateaus beside Table 1 as printed."""
    first, second = (np.array(PRINTED[name]) for name in ("first", "second"))
    length = measures.seed_mean(found.drops[..., 1] - found.drops[..., 0], -1).mean
    reason = (
        "three entries of the second row are printed wrong (see Table 1), and the plateau ends before the "
        "network has turned to the saddle that the row is about: what governs it is the second singular "
        "value of Σ_yx"
    )
    return [
        _alike("Linear: the first plateau lasts for a time inverse to the first row", "Table 1, App. B.1",
               0.1, found.drops[..., 0] * first[:, None]),
        Claim("Linear: the sizes in the second row match the lengths of the second plateaus (pairs of "
              "columns in the wrong order)", "Table 1, App. B.1", 0, out_of_order(second, length),
              "absolute", num_seeds=found.left.shape[1], departure=Departure(reason, 1, 0)),
    ]  # fmt: skip


def _largest(statement: str, source: str, most: float, values: np.ndarray, exact: Any) -> Claim:
    text = f"{statement} (largest relative difference)"
    return deviation_claim(text, source, most, values, exact)


def _alike(statement: str, source: str, most: float, values: np.ndarray) -> Claim:
    """A claim on how much means of what should be the same for all pairs differ."""
    mean, error = measures.seed_mean(values, -1)
    low, high = int(np.argmin(mean)), int(np.argmax(mean))
    ratio = mean[high] / mean[low]
    return Claim(
        f"{statement} (largest over smallest product, minus 1)", source, most, ratio - 1, "at-most",
        uncertainty=ratio * np.hypot(error[high] / mean[high], error[low] / mean[low]),
        num_seeds=values.shape[1],
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Linear networks above, ReLU networks below."""
    picture, axes = plotting.new_figure(len(PAIRS), len(NETWORKS), panel=(2.9, 2.4))
    for row, network in zip(axes, NETWORKS, strict=True):
        for panel, pair in zip(row, LABELS, strict=True):
            one = by_time(result, network=network, pair=pair)
            _draw(panel, one)
            panel.set(
                title=f"{NAMES[network]}, digits {pair}",
                xlim=(0, result.recorded_time.max()),
                ylim=(-0.03, 1.05),  # a line at zero is seen
            )
            panel.set(xlabel="time $t$ (steps)", ylabel="loss, singular values")
    for panel, pair in zip(axes[0], LABELS, strict=True):
        due = result.predicted_drop.sel(pair=pair)
        panel.plot(due, [0.03, 0.03], "^", color="0.4", markersize=5, clip_on=False)
    entries = {"loss": {"color": "black"}} | {
        f"singular value {k + 1}": {"color": plotting.COLOURS[k]} for k in range(3)
    }
    plotting.curves_legend(picture, entries, loc="outside lower center", ncols=4)
    return picture


def _draw(panel: Any, one: "xarray.Dataset") -> None:
    curves = [one.loss, *(one.singular_value.isel(order=k) for k in range(one.sizes["order"]))]
    for runs, colour in zip(curves, ("black", *plotting.COLOURS), strict=False):
        rows = runs.transpose("seed", "time")
        plotting.plot_runs(panel, one.time, rows, rows[0], colour=colour)
