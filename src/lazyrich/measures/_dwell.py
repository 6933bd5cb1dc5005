"""How long a curve stays near each of its levels, and where it stays long."""

from collections import deque

import numpy as np

SUBDIVISION = 8
"""Points per band of levels between two records: a fall within one cell of the grid is resolved too."""


def resting_stretches(
    clock: np.ndarray, mean: np.ndarray, error: np.ndarray, band: float, contrast: float
) -> list[tuple[int, int]]:
    """First and last record of the stretches in which a curve is slow compared with both sides.

    Args:
        clock: time of each record, in the clock in which to compare.
        mean: the curve, not necessarily monotone.
        error: its standard errors; two of them on either side do not count as motion.
        band: height of the band of levels within which the curve counts as resting.
        contrast: how many times longer than in the neighbouring falls the curve must stay within a band.
    """
    from scipy.signal import find_peaks

    steps = np.maximum(np.ceil(np.abs(np.diff(mean)) * SUBDIVISION / band), 1).astype(int)
    cell = np.repeat(np.arange(mean.size - 1), steps)
    within = np.arange(cell.size) - np.repeat(np.cumsum(steps) - steps, steps)
    place = np.append(cell + within / steps[cell], mean.size - 1.0)  # in units of records
    u, x, e = (np.interp(place, np.arange(mean.size), values) for values in (clock, mean, error))
    first, last = _longest_stretches(u, x - 2 * e, x + 2 * e, band)
    logarithm = np.log(np.maximum(u[last] - u[first], np.finfo(float).tiny))
    padded = np.concatenate([[-1e4], logarithm, [-1e4]])  # the ends of the record count as fast
    peaks = find_peaks(padded, prominence=np.log(contrast))[0] - 1
    rounding = 1e-9
    starts = np.ceil(place[first[peaks]] - rounding).astype(int)
    stops = np.floor(place[last[peaks]] + rounding).astype(int)
    return [(int(a), int(b)) for a, b in zip(starts, stops, strict=True) if b > a]


def _longest_stretches(
    clock: np.ndarray, low: np.ndarray, high: np.ndarray, band: float
) -> tuple[np.ndarray, np.ndarray]:
    """For each point the longest stretch around it that fits into a band of levels: first and last point."""
    past = _reaches(low, high, band)
    duration = clock[past - 1] - clock
    first, waiting = np.zeros(clock.size, int), deque()
    for i in range(clock.size):  # the longest of the stretches that begin before i and reach it
        while waiting and duration[waiting[-1]] <= duration[i]:
            waiting.pop()
        waiting.append(i)
        while past[waiting[0]] <= i:
            waiting.popleft()
        first[i] = waiting[0]
    return first, past[first] - 1


def _reaches(low: np.ndarray, high: np.ndarray, band: float) -> np.ndarray:
    """For each point the end of the longest stretch beginning there whose levels fit into a band."""
    past, stop = np.zeros(low.size, int), 0
    highest, lowest = deque(), deque()  # candidates for the extremes of the stretch, in order
    for start in range(low.size):
        while stop < low.size:
            top = max(low[highest[0]], low[stop]) if highest else low[stop]
            bottom = min(high[lowest[0]], high[stop]) if lowest else high[stop]
            if stop > start and top - bottom > band:
                break
            while highest and low[highest[-1]] <= low[stop]:
                highest.pop()
            while lowest and high[lowest[-1]] >= high[stop]:
                lowest.pop()
            highest.append(stop)
            lowest.append(stop)
            stop += 1
        past[start] = stop
        for queue in (highest, lowest):
            if queue and queue[0] == start:
                queue.popleft()
    return past
