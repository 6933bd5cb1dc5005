"""Rounding errors that would grow exponentially, told from small numbers that are meant."""

from typing import Any

DUST = 1e-13
"""A sum smaller than this share of its terms is a rounding error of them: it stands for 0."""


def without_dust(values: Any, terms: Any) -> Any:
    """Values, with exact zeros where they are far below the terms from which they were computed."""
    return values * (abs(values) > DUST * terms).astype(values.dtype)


def parts_of(units: Any, directions: Any) -> Any:
    """Parts of units, one in each row, in orthonormal directions, one in each column.

    A unit that is orthogonal to a direction has the part 0 in it, in whatever basis both are written. A small
    part that is no difference of large numbers is kept.
    """
    V = without_dust(directions, 1.0)
    return without_dust(units @ V, abs(units) @ abs(V))
