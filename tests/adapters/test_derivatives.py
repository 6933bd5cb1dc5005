"""Derivatives of JAX losses, against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.adapters import derivatives
from lazyrich.core import ArgumentError
from lazyrich.measures import saddle_certificate
from lazyrich.models import TwoLayer, TwoLayerWeights
from lazyrich.theory import LinearFixedPoints


def test_against_closed_forms():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((6, 4)), rng.standard_normal(6)
    weights = {"x": rng.standard_normal((2, 2)), "s": 0.7}
    made = derivatives(lambda w: w["s"] * jnp.sum((A @ w["x"].ravel() - b) ** 2), weights)
    s, x = made.weights[0], made.weights[1:]  # dictionaries are sorted by key
    np.testing.assert_array_equal(x, weights["x"].ravel())
    e = A @ x - b
    np.testing.assert_allclose(
        made.gradient(made.weights), np.append(e @ e, 2 * s * A.T @ e), rtol=1e-13
    )
    H = np.zeros((5, 5))
    H[1:, 1:], H[0, 1:], H[1:, 0] = 2 * s * A.T @ A, 2 * A.T @ e, 2 * A.T @ e
    v = rng.standard_normal(5)
    np.testing.assert_allclose(made.hessian_product(made.weights, v), H @ v, rtol=1e-12)
    back = made.unflatten(made.weights)
    np.testing.assert_array_equal(back["x"], weights["x"])
    assert back["s"].shape == ()


@pytest.mark.parametrize("x64", [False, True])
def test_float64_whatever_the_setting(x64):
    with jax.enable_x64(x64):
        data = jnp.asarray(np.linspace(0, 1, 50), jnp.float32)  # the loss's data stay as they are
        made = derivatives(lambda w: jnp.sum(jnp.cos(data * w)), jnp.asarray([0.3], jnp.float32))
        found = made.gradient([0.3])
        assert jnp.asarray(1.0).dtype == (jnp.float64 if x64 else jnp.float32)
    x = np.asarray(data, np.float64)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, [-np.sum(x * np.sin(0.3 * x))], rtol=1e-14)


def test_a_network_at_its_saddle():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((20, 3))
    Y = Z @ rng.standard_normal((3, 2)) + rng.standard_normal((20, 2))
    points = LinearFixedPoints(Y.T @ Z / 20, Z.T @ Z / 20)
    model = TwoLayer(3, 4, 2)

    def loss(weights):
        return jnp.mean(jnp.sum((model.apply(weights, Z) - Y) ** 2, axis=1)) / 2

    made = derivatives(loss, points.weights([0], 4))
    found = saddle_certificate(*made)
    assert found.index == points.hessian_index([0], 4)
    direction = made.unflatten(found.escape_direction)
    assert isinstance(direction, TwoLayerWeights)
    # units that are unused learn what is missing
    assert np.abs(direction.first[:, 0]).max() < 1e-9 < np.abs(direction.first[:, 1:]).max()


def square(w):
    return jnp.sum(w**2)


@pytest.mark.parametrize(
    ("loss", "weights", "message"),
    [(3, [1.0], "`loss` must be a function of the weights, got 3"),
     (lambda w: w**2, np.ones(2), r"`loss` must return one float64 number .* got '?float64 of shape \(2,\)"),
     (lambda w: square(w.astype(jnp.float32)), np.ones(2), "`loss` must return one float64 .* got .*float32"),
     (lambda w: None, np.ones(2), "`loss` must return one float64 number"),
     (lambda w: square(w["a"]), {"a": np.ones(2), "f": jnp.tanh}, r"`weights\['f'\]` must be a finite real"),
     (square, [np.nan, 1.0], r"`weights\[0\]` must be a finite real number, got nan. Put what is no weight"),
     (square, np.array([1.0, np.inf]), r"`weights\[1\]` must be a finite real number, got inf"),
     (square, {}, "`weights` must hold at least one number"),
     (square, np.zeros((0, 3)), "`weights` must hold at least one number")],
)  # fmt: skip
def test_bad_input(loss, weights, message):
    with pytest.raises(ArgumentError, match=message):
        derivatives(loss, weights)


def test_traced_weights():
    with pytest.raises(ArgumentError, match="`weights` must be known now, got 'traced arrays'"):
        jax.jit(lambda w: derivatives(square, w).weights)(np.ones(2))


def test_unflatten_wants_the_same_size():
    made = derivatives(square, np.ones(3))
    with pytest.raises(ArgumentError, match=r"`vector` must have the shape \(3,\), got \(2,\)"):
        made.unflatten(np.ones(2))
