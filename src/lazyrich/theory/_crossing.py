"""When a decreasing curve falls to a level: a safeguarded Newton iteration that can be differentiated."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

LOG_RANGE = (-80.0, 250.0)
"""Logarithms of the smallest and largest times that are searched."""


def falling_time(log_curve: Callable[[Any], Any], log_level: Any) -> Any:
    """The s > 0 at which exp(log_curve(s)) has fallen to exp(log_level), elementwise.

    Newton's iteration on log s, replaced by bisection wherever it leaves the bracket. Derivatives with
    respect to whatever `log_curve` and `log_level` depend on follow from the implicit function theorem.

    Args:
        log_curve: decreasing, from above `log_level` at s → 0 to below it; works on arrays.
        log_level: array of the shape that `log_curve` returns.
    """

    def excess(u: Any) -> Any:
        return log_curve(jnp.exp(u)) - log_level

    def tangent_solve(linear: Callable[[Any], Any], value: Any) -> Any:
        return value / linear(jnp.ones_like(value))  # elementwise, so its Jacobian is diagonal

    start = jnp.zeros_like(log_level)
    return jnp.exp(jax.lax.custom_root(excess, start, _solve, tangent_solve))


def _solve(excess: Callable[[Any], Any], start: Any) -> Any:
    low, high = (jnp.full_like(start, bound) for bound in LOG_RANGE)
    rounding = 4 * jnp.finfo(start.dtype).eps

    def unfinished(state: Any) -> Any:
        _, _, _, step, iteration = state
        return jnp.any(step > rounding) & (iteration < 100)

    def advance(state: Any) -> Any:
        u, low, high, _, iteration = state
        value, slope = jax.jvp(excess, (u,), (jnp.ones_like(u),))
        low, high = jnp.where(value > 0, u, low), jnp.where(value > 0, high, u)
        newton = u - value / slope
        inside = (newton > low) & (newton < high)
        new = jnp.where(value == 0, u, jnp.where(inside, newton, (low + high) / 2))
        return new, low, high, jnp.abs(new - u), iteration + 1

    state = (start, low, high, jnp.full_like(start, jnp.inf), 0)
    return jax.lax.while_loop(unfinished, advance, state)[0]
