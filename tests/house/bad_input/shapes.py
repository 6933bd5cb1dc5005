"""Shapes without numbers: compiling a formula for one more shape takes longer than all the rest."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from lazyrich.core import _precision

SHAPES = ("empty", "extra_axis", "fewer_axes", "longer", "wider")
"""Faults of shape. Where a shape has a meaning, that it passes through the formula is all there is to see:
the numbers are the same for every shape, which `tests/house/test_solutions.py` compares."""


@contextlib.contextmanager
def only_shapes(traced: bool) -> Iterator[None]:
    """If asked to, formulas are traced and return zeros of the shape they would have."""
    if not traced:
        yield
        return
    with mock.patch.object(_precision, "_jitted", _traced):
        yield


def _traced(function: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    def zeros(leaf: Any) -> np.ndarray:
        return np.zeros(leaf.shape, leaf.dtype)

    return lambda *arguments: jax.tree.map(zeros, jax.eval_shape(function, *arguments))
