"""Runs of the studies on speed: one network for modular addition, a setting of it at a time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import plotting, simulate
from lazyrich.core import Context
from lazyrich.experiments._records import by_record, by_time
from lazyrich.experiments._times import ratio_of_times, time_to
from lazyrich.experiments.li2 import _setting, _training
from lazyrich.experiments.li2._setting import Setting

if TYPE_CHECKING:
    import xarray

MOST_PAIRS = 0.9
"""Share of the pairs that samples are filled up to, so that all fractions share what is compiled."""
ACCURACIES = ("train_accuracy", "test_accuracy")


def train(
    config: Any, settings: Mapping[str, Setting], seeds: range, context: Context
) -> "xarray.Dataset":
    """Accuracies of every setting, over `setting`, `seed` and `record`."""
    import xarray

    sizes = (config.speed_order, config.speed_width, config.speed_stretch)
    every = _setting.sized(settings, *sizes).values()
    found = [
        _train(config, setting, seeds, inside)
        for setting, inside in _training.parts(context, every)
    ]
    return xarray.concat(found, "setting").assign_coords(setting=list(settings))


def _train(config: Any, setting: Setting, seeds: range, context: Context) -> "xarray.Dataset":
    rows = int(MOST_PAIRS * setting.order**2)
    last, num = setting.epochs, config.speed_records
    # from epoch 4 on, as many for every setting; a short run has later ones
    epochs = simulate.log_steps(last, num, first=min(4, last / num), exact=True)
    training = _setting.training(setting, padded_samples=rows)
    run = _setting.descend(training, setting, epochs, seeds, context)
    return by_record(run[list(ACCURACIES)])


def reached(data: "xarray.Dataset", setting: str, part: str = "test") -> np.ndarray:
    """Epochs of every seed until an accuracy stays above the level; infinite where it does not."""
    return time_to(by_time(data, setting=setting)[f"{part}_accuracy"], _training.LEVEL)


def last_epoch(data: "xarray.Dataset", setting: str) -> float:
    """At which the runs of a setting end."""
    return float(data.recorded_time.sel(setting=setting).max())


def generalise(data: "xarray.Dataset", *settings: str) -> np.ndarray:
    """Which seeds, or which runs of several settings, come to generalise."""
    return np.concatenate([np.isfinite(reached(data, setting)) for setting in settings])


def final(data: "xarray.Dataset", setting: str) -> np.ndarray:
    """Test accuracies at the end."""
    return data.test_accuracy.sel(setting=setting).isel(record=-1).values


def ratio(data: "xarray.Dataset", slower: str, faster: str, relative: bool = False) -> np.ndarray:
    """Epochs to generalise of one setting over those of another; relative to those to fit if asked for.

    A run that does not get there counts as if it did at the end of the longer of the two; if both do not,
    nothing is known: NaN.
    """
    last = max(last_epoch(data, setting) for setting in (slower, faster))

    def gain(part: str) -> np.ndarray:
        slow, fast = (reached(data, setting, part) for setting in (slower, faster))
        return ratio_of_times(slow, fast, last)

    return gain("test") / gain("train") if relative else gain("test")


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
        _training.draw_band(axes, by_time(data, setting=setting).test_accuracy, colour, label)
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
