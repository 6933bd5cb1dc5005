"""The gradient of the energy as a matrix times the weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.models import activation
from lazyrich.theory import ascent_matrix


def data(seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(4), rng.standard_normal((9, 4)), rng.standard_normal((9, 3))


@pytest.mark.parametrize(
    ("name", "factor"), [("relu", 1), ("linear", 1), ("quadratic", 1 / 2), ("cubic", 1 / 3)]
)
def test_gradient_of_the_energy(name, factor):
    w, X, Y = data()
    found = ascent_matrix(X, Y, w, name)
    assert found.factor == pytest.approx(factor)

    def energy(w):
        return 0.5 * jnp.sum(((Y - Y.mean(axis=0)).T @ activation(name)(X @ w)) ** 2)

    with jax.enable_x64(True):
        exact = jax.grad(energy)(jnp.asarray(w))
    np.testing.assert_allclose(found.factor * found.matrix @ w, exact, rtol=1e-10)
    np.testing.assert_allclose(found.matrix, found.matrix.T)
    assert np.linalg.eigvalsh(found.matrix)[0] > -1e-9 * np.trace(found.matrix)
    degree = round(2 / factor - 2)
    np.testing.assert_allclose(ascent_matrix(X, Y, 3 * w, name).matrix, 3.0**degree * found.matrix)


def test_other_activations_are_refused():
    w, X, Y = data()
    with pytest.raises(AssumptionError, match="needs a homogeneous activation, got 'tanh'"):
        ascent_matrix(X, Y, w, "tanh")


def test_bad_input_is_named():
    w, X, Y = data()
    with pytest.raises(ArgumentError, match=r"`weights` must have the shape \(4,\)"):
        ascent_matrix(X, Y, w[:2], "relu")
    with pytest.raises(ArgumentError, match=r"`targets` must have the shape \(9, outputs\)"):
        ascent_matrix(X, Y[:2], w, "relu")
