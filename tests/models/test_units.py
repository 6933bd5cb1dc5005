"""Networks as sums over units: what a model declares of its units holds, and features give its outputs."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich import models
from lazyrich.core import ArgumentError
from lazyrich.models import Attention, Convolution, Deep, SkipNetwork, TwoLayer, UnitKind, Units
from lazyrich.models._activations import _NAMED
from lazyrich.models._unit_kind import kind_of

NETWORKS = {
    **{name: TwoLayer(3, 4, 2, name) for name in _NAMED},
    "relu with bias": TwoLayer(2, 4, 1, "relu", bias=True),
    "linear with bias": TwoLayer(2, 4, 1, "linear", bias=True),
    "sigmoid with bias": TwoLayer(2, 4, 1, "sigmoid", bias=True),
    "convolution": Convolution(5, 4, kernel=2, stride=1, output_dimension=2),
    "convolution with bias": Convolution(5, 4, kernel=2, output_dimension=2, bias=True),
    "relu convolution with bias": Convolution(4, 4, stride=2, activation="relu", bias=True),
    "relu convolution": Convolution(4, 4, kernel=2, stride=2, activation="relu"),
    "attention": Attention(3, 4),
    "attention of rank 2": Attention(3, 4, rank=2, output_dimension=2),
    "merged attention": Attention(3, 4, merged=True),
    "softmax attention": Attention(3, 4, softmax=True),
    "merged softmax attention": Attention(3, 4, merged=True, softmax=True),
    "three layers": Deep(TwoLayer(3, 4, 5), ("linear",), output_dimension=2),
    "three relu layers": Deep(TwoLayer(3, 4, 5, "relu"), ("relu",), output_dimension=2),
    "convolution and layer": Deep(Convolution(4, 3, stride=2, output_dimension=5), ("linear",)),
    "relu convolution and layer": Deep(
        Convolution(4, 3, stride=2, output_dimension=5, activation="relu"), ("relu",)
    ),
    "transformer": Deep(Attention(3, 4, output_dimension=3), ("linear", "linear"), (5,)),
    "quadratic and linear": Deep(TwoLayer(3, 4, 5, "quadratic"), ("linear",), output_dimension=2),
    **{
        f"skip {skip} {sigma}": SkipNetwork(3, 4, 2, skip, sigma)
        for skip in (0, 1, 2)
        for sigma in ("linear", "relu")
    },
}  # fmt: skip
LAYERS = [
    (name, layer) for name, network in NETWORKS.items() for layer in range(len(network.kinds))
]


def draw(network, seed, std=1.0):
    return network.init(jax.random.key(seed), std=std)


def inputs_of(network, seed, samples=7):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((samples, *(size or 6 for size in network.input_shape)))


def test_shape_of_inputs_with_a_feature_map_is_not_known():
    with pytest.raises(ArgumentError, match="`network` must know its inputs' shape"):
        _ = models.LinearModel(2).input_shape
    assert models.MLP((5, 4, 3)).input_shape == (5,)


def outputs(network, weights, seed):
    with jax.enable_x64(True):
        return np.asarray(network.apply(weights, inputs_of(network, seed)))


def with_last_unit(network, weights, layer, incoming, outgoing):
    """The outputs with a further unit or units in a layer."""
    units = network.units(weights, layer)
    more = Units(
        np.concatenate([units.incoming, np.atleast_2d(incoming)]),
        np.concatenate([units.outgoing, np.atleast_2d(outgoing)]),
    )
    return outputs(network, network.with_units(weights, more, layer), 1)


def random_unit(network, weights, layer, seed):
    units = network.units(weights, layer)
    rng = np.random.default_rng(seed)
    return rng.standard_normal(units.incoming.shape[1]), rng.standard_normal(
        units.outgoing.shape[1]
    )


def close(a, b):
    return np.allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())


@pytest.mark.parametrize(("name", "layer"), LAYERS)
def test_units_go_out_and_in_again(name, layer):
    network = NETWORKS[name]
    weights = draw(network, 0)
    again = network.with_units(weights, network.units(weights, layer), layer)
    for a, b in zip(jax.tree.leaves(weights), jax.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(a, b)
    assert all(leaf.dtype == np.float64 for leaf in jax.tree.leaves(network.units(weights, layer)))


@pytest.mark.parametrize(("name", "layer"), LAYERS)
def test_the_order_of_units_does_not_matter(name, layer):
    network = NETWORKS[name]
    weights = draw(network, 0)
    units = network.units(weights, layer)
    swapped = network.with_units(weights, Units(*(x[::-1] for x in units)), layer)
    np.testing.assert_allclose(
        outputs(network, swapped, 1), outputs(network, weights, 1), rtol=1e-10
    )


@pytest.mark.parametrize(("name", "layer"), LAYERS)
def test_silent_at_zero_as_declared(name, layer):
    network = NETWORKS[name]
    weights = draw(network, 0)
    u, v = random_unit(network, weights, layer, 5)
    silent = close(with_last_unit(network, weights, layer, 0 * u, v), outputs(network, weights, 1))
    assert silent == network.kinds[layer].has_zero


@pytest.mark.parametrize(("name", "layer"), LAYERS)
@settings(max_examples=5, deadline=None)
@given(factor=st.floats(0.2, 3.0), sign=st.sampled_from([1, -1]), seed=st.integers(0, 50))
def test_homogeneous_as_declared(name, layer, factor, sign, seed):
    network, kind = NETWORKS[name], NETWORKS[name].kinds[layer]
    if kind.degree is None or (sign < 0 and not kind.signed):
        return
    weights = draw(network, seed)
    u, v = random_unit(network, weights, layer, seed)
    alpha = sign * factor
    moved = with_last_unit(network, weights, layer, alpha * u, v)
    assert close(moved, with_last_unit(network, weights, layer, u, alpha**kind.degree * v))


@pytest.mark.parametrize(("name", "layer"), LAYERS)
def test_not_more_than_declared(name, layer):
    """What is not declared fails at a random point."""
    network, kind = NETWORKS[name], NETWORKS[name].kinds[layer]
    weights = draw(network, 3)
    u, v = random_unit(network, weights, layer, 3)
    minus = close(
        with_last_unit(network, weights, layer, -1.5 * u, v),
        with_last_unit(network, weights, layer, u, -1.5 * v),
    )
    assert minus == (kind.is_homogeneous and kind.signed)
    twice = close(
        with_last_unit(network, weights, layer, 2 * u, v),
        with_last_unit(network, weights, layer, u, 2 * v),
    )
    assert twice == kind.is_homogeneous
    w, _ = random_unit(network, weights, layer, 4)
    together = with_last_unit(network, weights, layer, u + w, v)
    assert close(together, with_last_unit(network, weights, layer, [u, w], [v, v])) == kind.linear


@pytest.mark.parametrize(("name", "layer"), LAYERS)
def test_order_as_declared(name, layer):
    """A small unit changes the outputs as a power of its size; positive ones pass a ReLU."""
    network, kind = NETWORKS[name], NETWORKS[name].kinds[layer]
    weights = draw(network, 0, std=0.7)
    u, v = map(np.abs, random_unit(network, weights, layer, 5))
    base = outputs(network, weights, 1)
    sizes = [
        np.abs(with_last_unit(network, weights, layer, h * u, 1e-2 * v) - base).max()
        for h in (1e-3, 2e-3)
    ]
    assert np.log2(sizes[1] / sizes[0]) == pytest.approx(kind.order, abs=0.05)


@pytest.mark.parametrize("name", list(_NAMED))
def test_a_users_function_is_judged_like_a_named_one(name):
    function, declared = _NAMED[name]
    assert kind_of(function) == declared


@pytest.mark.parametrize("edge", [1e-4, 0.1, 6.0, 1e3, 1e7])
def test_functions_that_bend_far_out_are_not_homogeneous(edge):
    """ReLU6 and its like, a line that is cut at both ends, and a line that bends near zero."""
    for function in (
        lambda z: np.clip(z, 0, edge),
        lambda z: np.clip(z, -edge, edge),
        lambda z: np.where(np.abs(z) < edge, z, 2 * z),
    ):
        kind = kind_of(function)
        assert kind == UnitKind(1)


@pytest.mark.parametrize(
    ("function", "kind"),
    [(lambda z: np.where(z > 0, z, 0.1 * z), UnitKind(1, 1)), (lambda z: 3 * z, UnitKind(1, 1, True, True)),
     (lambda z: z**5, UnitKind(5, 5, True)), (lambda z: np.abs(z), UnitKind(1, 1)),
     (lambda z: np.expm1(z), UnitKind(1)), (lambda z: z * np.abs(z), UnitKind(2, 2))],
)  # fmt: skip
def test_functions_that_are_homogeneous_stay_so(function, kind):
    assert kind_of(function) == kind


def test_functions_that_vanish_are_refused():
    with pytest.raises(ArgumentError, match="`activation` must not vanish around zero"):
        models.activation_kind(lambda z: 0 * z)


@pytest.mark.parametrize("name", [n for n, network in NETWORKS.items() if network.has_features])
def test_features_times_coefficients_are_the_outputs(name):
    network = NETWORKS[name]
    weights, x = draw(network, 2), inputs_of(network, 3)
    with jax.enable_x64(True):
        product = network.features(x) @ network.coefficients(weights)
        np.testing.assert_allclose(product, network.apply(weights, x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", [n for n, network in NETWORKS.items() if not network.has_features])
def test_networks_without_features_say_so(name):
    with pytest.raises(ArgumentError, match="must be linear in fixed features"):
        NETWORKS[name].features(inputs_of(NETWORKS[name], 0))
    with pytest.raises(ArgumentError, match="must be linear in fixed features"):
        NETWORKS[name].coefficients(draw(NETWORKS[name], 0))


def test_convolution_is_the_matrix_of_the_paper():
    network = Convolution(4, 1, kernel=2, stride=2)
    weights = models.TwoLayerWeights(np.array([[2.0], [3.0]]), np.array([[[5.0], [7.0]]]))
    with jax.enable_x64(True):
        W = np.asarray(network.coefficients(weights))[:, 0]
    np.testing.assert_array_equal(W, np.array([5, 7]) @ np.array([[2, 3, 0, 0], [0, 0, 2, 3]]))


def test_linear_attention_is_the_formula_of_the_paper():
    network = Attention(3, 2, rank=2)
    weights = draw(network, 0)
    tokens = inputs_of(network, 1)
    heads = weights.first.T.reshape(2, 2, 2, 3)
    expected = [
        sum(
            V[:, 0] @ X.T @ X @ K.T @ Q @ X[-1]
            for V, (K, Q) in zip(weights.second, heads, strict=True)
        )
        for X in tokens
    ]
    np.testing.assert_allclose(outputs(network, weights, 1)[:, 0], expected, rtol=1e-12)


def test_softmax_attention_is_the_formula_of_the_paper():
    network = Attention(3, 1, rank=1, softmax=True)
    weights = draw(network, 0)
    K, Q = weights.first.T.reshape(2, 1, 3)
    found = outputs(network, weights, 1)[:, 0]
    for X, output in zip(inputs_of(network, 1), found, strict=True):
        scores = np.exp(X @ K.T @ Q @ X[-1])
        assert weights.second[0, :, 0] @ X.T @ (scores / scores.sum()) == pytest.approx(
            output, rel=1e-10
        )


def test_skipping_connections_are_those_of_the_paper():
    for skip in (0, 1, 2):
        network = SkipNetwork(2, 3, 2, skip)
        W1, W2, W3, W4 = (W.T for W in draw(network, 0))
        h = {0: W3 @ W2 @ W1, 1: W3 @ (W2 @ W1 + W1), 2: W3 @ W2 @ W1 + W1}[skip]
        with jax.enable_x64(True):
            found = np.asarray(network.coefficients(draw(network, 0))).T
        np.testing.assert_allclose(found, W4 @ h, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Attention(3, 4, rank=4), "`rank` must be at most `token_dimension`, 3"),
        (lambda: Attention(3, 0), "`heads` must"),
        (lambda: Convolution(3, 2, kernel=4), "`kernel` must be at most `input_length`, 3"),
        (lambda: Convolution(3, 0), "`width` must"),
        (lambda: SkipNetwork(2, 3, skip=3), "`skip` must be 0, 1 or 2"),
        (lambda: Deep(SkipNetwork(2, 3)), "`first` must be a network with one hidden layer"),
        (
            lambda: Deep(TwoLayer(2, 3, 4), ("linear", "linear")),
            "`widths` must have one entry fewer",
        ),
        (lambda: Deep(TwoLayer(2, 3, 4), ("nonsense",)), "`activations\\[0\\]` must"),
        (lambda: TwoLayer(2, 0), "`width` must"),
        (lambda: TwoLayer(2, 3).units(draw(TwoLayer(2, 3), 0), 1), "`layer` must"),
        (
            lambda: TwoLayer(2, 3).init(jax.random.key(0), std=(1, 2, 3)),
            "`std` must be a number or 2",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
