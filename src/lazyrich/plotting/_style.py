"""The house style: prints well, in grey too, and reads the same to colour-blind eyes."""

from contextlib import AbstractContextManager
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.lines import Line2D

from lazyrich.core import argument_error, count, items, number

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, dark ones first."""

MOST_PANELS, MOST_INCHES = 100, 1000
"""In a row or column of a figure, and along its side."""


def style() -> AbstractContextManager[None]:
    """Draw inside this context. It leaves matplotlib's global settings as they were."""
    return matplotlib.rc_context(
        {
            "font.size": 9,
            "axes.titlesize": 10,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.prop_cycle": cycler(color=COLOURS),
            "grid.color": "#e6e6e6",
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            "lines.linewidth": 1.6,
            "legend.frameon": False,
            "legend.fontsize": 8,
            "figure.dpi": 160,
            "savefig.dpi": 160,
            "savefig.facecolor": "white",
            "mathtext.fontset": "dejavusans",
            "svg.hashsalt": "lazyrich",
            "pdf.fonttype": 42,
        }
    )


def new_figure(num_columns: int = 1, num_rows: int = 1, *, panel: tuple[float, float] = (3.6, 3.0)):
    """A figure and its axes, shape (rows, columns), sized by the panel; no global state."""
    columns = count("num_columns", num_columns, at_most=MOST_PANELS)
    rows = count("num_rows", num_rows, at_most=MOST_PANELS)
    width, height = _size("panel", panel)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def new_mosaic(
    pattern: Any, size: tuple[float, float], heights: tuple[float, ...] | None = None
) -> tuple[Figure, dict[str, Any]]:
    """A figure of the given size and its panels by name, laid out as in `pattern`, a list of rows."""
    rows = [items("pattern", row) for row in items("pattern", pattern)]
    is_table = rows and rows[0] and all(len(row) == len(rows[0]) for row in rows)
    if not is_table or not all(isinstance(name, str) for row in rows for name in row):
        raise argument_error("pattern", "be rows of names, all as long", pattern)
    if heights is not None:
        heights = tuple(_lengths("heights", heights, len(rows)))
    figure = Figure(figsize=_size("size", size), layout="constrained")
    return figure, figure.subplot_mosaic([list(row) for row in rows], height_ratios=heights)


def curves_legend(axes: Any, entries: dict[str, dict[str, Any]], **options: Any) -> None:
    """A legend of line styles, each given by its label and its line properties; of axes or a figure."""
    if not isinstance(axes, Axes | FigureBase):
        raise argument_error("axes", "be axes or a figure of matplotlib", axes, "Use `new_figure`.")
    if not isinstance(entries, dict):
        raise argument_error("entries", "be a dictionary of labels and properties", entries)
    handles = [Line2D([], [], **properties) for properties in entries.values()]
    axes.legend(handles, list(entries), **options)


def _size(name: str, value: Any) -> tuple[float, float]:
    width, height = _lengths(name, value, 2)
    return width, height


def _lengths(name: str, value: Any, size: int) -> list[float]:
    lengths = items(name, value, advice="Pass a tuple.")
    if len(lengths) != size:
        raise argument_error(name, f"hold {size} numbers", value)
    return [number(f"{name}[{i}]", x, above=0, at_most=MOST_INCHES) for i, x in enumerate(lengths)]
