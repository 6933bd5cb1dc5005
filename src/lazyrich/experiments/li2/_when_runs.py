"""Runs of the studies on speed: one network for modular addition, a setting of it at a time."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, models, plotting, simulate, tasks
from lazyrich.core import Claim
from lazyrich.experiments.li2 import _training

if TYPE_CHECKING:
    import xarray

MOST_PAIRS = 0.9
"""Share of the pairs that samples are filled up to, so that all fractions share what is compiled."""
ACCURACIES = ("train_accuracy", "test_accuracy")


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a run may do differently. Rates are Adam's unless another optimizer is named."""

    epochs: int
    decay: float
    rate: float = 5e-3
    width: int = 0
    fraction: float = 0.8
    optimizer: str = "adam"
    objective: str = "squared"
    start: float = 1.0
    top: float = 1.0
    output: float = 1.0


def stretched(config: Any, epochs: float) -> int:
    """A number of epochs, fewer in small configurations."""
    return max(int(epochs * config.speed_stretch), 2)


def train(config: Any, settings: Mapping[str, Setting], seeds: range) -> "xarray.Dataset":
    """Accuracies of every setting, over `setting`, `seed` and `record`; `epoch` has the epochs of records."""
    import xarray

    found = [_train(config, setting, seeds) for setting in settings.values()]
    epochs = np.array([_epochs(config, setting) for setting in settings.values()], float)
    runs = xarray.concat(found, "setting").assign_coords(setting=list(settings))
    return runs.assign(epoch=(("setting", "record"), epochs))


def _epochs(config: Any, setting: Setting) -> np.ndarray:
    """Evenly in the logarithm from epoch 4 on, as many for every setting; a short run has later ones."""
    last, num = setting.epochs, config.speed_records
    grid = np.round(np.geomspace(min(4, last / num), last, num)).astype(int)
    grid[0] = max(grid[0], 1)
    for i in range(1, num):  # rounding must not make two of one
        grid[i] = max(grid[i], grid[i - 1] + 1)
    return np.concatenate([[0], grid])


def _train(config: Any, setting: Setting, seeds: range) -> "xarray.Dataset":
    order = config.speed_order
    network = models.PairNetwork(
        order,
        setting.width or config.speed_width,
        activation="quadratic",
        output_scale=setting.output,
    )
    training = simulate.FeatureLearning(
        network, tasks.GroupArithmetic(groups.cyclic(order), setting.fraction),
        objective=setting.objective, initial_scale=setting.start, top_scale=setting.top,
        padded_samples=int(MOST_PAIRS * order**2),
    )  # fmt: skip
    found = simulate.gradient_descent(
        training, _epochs(config, setting), seeds=seeds, optimizer=setting.optimizer,
        learning_rate=setting.rate, weight_decay=setting.decay,
    )  # fmt: skip
    return found[list(ACCURACIES)].drop_attrs().rename(time="record").drop_vars("record")


def one(data: "xarray.Dataset", setting: str) -> "xarray.Dataset":
    """The runs of a setting, over `seed` and `time`."""
    found = data.sel(setting=setting)
    return found.rename(record="time").assign_coords(time=("time", found.epoch.values))


def reached(data: "xarray.Dataset", setting: str, part: str = "test") -> np.ndarray:
    """Epochs of every seed until an accuracy stays above the level; infinite where it does not."""
    return _training.epochs_to(one(data, setting), curve=f"{part}_accuracy")


def last_epoch(data: "xarray.Dataset", setting: str) -> float:
    """At which the runs of a setting end."""
    return float(data.epoch.sel(setting=setting).max())


def share(data: "xarray.Dataset", *settings: str) -> float:
    """Of the seeds, or of all runs of several settings, which come to generalise."""
    return float(np.mean([np.isfinite(reached(data, setting)) for setting in settings]))


def final(data: "xarray.Dataset", setting: str) -> np.ndarray:
    """Test accuracies at the end."""
    return data.test_accuracy.sel(setting=setting).isel(record=-1).values


def standard_error(values: np.ndarray) -> float:
    """Of the mean; NaN for a single run."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else np.nan


def ratio(
    data: "xarray.Dataset", slower: str, faster: str, relative: bool = False
) -> _training.Ratio:
    """Epochs to generalise of one setting over those of another; relative to those to fit if asked for.

    A run that does not get there counts as if it did at the end of the longer of the two.
    """
    last = max(last_epoch(data, setting) for setting in (slower, faster))
    times = [np.minimum(reached(data, setting), last) for setting in (slower, faster)]
    if relative:
        times = [
            time / np.minimum(reached(data, setting, "train"), last)
            for time, setting in zip(times, (slower, faster), strict=True)
        ]
    return _training.ratio_of_epochs(times[0], times[1], np.inf)


def claim(
    data: "xarray.Dataset", text: str, source: str, expected: float, measured: Any, comparison: str,
    **more: Any,
) -> Claim:  # fmt: skip
    """A claim on a number, or on a ratio with its error."""
    if isinstance(measured, _training.Ratio):
        measured, more = measured.ratio, more | {"uncertainty": measured.error}
    return Claim(text, source, expected, measured, comparison, num_seeds=data.sizes["seed"], **more)


def draw_epochs(
    axes: Any, data: "xarray.Dataset", settings: Mapping[str, float], label: str, colour: int
) -> None:
    """Epochs to generalise over a number: every seed a dot, the median a line.

    Runs that do not get there are open dots at their last epoch.
    """
    values, medians = list(settings.values()), []
    colour_of = plotting.COLOURS[colour]
    for setting, value in settings.items():
        times, last = reached(data, setting), last_epoch(data, setting)
        there = np.isfinite(times)
        axes.plot([value] * int(there.sum()), times[there], "o", color=colour_of, markersize=2.5)
        axes.plot([value] * int((~there).sum()), [last] * int((~there).sum()), "o", color=colour_of,
                  markersize=4, markerfacecolor="none")  # fmt: skip
        medians.append(float(np.median(np.minimum(times, last))))
    axes.plot(values, medians, color=colour_of, linewidth=1.2, label=label)


def draw_curves(axes: Any, data: "xarray.Dataset", settings: Mapping[str, str], title: str) -> None:
    """Median test accuracies of settings, by label, with bands."""
    for colour, (setting, label) in zip(plotting.COLOURS, settings.items(), strict=False):
        _training.draw_band(axes, one(data, setting).test_accuracy, colour, label)
    _training.accuracy_axes(axes, title, "test accuracy")
    axes.legend(loc="upper left", fontsize=7)


def log_axes(axes: Any, values: Any, label: str, title: str) -> None:
    """Epochs over a number, both logarithmic, with ticks at the values that are there."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="epochs to generalise", title=title)
    axes.set_xticks(list(values), [f"{value:g}" for value in values])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
