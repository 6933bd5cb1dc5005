"""How two sums of squares, one growing and one decaying, fit a number."""

from typing import Any, NamedTuple

import jax.numpy as jnp


class Scaled(NamedTuple):
    """The flow in units of its largest scale, seen such that the target is positive.

    A negative target is that of the network with all `second` weights negated: growth and decay change
    places.
    """

    grows: Any  # (Σ₀ + S₀)/scale, weights that must grow
    decays: Any  # (Σ₀ − S₀)/scale, weights that must decay
    target: Any  # |S|/scale > 0
    root: Any  # √(Σ₀² − S₀² + S²)/scale
    scale: Any
    is_mirrored: Any


class Growth(NamedTuple):
    """Numerator and denominator of γ in the frame of `Scaled`: sums of terms that are ≥ 0."""

    rise: Any  # numerator
    fall: Any  # denominator
    left: Any  # e^{−2Rt/Z}/denominator
    done: Any  # 1 − e^{−2Rt/Z}


def scaled(A: Any, B: Any, S: Any) -> Scaled:
    """From A = Σ₀ + S₀, B = Σ₀ − S₀ and the target."""
    is_mirrored = S < 0
    size = jnp.where(is_mirrored, -S, S)
    scale = jnp.maximum(jnp.maximum(A, B), size)
    scale = jnp.where(scale > 0, scale, 1)
    a, b = jnp.where(is_mirrored, B, A) / scale, jnp.where(is_mirrored, A, B) / scale
    # without a target a balanced network decays like 1/t, not exponentially: the limit R → 0 of the formulas,
    # reached by a target whose square can just be represented
    s = size / scale
    s = jnp.where(s == 0, s + jnp.sqrt(jnp.finfo(s.dtype).tiny), s)
    return Scaled(a, b, s, jnp.sqrt(a * b + s**2), scale, is_mirrored)


def growth(m: Scaled, tau: Any) -> Growth:
    """γ(t) = rise/fall (Eq. 75 with the right exponent), at τ = t/Z."""
    x = 2 * m.root * m.scale * tau
    E, done = jnp.exp(-x), -jnp.expm1(-x)
    plus = m.root + m.target
    minus = m.grows * m.decays / plus  # R − S without cancellation
    rise = m.decays * done + plus + minus * E
    rest = m.grows * done + minus
    is_stuck = (
        rest == 0
    )  # nothing can grow: the denominator is a multiple of E, which may underflow
    fall = rest + plus * E
    safe = jnp.where(is_stuck, 1, fall)
    is_lost = (
        jnp.finfo(E.dtype).tiny > E
    )  # while E/fall need not be small: tiny weights before they have grown
    by_log = jnp.exp(-jnp.where(is_lost, x, 0) - jnp.log(safe))
    left = jnp.where(is_stuck, 1 / plus, jnp.where(is_lost, by_log, E / safe))
    return Growth(rise, fall, left, done)


def factor(m: Scaled, g: Growth) -> Any:
    """γ itself."""
    return jnp.where(m.is_mirrored, g.fall, g.rise) / jnp.where(m.is_mirrored, g.rise, g.fall)


def excess(m: Scaled, g: Growth, distance: Any) -> tuple[Any, Any]:
    """γ − 1 and 1 − 1/γ without cancellation; `distance` is S − S₀."""
    w = 2 * g.done * distance / m.scale
    up = w / jnp.where(m.is_mirrored, g.rise, g.fall)
    down = w / jnp.where(m.is_mirrored, g.fall, g.rise)
    return up, down


def remaining_share(m: Scaled, g: Growth) -> Any:
    """(θ − S)/(S₀ − S) = 4R²E/(rise · fall), without cancellation."""
    return (2 * m.root / g.rise) * (2 * m.root * g.left)


def limit(m: Scaled) -> Any:
    """γ₊, the growth after infinite time; infinite where nothing can grow."""
    plus = m.root + m.target
    return jnp.where(m.is_mirrored, m.grows, plus) / jnp.where(m.is_mirrored, plus, m.grows)


def time_of_share(m: Scaled, share: Any) -> Any:
    """τ at which a share of the way from S₀ to S is covered; inf where it never is.

    With γ at that moment known from the output q, Eq. 96 is solved for E = e^{−2Rτ}; E and 1 − E are
    written as products of positive terms, so that early and late times keep their digits.
    """
    a, b, s, R = m.grows, m.decays, m.target, m.root
    s0, sigma0 = (a - b) / 2, (a + b) / 2
    q = (1 - share) * s0 + share * s
    never = (a == 0) & (q >= 0)
    a, q = jnp.where(never, 1, a), jnp.where(never, s, q)
    Q = jnp.sqrt(q**2 + a * b)
    below = q < 0
    by_decay = b / jnp.where(below, Q - q, 1)
    by_growth = (q + Q) / jnp.where(below | (a == 0), 1, a)
    gamma = jnp.where(below, by_decay, by_growth)
    beta = b / (R + s)
    done = 2 * R * share * (gamma + 1) * (R + sigma0)
    done = done / ((Q + sigma0) * (R + s + a) * (gamma + beta))
    E = (1 - share) * (Q + R + q + s) * (sigma0 + R) / ((Q + R) * (a + R + s))
    E = E * (1 + beta) / (gamma + beta)
    early = done < 0.5
    x = jnp.where(early, -jnp.log1p(-jnp.where(early, done, 0)), -jnp.log(jnp.where(early, 1, E)))
    return jnp.where(never, jnp.inf, x / (2 * R * m.scale))
