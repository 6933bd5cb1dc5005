"""What is subtracted from residuals, features and targets: the argument `centring`, everywhere."""

from typing import Any

from lazyrich.core._arguments import choice

CENTRINGS = ("samples", "classes", "both", "none")
"""Means that rows may lose: over samples, as in Eq. 1 of li2, over classes, as in its public code, both, or
none. A function that knows fewer of them says which."""


def centred(rows: Any, centring: str = "samples") -> Any:
    """Rows (..., samples, classes) without the means of this centring, in NumPy or in JAX."""
    choice("centring", centring, CENTRINGS)
    for axis, words in ((-2, ("samples", "both")), (-1, ("classes", "both"))):
        if centring in words:
            rows = rows - rows.mean(axis=axis, keepdims=True)
    return rows
