"""Matrices and arrays at many digits."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lazyrich.checks.accuracy._grid import mp


def exact(array: Any) -> Any:
    """The mpmath matrix with exactly these entries; a vector becomes a column."""
    return mp.matrix(np.asarray(array).tolist())


def entries(matrix: Any) -> np.ndarray:
    """An mpmath matrix as an array of its numbers."""
    return np.array(matrix.tolist(), dtype=object)


def numbers(array: Any) -> np.ndarray:
    """An array of mpmath numbers with exactly these values: NumPy adds and multiplies them."""
    return apply(mp.mpmathify, np.asarray(array).astype(object))


def apply(function: Callable[[Any], Any], array: Any) -> np.ndarray:
    """A function of one number, entry by entry."""
    array = np.asarray(array, dtype=object)
    return np.array([function(entry) for entry in array.ravel()], dtype=object).reshape(array.shape)


def length(array: Any) -> Any:
    """Square root of the sum of squared moduli, of an array or an mpmath matrix."""
    values = np.asarray(array.tolist() if hasattr(array, "tolist") else array, dtype=object)
    return mp.sqrt(mp.fsum(abs(entry) ** 2 for entry in values.ravel()))


def flat(parts: Iterable[Any]) -> np.ndarray:
    """Several arrays as one, of one axis."""
    return np.concatenate([np.ravel(np.asarray(part)) for part in parts])
