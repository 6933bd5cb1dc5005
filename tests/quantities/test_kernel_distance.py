"""The angle between kernels."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.quantities import kernel_distance


def _kernel(seed, n=4):
    factor = np.random.default_rng(seed).standard_normal((n, n))
    return factor @ factor.T


def test_against_the_definition_in_many_digits():
    first = _kernel(0)
    for size in (1.0, 1e-3, 1e-6):
        second = first + size * _kernel(1)
        with mpmath.workdps(50):
            a, b = (mpmath.matrix(k.tolist()) for k in (first, second))
            dot = lambda x, y: sum(p * q for p, q in zip(x, y, strict=True))  # noqa: E731
            exact = 1 - dot(a, b) / mpmath.sqrt(dot(a, a) * dot(b, b))
        # rounding the unit kernels moves their difference by an ulp of 1
        assert (
            abs(float(kernel_distance(first, second) / exact - 1))
            < 1e-15 / np.sqrt(float(exact)) + 1e-13
        )


def test_scale_does_not_matter_and_is_symmetric():
    first, second = _kernel(0), _kernel(1)
    expected = kernel_distance(first, second)
    assert np.isclose(kernel_distance(1e200 * second, 1e-200 * first), expected, rtol=1e-14)
    assert kernel_distance(first, 3 * first) < 1e-30


def test_orthogonal_kernels_are_at_one():
    assert np.isclose(kernel_distance(np.diag([1.0, 0]), np.diag([0, 1.0])), 1)


def test_many_at_once_and_traced():
    stack = np.stack([_kernel(seed) for seed in range(3)])
    each = [kernel_distance(stack[0], k) for k in stack]
    np.testing.assert_allclose(kernel_distance(stack[0], stack), each, atol=1e-15)
    traced = jax.jit(kernel_distance)(jnp.asarray(stack[0]), jnp.asarray(stack[1]))
    assert np.isclose(traced, each[1], rtol=1e-5)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.zeros((2, 2)), np.eye(2), "`kernel` must have a norm above 0, got 0.0"),
        (np.eye(2), np.eye(3), "`other` must have the shape"),
        (np.ones(3), np.ones(3), "`kernel` must have the shape"),
        (np.full((2, 2), np.nan), np.eye(2), r"`kernel\[0, 0\]` must be a finite"),
    ],
)
def test_bad_input(first, second, message):
    with pytest.raises(ArgumentError, match=message):
        kernel_distance(first, second)
