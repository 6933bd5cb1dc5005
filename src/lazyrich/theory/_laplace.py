"""Laplace transforms of the Marchenko–Pastur law, to rounding for every argument and aspect ratio."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

NUM_NODES, STEP = 24, 0.4
"""Nodes on each side of the trapezoidal rule, and its step in units of a Gaussian's width."""


def atom(ratio: Any) -> Any:
    """Weight of the eigenvalue 0."""
    return jnp.maximum((ratio - 1) / ratio, 0)


def edges(ratio: Any) -> tuple[Any, Any]:
    """Smallest and largest eigenvalue of the bulk, (1 ∓ √λ)²."""
    one_plus_root = 1 + jnp.sqrt(ratio)
    return ((ratio - 1) / one_plus_root) ** 2, one_plus_root**2  # 1 − √λ itself cancels near λ = 1


def laplace(ratio: Any, s: Any) -> Any:
    """E[exp(−sν)], atom included: `MarchenkoPastur.laplace` without checks, in any dtype."""
    return jnp.exp(log_laplace(ratio, s))


def weighted_laplace(ratio: Any, s: Any) -> Any:
    """E[ν exp(−sν)]: `MarchenkoPastur.weighted_laplace` without checks, in any dtype."""
    return jnp.exp(log_weighted_laplace(ratio, s))


def log_weighted_laplace(ratio: Any, s: Any) -> Any:
    """Logarithm of E[ν exp(−sν)], finite far below the smallest float."""
    rule = _rule(ratio, s, lambda weight, nu: weight)
    return jnp.log(rule.total) - rule.decay


def log_laplace(ratio: Any, s: Any) -> Any:
    """Logarithm of E[exp(−sν)], atom included; for λ ≤ 1 finite far below the smallest float."""
    rule = _rule(ratio, s, lambda weight, nu: weight / nu)
    signed_atom = (ratio - 1) / ratio  # not 1 − 1/λ, which cancels near λ = 1
    log_share = _log_share(ratio, rule)
    scaled = rule.total + signed_atom * jnp.exp(jnp.where(ratio > 1, 0, rule.decay) + log_share)
    plain = jnp.exp(-rule.decay) * rule.total + signed_atom * jnp.exp(log_share)
    over = ratio > 1
    return jnp.where(over, jnp.log(jnp.where(over, plain, 1)),
                     jnp.log(jnp.where(over, 1, scaled)) - rule.decay)  # fmt: skip


class _Rule(NamedTuple):
    """A trapezoidal rule's value for (2/π)∫ sin²(2φ) exp(−s(ν − λ₋)) f(ν) dφ, and how it was taken."""

    total: Any
    step: Any
    width: Any
    decay: Any


def _rule(ratio: Any, s: Any, term: Callable[[Any, Any], Any]) -> _Rule:
    """The sum of term(weight, ν) over nodes φ_k = (k + ½)h, both signs folded together.

    Where A = 4√λ·s is large the integrand is a Gaussian of width A^(−½), so a step in units of it keeps
    the number of nodes fixed for every s; the error is then exp(−π²/STEP²), far below rounding.
    """
    root = jnp.sqrt(ratio)
    lower, _ = edges(ratio)
    A = 4 * root * s
    whole_period = jnp.pi / 2 / NUM_NODES
    h = jnp.where((STEP / whole_period) ** 2 < A, STEP / jnp.sqrt(jnp.maximum(A, 1)), whole_period)
    h = jax.lax.stop_gradient(h)  # the integral does not depend on the step
    sin_h, cos_h = jnp.sin(h), jnp.cos(h)

    def add_node(sums: tuple[Any, Any, Any], _: None) -> tuple[tuple[Any, Any, Any], None]:
        total, sin, cos = sums
        weight = (sin * cos) ** 2 * jnp.exp(-A * sin**2)
        total = total + term(weight, lower + 4 * root * sin**2)
        # turning to the next node is ten times as fast as its sine
        return (total, sin * cos_h + cos * sin_h, cos * cos_h - sin * sin_h), None

    # node after node: an axis of nodes would need 24 times the memory of the result
    start = (jnp.zeros_like(A), jnp.sin(h / 2), jnp.cos(h / 2))
    (total, _, _), _ = jax.lax.scan(add_node, start, length=NUM_NODES, unroll=8)
    return _Rule(16 / jnp.pi * h * total, h, A, s * lower)


def _log_share(ratio: Any, rule: _Rule) -> Any:
    """Logarithm of the share w of 1 − 1/λ that the rule for f = 1/ν lacks: the atom and the pole.

    1/ν has poles at φ = ±ip, p = |log λ|/4. If they lie in the strip |Im φ| < c that the rule resolves,
    sinh 2c = 2π/(hA), its error is |1 − 1/λ|/(1 + exp(2πp/h)). Together with the atom (1 − 1/λ)⁺ this is
    (1 − 1/λ)·w with w = 1/(1 + exp(−π log λ/2h)): one formula, smooth through λ = 1. Farther poles leave
    the atom alone.
    """
    log_ratio = jnp.log(ratio)
    resolved = rule.width * rule.step * jnp.sinh(jnp.abs(log_ratio) / 2) < 2 * jnp.pi
    near = jax.nn.log_sigmoid(jnp.pi / 2 * log_ratio / rule.step)
    return jnp.where(resolved, near, jnp.where(ratio > 1, 0, -jnp.inf))
