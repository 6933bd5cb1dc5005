"""When a recorded, possibly noisy curve passes a level for good."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import Status, argument_error, flag, moderate, real, untraced

NEIGHBOURS = 8
"""Points on either side of a crossing from which its slope and noise are judged."""


class MeasuredCrossing(NamedTuple):
    """A time read off a record: estimate, uncertainty, `Status` code. Arrays over runs, or numbers."""

    time: Any
    uncertainty: Any
    status: Any


class MeasuredDelay(NamedTuple):
    """A delay read off a record. Arrays over runs, or numbers.

    Attributes:
        time: how much later one curve is than the other.
        uncertainty: of `time`.
        status: a `Status` code.
        ratio: how many times later it is.
    """

    time: Any
    uncertainty: Any
    status: Any
    ratio: Any


@untraced
def crossing_time(time: Any, curve: Any, level: Any, *, falling: bool = False) -> MeasuredCrossing:
    """The time at which a rising curve passes a level for good, as after it the curve stays above.

    Between the last point below the level and the next one the curve is interpolated, in log time where
    time allows.

    Args:
        time: recorded times, increasing, shape (time,).
        curve: recorded values, shape (..., time); NaN is refused.
        level: the level, a number in the unit of the curve: of accuracies as shares, 0.95 and not 95. A level
            that the curve never reaches is legal, and the time then inf. Or a level for each run, of a shape
            that broadcasts to that of `curve` without its last axis.
        falling: whether to look for the time after which the curve stays below the level instead.

    Returns:
        Time, uncertainty and status, of the shape of `curve` without its last axis. The uncertainty adds
        in quadrature what reading off a grid may miss (a uniform spread over one cell), half the span
        over which the curve keeps passing the level to and fro, and the curve's point-to-point noise
        divided by its slope there. Status `AT_START`: above from the first
        record on (the time is that of the first record). `TOO_SHORT`: below at the end (the time is inf).
        For falling curves above and below change places.

    Example:
        >>> from lazyrich.measures import crossing_time
        >>> crossing_time([0.0, 1.0, 2.0, 3.0], [0.0, 0.2, 0.6, 1.0], level=0.5).time
        np.float64(1.681792830507429)
        >>> runs = [[4.0, 2.0, 1.0, 1.0], [8.0, 8.0, 4.0, 2.0]]
        >>> crossing_time([0.0, 1.0, 2.0, 3.0], runs, level=[1.5, 3.0], falling=True).time
        array([1.41421356, 2.44948974])
    """
    if flag("falling", falling):
        return passing(time, -_finite("curve", curve), -_level(level), "curve")
    return passing(time, curve, level, "curve")


def passing(time: Any, curve: Any, level: Any, name: str) -> MeasuredCrossing:
    """`crossing_time` of a curve that is another argument of the caller's."""
    t, y = _record(time, curve, name)
    shape, levels = y.shape[:-1], _level(level)
    try:
        each = np.broadcast_to(levels, shape).ravel()
    except ValueError:
        words = f"be a number, or have a shape that broadcasts to the runs {shape} of `{name}`"
        raise argument_error("level", words, levels.shape) from None
    rows = [
        _one_crossing(t, row, one) for row, one in zip(y.reshape(-1, t.size), each, strict=True)
    ]
    times, uncertainties, statuses = (np.array(column) for column in zip(*rows, strict=True))
    return MeasuredCrossing(
        times.reshape(shape)[()], uncertainties.reshape(shape)[()], statuses.reshape(shape)[()]
    )


