"""Distances between tangent kernels of linear networks, without the kernels."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.quantities import kernel_distance, linear_kernel_distance


def dense_kernel(W1, W2, X):
    """From the Jacobian, by automatic differentiation."""
    with jax.enable_x64(True):
        parts = jax.jacobian(lambda w: jnp.asarray(X) @ w[0] @ w[1])(
            (jnp.asarray(W1), jnp.asarray(W2))
        )
        J = np.concatenate(
            [np.asarray(part).reshape(X.shape[0] * W2.shape[1], -1) for part in parts], axis=1
        )
    return J @ J.T


@pytest.mark.parametrize("size", [1.0, 1e-4])
def test_against_the_dense_kernel(size):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 3)) @ rng.standard_normal((3, 3))
    W1, W2 = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
    V1, V2 = W1 + size * rng.standard_normal(W1.shape), W2 + size * rng.standard_normal(W2.shape)
    found = linear_kernel_distance(W1, W2, V1, V2, X.T @ X / 7)
    dense = kernel_distance(dense_kernel(W1, W2, X), dense_kernel(V1, V2, X))
    assert found == pytest.approx(dense, rel=1e-7)


def test_many_at_once():
    rng = np.random.default_rng(1)
    W1, W2, C = rng.standard_normal((5, 3, 4)), rng.standard_normal((5, 4, 2)), np.diag([1.0, 2, 3])
    found = linear_kernel_distance(W1[0], W2[0], W1, W2, C)
    assert found.shape == (5,)
    assert found[0] < 1e-30
    assert found[3] == pytest.approx(
        linear_kernel_distance(W1[0], W2[0], 3 * W1[3], 3 * W2[3], 2 * C)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"covariance": np.eye(2)}, r"`covariance` must have the shape \(..., 3, 3\)"),
        ({"new_first": np.ones((2, 4))}, "`new_first` must have 3 rows"),
        ({"new_second": np.ones((4, 3))}, "`new_second` must have 2 columns"),
        ({"second": np.ones((3, 2))}, "`second` must have 4 rows"),
        ({"first": np.ones(3)}, "`first` must be a matrix"),
        ({"first": np.full((3, 4), np.inf)}, "`first"),
    ],
)
def test_bad_input(change, message):
    good = {"first": np.ones((3, 4)), "second": np.ones((4, 2)), "new_first": np.ones((3, 4)),
            "new_second": np.ones((4, 2)), "covariance": np.eye(3)}  # fmt: skip
    with pytest.raises(ArgumentError, match=message):
        linear_kernel_distance(**good | change)
