"""How fast a recorded curve decays."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, moderate, real, untraced


class DecayRate(NamedTuple):
    """An exponential rate and its standard error. Numbers."""

    rate: Any
    uncertainty: Any


@untraced
def decay_rate(time: Any, curve: Any) -> DecayRate:
    """Rate of an exponential fitted to a positive, decaying curve.

    Args:
        time: recorded times, increasing, shape (time,), at least three.
        curve: recorded values > 0, shape (time,).

    Returns:
        The rate, positive for a decaying curve, and its standard error from the scatter around the fit.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import decay_rate
        >>> round(float(decay_rate([0, 1, 2], np.exp([0.0, -2.0, -4.0])).rate), 6)
        2.0
    """
    t = moderate("time", time, advice="Pass the recorded times.")
    y = real("curve", curve, above=0, advice="Pass a positive curve.")
    if t.ndim != 1 or t.size < 3 or np.any(np.diff(t) <= 0):
        raise argument_error("time", "increase strictly and have at least three entries", time)
    if y.shape != t.shape:
        raise argument_error("curve", f"have the shape {t.shape} of `time`", y.shape)
    u, v = t - t.mean(), np.log(y)
    slope = v @ u / (u @ u)
    scatter = v - v.mean() - slope * u
    error = np.sqrt(scatter @ scatter / (t.size - 2) / (u @ u))
    return DecayRate(-slope, error)
