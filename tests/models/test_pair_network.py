"""Networks on pairs, against dense one-hot inputs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import PairNetwork, _pair_network

PAIRS = np.random.default_rng(0).integers(0, 5, (40, 2))
SIGMA = {
    "quadratic": lambda z: z**2, "relu": lambda z: np.maximum(z, 0), "tanh": np.tanh,
    "silu": lambda z: z / (1 + np.exp(-z)),
}  # fmt: skip


def dense(network, weights, pairs):
    """The definition, with inputs written out."""
    X = np.zeros((len(pairs), 10))
    for row, (g, h) in zip(X, pairs, strict=True):
        row[g] += 1
        row[5 + h] += 1
    parts = (lambda w: w[0] + 1j * w[1]) if network.complex_weights else np.asarray
    sigma = SIGMA[network.activation]
    F = sigma(X @ parts(weights.first))
    for W in map(parts, weights.middle):
        F = sigma(F + F @ W) if network.residual else sigma(F @ W)
    return network.output_scale * F @ parts(weights.second), F


@pytest.mark.parametrize(
    "arguments",
    [{}, {"activation": "relu", "output_scale": 3.0}, {"activation": "silu", "output_dimension": 7},
     {"activation": "tanh", "middle_layers": 2}, {"middle_layers": 1, "residual": False},
     {"complex_weights": True}, {"complex_weights": True, "middle_layers": 1}],
)  # fmt: skip
def test_it_is_the_dense_network(arguments):
    network = PairNetwork(5, 12, **arguments)
    weights = network.init(jax.random.key(1))
    assert jax.tree.map(np.shape, weights) == network.shapes()
    with jax.enable_x64(True):
        outputs, features = jax.jit(
            lambda w: (network.apply(w, PAIRS), network.features(w, PAIRS))
        )(weights)
    expected, expected_features = dense(network, weights, PAIRS)
    np.testing.assert_allclose(features, expected_features, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(outputs, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("arguments", [{}, {"activation": "relu"}, {"complex_weights": True}])
def test_blocks_change_neither_outputs_nor_gradient(arguments, monkeypatch):
    """Units in three blocks, the last one filled up, against plain differentiation."""
    network = PairNetwork(5, 130, **arguments)
    monkeypatch.setattr(_pair_network, "BLOCK", 1)  # the smallest blocks, of 64 units
    with jax.enable_x64(True):
        weights = jax.tree.map(jnp.asarray, network.init(jax.random.key(2)))
        target = np.random.default_rng(1).standard_normal((40, 5))

        def by_blocks(weights):
            return jnp.sum(jnp.abs(network.apply(weights, PAIRS) - target) ** 2)

        def plainly(weights):
            V = network.values(weights).second
            return jnp.sum(jnp.abs(network.features(weights, PAIRS) @ V - target) ** 2)

        W, V = network.values(weights).first, network.values(weights).second
        assert _pair_network._blocks(W, V, PAIRS)[0].shape == (3, 10, 44)
        got, expected = (jax.jit(jax.value_and_grad(f))(weights) for f in (by_blocks, plainly))
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_start_is_uniform_as_in_the_public_code():
    network = PairNetwork(50, 400, middle_layers=1)
    weights = network.init(jax.random.key(0), scale=2.0, top_scale=0.5)
    limits = (2 / np.sqrt(100), 2 / np.sqrt(400), 1 / np.sqrt(400))
    for array, limit in zip(jax.tree.leaves(weights), limits, strict=True):
        assert 0.99 * limit < np.max(np.abs(array)) <= limit
        assert np.var(array) == pytest.approx(limit**2 / 3, rel=0.02)
        assert abs(np.mean(array)) < 5 * limit / np.sqrt(3 * array.size)
    assert not network.init(jax.random.key(0), top_scale=0).second.any()
    np.testing.assert_array_equal(network.init(jax.random.key(0)).first, weights.first / 2)


def test_complex_start_has_random_phases_and_the_same_size():
    network = PairNetwork(50, 400, complex_weights=True)
    W = np.asarray(network.values(network.init(jax.random.key(0))).first)
    assert np.mean(np.abs(W) ** 2) == pytest.approx(1 / 300, rel=0.02)
    assert abs(np.mean(W**2)) < 0.03 / 300


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_symbols": 1}, "`num_symbols` must be a whole number ≥ 2"),
        ({"width": 0}, "`width` must"),
        ({"output_dimension": 0}, "`output_dimension` must"),
        ({"middle_layers": -1}, "`middle_layers` must"),
        ({"activation": "swish"}, "`activation` must be a function or one of"),
        ({"activation": "relu", "complex_weights": True}, "for complex weights"),
        ({"residual": 1}, "`residual` must be True or False"),
        ({"output_scale": 0}, "`output_scale` must"),
    ],
)
def test_bad_network(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        PairNetwork(**({"num_symbols": 5, "width": 4} | arguments))


def test_bad_calls():
    network = PairNetwork(5, 4)
    with pytest.raises(ArgumentError, match="`scale` must"):
        network.init(jax.random.key(0), scale=-1)
    with pytest.raises(ArgumentError, match="`top_scale` must"):
        network.init(jax.random.key(0), top_scale=np.nan)
    weights = network.init(jax.random.key(0))
    for wrong in (np.zeros((3, 2)), np.zeros((3, 3), int), np.array([[0, 5]]), np.array([[-1, 0]])):
        with pytest.raises(
            ArgumentError, match="`pairs` must be pairs of whole numbers from 0 to 4"
        ):
            network.apply(weights, wrong)
