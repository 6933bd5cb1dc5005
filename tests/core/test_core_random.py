"""Draws are JAX's own, whatever sizes are compiled."""

import jax
import numpy as np
import pytest

from lazyrich.core import standard_normal
from lazyrich.core._random import _rounded_up


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5), (40, 33), (2, 3, 4)])
def test_draws_do_not_depend_on_the_size_that_is_compiled(shape):
    key = jax.random.key(3)
    with jax.enable_x64(True):
        plain = np.asarray(jax.random.normal(key, shape, dtype=float))
    assert np.array_equal(standard_normal(key, shape), plain)


def test_few_sizes_are_compiled():
    sizes = {_rounded_up(size) for size in range(1, 5000)}
    assert len(sizes) < 30
    assert all(_rounded_up(size) >= size for size in range(5000))
