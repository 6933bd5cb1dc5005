"""Means, medians and ratios over seeds, with what they are worth.

A run that never gets somewhere has an infinite time. It makes a mean infinite and its uncertainty NaN, while
to a median it is the longest run. To count it as one that gets there at the end, pass
`np.minimum(values, end)`. A run that is NaN makes everything NaN: leave out runs that have no value.
"""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, as_array, untraced


class SeedMean(NamedTuple):
    """A mean over independent runs and its standard error, NaN for a single run.

    Both are xarray arrays if the values were, else NumPy arrays or numbers.
    """

    mean: Any
    uncertainty: Any


class SeedMedian(NamedTuple):
    """A median over independent runs and its standard error, NaN for fewer than three. As in `SeedMean`."""

    median: Any
    uncertainty: Any


class SeedRatio(NamedTuple):
    """A ratio of means over the same runs and its standard error, NaN for a single run. As in `SeedMean`."""

    ratio: Any
    uncertainty: Any


@untraced
def seed_mean(values: Any, dimension: str | int = "seed") -> SeedMean:
    """Mean over independent runs, and its standard error from their spread.

    Args:
        values: one value for each run, and whatever other dimensions: an xarray array, or a plain one
            whose first axis counts the runs.
        dimension: the dimension that counts the runs; of a plain array the number of its axis, if it is not
            the first.

    Returns:
        Mean and standard error, each without that dimension; NaN where a run is NaN. Where a run is
        infinite so is the mean, and its error is NaN.

    Example:
        >>> import xarray
        >>> from lazyrich.measures import seed_mean
        >>> mean, error = seed_mean(xarray.DataArray([1.0, 2.0, 3.0], dims="seed"))
        >>> float(mean), round(float(error), 3)
        (2.0, 0.577)
        >>> seed_mean([[1.0, 5.0], [3.0, 5.0]])
        SeedMean(mean=array([2., 5.]), uncertainty=array([1., 0.]))
    """
    return SeedMean(*_over_runs(values, dimension, _mean, _error))


@untraced
def seed_geometric_mean(values: Any, dimension: str | int = "seed") -> SeedMean:
    """Geometric mean over independent runs, and its standard error from the spread of their logarithms.

    The mean for times and ratios that differ by factors from run to run.

    Args:
        values: numbers ≥ 0, otherwise as in `seed_mean`.
        dimension: as in `seed_mean`.

    Returns:
        Mean and standard error, as in `seed_mean`. Where a run is 0 so is the mean, and its error is NaN.

    Example:
        >>> from lazyrich.measures import seed_geometric_mean
        >>> mean, error = seed_geometric_mean([10.0, 1000.0])
        >>> round(float(mean), 6), round(float(error), 3)
        (100.0, 230.259)
    """
    x = _float64("values", values)
    if np.any(np.asarray(x) < 0):
        raise argument_error(
            "values", "be ≥ 0", values, "Pass times or ratios, or use `seed_mean`."
        )
    with np.errstate(divide="ignore"):
        mean, error = seed_mean(np.log(x), dimension)
    with np.errstate(invalid="ignore"):
        return SeedMean(np.exp(mean), np.exp(mean) * error)


@untraced
def seed_median(values: Any, dimension: str | int = "seed") -> SeedMedian:
    """Median over independent runs, and its standard error from their ranks.

    For runs of which a few may be far off.

    Args:
        values: as in `seed_mean`.
        dimension: as in `seed_mean`.

    Returns:
        Median and standard error, each without that dimension. The error is half the distance between the
        quantiles ½ ± ½/√runs, between which the true median lies in two of three samples; infinite where
        such a quantile is, NaN where a run is NaN, and for fewer than three runs.

    Example:
        >>> from lazyrich.measures import seed_median
        >>> median, error = seed_median([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, float("inf")])
        >>> float(median), round(float(error), 3)
        (4.0, 1.323)
    """
    return SeedMedian(*_over_runs(values, dimension, _median, _rank_error))


