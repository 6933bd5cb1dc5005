"""One mode of a balanced linear network with three layers or more."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Crossing, Status, is_traced
from lazyrich.theory._bisection import bisect

BISECTIONS, NEWTON_STEPS, TERMS = 60, 2, 24
LATE = 36.0
"""From this ℓ on s/ρ rounds to 1."""


def deep_mode(start: Any, target: Any, depth: int, time: Any) -> tuple[Any, Any]:
    r"""s(t) and ρ − s(t) for ds/dt = L·s^{2−2/L}(ρ − s), 0 < s(0) and 0 < ρ, each with its digits.

    The coordinate ℓ = log(s/|ρ − s|) turns the flow into T(ℓ) = T(ℓ(0)) + ρ^{2−2/L}·t with a T that is
    known in closed form; ℓ is found by bisection and polished by Newton's rule. NumPy computes it, without
    compiling, unless it is being traced.
    """
    xp = _library(start, target, time)
    tau = target ** (2 - 2 / depth) * time
    start, target, tau = xp.broadcast_arrays(start, target, tau)
    below, at_rest = start < target, start == target
    final = _advance(_coordinate(xp, start, target), tau, below, depth)
    # ρ − s is ρ/(1 + exp ℓ) below ρ and −ρ/(exp ℓ − 1) above
    above = -1 / xp.expm1(xp.minimum(xp.where(below, 1.0, final), 700.0))
    rising = xp.exp(-xp.logaddexp(xp.zeros_like(final), final))
    rest = xp.where(at_rest, 0.0, target * xp.where(below, rising, above)) + 0 * tau
    strength = xp.where(at_rest, target, target * xp.exp(_log_share(xp, final, below))) + 0 * tau
    return strength, rest


def vanishing_mode(start: Any, depth: int, time: Any) -> Any:
    """s(t) for ρ = 0: ds/dt = −L·s^{3−2/L}."""
    xp, power = _library(start, time), (2 * depth - 2) / depth
    return start * xp.exp(-xp.log1p(depth * power * start**power * time) / power)


def deep_time_of_share(start: Any, target: Any, depth: int, share: Any) -> Crossing:
    """When s first is this share of ρ > 0."""
    xp = _library(start, target)
    at_start, never = start >= share * target, start == 0
    safe = xp.where(at_start | never, share * target / 2, start)
    begin, end = _coordinate(xp, safe, target), xp.full_like(safe, np.log(share) - np.log1p(-share))
    spent = _clock(xp, end, True, depth) - _clock(xp, begin, True, depth)
    time = xp.where(at_start, 0.0, xp.where(never, np.inf, spent / target ** (2 - 2 / depth)))
    status = xp.where(at_start, Status.AT_START, xp.where(never, Status.NEVER, Status.REACHED))
    return Crossing(time, status)


def _library(*values: Any) -> Any:
    return jnp if is_traced(values) else np


def _coordinate(xp: Any, start: Any, target: Any) -> Any:
    gap = xp.abs(target - start)
    gap = xp.where(gap > 0, gap, target)
    # far above ρ the quotient is near 1, and its logarithm would lose digits
    return xp.where(start > target, xp.log1p(target / gap), xp.log(start / gap))


def _log_share(xp: Any, ell: Any, below: Any) -> Any:
    """log(s/ρ)."""
    above = xp.where(below, 1.0, ell)
    near = above > np.log(2.0)
    falling = -xp.where(
        near, xp.log1p(-xp.exp(-xp.where(near, above, 1.0))), xp.log(-xp.expm1(-above))
    )
    inside = xp.where(below, ell, 1.0)
    return xp.where(below, -xp.logaddexp(xp.zeros_like(inside), -inside), falling)


def _clock(xp: Any, ell: Any, below: Any, depth: int) -> Any:
    """T(ℓ) = ∫ dx/(x^{L−1}(1 − x^L)), x = (s/ρ)^{1/L}, up to a constant on each side of ρ."""
    log_x = _log_share(xp, ell, below) / depth
    late = ell > LATE  # |1 − x| is exp(−ℓ)/L
    gap = xp.log(xp.abs(xp.expm1(xp.where(late, 1.0, log_x))))
    gap = xp.where(late, -ell - np.log(depth), gap)
    far = log_x > np.log(5.0) / depth  # there 24 terms of the series give all digits
    near = _by_roots(xp, xp.where(far, np.log(2.0), log_x), xp.where(far, 0.0, gap), depth)
    distant = _by_series(xp, xp.where(far, log_x, np.log(2.0)), depth)
    return xp.where(below, near, xp.where(far, distant, near - _offset(depth)))


def _by_roots(xp: Any, log_x: Any, log_gap: Any, depth: int) -> Any:
    """Partial fractions over the L-th roots of unity ω: x^{2−L}/(2−L) − (1/L) Σ ω² log|1 − x/ω|."""
    angle = 2 * np.pi * np.arange(1, depth) / depth
    c, s, c2, s2 = (f(a).astype(log_x.dtype) for a in (angle, 2 * angle) for f in (np.cos, np.sin))
    x = xp.exp(log_x)[..., None]
    size, turn = xp.log1p(x * (x - 2 * c)) / 2, xp.arctan2(x * s, 1 - x * c)
    others = xp.sum(c2 * size - s2 * turn, axis=-1)
    return -(log_gap + others) / depth - xp.exp((2 - depth) * log_x) / (depth - 2)


def _by_series(xp: Any, log_x: Any, depth: int) -> Any:
    """The same for x^L ≥ 5, where the fractions cancel: Σ_{k≥2} x^{2−kL}/(kL − 2)."""
    powers = (depth * np.arange(2, 2 + TERMS) - 2).astype(log_x.dtype)
    return xp.sum(xp.exp(-powers * log_x[..., None]) / powers, axis=-1)


@functools.cache
def _offset(depth: int) -> float:
    """By how much the two forms differ, at x = 2."""
    two = np.array(np.log(2.0))
    return float(_by_roots(np, two, 0 * two, depth) - _by_series(np, two, depth))


def _advance(ell: Any, tau: Any, below: Any, depth: int) -> Any:
    """ℓ after a time."""
    xp = _library(ell, tau)
    goal = _clock(xp, ell, below, depth) + tau
    fixed_goal, fixed_ell = (goal, ell) if xp is np else jax.lax.stop_gradient((goal, ell))
    root = _bisect(xp, fixed_goal, fixed_ell, below, depth)
    for _ in range(NEWTON_STEPS):
        slope = xp.exp(-(1 - 2 / depth) * _log_share(xp, root, below)) / depth
        value = _clock(xp, root, below, depth)
        if xp is jnp:  # the derivative is that of the goal, by the implicit function theorem
            slope, value, root = jax.lax.stop_gradient((slope, value, root))
        root = root + (goal - value) / slope
    return root


def _bisect(xp: Any, goal: Any, ell: Any, below: Any, depth: int) -> Any:
    # beyond a corner T has a slope between 1/L and 2/L below ρ, 1/2L and 1/L above
    corner = xp.maximum(ell, xp.where(below, 0.0, np.log(2.0)))
    left = goal - _clock(xp, corner, below, depth)
    low = xp.where(left > 0, corner, ell)
    high = xp.where(left > 0, corner + 2 * depth * xp.maximum(left, 0), corner)

    def is_early(middle: Any) -> Any:
        return _clock(xp, middle, below, depth) < goal

    low, high = bisect(is_early, low, high, steps=BISECTIONS, xp=xp)
    return (low + high) / 2
