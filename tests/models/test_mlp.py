"""Fully connected networks: against the same written out, and what their scales do."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import MLP, MLPWeights, TwoLayer, TwoLayerWeights

SIZES = (5, 7, 6, 3)
X = np.random.default_rng(0).standard_normal((4, 5))


def weights_of(network, std=0.7):
    return network.init(jax.random.key(3), std)


def applied(network, weights, inputs=X):
    with jax.enable_x64(True):
        return np.asarray(network.apply(weights, inputs))


def by_hand(network, weights, sigma):
    h = network.input_scale * X
    for layer, matrix in enumerate(weights.matrices):
        h = (h if layer == 0 else sigma(h)) @ matrix
        h = h + weights.biases[layer] if network.bias else h
    return network.output_scale * h


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("name", "sigma"), [("tanh", np.tanh), ("linear", lambda z: z)])
def test_outputs_by_hand(bias, name, sigma):
    network = MLP(SIZES, name, bias, input_scale=0.3, output_scale=2.5)
    weights = weights_of(network)
    assert (weights.biases is None) == (not bias)
    np.testing.assert_allclose(
        applied(network, weights), by_hand(network, weights, sigma), rtol=1e-13
    )


def test_one_hidden_layer_is_the_two_layer_network():
    network, other = MLP((5, 7, 3), "relu", bias=False), TwoLayer(5, 7, 3, "relu")
    weights = weights_of(network)
    np.testing.assert_array_equal(
        applied(network, weights), applied(other, TwoLayerWeights(*weights.matrices))
    )
    assert network.kinds == other.kinds


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_network_has_features(bias):
    network = MLP(SIZES, "linear", bias, input_scale=0.3, output_scale=2.5)
    weights = weights_of(network)
    with jax.enable_x64(True):
        product = np.asarray(network.features(X)) @ np.asarray(network.coefficients(weights))
    np.testing.assert_allclose(product, applied(network, weights), rtol=1e-12)


def test_others_have_none():
    network = MLP(SIZES, "relu")
    assert not network.has_features
    with pytest.raises(ArgumentError, match="linear in fixed features"):
        network.features(X)
    with pytest.raises(ArgumentError, match="linear in fixed features"):
        network.coefficients(weights_of(network))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("layer", [0, 1])
def test_units_are_the_layer(bias, layer):
    """Taken out and put back they change nothing; in another order neither."""
    network = MLP(SIZES, "tanh", bias)
    weights = weights_of(network)
    with jax.enable_x64(True):
        units = network.units(weights, layer)
        same = network.with_units(weights, units, layer)
        turned = network.with_units(weights, type(units)(*(u[::-1] for u in units)), layer)
    assert units.incoming.shape == (SIZES[layer + 1], SIZES[layer] + bias)
    for one, other in zip(jax.tree.leaves(same), jax.tree.leaves(weights), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(applied(network, turned), applied(network, weights), rtol=1e-12)


def test_homogeneous_networks_trade_scales():
    """ReLU without biases: the input's scale is the output's, and a layer's scale any other layer's."""
    weights = weights_of(MLP(SIZES, "relu", bias=False))
    moved = MLPWeights((weights[0][0] * 4, weights[0][1], weights[0][2] / 4), None)
    plain = applied(MLP(SIZES, "relu", bias=False), weights)
    for network, given in (
        (MLP(SIZES, "relu", bias=False, input_scale=2.0, output_scale=0.5), weights),
        (MLP(SIZES, "relu", bias=False), moved),
    ):
        np.testing.assert_allclose(applied(network, given), plain, rtol=1e-13)


def test_lecun_start():
    network = MLP((400, 300, 200, 10), "tanh")
    weights = network.init(jax.random.key(0), network.lecun(5.0, layers=(0.5, 1.0, 2.0)))
    found = [np.std(matrix) * np.sqrt(len(matrix)) for matrix in weights.matrices]
    np.testing.assert_allclose(found, [2.5, 5.0, 10.0], rtol=0.05)
    assert all(np.all(bias == 0) for bias in weights.biases)
    assert MLP((4, 3, 2), bias=False).lecun().shape == (2,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"widths": (5, 3)}, "`widths` must hold at least three sizes"),
        ({"widths": 5}, "`widths` must hold at least three sizes"),
        ({"widths": (5, 0, 3)}, "`widths` must"),
        ({"widths": (5, 2.5, 3)}, "`widths` must"),
        ({"activation": "swish"}, "`activation` must be a function or one of"),
        ({"input_scale": 0.0}, "`input_scale` must"),
        ({"output_scale": float("nan")}, "`output_scale` must"),
        ({"output_scale": -1.0}, "`output_scale` must"),
    ],
)
def test_bad_network(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        MLP(**{"widths": SIZES, **arguments})


def test_bad_scales_and_inputs():
    network = MLP(SIZES)
    with pytest.raises(ArgumentError, match=r"`layers` must be a number or 3 numbers, got \(2,\)"):
        network.lecun(layers=(1.0, 2.0))
    with pytest.raises(ArgumentError, match="`scale` must"):
        network.lecun(-1.0)
    with pytest.raises(ArgumentError, match=r"`inputs` must have the shape \(samples, 5\)"):
        network.apply(weights_of(network), X[:, :4])
    with pytest.raises(ArgumentError, match="`layer` must"):
        network.units(weights_of(network), 2)
    with pytest.raises(ArgumentError, match="`std` must be a number or 6 numbers"):
        network.init(jax.random.key(0), [1.0, 2.0])
