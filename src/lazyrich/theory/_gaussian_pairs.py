"""Means of products of an activation at two correlated normal numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import argument_error, compute
from lazyrich.theory._quadrature import normal_panels

REACH, ORDER = 12.0, 20
"""Standard deviations covered on each side, and nodes on each panel."""


def evaluate(sigma: Callable[[Any], Any], z: np.ndarray) -> np.ndarray:
    """The activation at given points, in float64."""
    value = np.asarray(compute(sigma, z, jit=False), float)
    value = np.broadcast_to(value, z.shape)  # a constant is an activation too
    if not np.all(np.isfinite(value)):
        raise argument_error(
            "activation", "be finite", "infinite or undefined values", "Give it an argument of moderate size."
        )  # fmt: skip
    return value


def mean_square(sigma: Callable[[Any], Any], s: float, panels: int = 16) -> float:
    """The mean E σ(sZ)², a."""
    z, weight = normal_panels(np.linspace(-REACH, REACH, panels + 1), ORDER)
    return float(np.sum(weight * evaluate(sigma, s * z) ** 2))


def mean_product(
    sigma: Callable[[Any], Any], s: float, rho: float, panels: int = 8
) -> tuple[float, float]:
    """The mean b = E σ(sZ₁)σ(sZ₂) at correlation ρ, and a − b.

    What both numbers share, √|ρ|·z₀, is integrated last. A kink of σ at 0 lies at an edge of the inner panels
    and is smooth after them. For ρ ≥ 0 the difference is the mean variance given z₀: nothing cancels.
    """
    shared, own = np.sqrt(abs(rho)), np.sqrt(1 - abs(rho))
    z0, weight = normal_panels(_graded(panels), ORDER)
    z, inner = _around(-shared * z0 / own if own > 0 else np.zeros_like(z0), panels)
    value = evaluate(sigma, s * (shared * z0[:, None] + own * z))
    mean = np.sum(inner * value, axis=1)
    if rho < 0:
        b = float(np.sum(weight * mean * mean[::-1]))  # the nodes are symmetric
        return b, mean_square(sigma, s, 2 * panels) - b
    variance = np.sum(inner * (value - mean[:, None]) ** 2, axis=1)
    return float(np.sum(weight * mean**2)), float(np.sum(weight * variance))


def hermite_coefficients(sigma: Callable[[Any], Any], s: float, count: int) -> np.ndarray:
    """a_l = E σ(sZ)φ_l(Z) for l < count, φ_l the orthonormal Hermite polynomials."""
    z, weight = normal_panels(np.linspace(-REACH, REACH, 65), ORDER)
    value = weight * evaluate(sigma, s * z)
    before, phi, found = np.zeros_like(z), np.ones_like(z), []
    for order in range(count):
        found.append(np.sum(value * phi))
        before, phi = phi, (z * phi - np.sqrt(order) * before) / np.sqrt(order + 1)
    return np.array(found)


def _graded(panels: int) -> np.ndarray:
    """Edges that are dense at 0, where the smoothed activation bends when ρ is near 1."""
    fine = REACH / panels * 0.5 ** np.arange(1, 25)[::-1]
    positive = np.concatenate([fine, np.linspace(REACH / panels, REACH, panels)])
    return np.concatenate([-positive[::-1], [0.0], positive])


def _around(kink: np.ndarray, panels: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights with an edge at each kink, shape (kinks, nodes)."""
    kink = np.clip(kink, -REACH, REACH)[:, None]
    share = np.linspace(0, 1, panels + 1)
    low, high = -REACH + (kink + REACH) * share, kink + (REACH - kink) * share[1:]
    return normal_panels(np.concatenate([low, high], axis=1), ORDER)
