"""The power with which something grows or falls."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, as_array, real, untraced


class PowerLaw(NamedTuple):
    """A power law fitted to points. Arrays over runs, or numbers.

    Attributes:
        exponent: the power.
        constant: what the power is multiplied by.
        uncertainty: standard error of the exponent.
    """

    exponent: Any
    constant: Any
    uncertainty: Any


@untraced
def power_law(x: Any, y: Any) -> PowerLaw:
    r"""The power law nearest to points, by least squares of logarithms.

    $$ y = C x^{\gamma} $$

    Args:
        x: where the points are, numbers > 0 that are not all the same, shape (points,).
        y: their values, numbers > 0, shape (..., points); leading axes are runs, each of which is fitted.

    Returns:
        The exponent γ; the constant C, infinite or 0 where it is too large or too small for a float; and the
        exponent's standard error from the scatter of ln y around the fit, NaN for two points. All are NaN of
        runs with an infinite value, as a time that is never reached is.

    Example:
        >>> from lazyrich.measures import power_law
        >>> fit = power_law([1, 2, 4, 8], [3.0, 12.0, 48.0, 190.0])
        >>> round(float(fit.exponent), 3), round(float(fit.constant), 3), round(float(fit.uncertainty), 3)
        (1.995, 3.006, 0.003)
    """
    places = real("x", x, above=0, advice="Pass numbers > 0, at least two.")
    if places.ndim != 1 or places.size < 2 or np.ptp(places) == 0:
        words = "have the shape (points,), with at least two different entries"
        raise argument_error("x", words, x)
    u, v = np.log(places), np.log(_values(y, places.size))
    v = np.where(np.isinf(v).any(axis=-1, keepdims=True), np.nan, v)
    with np.errstate(over="ignore"):
        du = u - u.mean()
        exponent = v @ du / (du @ du)
        offset = v.mean(axis=-1) - exponent * u.mean()
        scatter = v - offset[..., None] - exponent[..., None] * u
        freedom = u.size - 2
        variance = np.sum(scatter**2, axis=-1) / freedom if freedom else np.nan * exponent
        constant, error = np.exp(offset), np.sqrt(variance / (du @ du))
    return PowerLaw(*(np.asarray(found)[()] for found in (exponent, constant, error)))


def _values(y: Any, points: int) -> np.ndarray:
    """Positive float64, some of which may be infinite."""
    advice = "Pass values > 0, a point each; inf where there is none."
    try:
        values = as_array(y)
    except Exception as error:
        raise argument_error("y", "be an array of numbers", y, advice) from error
    if values.dtype.kind not in "iuf":
        raise argument_error("y", "be an array of numbers", y, advice)
    if values.ndim < 1 or values.shape[-1] != points or values.size == 0:
        raise argument_error("y", f"have the shape (..., {points}) of `x`", values.shape)
    values = values.astype(np.float64)
    if not np.all(values > 0):  # NaN too
        raise argument_error("y", "be numbers > 0", y, advice)
    return values
