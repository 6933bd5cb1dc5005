"""Weights that grow like a power of themselves."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.core import Comparison, accuracy

DEGREES = [1, 1 + 1e-12, 1 + 1e-9, 1 + 1e-6, 1.01, 1.5, 2, 3, 5, 10]
STARTS = decades(1e-12, 1e3, 16)


def _left(start: Any, degree: Any, time: Any) -> Any:
    """1 − (p − 1)v₀^(p−1)t: the share of its time that a weight has left."""
    return 1 - (degree - 1) * start ** (degree - 1) * time


def _grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positive starts, degrees, and times as shares of the blow-up time, or of 1 where that is later."""
    start, degree, share = mesh(STARTS, DEGREES, [0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 0.99, 1 - 1e-6])
    with np.errstate(divide="ignore"):
        blow_up = start ** (1 - degree) / (degree - 1)
    return start, degree, share * np.minimum(blow_up, 20.0 * start ** (1 - degree))


@accuracy(
    "theory.PowerEscape.units",
    "Weights that grow like a power of themselves",
    against="Eq. 15 of saddles for any degree, at 50 digits",
    grid="starts: 16 from 1e-12 to 1e3, and their negatives for degrees 2, 3 and 5; degrees: 10 "
    "from 1 to 10, through 1 + 1e-12; "
    "8 times up to 1 − 1e-6 of the blow-up",
    explanation="Close to the blow-up the condition number is the inverse of the share of the time "
    "that is left.",
)
def units() -> list[Comparison]:
    """Growing, shrinking, and exponential growth as the limit of degree 1."""
    start, degree, t = _grid()
    values = _one_by_one("units", start, degree, t)
    where = {"start": start, "degree": degree, "time": t}
    found = [Comparison(values, _unit, where, condition=_condition)]
    start, degree, t = mesh(-STARTS, [2, 3, 5], decades(1e-6, 1e6, 12))
    keep = (degree % 2 == 0) | ((degree - 1) * np.abs(start) ** (degree - 1) * t < 0.9)
    start, degree, t = start[keep], degree[keep], t[keep]
    values = _one_by_one("units", start, degree, t)
    where = {"start": start, "degree": degree, "time": t}
    return [*found, Comparison(values, _negative_unit, where, condition=20)]


def _one_by_one(method: str, start: np.ndarray, degree: np.ndarray, t: np.ndarray) -> np.ndarray:
    """One time for each weight: times in blocks of equal ones would be a table."""
    escape = theory.PowerEscape(start, degree, learning_rate=np.where(t > 0, t, 1))
    return np.where(t > 0, getattr(escape, method)(1.0), getattr(escape, method)(0.0))


def _unit(start: Any, degree: Any, t: Any) -> Any:
    if degree == 1:
        return start * mp.exp(t)
    return start * _left(start, degree, t) ** (-1 / (degree - 1))


def _condition(start: Any, degree: Any, t: Any) -> Any:
    """By what a relative error of the time is amplified; the logarithm of the start enters too."""
    x = start ** (degree - 1) * t
    return 1 + x * (1 + (degree - 1) * abs(mp.log(start))) / _left(start, degree, t)


def _negative_unit(start: Any, degree: Any, t: Any) -> Any:
    if degree % 2 == 1:
        return -_unit(-start, degree, t)
    left = 1 + (degree - 1) * (-start) ** (degree - 1) * t
    return start * left ** (-1 / (degree - 1))


@accuracy(
    "theory.PowerEscape.blow_up_time",
    "When such weights become infinite",
    against="v₀^(1−p)/(p − 1) at 50 digits",
    grid="starts: 120 from 1e-12 to 1e3, both signs; degrees: 10 from 1 to 10 (whole ones for "
    "negative starts)",
)
def blow_up_time() -> list[Comparison]:
    """Never for degree 1, and for negative weights of even degree."""
    found = []
    for sign, degrees in ((1, DEGREES), (-1, [1, 2, 3, 4, 5])):
        start, degree = mesh(sign * decades(1e-12, 1e3, 120), degrees)
        values = theory.PowerEscape(start, degree).blow_up_time().time
        found.append(Comparison(values, _blow_up, {"start": start, "degree": degree}))
    return found


def _blow_up(start: Any, degree: Any) -> Any:
    if degree == 1 or (start < 0 and degree % 2 == 0):
        return mp.inf
    return abs(start) ** (1 - degree) / (degree - 1)


@accuracy(
    "theory.PowerEscape.relative",
    "Weights when the leader has reached a value",
    against="Eq. 16 of saddles for any degree, at 50 digits",
    grid="starts: 30 shares of the leader from 1e-9 to 1 − 1e-9; degrees: 10 from 1 to 10; leader "
    "1e-3; 7 values from 1e-3 to "
    "1e6",
    explanation="A start close to the leader's nearly blows up with it: what is left of its time "
    "is a small difference.",
)
def relative() -> Comparison:
    """The others hardly move."""
    shares = np.concatenate([decades(1e-9, 0.5, 15), 1 - decades(1e-9, 0.4, 15)])
    share, degree, value = mesh(shares, DEGREES, [1e-3, 2e-3, 0.1, 1, 10, 1e3, 1e6])
    start = share * 1e-3
    values = theory.PowerEscape(start, degree).relative(leader=1e-3, value=value)
    where = {"start": start, "degree": degree, "value": value}
    return Comparison(values, _relative, where, condition=_relative_condition)


def _relative(start: Any, degree: Any, value: Any) -> Any:
    leader, c = mp.mpf(1e-3), degree - 1
    if c == 0:
        return start * value / leader
    return (start**-c - leader**-c + value**-c) ** (-1 / c)


def _relative_condition(start: Any, degree: Any, value: Any) -> Any:
    leader, c = mp.mpf(1e-3), degree - 1
    if c == 0:
        return 1
    return 1 + start**-c * (1 + abs(mp.log(value))) / (start**-c - leader**-c + value**-c)
