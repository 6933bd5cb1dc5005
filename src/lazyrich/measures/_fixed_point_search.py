"""From a plateau to the fixed point it belongs to, by Newton's method with Hessian products."""

from typing import NamedTuple

import numpy as np

from lazyrich.measures._extreme_eigenvalues import Product, operator, spectral_norm
from lazyrich.measures._landscape import Landscape

MAX_STEPS = 60
MAX_PRODUCTS = 1000
REDUCTION = 1e-10
"""A gradient that has fallen to this share counts as zero, also where rounding would allow less."""
PROGRESS = 0.5
"""A step must leave at most this share of the gradient, or of the distance.

Newton's method leaves 1/4 of the gradient near a cubic saddle, and at most 1/e near one of any higher
order (((p − 2)/(p − 1))^(p − 1) for order p)."""
SHRINKS = 0.95
"""The last step is at most this share of the one before. Near a saddle of order p Newton's steps shrink by
(p − 2)/(p − 1); towards a gradient that vanishes at infinity only, as of e⁻ˣ, they do not."""


class FixedPoint(NamedTuple):
    """Where Newton's method ended, where it stood before its last step, and what that step left."""

    weights: np.ndarray
    previous: np.ndarray
    share: float


class _Trial(NamedTuple):
    weights: np.ndarray
    gradient_norm: float


def find_fixed_point(
    landscape: Landscape, start: np.ndarray, floor: float, radius: float
) -> FixedPoint | None:
    """A fixed point within a radius, or None where neither Newton's method ends at one nor zero is one.

    Args:
        landscape: the derivatives.
        start: weights, flat.
        floor: gradients up to this norm count as zero.
        radius: how far from the start the search may go.
    """
    norm = landscape.gradient_norm(start)
    goal = max(floor, REDUCTION * norm)
    found = _newton(landscape, _Trial(start, norm), goal, radius)
    if found is None and np.linalg.norm(start) <= radius:
        # kinks, as of rectified units, may bar the way to zero
        zero = np.zeros_like(start)
        if landscape.gradient_norm(zero) <= goal:
            return FixedPoint(zero, start, 0.0)
    return found


def _newton(landscape: Landscape, start: _Trial, goal: float, radius: float) -> FixedPoint | None:
    here, previous, share, lengths = start, start, 0.0, [0.0]
    for _ in range(MAX_STEPS):
        if here.gradient_norm <= goal:
            if not _comes_to_rest(landscape, here.weights, lengths):
                return None
            return FixedPoint(here.weights, previous.weights, min(share, PROGRESS))
        product, g = landscape.product(here.weights), landscape.gradient(here.weights)
        trials = _trials(landscape, here.weights, _newton_steps(product, g), start.weights, radius)
        if not trials:
            return None
        best = min(trials, key=lambda trial: trial.gradient_norm)
        if best.gradient_norm > max(PROGRESS * here.gradient_norm, goal):
            best = trials[-1]
            if not _comes_closer(landscape, product, here.weights, best):
                return None
        previous, share, here = here, best.gradient_norm / here.gradient_norm, best
        lengths.append(float(np.linalg.norm(here.weights - previous.weights)))
    return None


def _comes_to_rest(landscape: Landscape, here: np.ndarray, lengths: list[float]) -> bool:
    """Whether the last step was shorter than the one before, or else the next would be."""
    if len(lengths) <= 2 or lengths[-1] <= SHRINKS * lengths[-2]:
        return True
    following = _newton_steps(landscape.product(here), landscape.gradient(here))
    return bool(following) and bool(np.linalg.norm(following[-1]) <= SHRINKS * lengths[-1])


def _trials(
    landscape: Landscape,
    here: np.ndarray,
    steps: list[np.ndarray],
    start: np.ndarray,
    radius: float,
) -> list[_Trial]:
    """Where the steps lead, as long as that is within the radius; steps that are not finite are not."""
    ends = [here + step for step in steps]
    inside = [end for end in ends if np.linalg.norm(end - start) <= radius]
    return [_Trial(end, landscape.gradient_norm(end)) for end in inside]


def _comes_closer(landscape: Landscape, product: Product, here: np.ndarray, trial: _Trial) -> bool:
    """Whether the next step, with the same Hessian, would be much shorter than this one.

    In a curved valley the gradient may grow although the fixed point comes closer.
    """
    if not np.isfinite(trial.gradient_norm):
        return False
    following = _newton_steps(product, landscape.gradient(trial.weights))[-1]
    return bool(np.linalg.norm(following) <= PROGRESS * np.linalg.norm(trial.weights - here))


def _newton_steps(product: Product, gradient: np.ndarray) -> list[np.ndarray]:
    """Solutions of Hd = −g by minimal residuals, after 1, 2, 4, … products and at the end.

    Early ones leave out directions of small curvature, in which the model is least to be trusted.
    """
    from scipy.sparse.linalg import minres

    size, length = gradient.size, float(np.linalg.norm(gradient))
    scale = spectral_norm(product, size, steps=3)
    if scale == 0:
        return []
    # `minres` compares with the rounding error of 1, so matrix and right side are made of order 1
    matrix = operator(lambda x: product(x) / scale, size)
    steps: list[np.ndarray] = []
    count = 0

    def keep(x: np.ndarray) -> None:
        nonlocal count
        count += 1
        if count & (count - 1) == 0:
            steps.append(length / scale * x)

    limit = min(5 * size, MAX_PRODUCTS)
    with np.errstate(all="ignore"):  # it may divide by zero where the solution is already exact
        last, _ = minres(matrix, -gradient / length, rtol=1e-8, maxiter=limit, callback=keep)
    return [*steps, length / scale * last]
