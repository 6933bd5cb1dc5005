"""Gradients of every layer against automatic differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.quantities import layer_gradients

RNG = np.random.default_rng(0)
X, Y, V = (RNG.standard_normal(shape) for shape in ((7, 3), (7, 2), (4, 2)))
W = [RNG.standard_normal((3, 4)), RNG.standard_normal((4, 4)), RNG.standard_normal((4, 4))]


def loss(added, residual, centring):
    """Of a network in which something is added to the activations of each layer."""
    F = jnp.asarray(X)
    for number, (w, extra) in enumerate(zip(W, added, strict=True)):
        joined = residual if number else "none"
        z = F @ w + F if joined == "inside" else F @ w
        F = (F if joined == "outside" else 0) + jnp.tanh(z) + extra
    E = Y - F @ V
    E = E - E.mean(axis=0) if centring == "samples" else E
    return jnp.sum(E**2) / 2


@pytest.mark.parametrize("residual", ["none", "outside", "inside"])
@pytest.mark.parametrize("centring", ["samples", "none"])
def test_against_automatic_differentiation(residual, centring):
    with jax.enable_x64(True):
        zero = [jnp.zeros((7, 4)) for _ in W]
        exact = jax.grad(lambda added: loss(added, residual, centring))(zero)
    found = layer_gradients(X, W, V, Y, "tanh", residual, centring)
    assert len(found.gradients) == len(found.features) == 3
    for gradient, wanted in zip(found.gradients, exact, strict=True):
        np.testing.assert_allclose(gradient, -wanted, atol=1e-12)
    np.testing.assert_allclose(found.gradients[-1], found.error @ V.T, atol=1e-12)


def test_one_layer_is_equation_2():
    found = layer_gradients(X, W[:1], V, Y, "relu")
    E = Y - np.maximum(X @ W[0], 0) @ V
    np.testing.assert_allclose(found.gradients[0], (E - E.mean(0)) @ V.T, atol=1e-12)
    assert found.gradients[0].dtype == np.float64


def test_without_branches_all_of_the_last_gradient_arrives():
    still = [W[0], 0 * W[1], 0 * W[2]]
    found = layer_gradients(X, still, V, Y, "tanh", "outside")
    np.testing.assert_array_equal(found.gradients[0], found.gradients[-1])


def test_inside_traces():
    def norm(V):
        return sum(jnp.sum(g**2) for g in layer_gradients(X, W, V, Y, "tanh").gradients)

    exact = sum(np.sum(g**2) for g in layer_gradients(X, W, V, Y, "tanh").gradients)
    assert jax.jit(norm)(jnp.asarray(V)) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": []}, "`weights` must hold at least one matrix"),
        ({"weights": [W[1]]}, r"`weights\[0\]` must have 3 rows to fit what enters"),
        ({"weights": [W[0], np.ones((4, 5))], "residual": "inside"}, r"`weights\[1\]` must be square"),
        ({"readout": np.ones((3, 2))}, "`readout` must have 4 rows"),
        ({"targets": np.ones((7, 3))}, r"`targets` must have the shape \(7, 2\)"),
        ({"inputs": [[np.nan]]}, r"`inputs\[0, 0\]` must be a finite real number"),
        ({"inputs": np.ones(3)}, "`inputs` must be a matrix"),
        ({"residual": "skip"}, "`residual` must be one of none, outside, inside"),
        ({"activation": "rleu"}, "`activation` must be a function or one of"),
        ({"centring": "classes"}, "`centring` must be one of samples, none"),
    ],
)  # fmt: skip
def test_bad_input(changes, message):
    arguments = {"inputs": X, "weights": W, "readout": V, "targets": Y}
    with pytest.raises(ArgumentError, match=message):
        layer_gradients(**(arguments | changes))
