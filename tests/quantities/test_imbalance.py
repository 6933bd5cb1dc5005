"""The difference between two layers, and the best λ."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.quantities import imbalance


def test_the_best_coefficient_is_the_best():
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((4, 3)), rng.standard_normal((3, 5))
    found = imbalance(W1, W2)
    np.testing.assert_allclose(found.matrix, W2 @ W2.T - W1.T @ W1)

    def rest(lam):
        return np.linalg.norm(found.matrix - lam * np.eye(3))

    assert found.residual == pytest.approx(rest(found.coefficient))
    assert rest(found.coefficient) < min(rest(found.coefficient + h) for h in (-1e-3, 1e-3))


def test_many_at_once_and_traced():
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((6, 4, 3)), rng.standard_normal((6, 3, 5))
    found = imbalance(W1, W2)
    assert found.matrix.shape == (6, 3, 3)
    assert found.coefficient[2] == pytest.approx(imbalance(W1[2], W2[2]).coefficient)
    traced = jax.jit(imbalance)(W1, W2)
    np.testing.assert_allclose(traced.residual, found.residual, rtol=1e-4)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones(3), np.ones((3, 1)), r"`first` must have the shape \(..., inputs, units\)"),
        (np.ones((2, 3)), np.ones((2, 3)), r"`second` must have the shape \(3, outputs\) to fit `first`"),
        (np.ones((5, 2, 3)), np.ones((4, 3, 1)), r"`second` must have the shape \(5, 3, outputs\)"),
        (np.full((2, 2), np.nan), np.eye(2), "`first"),
    ],
)  # fmt: skip
def test_bad_input(first, second, message):
    with pytest.raises(ArgumentError, match=message):
        imbalance(first, second)
