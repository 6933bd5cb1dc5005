"""Means over seeds, with what they are worth."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray


class SeedMean(NamedTuple):
    """A mean over independent runs and its standard error, NaN for a single run."""

    mean: "xarray.DataArray"
    error: "xarray.DataArray"


def seed_mean(values: "xarray.DataArray", dimension: str = "seed") -> SeedMean:
    """Mean over independent runs, and its standard error from their spread.

    Args:
        values: one value for each run, and whatever other dimensions.
        dimension: the dimension that counts the runs.

    Returns:
        Mean and standard error, each without that dimension; NaN where a run is NaN. Where a run is
        infinite so is the mean, and its error is NaN.

    Example:
        >>> import xarray
        >>> from lazyrich.measures import seed_mean
        >>> mean, error = seed_mean(xarray.DataArray([1.0, 2.0, 3.0], dims="seed"))
        >>> float(mean), round(float(error), 3)
        (2.0, 0.577)
    """
    runs = values.sizes[dimension]
    mean = values.mean(dimension, skipna=False)
    with np.errstate(invalid="ignore"):  # a run that never gets there has an infinite time
        squares = ((values - mean) ** 2).sum(dimension, skipna=False)
    return SeedMean(mean, (squares / (runs - 1) / runs) ** 0.5 if runs > 1 else mean * float("nan"))