@untraced
def grokking_delay(time: Any, train_accuracy: Any, test_accuracy: Any, level: Any) -> MeasuredDelay:
    """How much later the test curve than the training curve passes a level for good.

    Args:
        time: recorded times, increasing, shape (time,).
        train_accuracy: training accuracies as shares of samples, between 0 and 1, shape (..., time).
        test_accuracy: test accuracies, of the same shape.
        level: the accuracy that counts as learned, a share too, or one for each run. Of other curves than
            accuracies take the difference of two times from `crossing_time`.

    Returns:
        The delay, negative where the test curve is first; its uncertainty, the two crossings' added in
        quadrature; the status: `TOO_SHORT` and inf where either curve ends below the level,
        `AT_START` where the test curve is above it from the first record on; and the ratio of the two times,
        infinite where the delay is, and where only the training curve is there at time 0.

    Example:
        >>> from lazyrich.measures import grokking_delay
        >>> delay = grokking_delay([0, 1, 2, 3], [0, 1, 1, 1], [0, 0, 0, 1], level=0.5)
        >>> round(float(delay.time), 4), round(float(delay.uncertainty), 4), round(float(delay.ratio), 4)
        (1.9495, 0.4082, 4.899)
    """
    level = real("level", level, above=0, at_most=1, advice="Pass a share such as 0.95.")
    advice = "Pass shares of samples, not percentages."
    given = {"train_accuracy": train_accuracy, "test_accuracy": test_accuracy}
    both = [real(name, y, at_least=0, at_most=1, advice=advice) for name, y in given.items()]
    if both[0].shape != both[1].shape:
        words = f"have the shape {both[0].shape} of `train_accuracy`"
        raise argument_error("test_accuracy", words, both[1].shape)
    first, second = (passing(time, y, level, name) for name, y in zip(given, both, strict=True))
    reached = np.isfinite(first.time) & np.isfinite(second.time)
    delay = np.where(reached, second.time, np.inf) - np.where(reached, first.time, 0)
    uncertainty = np.where(reached, np.hypot(first.uncertainty, second.uncertainty), np.inf)
    status = np.where(reached, second.status, Status.TOO_SHORT)
    with np.errstate(divide="ignore", invalid="ignore"):  # times may be 0
        ratio = np.where(delay == 0, 1.0, second.time / first.time)
    ratio = np.where(reached, ratio, np.inf)
    return MeasuredDelay(delay[()], uncertainty[()], status[()], ratio[()])


def _finite(name: str, curve: Any) -> Any:
    return real(name, curve, advice="Remove or repair non-finite records first.")


def _level(level: Any) -> Any:
    return real("level", level, advice="Pass a number such as 0.95.")


def _record(time: Any, curve: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    t = moderate("time", time, at_least=0, advice="Pass the recorded times.")
    y = _finite(name, curve)
    if t.ndim != 1 or t.size < 2 or np.any(np.diff(t) <= 0):
        raise argument_error("time", "increase strictly and have at least two entries", time)
    if y.ndim < 1 or y.shape[-1] != t.size or y.size == 0:
        raise argument_error(name, f"have the shape (..., {t.size}) of `time`", y.shape)
    return t, y


def _one_crossing(t: np.ndarray, y: np.ndarray, level: float) -> tuple[float, float, int]:
    below = np.flatnonzero(y < level)
    if below.size == 0:
        return float(t[0]), 0.0, Status.AT_START
    if below[-1] == t.size - 1:
        return np.inf, np.inf, Status.TOO_SHORT
    i = below[-1]
    last = _interpolate(t, y, i, level)
    first_above = int(np.argmax(y >= level))
    first = _interpolate(t, y, first_above - 1, level) if first_above > 0 else float(t[0])
    cell, span = (t[i + 1] - t[i]) / np.sqrt(12), (last - first) / 2
    return last, float(np.sqrt(cell**2 + span**2 + _jitter(t, y, i) ** 2)), Status.REACHED


def _jitter(t: np.ndarray, y: np.ndarray, i: int) -> float:
    """Noise of the points around a crossing, divided by the slope there: a spread in time."""
    near = slice(max(i - NEIGHBOURS + 1, 0), i + NEIGHBOURS + 1)
    x, values = t[near], y[near]
    if x.size < 5:
        return 0.0
    bends = np.abs(np.diff(values, 2))
    noise = np.median(bends) / (
        0.6745 * np.sqrt(6)
    )  # second differences of white noise: variance 6
    slope = np.polynomial.polynomial.polyfit(x, values, 1)[1]
    return float(min(noise / abs(slope), x[-1] - x[0])) if slope else float(x[-1] - x[0])


def _interpolate(t: np.ndarray, y: np.ndarray, i: int, level: float) -> float:
    share = (level - y[i]) / (y[i + 1] - y[i])
    if t[i] > 0:
        return float(t[i] * (t[i + 1] / t[i]) ** share)
    return float(t[i] + share * (t[i + 1] - t[i]))
