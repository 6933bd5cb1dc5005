"""When recorded curves pass a level, and where others are at such times."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures

if TYPE_CHECKING:
    import xarray


def time_to(
    curves: "xarray.DataArray", level: Any, *, along: str = "time", falling: bool = False
) -> np.ndarray:
    """When curves rise above a level for good, or fall below it, without their dimension `along`.

    The level is a number, or one for each curve. Infinite where a curve never gets there.
    """
    values = curves.transpose(..., along).values
    found = measures.crossing_time(curves[along].values, values, np.asarray(level), falling=falling)
    return np.asarray(found.time)


def ratio_of_times(slower: Any, faster: Any, end: float = np.inf) -> np.ndarray:
    """Times of some runs over those of others, seed by seed.

    A run that never gets there counts as if it did at the `end`; if both do not, nothing is known: NaN.
    """
    a, b = np.asarray(slower, dtype=float), np.asarray(faster, dtype=float)
    known = np.isfinite(a) | np.isfinite(b)
    return np.where(known, np.minimum(a, end), np.nan) / np.minimum(b, end)


def value_at(time: Any, curves: Any, when: Any) -> np.ndarray:
    """Values of curves, (..., time), at a time, or at a time for each; past the record its last values."""
    rows = np.asarray(curves, dtype=float)
    times = np.broadcast_to(when, rows.shape[:-1])
    pairs = zip(times.ravel(), rows.reshape(-1, rows.shape[-1]), strict=True)
    return np.reshape([np.interp(moment, time, row) for moment, row in pairs], times.shape)
