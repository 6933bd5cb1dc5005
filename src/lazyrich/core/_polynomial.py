"""Whether a function is a polynomial, and of which degree."""

from collections.abc import Callable
from typing import Any

import numpy as np

MOST_DEGREE = 8
LINES, POINTS, REACH = 4, 20, 3.0
"""Random lines, points on each, and how far these lie to both sides, in standard deviations of an input."""
ROUNDING = 1e-9
"""Share of the largest value up to which the rest of a fit counts as rounding."""


def polynomial_degree(function: Callable[[Any], Any], dimension: int) -> int | None:
    """The degree of a polynomial of many inputs, found by trying; None if there is none up to 8.

    On a line it is a polynomial of one number, and of its degree on almost every line.

    Args:
        function: from inputs, shape (samples, dimension), to values, shape (samples, …).
        dimension: number of inputs.
    """
    rng = np.random.default_rng(0)
    origin, along = rng.standard_normal((2, LINES, 1, dimension))
    s = np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)  # where fits are well conditioned
    x = origin + REACH * s[:, None] * along / np.linalg.norm(along, axis=-1, keepdims=True)
    values = np.asarray(function(x.reshape(-1, dimension)), float).reshape(LINES, POINTS, -1)
    y = np.moveaxis(values, 1, 0).reshape(POINTS, -1)
    if not np.all(np.isfinite(y)):
        return None
    for degree in range(MOST_DEGREE + 1):
        basis = np.linalg.qr(np.polynomial.chebyshev.chebvander(s, degree))[0]
        if np.max(np.abs(y - basis @ (basis.T @ y))) <= ROUNDING * np.max(np.abs(y)):
            return degree
    return None
