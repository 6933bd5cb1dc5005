"""The flow of one mode of two layers, from any start."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from lazyrich.core import Crossing, Status


class ModeStart(NamedTuple):
    """Where modes start and what they are driven by: arrays of one shape."""

    first: Any
    second: Any
    target: Any
    variance: Any


class _Constants(NamedTuple):
    """Numbers that do not change with time; sums are taken apart so that none of them cancels."""

    product: Any  # ab
    mean_square: Any  # (a² + b²)/2
    half_conserved: Any  # (a² − b²)/2
    P: Any  # (a + b)²/4
    Q: Any  # (a − b)²/4
    K: Any
    less: Any  # K − S ≥ 0
    more: Any  # K + S ≥ 0


class _Flow(NamedTuple):
    """With γ = y/z: a + b grows as √γ and a − b shrinks as 1/√γ. y and z are divided by exp(K·E[x²]·t)."""

    c: _Constants
    decay: Any  # exp(−2K·E[x²]·t)
    clock: Any  # (1 − decay)/2K
    rise: Any  # y − decay
    fall: Any  # z − decay

    @property
    def y(self) -> Any:
        """Numerator of γ."""
        return self.rise + self.decay

    @property
    def z(self) -> Any:
        """Denominator of γ."""
        return self.fall + self.decay


def product_at(start: ModeStart, time: Any) -> Any:
    """The product ab at a time."""
    return _product(_flow(start, time), start.target)


def _product(f: _Flow, S: Any) -> Any:
    c, E, e = f.c, f.decay, f.clock
    is_zero = c.mean_square == 0
    alike = c.product * S >= 0
    # with signs alike, all terms of the first form have one sign
    bracket = c.mean_square * (1 + E) + 2 * (c.product * S + c.half_conserved**2) * e
    direct = (c.product * E + S * e * bracket) / _nonzero(f.y * f.z, ~is_zero & alike)
    # else ab is a difference of two parts, or S less the residual: whichever subtracts smaller numbers
    grows = c.P * f.y / _nonzero(f.z, ~alike & (c.P > 0))
    shrinks = c.Q * f.z / _nonzero(f.y, ~alike & (c.Q > 0))
    rest = _residual(f, S)
    far = grows + shrinks < jnp.abs(S) + jnp.abs(rest)
    difference = jnp.where(far, grows - shrinks, S - rest)
    return jnp.where(is_zero, 0 * E, jnp.where(alike, direct, difference))


def residual_at(start: ModeStart, time: Any) -> Any:
    """S − ab at a time, with all its digits however small it is."""
    return _residual(_flow(start, time), start.target)


def _residual(f: _Flow, S: Any) -> Any:
    E = f.decay
    # where a mode is stuck one of z, y is E, which cancels, also when it has become too small for a float
    up, down = f.fall > 0, f.rise > 0
    rising = jnp.where(up, E / _nonzero(f.z, up), 1) / _nonzero(f.y, S > 0)
    falling = jnp.where(down, E / _nonzero(f.y, down), 1) / _nonzero(f.z, S <= 0)
    return (S - f.c.product) * jnp.where(S > 0, rising, falling) + 0 * E


def layers_at(start: ModeStart, time: Any) -> tuple[Any, Any]:
    """The layers a and b at a time."""
    f, (a, b, S, _) = _flow(start, time), start
    c = f.c
    is_zero = c.mean_square == 0
    alike = c.product * (S - c.product) >= 0
    root = jnp.sqrt(_nonzero(f.y * f.z, ~is_zero & alike))
    own, other = (c.K + c.mean_square) * f.clock + f.decay, (S - c.product) * f.clock
    u = (a + b) / 2 * jnp.sqrt(f.y / _nonzero(f.z, ~alike & (c.P > 0)))
    v = (a - b) / 2 * jnp.sqrt(_nonzero(f.z, ~alike & (c.Q > 0)) / _nonzero(f.y, c.Q > 0))
    u, v = jnp.where(c.P > 0, u, 0), jnp.where(c.Q > 0, v, 0)
    product, zero = _product(f, S), 0 * f.decay

    def chosen(direct: Any, parts: Any, partner: Any) -> Any:
        # a layer that is the difference of two large parts follows from the product and the other layer
        cancels = ~alike & (jnp.abs(parts) < jnp.abs(partner) / 2)
        parts = jnp.where(cancels, product / _nonzero(partner, cancels), parts)
        return jnp.where(is_zero, zero, jnp.where(alike, direct / root, parts) + zero)

    return chosen(own * a + other * b, u + v, u - v), chosen(own * b + other * a, u - v, u + v)


def limit_of(start: ModeStart) -> Any:
    """The product ab for t → ∞: the target, unless a mode is stuck."""
    S = start.target
    c = _constants(start)
    stuck = ((c.P == 0) & (S > 0)) | ((c.Q == 0) & (S < 0)) | (c.mean_square == 0)
    return jnp.where(start.variance == 0, c.product, jnp.where(stuck, 0 * S, S))


def time_of_share(start: ModeStart, share: Any) -> Crossing:
    """When ab first is this share of the target, in closed form."""
    S, c = start.target, _constants(start)
    known = S != 0
    target, K = _nonzero(S, known), _nonzero(c.K, known)
    missing = (share - c.product / target) / (1 - share)  # (S − ab)/(rest at the share) − 1
    h, d = c.mean_square / K, c.half_conserved / K * (target - c.product) / K
    w = target / K * (c.product / K) + (c.half_conserved / K) ** 2
    # x = exp(2Kt) solves (w + h)x² − 2(w + missing)x + (w − h) = 0, and h² − w² = d²
    leading = jnp.where(w >= 0, w + h, d**2 / _nonzero(h - w, w < 0))
    at_start, never = missing <= 0, (leading <= 0) | (start.variance == 0)
    solvable = known & ~at_start & ~never
    safe = jnp.where(solvable, missing, 1.0)
    root = jnp.hypot(w + safe, jnp.where(solvable, d, 1.0))
    growth = safe * (1 + (2 * w + safe) / (root + h))  # (x − 1)·(w + h)
    exponent = jnp.log(_nonzero(growth, solvable)) - jnp.log(_nonzero(leading, solvable))
    time = jnp.logaddexp(0.0, exponent) / (2 * K * _nonzero(start.variance, solvable))
    time = jnp.where(at_start, 0.0, jnp.where(never, jnp.inf, time))
    status = jnp.where(at_start, Status.AT_START, jnp.where(never, Status.NEVER, Status.REACHED))
    valid = known & ~jnp.isnan(S + c.mean_square + start.variance)
    return Crossing(jnp.where(valid, time, jnp.nan), jnp.where(valid, status, Status.INVALID))


def _constants(start: ModeStart) -> _Constants:
    a, b, S, _ = start
    D = (a - b) * (a + b) / 2
    big = jax.lax.stop_gradient(jnp.maximum(jnp.abs(S), jnp.abs(D)))  # K does not depend on it
    scale = _nonzero(big, big > 0)
    squares = (S / scale) ** 2 + (D / scale) ** 2
    # all that follows is even in K: where K = 0 its derivative does not matter
    K = jnp.where(big > 0, scale * jnp.sqrt(_nonzero(squares, big > 0)), 0 * S)
    rest = D * (D / _nonzero(K + jnp.abs(S), K > 0))  # K − |S|
    less, more = jnp.where(S > 0, rest, K - S), jnp.where(S < 0, rest, K + S)
    return _Constants(
        a * b, (a**2 + b**2) / 2, D, ((a + b) / 2) ** 2, ((a - b) / 2) ** 2, K, less, more
    )


def _flow(start: ModeStart, time: Any) -> _Flow:
    c = _constants(start)
    s = start.variance * time
    x = 2 * c.K * s
    small = x < 1e-8
    clock = s * jnp.where(small, 1 - x / 2, -jnp.expm1(-x) / _nonzero(x, ~small))
    E = jnp.exp(-x)
    return _Flow(c, E, clock, (c.more + 2 * c.Q) * clock, (c.less + 2 * c.P) * clock)


def _nonzero(value: Any, used: Any) -> Any:
    """The value where it is used, 1 elsewhere: neither it nor its gradient is NaN then."""
    return jnp.where(used, value, jnp.ones_like(value))
