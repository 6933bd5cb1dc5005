"""From saddle to saddle: which mode a linear network learns next, and when."""

from typing import NamedTuple

import numpy as np

from lazyrich.theory._linear_fixed_points import LinearFixedPoints

DUST = 1e-13
"""Parts of unit vectors below this are rounding errors. Left in, they would grow exponentially."""


class Saddle(NamedTuple):
    """How units grow near a fixed point: rates, largest first, and directions as columns (Eq. 32, 42).

    Of each growing direction also the mode it points to, the share of it in that mode, and the logarithm of
    the size at which it stops.
    """

    rates: np.ndarray
    directions: np.ndarray
    targets: np.ndarray
    shares: np.ndarray
    log_sizes: np.ndarray


class Drop(NamedTuple):
    """One mode is learned: which, how fast, when its logistic is at ½, the share of the escape in it."""

    mode: int
    rate: float
    centre: float
    share: float


class Saddles:
    """The saddles of a task, each computed when it is first visited."""

    def __init__(self, points: LinearFixedPoints):
        self._points, self._known = points, {}
        increments = points.eigenvectors.T @ points.map(range(points.num_modes))
        self._log_sizes = np.log(np.linalg.norm(increments, axis=1))

    def __getitem__(self, modes: tuple[int, ...]) -> Saddle:
        if modes not in self._known:
            self._known[modes] = self._saddle(modes)
        return self._known[modes]

    def _saddle(self, modes: tuple[int, ...]) -> Saddle:
        points = self._points
        outputs = points.correlation.shape[0]
        rates, directions = np.linalg.eigh(_blocks(points.residual_correlation(modes)))
        rates, directions = rates[::-1], directions[:, ::-1]
        growing = points.num_modes - len(modes)
        shares = 2 * (points.eigenvectors.T @ directions[:outputs, :growing]) ** 2
        shares[list(modes)] = 0  # already learned
        targets = shares.argmax(axis=0)
        return Saddle(rates, directions, targets, shares.max(axis=0), self._log_sizes[targets])


def walk(saddles: Saddles, start: np.ndarray, log_gains: np.ndarray) -> list[Drop]:
    """The drops from a start, in order: at each saddle the direction that arrives first wins.

    Args:
        saddles: of the task.
        start: units at time 0, shape (units, outputs + inputs), second layer first.
        log_gains: one number for each drop at most, added to the logarithm of the winner's squared length.
    """
    drops, time, saddle = [], 0.0, saddles[()]
    size = float(np.abs(start).max()) or 1.0
    parts, log_scale = _clean(start / size @ saddle.directions), np.log(size)
    # product of the start in a typical direction: for modes that end below it the start is not small
    log_floor = np.log(max(np.sum(parts**2), 1e-300) / (2 * parts.shape[1])) + 2 * log_scale
    for log_gain in log_gains:
        wait, j = _first(saddle, parts, 2 * log_scale + log_gain, log_floor + log_gains[0])
        if np.isinf(wait):
            break  # the start has no part in what is left to learn
        rate = saddle.rates[j]
        drops.append(Drop(int(saddle.targets[j]), rate, time + wait, saddle.shares[j]))
        wait = max(wait, 0.0)
        # what other units than the winner's do, scaled so that nothing overflows
        parts = _without_profile(parts, j) * np.exp((saddle.rates - rate) * wait)
        size = np.linalg.norm(parts) or 1.0
        before, saddle = saddle, saddles[tuple(sorted(drop.mode for drop in drops))]
        parts = parts / size @ _turn(before, saddle)
        time, log_scale = time + wait, log_scale + rate * wait + np.log(size)
    return drops


def _clean(parts: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(parts, axis=0)
    return np.where(lengths > DUST * lengths.max(), parts, 0)


def _first(
    saddle: Saddle, parts: np.ndarray, log_square: float, log_floor: float
) -> tuple[float, int]:
    """How long until a direction is at its final size, for the first that gets there, and its number."""
    growing = saddle.targets.size
    with np.errstate(divide="ignore"):  # no part in a direction: it never arrives
        log_products = np.log(np.sum(parts[:, :growing] ** 2, axis=0) / 2) + log_square
    waits = (saddle.log_sizes - log_products) / (2 * saddle.rates[:growing])
    grown = np.where(saddle.log_sizes > log_floor, waits, np.inf)
    chosen = grown if np.isfinite(grown).any() else waits  # modes that need not grow come last
    return float(chosen.min()), int(chosen.argmin())


def _without_profile(parts: np.ndarray, j: int) -> np.ndarray:
    """The units without what is proportional, unit by unit, to their part in direction j."""
    profile = parts[:, j] / np.linalg.norm(parts[:, j])
    rest = parts - np.outer(profile, profile @ parts)
    rest[:, j] = 0  # exactly: a rounding error here would grow fastest
    return rest


def _turn(before: Saddle, after: Saddle) -> np.ndarray:
    """From one saddle's directions to the next one's; exact zeros keep a small direction free of others."""
    overlap = before.directions.T @ after.directions
    overlap[np.abs(overlap) < DUST] = 0
    return overlap


def _blocks(correlation: np.ndarray) -> np.ndarray:
    """The matrix of Eq. 32."""
    outputs, inputs = correlation.shape
    zeros = np.zeros
    return np.block(
        [[zeros((outputs, outputs)), correlation], [correlation.T, zeros((inputs, inputs))]]
    )
