"""How two layers fit a number: the flow of their product, from any start.

With A, B = Σ(a ± b)²/2 over the features a, b, and ρ = Σab = (A − B)/2 at the start,

    dρ/dτ = 2(S − ρ)√(AB + ρ²),   A(τ) = Aγ,   B(τ) = B/γ,   γ = y/z,   AB is conserved.

Learning rates, variances and normalisations only scale τ.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from lazyrich.core import Crossing, Status


class Flow(NamedTuple):
    """Where the layers start and what drives them."""

    grows: Any  # A ≥ 0, grows if the target is above the product
    decays: Any  # B ≥ 0
    product: Any  # (A − B)/2, given apart so that it keeps its digits
    target: Any


class _State(NamedTuple):
    """y and z are divided by exp(Kτ), K² = S² + AB, and are sums of terms that are ≥ 0."""

    exponent: Any  # 2Kτ
    decay: Any  # E = exp(−2Kτ)
    clock: Any  # (1 − E)/2K
    rise: Any  # y − E
    fall: Any  # z − E

    @property
    def y(self) -> Any:
        """Numerator of γ."""
        return self.rise + self.decay

    @property
    def z(self) -> Any:
        """Denominator of γ."""
        return self.fall + self.decay


def flow_of_layers(first: Any, second: Any, target: Any) -> Flow:
    """One feature: the product of two numbers."""
    return Flow((first + second) ** 2 / 2, (first - second) ** 2 / 2, first * second, target)


def flow_of_imbalance(imbalance: Any, product: Any, target: Any) -> Flow:
    """One feature given by its product and b² − a² = λ = ±2√(AB)."""
    lam, rho = imbalance, product
    root = _root(2 * rho, lam, lam)  # A + B
    plus, minus = (root + 2 * rho) / 2, (root - 2 * rho) / 2
    A = jnp.where(rho >= 0, plus, lam * (lam / _nonzero(4 * minus, rho < 0)))
    B = jnp.where(rho <= 0, minus, lam * (lam / _nonzero(4 * plus, rho > 0)))
    return Flow(A, B, rho, target)


def product_at(flow: Flow, tau: Any) -> Any:
    """ρ at a time."""
    A, B, rho, S = flow
    f = _state(flow, tau)
    E, e = f.decay, f.clock
    is_zero, alike = A + B == 0, _alike(rho, S)
    # with signs alike, all terms of the first form have one sign
    bracket = (A + B) * (1 + E) / 2 + 2 * (rho * (S * e) + A * (B * e))
    direct = (rho * E + S * e * bracket) / _nonzero(f.y * f.z, ~is_zero & alike)
    # else ρ is a difference of two parts, or S less the residual: whichever subtracts smaller numbers
    grown = A * f.y / _nonzero(2 * f.z, ~alike & (A > 0))
    shrunk = B * f.z / _nonzero(2 * f.y, ~alike & (B > 0))
    rest = (S - rho) * _left(flow, f)
    far = grown + shrunk < jnp.abs(S) + jnp.abs(rest)
    difference = jnp.where(far, grown - shrunk, S - rest)
    return jnp.where(is_zero, 0 * E, jnp.where(alike, direct, difference))


def residual_at(flow: Flow, tau: Any) -> Any:
    """S − ρ at a time, with all its digits however small it is."""
    return (flow.target - flow.product) * left_at(flow, tau)


def left_at(flow: Flow, tau: Any) -> Any:
    """The share of the way from the first product to the target that is left, 1/(yz) of the true y and z."""
    return _left(flow, _state(flow, tau))


def moved_at(flow: Flow, tau: Any) -> Any:
    """The share of the way that is done, without subtracting from 1."""
    f = _state(flow, tau)
    left, gained, fed = _split(flow, f)
    # yz − E = (y − E)(z − E) + E(A + B)·clock
    return (fed * gained + left * (flow.grows + flow.decays) * f.clock) / (fed + f.decay)


def growth_at(flow: Flow, tau: Any) -> Any:
    """γ at a time; inf where nothing can grow and 1/γ is below all numbers."""
    f = _state(flow, tau)
    return f.y / f.z


def roots_at(flow: Flow, tau: Any) -> tuple[Any, Any]:
    """√γ and 1/√γ at a time, also where γ or 1/γ is too small for a float."""
    return _roots(_state(flow, tau))


def excess_at(flow: Flow, tau: Any) -> tuple[Any, Any]:
    """γ − 1 and 1 − 1/γ at a time, without cancellation."""
    f = _state(flow, tau)
    w = 2 * (flow.target - flow.product) * f.clock
    return w / f.z, w / f.y


def layers_at(flow: Flow, first: Any, second: Any, tau: Any) -> tuple[Any, Any]:
    """The two numbers of `flow_of_layers` at a time."""
    f, (A, B, rho, S), (a, b) = _state(flow, tau), flow, (first, second)
    is_zero, alike = A + B == 0, _alike(rho, S - rho)
    root = jnp.sqrt(_nonzero(f.y * f.z, ~is_zero & alike))
    own, other = (constant_of(flow) + (A + B) / 2) * f.clock + f.decay, (S - rho) * f.clock
    up, down = _roots(f)
    u = (a + b) / 2 * _nonzero(up, ~alike & (A > 0))
    v = (a - b) / 2 * _nonzero(down, ~alike & (B > 0))
    u, v = jnp.where(A > 0, u, 0), jnp.where(B > 0, v, 0)
    product, zero = product_at(flow, tau), 0 * f.decay

    def chosen(direct: Any, parts: Any, partner: Any) -> Any:
        # a layer that is the difference of two large parts follows from the product and the other layer
        cancels = ~alike & (jnp.abs(parts) < jnp.abs(partner) / 2)
        parts = jnp.where(cancels, product / _nonzero(partner, cancels), parts)
        return jnp.where(is_zero, zero, jnp.where(alike, direct / root, parts) + zero)

    return chosen(own * a + other * b, u + v, u - v), chosen(own * b + other * a, u - v, u + v)


def limit_of(flow: Flow) -> Any:
    """ρ for τ → ∞: the target, or 0 where nothing can grow towards it."""
    A, B, _, S = flow
    stuck = ((A == 0) & (S > 0)) | ((B == 0) & (S < 0)) | (A + B == 0)
    return jnp.where(stuck, 0 * S, S)


def growth_limit_of(flow: Flow) -> Any:
    """γ for τ → ∞: inf or 0 where nothing can grow towards the target, or all decays for want of one."""
    A, B, _, S = flow
    K = constant_of(flow)
    top, bottom = jnp.where(S < 0, B, K + S), jnp.where(S < 0, K - S, A)
    rests, resists = (S == 0) & (A == 0), jnp.where(B > 0, jnp.inf, 1.0)
    return jnp.where(rests, resists, top / _nonzero(bottom, ~rests))


def time_of_share(flow: Flow, share: Any, rate: Any) -> Crossing:
    """When ρ first is this share of the target, in closed form; τ is rate × time."""
    A, B, rho, S = flow
    known = S != 0
    target, K = _nonzero(S, known), _nonzero(constant_of(flow), known)
    missing = (share - rho / target) / (1 - share)  # (S − ρ)/(rest at the share) − 1
    h, gap, a, b = (A + B) / 2 / K, (target - rho) / K, A / K, B / K
    w = target / K * (rho / K) + a * b
    # x = exp(2Kτ) solves (w + h)x² − 2(w + missing)x + (w − h) = 0, and h² − w² = ab·gap²
    leading = jnp.where(w >= 0, w + h, (a * gap) * (b * gap / _nonzero(h - w, w < 0)))
    at_start, never = missing <= 0, (leading <= 0) | (rate == 0)
    solvable = known & ~at_start & ~never
    safe = jnp.where(solvable, missing, 1.0)
    # w + missing as a sum of terms that are ≥ 0, by S² = K² − AB
    total = jnp.where(solvable, (1 - rho / target) * (share / (1 - share) + a * b), 1.0)
    root = _root(total, *(jnp.where(solvable, part * gap, 1.0) for part in (a, b)))
    growth = safe * (root + total + leading) / (root + h)  # (x − 1)·(w + h)
    exponent = jnp.log(_nonzero(growth, solvable)) - jnp.log(_nonzero(leading, solvable))
    time = jnp.logaddexp(0.0, exponent) / (2 * K * _nonzero(rate, solvable))
    time = jnp.where(at_start, 0.0, jnp.where(never, jnp.inf, time))
    status = jnp.where(at_start, Status.AT_START, jnp.where(never, Status.NEVER, Status.REACHED))
    valid = known & ~jnp.isnan(missing + A + B + rate)
    return Crossing(jnp.where(valid, time, jnp.nan), jnp.where(valid, status, Status.INVALID))


def constant_of(flow: Flow) -> Any:
    """K = √(S² + AB)."""
    return _root(flow.target, flow.grows, flow.decays)


def _root(x: Any, p: Any, q: Any) -> Any:
    """√(x² + pq) of pq ≥ 0 without squares that leave the range of numbers; its gradient is 0 where it is 0.

    All that is made of K is even in it: where K = 0 its derivative does not matter.
    """
    sizes = [jnp.abs(jax.lax.stop_gradient(value)) for value in (x, p, q)]
    size = jnp.maximum(sizes[0], jnp.sqrt(sizes[1]) * jnp.sqrt(sizes[2]))
    some = size > 0
    scale = _nonzero(size, some)
    # the larger of p and q alone may be too large once divided
    squares = (x / scale) ** 2 + jnp.maximum(p, q) * (jnp.minimum(p, q) / scale) / scale
    return jnp.where(some, scale * jnp.sqrt(_nonzero(squares, some)), 0 * size)


def _state(flow: Flow, tau: Any) -> _State:
    A, B, _, S = flow
    K = constant_of(flow)
    # K − |S|, by the smaller first: to the last digit the same for A and B exchanged, and never too small
    rest = jnp.minimum(A, B) * (jnp.maximum(A, B) / _nonzero(K + jnp.abs(S), K > 0))
    less, more = jnp.where(S > 0, rest, K - S), jnp.where(S < 0, rest, K + S)
    x = 2 * K * tau
    small = x < 1e-8
    clock = tau * jnp.where(small, 1 - x / 2, -jnp.expm1(-x) / _nonzero(x, ~small))
    return _State(x, jnp.exp(-x), clock, (more + B) * clock, (less + A) * clock)


def _roots(f: _State) -> tuple[Any, Any]:
    # where nothing can grow one of y and z is E, and its root lasts twice as long
    half, tiny = jnp.exp(-f.exponent / 2), jnp.finfo(f.decay.dtype).tiny
    y, z = (
        jnp.where(part < tiny, half, jnp.sqrt(_nonzero(part, ~(part < tiny))))
        for part in (f.y, f.z)
    )

    def ratio(high: Any, low: Any) -> Any:
        return jnp.where(low == 0, jnp.inf, high / _nonzero(low, low != 0))  # NaN stays NaN

    return ratio(y, z), ratio(z, y)


def _left(flow: Flow, f: _State) -> Any:
    left, _, fed = _split(flow, f)
    return left / (fed + f.decay)


def _split(flow: Flow, f: _State) -> tuple[Any, Any, Any]:
    """E/near, 1 − E/near, far − E: near is that of y and z which is E alone where nothing can grow."""
    up = jnp.where(flow.target == 0, flow.product > 0, flow.target > 0)
    fed, other = jnp.where(up, f.fall, f.rise), jnp.where(up, f.rise, f.fall)
    near, tiny = fed + f.decay, jnp.finfo(f.decay.dtype).tiny
    stuck = near < tiny
    safe = _nonzero(near, ~stuck)
    # E may be too small for a float where E/near is not: tiny weights before they have grown
    gone = f.decay < tiny
    by_log = jnp.exp(-jnp.where(gone, f.exponent, 0) - jnp.log(safe))
    left = jnp.where(gone, by_log, f.decay / safe)
    return jnp.where(stuck, 1, left), jnp.where(stuck, 0, fed / safe), other


def _alike(a: Any, b: Any) -> Any:
    """Whether signs agree, or one is 0; their product may be too small for a float."""
    return jnp.sign(a) * jnp.sign(b) >= 0


def _nonzero(value: Any, used: Any) -> Any:
    """The value where it is used, 1 elsewhere: neither it nor its gradient is NaN then."""
    return jnp.where(used, value, jnp.ones_like(value))
