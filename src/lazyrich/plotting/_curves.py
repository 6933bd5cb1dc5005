"""Curves of many runs, drawn in one look: a band, every run beside one, shades, a place for time 0."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from lazyrich.core import argument_error, as_array, count, real

EARLIEST = 0.8
"""Where time 0 stands on a logarithmic axis of steps: left of step 1, and near it."""

MOST_SHADES = 1000


def plot_band(
    axes: Any, time: Any, low: Any, middle: Any, high: Any, *, colour: Any, label: str = "", **line: Any
) -> None:  # fmt: skip
    """A curve over time, shape (time,), and a band from `low` to `high` behind it.

    What the band is, quartiles or errors, is the caller's: nothing is computed here. NaN leaves a gap.
    `line` are properties of the curve.
    """
    x = _arguments(axes, time)
    curves = {"low": low, "middle": middle, "high": high}
    below, curve, above = (_curve(name, value, x.shape) for name, value in curves.items())
    axes.fill_between(x, below, above, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, curve, color=colour, label=label, **line)


def plot_runs(
    axes: Any, time: Any, runs: Any, bold: Any, *, colour: Any, label: str = "", **line: Any
) -> None:
    """Every run, shape (runs, time), thin, and one curve, shape (time,), bold: their mean, or one of them.

    NaN leaves a gap. `line` are properties of the bold curve.
    """
    x = _arguments(axes, time)
    rows = _curve("runs", runs, (None, *x.shape))
    if len(rows):
        axes.plot(x, rows.T, color=colour, linewidth=0.5, alpha=0.4)
    axes.plot(x, _curve("bold", bold, x.shape), color=colour, label=label, **line)


def log_time(time: Any) -> np.ndarray:
    """Recorded times ≥ 0 with a place for time 0 on a logarithmic axis: 0.8.

    Example:
        >>> from lazyrich.plotting import log_time
        >>> log_time([0, 1, 10])
        array([ 0.8,  1. , 10. ])
    """
    return np.maximum(real("time", time, at_least=0, advice="Pass recorded times."), EARLIEST)


def shades(number: int) -> list[Any]:
    """So many colours for an ordered list of settings, dark to light, told apart in grey too."""
    size = count("number", number, at_most=MOST_SHADES)
    return list(matplotlib.colormaps["viridis"](np.linspace(0.05, 0.85, size)))


def _arguments(axes: Any, time: Any) -> np.ndarray:
    if not isinstance(axes, Axes):
        raise argument_error("axes", "be axes of matplotlib", axes, "Use `new_figure`.")
    x = real("time", time, advice="Pass recorded times.")
    if x.ndim != 1:
        raise argument_error("time", "have the shape (time,)", x.shape)
    return x


def _curve(name: str, value: Any, shape: tuple[Any, ...]) -> np.ndarray:
    array = as_array(value)
    if array.dtype.kind not in "iuf":
        raise argument_error(name, "be real numbers", value, "Pass what was recorded.")
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    if not fits:
        words = ", ".join("runs" if size is None else str(size) for size in shape)
        raise argument_error(name, f"have the shape ({words}) of `time`", array.shape)
    return array
