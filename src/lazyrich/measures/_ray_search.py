"""The few points, rays or lines that are nearest to many units."""

from collections.abc import Callable

import numpy as np

from lazyrich.measures._units import lengths

SETTLED = 1e-12
"""Relative gain below which an alternation has converged."""

ROUNDS = 100
"""Rounds after which an alternation is stopped; it never gets worse, so that what it has is a bound."""

STARTS = 10
"""Largest units at which a search is started."""

Residuals = Callable[[np.ndarray, np.ndarray], np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray], np.ndarray]


def search(
    theta: np.ndarray, first: np.ndarray, number: int, residuals: Residuals, fit: Fit
) -> float:
    """Smallest sum of squared distances found, one centre after the other: an upper bound.

    The first centre is the best for all units. A new one starts at the unit that is farthest from all; then
    units choose their nearest centre and centres fit their units, in turns. No step increases the sum, so
    neither does a larger number. As turns end in the nearest minimum, centres at the largest units and those
    farthest from them are tried too.
    """
    centres = first[None]
    largest = theta[np.argsort(-lengths(theta), kind="stable")[:STARTS]]
    for number_now in range(2, number + 1):
        starts = [_farther(theta, centres, number_now, residuals, fit)]
        starts += [
            _farther(theta, fit(x[None], x)[None], number_now, residuals, fit) for x in largest
        ]
        ends = [_settled(theta, start, residuals, fit) for start in starts]
        centres = min(ends, key=lambda end: _total(theta, end, residuals))
    return _total(theta, centres, residuals)


def _farther(
    theta: np.ndarray, centres: np.ndarray, number: int, residuals: Residuals, fit: Fit
) -> np.ndarray:
    """Centres, and farthest units until they are as many as wanted."""
    while len(centres) < number:
        farthest = theta[np.argmax(np.min(residuals(theta, centres), axis=1))]
        centres = np.stack([*centres, fit(farthest[None], farthest)])
    return centres


def _total(theta: np.ndarray, centres: np.ndarray, residuals: Residuals) -> float:
    return float(np.sum(np.min(residuals(theta, centres), axis=1)))


def _settled(theta: np.ndarray, centres: np.ndarray, residuals: Residuals, fit: Fit) -> np.ndarray:
    last = np.inf
    for _ in range(ROUNDS):
        squares = residuals(theta, centres)
        nearest, total = np.argmin(squares, axis=1), float(np.sum(np.min(squares, axis=1)))
        if not total < (1 - SETTLED) * last:
            break
        last = total
        groups = [theta[nearest == k] for k in range(len(centres))]
        centres = np.stack(
            [fit(x, c) if len(x) else c for x, c in zip(groups, centres, strict=True)]
        )
    return centres


def best_line(theta: np.ndarray) -> np.ndarray:
    """Direction of the line nearest to all units: the first singular vector."""
    return np.linalg.svd(theta, full_matrices=False)[2][0]


def best_ray(theta: np.ndarray) -> np.ndarray:
    r"""Direction d of the ray nearest to all units, which maximises $\sum_i \max(\theta_i \cdot d, 0)^2$.

    The sum has several maxima, one for each set of units that a half space can hold. So the power iteration
    $d \to \sum_i \theta_i \max(\theta_i \cdot d, 0)$, which never decreases it, starts at each unit, at the
    first singular vector and at its opposite. If no two units are at more than a right angle, the singular
    vector is the answer.
    """
    line = best_line(theta)
    starts = _normalised(np.stack([*theta, line, -line]))
    for _ in range(ROUNDS // 4):
        starts = _normalised(np.maximum(starts @ theta.T, 0) @ theta)
    return near_ray(theta, starts[np.argmax(_held(theta, starts))])


def near_ray(theta: np.ndarray, current: np.ndarray) -> np.ndarray:
    """The current ray, or better: that of the line nearest to the units in its half space, while it gains."""
    direction = _normalised(current[None])[0]
    for _ in range(ROUNDS):
        inside = theta[theta @ direction > 0]
        if not len(inside):
            break
        line = best_line(inside)
        line = line if line @ direction >= 0 else -line
        if not _held(theta, line[None])[0] > (1 + SETTLED) * _held(theta, direction[None])[0]:
            break
        direction = line
    return direction


def nearest_pair(theta: np.ndarray, *, signed: bool) -> float:
    """Smallest squared distance at which two of the units share a ray, or a line."""
    theta = theta[np.argsort(-lengths(theta))]
    return min(
        float(np.min(_pair(theta[i], theta[i + 1 :], signed))) for i in range(len(theta) - 1)
    )


def _pair(large: np.ndarray, small: np.ndarray, signed: bool) -> np.ndarray:
    """Squared second singular value of two rows; of two that point apart on rays the smaller must vanish."""
    A, B, product = large @ large, np.sum(small**2, axis=1), small @ large
    if A == 0:
        return np.zeros(len(small))
    across = lengths(small - np.outer(product / A, large)) ** 2
    first = (A + B) / 2 + np.sqrt(((A - B) / 2) ** 2 + product**2)
    together = A * across / first
    return together if signed else np.where(product >= 0, together, B)


def _held(theta: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """What rays take of the squared norm."""
    return np.sum(np.maximum(theta @ directions.T, 0) ** 2, axis=0)


def _normalised(vectors: np.ndarray) -> np.ndarray:
    norms = lengths(vectors)[:, None]
    return vectors / np.where(norms > 0, norms, 1.0)
