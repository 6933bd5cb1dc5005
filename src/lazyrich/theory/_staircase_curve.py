"""The loss of a staircase: one logistic for each drop, and what follows from their sum."""

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from lazyrich.theory._bisection import bisect
from lazyrich.theory._staircase_walk import Drop


def _logistics(drops: Sequence[Drop], t: np.ndarray) -> np.ndarray:
    """The logistic of each drop, on a new last axis."""
    rates, centres = np.array([(drop.rate, drop.centre) for drop in drops]).T
    return expit(2 * rates * (t[..., None] - centres))


def fall(drops: Sequence[Drop], t: np.ndarray) -> np.ndarray:
    """How far the loss has fallen."""
    x = _logistics(drops, t)
    return x * (2 - x) @ np.array([drop.gain for drop in drops]) / 2  # x(2 − x) = 1 − (1 − x)²


def speed(drops: Sequence[Drop], t: np.ndarray) -> np.ndarray:
    """How fast the loss falls."""
    x = _logistics(drops, t)
    return 2 * x * (1 - x) ** 2 @ np.array([drop.rate * drop.gain for drop in drops])


def halfway_times(drops: Sequence[Drop]) -> np.ndarray:
    """When the curve passes the middle between neighbouring plateaus, by bisection: it falls everywhere."""
    heights = np.array([drop.gain for drop in drops]) / 2
    middles = np.cumsum(heights) - heights / 2
    last = np.full(len(drops), max(d.centre + 40 / d.rate for d in drops))
    # more halvings than a double has digits
    return bisect(lambda t: fall(drops, t) < middles, 0 * last, last, steps=100)[1]


def visible_plateaus(drops: Sequence[Drop]) -> np.ndarray:
    """Whether the loss falls less than half as fast as at some time before and after, for each plateau."""
    from scipy.signal import find_peaks

    t = np.unique([drop.centre + np.linspace(-10, 10, 401) / drop.rate for drop in drops])
    centres = np.maximum.accumulate([drop.centre for drop in drops])
    t = np.unique(np.concatenate([t, (centres[1:] + centres[:-1]) / 2]))
    log_speed = np.log(np.maximum(speed(drops, t), 1e-300))
    peaks, _ = find_peaks(log_speed, prominence=np.log(2))
    seen = np.zeros(len(drops) + 1, bool)
    seen[[0, -1]] = True
    for begin, end in itertools.pairwise(peaks):
        slowest = t[begin + log_speed[begin:end].argmin()]
        seen[np.searchsorted(centres, slowest)] = True
    return seen
