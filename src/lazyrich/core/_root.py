"""When a decreasing curve falls to a level: a safeguarded Newton iteration that can be differentiated."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

MAX_ITERATIONS = 500


def falling_time(
    log_curve: Callable[[Any], Any], log_level: Any, start: Any = None, stop: Any = None
) -> Any:
    """The s > 0 at which exp(log_curve(s)) has fallen to exp(log_level), elementwise.

    The logarithm of a mean of decaying exponentials is convex, so that Newton's iteration climbs from 0
    to the root without overshooting; should a curve not be convex, bisection takes over wherever Newton
    leaves the bracket. Derivatives with respect to whatever `log_curve` and `log_level` depend on follow
    from the implicit function theorem.

    Args:
        log_curve: decreasing, above `log_level` at 0 and below it in the end; works on arrays.
        log_level: array of the shape that `log_curve` returns.
        start: where to begin, ≥ 0; 0 unless given.
        stop: where the curve is known to be below the level; inf unless given.

    Returns:
        The times; NaN where the iteration does not settle.
    """

    def excess(s: Any) -> Any:
        return log_curve(s) - log_level

    def tangent_solve(linear: Callable[[Any], Any], value: Any) -> Any:
        return value / linear(jnp.ones_like(value))  # elementwise, so its Jacobian is diagonal

    start = jnp.zeros_like(log_level) if start is None else start
    rounding = 16 * jnp.finfo(start.dtype).eps * (1 + jnp.abs(jax.lax.stop_gradient(log_level)))
    stop = jnp.full_like(start, jnp.inf) if stop is None else stop
    solve = functools.partial(_solve, rounding=rounding, stop=jax.lax.stop_gradient(stop))
    return jax.lax.custom_root(excess, start, solve, tangent_solve)


def _solve(excess: Callable[[Any], Any], start: Any, *, rounding: Any, stop: Any) -> Any:
    eps = jnp.finfo(start.dtype).eps

    def is_moving(state: Any) -> Any:
        s, low, high, value, step = state
        close = (jnp.abs(step) <= 4 * eps * s) | (high - low <= 4 * eps * s)
        return ~(close | (jnp.abs(value) <= rounding) | jnp.isnan(value))

    def advance(state: Any) -> Any:
        s, low, high, _, _ = state
        value, slope = jax.jvp(excess, (s,), (jnp.ones_like(s),))
        low, high = jnp.where(value > 0, s, low), jnp.where(value > 0, high, s)
        newton = s - value / slope
        inside = (newton > low) & (newton < high)  # not on its ends, where it could go to and fro
        halfway = jnp.where(jnp.isinf(high), 2 * low + 1, (low + high) / 2)
        new = jnp.where(inside, newton, jnp.where(jnp.abs(value) <= rounding, s, halfway))
        return new, low, high, value, new - s

    def iterate(state: Any) -> Any:
        moving, advanced = is_moving(state[0]), advance(state[0])
        kept = jax.tree.map(lambda new, old: jnp.where(moving, new, old), advanced, state[0])
        return kept, state[1] + 1  # what has settled stays, whatever its neighbours still need

    def is_unfinished(state: Any) -> Any:
        return jnp.any(is_moving(state[0])) & (state[1] < MAX_ITERATIONS)

    infinite = jnp.full_like(start, jnp.inf)
    begin = (start, jnp.zeros_like(start), stop, infinite, infinite)
    state, _ = jax.lax.while_loop(is_unfinished, iterate, (begin, 0))
    return jnp.where(is_moving(state), jnp.nan, state[0])
