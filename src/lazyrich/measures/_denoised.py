"""A recorded curve without its noise: means over as many records as agree with one another."""

from typing import NamedTuple

import numpy as np

LEVEL_GROUPS = 6
"""Noise may depend on the level, as minibatch noise does: it is judged in so many ranges of it."""
FEWEST = 8
"""A range of levels with fewer records says nothing about the noise."""
SPIKE = 5.0
"""A record that is farther from the median of its neighbourhood, in units of the noise, is replaced by it."""
AGREEMENT = 1.5
"""Half-width of the intervals whose intersection decides how many records are averaged, in standard errors.

Staircases with known steps and 1–10 % noise: 1 breaks plateaus up, 3 smears steps of two to three times the
noise into their neighbours.
"""
GROWTH = 1.4
"""Windows grow by this factor from one comparison to the next."""


class Denoised(NamedTuple):
    """Arrays over records."""

    records: np.ndarray
    """The curve without its spikes."""
    mean: np.ndarray
    """Its local means."""
    error: np.ndarray
    """Their standard errors."""
    noise: np.ndarray
    """The noise of single records, as a standard deviation."""


def denoised(curve: np.ndarray) -> Denoised:
    """Local means of a curve, over windows that end where the curve moves.

    A monotone curve without noise is returned as it is: medians keep it, and the noise, judged by second
    differences, is small where most of it is smooth. Noise counts as independent from record to record.
    """
    median = _median_of_five(curve)
    noise = _noise(curve, median)
    records = np.where(np.abs(curve - median) > SPIKE * noise, median, curve)
    return Denoised(records, *_local_means(records, noise), noise)


def _median_of_five(curve: np.ndarray) -> np.ndarray:
    padded = np.pad(curve, 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=-1)


def _noise(curve: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Median of differences among records of similar level; steps are too few to move a median.

    Of second differences, which a steady fall leaves at zero, or of first ones where that is less: a step
    makes two second differences large, with three records on a stair more than half of all, but only one
    first difference.
    """
    bends = np.abs(np.diff(curve, 2)) / (0.6745 * np.sqrt(6))  # second differences: variance 6
    moves = np.abs(np.diff(curve))[:-1] / (0.6745 * np.sqrt(2))
    inner, lowest, span = level[1:-1], np.min(level), np.ptp(level)
    group = np.zeros(inner.size, int)
    if span > 0:
        group = np.minimum((LEVEL_GROUPS * (inner - lowest) / span).astype(int), LEVEL_GROUPS - 1)
    known = [group == g for g in range(LEVEL_GROUPS) if np.sum(group == g) >= FEWEST]
    known = known or [np.ones(inner.size, bool)]
    levels = [np.median(inner[members]) for members in known]
    noises = [min(np.median(bends[members]), np.median(moves[members])) for members in known]
    return np.interp(level, levels, noises)


def _local_means(curve: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean over the largest window, to both sides or to one, that agrees with all smaller ones."""
    mean, error = curve.copy(), noise.copy()
    sums, squares = (np.concatenate([[0.0], np.cumsum(values)]) for values in (curve, noise**2))
    here = np.arange(curve.size)
    for left, right in ((1, 1), (1, 0), (0, 1)):
        low, high = curve - AGREEMENT * noise, curve + AGREEMENT * noise
        agrees, reach = np.ones(curve.size, bool), 1
        while reach < 2 * curve.size and agrees.any():
            first = np.maximum(here - left * reach, 0)
            past = np.minimum(here + right * reach, curve.size - 1) + 1
            number = past - first
            wide = (sums[past] - sums[first]) / number
            wide_error = np.sqrt(np.maximum(squares[past] - squares[first], 0)) / number
            low = np.maximum(low, wide - AGREEMENT * wide_error)
            high = np.minimum(high, wide + AGREEMENT * wide_error)
            agrees &= low <= high
            better = agrees & (wide_error < error)
            mean[better], error[better] = wide[better], wide_error[better]
            reach = max(reach + 1, int(GROWTH * reach))
    return mean, error
