"""Roots by halving intervals, of whole arrays at once."""

from collections.abc import Callable
from typing import Any

import numpy as np


def bisect(
    is_below: Callable[[Any], Any], low: Any, high: Any, *, steps: int = 64, xp: Any = np
) -> tuple[Any, Any]:
    """Intervals after so many halvings; `is_below` says where the root lies above a point.

    Args:
        is_below: of points, True where the root is larger. It changes once in each interval.
        low: left ends.
        high: right ends.
        steps: more than about 60 do not change float64.
        xp: NumPy, or JAX's for one loop inside a trace.
    """

    def halve(_: Any, ends: Any) -> Any:
        low, high = ends
        middle = (low + high) / 2
        below = is_below(middle)
        return xp.where(below, middle, low), xp.where(below, high, middle)

    if xp is not np:
        import jax

        return jax.lax.fori_loop(0, steps, halve, (low, high))
    ends = low, high
    for step in range(steps):
        ends = halve(step, ends)
    return ends
