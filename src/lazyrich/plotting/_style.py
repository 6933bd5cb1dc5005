"""The house style: prints well, in grey too, and reads the same to colour-blind eyes."""

from contextlib import AbstractContextManager
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, dark ones first."""


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
    width, height = panel
    figure = Figure(figsize=(width * num_columns, height * num_rows), layout="constrained")
    return figure, figure.subplots(num_rows, num_columns, squeeze=False)


def new_mosaic(
    pattern: Any, size: tuple[float, float], heights: tuple[float, ...] | None = None
) -> tuple[Figure, dict[str, Any]]:
    """A figure of the given size and its panels by name, laid out as in `pattern`, a list of rows."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplot_mosaic(pattern, height_ratios=heights)


def curves_legend(axes: Any, entries: dict[str, dict[str, Any]], **options: Any) -> None:
    """A legend of line styles, each given by its label and its line properties."""
    handles = [Line2D([], [], **properties) for properties in entries.values()]
    axes.legend(handles, list(entries), **options)