@untraced
def seed_ratio(values: Any, other: Any, dimension: str | int = "seed") -> SeedRatio:
    """Ratio of two means over the same runs, and its standard error.

    Args:
        values: as in `seed_mean`; a mean of these is divided by
        other: the same runs' values of something else, of the same shape.
        dimension: as in `seed_mean`.

    Returns:
        Ratio of the means and its standard error to first order, which takes into account that values of one
        run belong together. Infinite or NaN where the mean of `other` is 0.

    Example:
        >>> from lazyrich.measures import seed_ratio
        >>> ratio, error = seed_ratio([2.0, 4.1, 6.0], [1.0, 2.0, 3.0])
        >>> round(float(ratio), 4), round(float(error), 4)
        (2.0167, 0.0173)
    """
    x, y = _float64("values", values), _float64("other", other)
    if x.shape != y.shape:
        raise argument_error("other", f"have the shape {x.shape} of `values`", y.shape)
    if isinstance(x, np.ndarray):  # xarray knows by name what belongs together
        x, y = (np.moveaxis(array, _axis(dimension, x.ndim), 0) for array in (x, y))
        dimension = 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bottom = seed_mean(y, dimension).mean
        ratio = seed_mean(x, dimension).mean / bottom
        scatter = seed_mean(x - ratio * y, dimension).uncertainty
        return SeedRatio(ratio, scatter / np.abs(bottom))


def _over_runs(values: Any, dimension: Any, *functions: Any) -> Any:
    x = _float64("values", values)
    if isinstance(x, np.ndarray):
        axis = _axis(dimension, x.ndim)
        return (function(x, axis) for function in functions)
    if dimension not in x.dims:
        raise argument_error(
            "dimension", f"be one of {', '.join(map(str, x.dims))}", dimension,
            "Name the one that counts the runs.",
        )  # fmt: skip
    return (x.reduce(function, dimension) for function in functions)


def _mean(x: np.ndarray, axis: int) -> Any:
    with np.errstate(invalid="ignore"):  # runs may be at inf and −inf
        return np.mean(x, axis=axis)


def _error(x: np.ndarray, axis: int) -> Any:
    runs = x.shape[axis]
    if runs == 1:
        return np.full_like(np.mean(x, axis=axis), np.nan)[()]
    with np.errstate(invalid="ignore"):  # a run that never gets there has an infinite time
        deviation = x - np.mean(x, axis=axis, keepdims=True)
        # by a power of two, which rounds nothing, so that squares do not overflow
        power = np.frexp(np.max(np.abs(deviation), axis=axis, keepdims=True))[1]
        squares = np.sum(np.ldexp(deviation, -power) ** 2, axis=axis)
    return np.ldexp(np.sqrt(squares / (runs - 1) / runs), np.squeeze(power, axis))


def _median(x: np.ndarray, axis: int) -> Any:
    with np.errstate(invalid="ignore"):
        return np.median(x, axis=axis)


def _rank_error(x: np.ndarray, axis: int) -> Any:
    runs = x.shape[axis]
    if runs < 3:
        return np.full_like(np.mean(x, axis=axis), np.nan)[()]
    ends = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(runs)
    with np.errstate(invalid="ignore"):  # between infinite runs
        low, high = np.quantile(x, ends, axis=axis, method="hazen")
        error = high / 2 - low / 2
    return np.where(np.isnan(error) & ~np.isnan(x).any(axis=axis), np.inf, error)[()]


def _float64(name: str, values: Any) -> Any:
    """An array, xarray's if the values are; NaN and inf may stand for runs that have no value."""
    advice = "Pass one value for each run."
    try:
        x = as_array(values)
    except Exception as error:
        raise argument_error(name, "be an array of numbers", values, advice) from error
    if x.dtype.kind not in "iuf" or x.ndim == 0 or x.size == 0:
        raise argument_error(name, "be an array of numbers, not empty", values, advice)
    # asking for xarray's class would import it
    return (values if hasattr(values, "dims") else x).astype(np.float64)


def _is_whole(dimension: Any) -> bool:
    return isinstance(dimension, int | np.integer) and not isinstance(dimension, bool)


def _axis(dimension: Any, ndim: int) -> int:
    if isinstance(dimension, str):
        if dimension == "seed":
            return 0
    elif _is_whole(dimension) and -ndim <= dimension < ndim:
        return int(dimension)
    raise argument_error(
        "dimension", f"be an axis of the {ndim} of a plain array", dimension,
        "Leave it out if the first axis counts the runs.",
    )  # fmt: skip
