"""From saddle to saddle: which mode a linear network learns next, and when."""

from typing import NamedTuple

import numpy as np

from lazyrich.theory._dust import without_dust
from lazyrich.theory._saddles import Saddle, Saddles


class Drop(NamedTuple):
    """One mode is learned: which, its μ, how fast, when its logistic is at ½, the escape's share in it."""

    mode: int
    gain: float
    rate: float
    centre: float
    share: float


def walk(saddles: Saddles, start: np.ndarray, log_gains: np.ndarray) -> list[Drop]:
    """The drops from a start, in order: at each saddle the direction that arrives first wins.

    Args:
        saddles: of the task.
        start: units at time 0, shape (units, outputs + inputs), second layer first.
        log_gains: one number for each drop at most, added to the logarithm of the winner's squared length.
    """
    drops, time = [], 0.0
    size = float(np.abs(start).max()) or 1.0
    saddle, parts = saddles.first(start / size)
    log_scale = np.log(size)
    # product of the start in a typical direction: for modes that end below it the start is not small
    log_floor = np.log(max(np.sum(parts**2), 1e-300) / (2 * parts.shape[1])) + 2 * log_scale
    for log_gain in log_gains:
        wait, j = _first(saddle, parts, 2 * log_scale + log_gain, log_floor + log_gains[0])
        if np.isinf(wait):
            break  # the start has no part in what is left to learn
        rate = saddle.rates[j]
        drops.append(
            Drop(int(saddle.modes[j]), saddle.gains[j], rate, time + wait, saddle.shares[j])
        )
        wait = max(wait, 0.0)
        # what other units than the winner's do, scaled so that nothing overflows
        parts = _without_profile(parts, j) * np.exp((saddle.rates - rate) * wait)
        size = np.linalg.norm(parts) or 1.0
        saddle, parts = saddles.after(saddle, j, parts / size)
        time, log_scale = time + wait, log_scale + rate * wait + np.log(size)
    return drops


def _first(
    saddle: Saddle, parts: np.ndarray, log_square: float, log_floor: float
) -> tuple[float, int]:
    """How long until a direction is at its final size, for the first that gets there, and its number."""
    growing = saddle.modes.size
    with np.errstate(divide="ignore"):  # no part in a direction: it never arrives
        log_products = np.log(np.sum(parts[:, :growing] ** 2, axis=0) / 2) + log_square
    waits = (saddle.log_sizes - log_products) / (2 * saddle.rates[:growing])
    grown = np.where(saddle.log_sizes > log_floor, waits, np.inf)
    chosen = grown if np.isfinite(grown).any() else waits  # modes that need not grow come last
    return float(chosen.min()), int(chosen.argmin())


def _without_profile(parts: np.ndarray, j: int) -> np.ndarray:
    """The units without what is proportional, unit by unit, to their part in direction j."""
    profile = parts[:, j] / np.linalg.norm(parts[:, j])
    used = np.outer(profile, profile @ parts)
    rest = without_dust(parts - used, np.abs(parts) + np.abs(used))
    rest[:, j] = 0  # exactly: a rounding error here would grow fastest
    return rest
