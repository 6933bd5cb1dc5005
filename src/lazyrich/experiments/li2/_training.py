"""What the figures of trained networks share: runs over seeds, epochs to generalise, and bands."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import measures, plotting
from lazyrich.core import Context, Convention
from lazyrich.experiments._over_seeds import over_seeds

if TYPE_CHECKING:
    import xarray

CONVENTION = Convention(
    loss="mean over samples of the squared norm of the residual, centred over classes, no ½",
    time="t counts epochs: full batch, one step of the optimizer each",
    time_unit="epochs",
)
LEVEL = 0.9
"""Test accuracy from which on a network counts as one that generalises."""


def log_epochs(last_epoch: int, num_records: int) -> np.ndarray:
    """When to record: at the start, then evenly in the logarithm of time."""
    return np.concatenate(
        [[0], np.unique(np.round(np.geomspace(1, last_epoch, num_records)))]
    ).astype(int)


def even_epochs(last_epoch: int, num_records: int) -> np.ndarray:
    """When to record: evenly in time, from the start on."""
    return np.unique(np.round(np.linspace(0, last_epoch, num_records + 1))).astype(int)


def over_cases(
    names: Sequence[Any], config: Any, train: "Callable[[int, range], xarray.Dataset]", context: Context,
    dimension: str = "case", label: str = "training",
) -> "xarray.Dataset":  # fmt: skip
    """`train(number of the case, seeds)` for every case, its seeds in kept chunks, over a new dimension.

    The configuration says `num_seeds` and `seeds_per_chunk`.
    """
    import xarray

    counts = [config.num_seeds] * len(names)
    runs = over_seeds(label, label.replace(" ", "-"), counts, config, train, context)
    found = xarray.concat([run.drop_attrs() for run in runs], dimension)
    return found.assign_coords({dimension: list(names)}).assign_attrs(CONVENTION.attributes())


def epochs_to(
    result: "xarray.Dataset", level: float = LEVEL, curve: str = "test_accuracy"
) -> np.ndarray:
    """Epochs until a curve passes a level for good, without its axis `time`; infinite where it never does."""
    values = result[curve].transpose(..., "time")
    return np.asarray(measures.crossing_time(result.time.values, values.values, level).time)


class Ratio(NamedTuple):
    """How many times as many epochs one setting needs as another: geometric mean over seeds.

    A run that never gets there counts as if it did at the last epoch. `bound` says what that makes of
    the ratio: `exact` if all runs get there, `at least` if only slower runs, `at most` if only faster runs
    do not, `unknown` else.
    """

    ratio: float
    error: float
    bound: str


def ratio_of_epochs(slower: Any, faster: Any, last_epoch: float) -> Ratio:
    """Epochs of the slower runs over those of the faster ones, seed by seed."""
    slow, fast = (np.asarray(x, float) for x in (slower, faster))
    missing = (bool(np.any(~np.isfinite(slow))), bool(np.any(~np.isfinite(fast))))
    logs = np.log(np.minimum(slow, last_epoch)) - np.log(np.minimum(fast, last_epoch))
    ratio = float(np.exp(logs.mean()))
    error = ratio * float(logs.std(ddof=1) / np.sqrt(logs.size)) if logs.size > 1 else np.nan
    words = {
        (False, False): "exact", (True, False): "at least", (False, True): "at most",
        (True, True): "unknown",
    }  # fmt: skip
    return Ratio(ratio, error, words[missing])


def geometric_mean(epochs: Any, last_epoch: float) -> tuple[float, float]:
    """Over seeds, with its standard error; runs that never get there count as the last epoch."""
    logs = np.log(np.minimum(np.asarray(epochs, float), last_epoch))
    mean = float(np.exp(logs.mean()))
    return mean, mean * float(logs.std(ddof=1) / np.sqrt(logs.size)) if logs.size > 1 else np.nan


def on_log_axis(time: Any) -> np.ndarray:
    """Recorded epochs with a place for epoch 0."""
    return np.maximum(np.asarray(time, float), 0.8)


def draw_band(
    axes: Any, curves: "xarray.DataArray", colour: str, label: str = "", **line: Any
) -> None:
    """Median over seeds, and a band that holds the middle eight tenths of them."""
    time = on_log_axis(curves.time)
    values = curves.transpose("seed", "time").values
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
    axes.fill_between(time, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(time, middle, color=colour, label=label, **line)


def shades(count: int) -> list[Any]:
    """Colours of an ordered list of settings, dark to light, told apart in grey too."""
    import matplotlib

    return list(matplotlib.colormaps["viridis"](np.linspace(0.05, 0.85, count)))


def kind_colour(kind: str) -> str:
    """The colour of `train` or of `test` curves."""
    return plotting.COLOURS[("train", "test").index(kind)]


def accuracy_axes(axes: Any, title: str, ylabel: str = "accuracy") -> None:
    """Labels of a panel of accuracies over epochs."""
    axes.set(xscale="log", xlabel="epoch", ylabel=ylabel, ylim=(-0.02, 1.04), title=title)
