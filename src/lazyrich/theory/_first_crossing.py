"""When a loss first falls to a level."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Crossing, Status, falling_time


class Falling(NamedTuple):
    """A loss as a function of s = rate × time."""

    log_loss: Callable[[Any], Any]
    start: Any  # the loss at s = 0
    limit: Any  # the loss for s → ∞
    rate: Any
    may_rise: bool = False  # it may dip below its limit


def first_crossing(loss: Falling, level: Any) -> Crossing:
    """When a loss first falls to a level; `inf` and a status where it never does."""
    level, start, limit, rate = jnp.broadcast_arrays(level, loss.start, loss.limit, loss.rate)
    low, high = jnp.zeros_like(level), jnp.full_like(level, jnp.inf)
    if loss.may_rise:
        low, high = _first_dip(loss.log_loss, jnp.log(level))
    falls = (level > limit) | jnp.isfinite(high)
    at_start, solvable, never = level >= start, (level < start) & falls, (level < start) & ~falls
    halfway = jax.lax.stop_gradient(
        (start + jnp.minimum(limit, start)) / 2
    )  # where there is no time
    safe = jnp.where(solvable, level, halfway)
    s = falling_time(loss.log_loss, jnp.log(safe), low, high)
    time = jnp.where(solvable, s / rate, jnp.where(at_start, 0, jnp.inf))
    status = jnp.where(at_start, Status.AT_START, jnp.where(never, Status.NEVER, Status.REACHED))
    invalid = ~(solvable | at_start | never) | jnp.isnan(rate)
    return Crossing(jnp.where(invalid, jnp.nan, time), jnp.where(invalid, Status.INVALID, status))


def delay(train: Crossing, test: Crossing) -> Crossing:
    """Time from the first crossing to the second; never, if one of them never happens."""
    never = (test.status == Status.NEVER) | (train.status == Status.NEVER)
    gap = jnp.where(never, 0, test.time) - jnp.where(never, 0, train.time)  # no inf in the gradient
    status = jnp.where(never, Status.NEVER, jnp.maximum(train.status, test.status))
    at_start = (train.status == Status.AT_START) & (test.status == Status.REACHED)
    status = jnp.where(at_start, Status.REACHED, status)
    return Crossing(jnp.where(never, jnp.inf, gap), status)


def _first_dip(log_loss: Callable[[Any], Any], log_level: Any) -> tuple[Any, Any]:
    """Neighbouring s between which the loss first falls to a level; (0, inf) if it does not."""
    grid = jnp.asarray(np.concatenate([[0.0], np.geomspace(1e-6, 1e12, 181)]), log_level.dtype)
    columns = grid.reshape(-1, *(1,) * log_level.ndim)
    below = log_loss(columns) <= log_level
    first = jnp.argmax(below, axis=0)
    is_found = jnp.any(below, axis=0) & (first > 0)
    low = jnp.where(is_found, grid[jnp.maximum(first - 1, 0)], 0)
    return low, jnp.where(is_found, grid[first], jnp.inf)
