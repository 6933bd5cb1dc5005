"""When a decreasing curve falls to a level: a safeguarded Newton iteration that can be differentiated."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

MAX_ITERATIONS = 500


def falling_time(log_curve: Callable[[Any], Any], log_level: Any) -> Any:
    """The s > 0 at which exp(log_curve(s)) has fallen to exp(log_level), elementwise.

    The logarithm of a mean of decaying exponentials is convex, so that Newton's iteration climbs from 0
    to the root without overshooting; should a curve not be convex, bisection takes over wherever Newton
    leaves the bracket. Derivatives with respect to whatever `log_curve` and `log_level` depend on follow
    from the implicit function theorem.

    Args:
        log_curve: decreasing, above `log_level` at 0 and below it in the end; works on arrays.
        log_level: array of the shape that `log_curve` returns.

    Returns:
        The times; NaN where the iteration does not settle.
    """

    def excess(s: Any) -> Any:
        return log_curve(s) - log_level

    def tangent_solve(linear: Callable[[Any], Any], value: Any) -> Any:
        return value / linear(jnp.ones_like(value))  # elementwise, so its Jacobian is diagonal

    return jax.lax.custom_root(excess, jnp.zeros_like(log_level), _solve, tangent_solve)


def _solve(excess: Callable[[Any], Any], start: Any) -> Any:
    eps = jnp.finfo(start.dtype).eps
    rounding = 16 * eps * (1 + jnp.abs(excess(start)))  # of a logarithm as large as the level's

    def is_moving(state: Any) -> Any:
        s, _, _, value, step, _ = state
        return (jnp.abs(step) > 4 * eps * s) & (jnp.abs(value) > rounding)

    def advance(state: Any) -> Any:
        s, low, high, _, _, iteration = state
        value, slope = jax.jvp(excess, (s,), (jnp.ones_like(s),))
        low, high = jnp.where(value > 0, s, low), jnp.where(value > 0, high, s)
        newton = s - value / slope
        inside = (newton >= low) & (newton <= high)
        halfway = jnp.where(jnp.isinf(high), 2 * low + 1, (low + high) / 2)
        new = jnp.where(inside, newton, halfway)
        return new, low, high, value, new - s, iteration + 1

    def is_unfinished(state: Any) -> Any:
        return jnp.any(is_moving(state)) & (state[-1] < MAX_ITERATIONS)

    infinite = jnp.full_like(start, jnp.inf)
    state = (start, jnp.zeros_like(start), infinite, infinite, infinite, 0)
    state = jax.lax.while_loop(is_unfinished, advance, state)
    return jnp.where(is_moving(state), jnp.nan, state[0])
