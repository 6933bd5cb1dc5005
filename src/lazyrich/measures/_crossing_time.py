"""When a recorded, possibly noisy curve passes a level for good."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import Status, argument_error, is_traced, number, real

NEIGHBOURS = 8
"""Points on either side of a crossing from which its slope and noise are judged."""


class MeasuredCrossing(NamedTuple):
    """A time read off a record: estimate, uncertainty, `Status` code. Arrays over runs, or numbers."""

    time: Any
    uncertainty: Any
    status: Any


def crossing_time(time: Any, curve: Any, level: Any) -> MeasuredCrossing:
    """The time at which a rising curve passes a level for good, as after it the curve stays above.

    Between the last point below the level and the next one the curve is interpolated, in log time where
    time allows. For falling curves pass minus the curve and minus the level.

    Args:
        time: recorded times, increasing, shape (time,).
        curve: recorded values, shape (..., time); NaN is refused.
        level: the level, a number.

    Returns:
        Time, uncertainty and status, of the shape of `curve` without its last axis. The uncertainty adds
        in quadrature what reading off a grid may miss (a uniform spread over one cell), half the span
        over which the curve keeps passing the level to and fro, and the curve's point-to-point noise
        divided by its slope there. Status `AT_START`: above from the first
        record on (the time is that of the first record). `TOO_SHORT`: below at the end (the time is inf).

    Example:
        >>> from lazyrich.measures import crossing_time
        >>> crossing_time([0.0, 1.0, 2.0, 3.0], [0.0, 0.2, 0.6, 1.0], level=0.5).time
        np.float64(1.681792830507429)
    """
    t, y = _record(time, curve)
    level = number("level", level, advice="Pass a number such as 0.95.")
    rows = [_one_crossing(t, row, level) for row in y.reshape(-1, t.size)]
    times, uncertainties, statuses = (np.array(column) for column in zip(*rows, strict=True))
    shape = y.shape[:-1]
    return MeasuredCrossing(
        times.reshape(shape)[()], uncertainties.reshape(shape)[()], statuses.reshape(shape)[()]
    )


def grokking_delay(time: Any, train: Any, test: Any, level: Any) -> MeasuredCrossing:
    """How much later the test curve than the training curve passes a level for good.

    Args:
        time: recorded times, increasing, shape (time,).
        train: training accuracies, shape (..., time).
        test: test accuracies, of the same shape.
        level: the accuracy that counts as learned.

    Returns:
        The delay, negative where the test curve is first; its uncertainty, the two crossings' added in
        quadrature; and the status: `TOO_SHORT` and inf where either curve ends below the level,
        `AT_START` where the test curve is above it from the first record on.

    Example:
        >>> from lazyrich.measures import grokking_delay
        >>> delay = grokking_delay([0, 1, 2, 3], [0, 1, 1, 1], [0, 0, 0, 1], level=0.5)
        >>> round(float(delay.time), 4), round(float(delay.uncertainty), 4)
        (1.9495, 0.4082)
    """
    if np.shape(train) != np.shape(test):
        raise argument_error("test", f"have the shape {np.shape(train)} of `train`", np.shape(test))
    first, second = crossing_time(time, train, level), crossing_time(time, test, level)
    reached = np.isfinite(first.time) & np.isfinite(second.time)
    delay = np.where(reached, second.time, np.inf) - np.where(reached, first.time, 0)
    uncertainty = np.where(reached, np.hypot(first.uncertainty, second.uncertainty), np.inf)
    status = np.where(reached, second.status, Status.TOO_SHORT)
    return MeasuredCrossing(delay[()], uncertainty[()], status[()])


def _record(time: Any, curve: Any) -> tuple[np.ndarray, np.ndarray]:
    t = real("time", time, at_least=0, advice="Pass the recorded times.")
    y = real("curve", curve, advice="Remove or repair non-finite records first.")
    if is_traced(t, y):
        raise argument_error(
            "time and curve", "be known now", "traced arrays", "Measure outside `jit`."
        )
    if t.ndim != 1 or t.size < 2 or np.any(np.diff(t) <= 0):
        raise argument_error("time", "increase strictly and have at least two entries", time)
    if y.ndim < 1 or y.shape[-1] != t.size or y.size == 0:
        raise argument_error("curve", f"have the shape (..., {t.size}) of `time`", y.shape)
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
