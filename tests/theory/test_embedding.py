"""Embedded fixed points, by minimising narrow networks, and with constructions that are not allowed."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.checks.saddles._instances import FORMS, Instance, random_construction, random_inputs
from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.models import Deep, SkipNetwork, TwoLayer, TwoLayerWeights, UnitKind, Units
from lazyrich.theory import DependentUnit, ProportionalUnit, SplitUnit, ZeroUnit, embed

LINEAR = TwoLayer(2, 3).kinds[0]
FURTHER = {
    **{name: TwoLayer(2, 4, 1, name) for name in ("cubic", "sine", "z-tanh", "versine", "z2-tanh")},
    "function": TwoLayer(2, 4, 2, jax.nn.silu),
    "leaky": TwoLayer(2, 4, 2, lambda z: jnp.where(z > 0, z, 0.2 * z)),
    "no skip": SkipNetwork(3, 4, 2, skip=0, activation="relu"),
    "skip 2": SkipNetwork(3, 4, 2, skip=2),
}
"""Networks that the checks do not have."""


@pytest.mark.parametrize("name", FURTHER)
def test_all_constructions_in_all_layers(name):
    network = FURTHER[name]
    rng = np.random.default_rng(0)
    here = Instance(network, random_inputs(network, rng))
    tried = 0
    for layer, kind in enumerate(network.kinds):
        narrow, error = here.narrow_fixed_point(rng, layer, 3)
        assert np.abs(error).max() > 0.01
        for form in FORMS:
            construction = random_construction(form, rng, 3)
            if construction.lacks(kind):
                continue
            wide = embed(network, narrow, construction, layer=layer)
            jacobian, outputs = here.jacobian_and_outputs(wide)
            np.testing.assert_allclose(outputs, here.outputs(narrow), rtol=1e-9, atol=1e-12)
            assert np.abs(error @ jacobian).max() < 1e-12 * np.max(np.abs(error) @ np.abs(jacobian))
            tried += 1
    assert tried >= len(network.kinds)


def gradient(sigma, slope, X, y, weights):
    """Of ½ the mean squared error of a network with one output, written out."""
    first, second = weights
    Z = X @ first
    error = (sigma(Z) @ second - y[:, None]) / len(X)
    return X.T @ (error * second.T * slope(Z)), sigma(Z).T @ error


ACTIVATIONS = {
    "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2),
    "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
    "quadratic": (np.square, lambda z: 2 * z),
    "sigmoid": (lambda z: 1 / (1 + np.exp(-z)), lambda z: 1 / (2 * np.cosh(z / 2)) ** 2),
    "linear": (lambda z: z, np.ones_like),
}


START = dict.fromkeys(ACTIVATIONS, (1.0, 0.8, 1.0)) | {"quadratic": (1.5, 0.1, 1.0)}


@functools.cache
def minimum(name):
    """A fixed point of a network with one unit on labels that it cannot fit, and the gradient."""
    from scipy.optimize import root

    sigma, slope = ACTIVATIONS[name]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = sigma(1.5 * X[:, 0]) + sigma(X[:, 1]) + 0.3 * rng.standard_normal(200)

    def flat_gradient(weights):
        return np.concatenate([g.ravel() for g in gradient(sigma, slope, X, y, weights)])

    def shaped(flat):
        return TwoLayerWeights(flat[:2].reshape(2, 1), flat[2:].reshape(1, 1))

    end = root(lambda flat: flat_gradient(shaped(flat)), START[name], tol=1e-14)
    weights = shaped(end.x)
    assert np.abs(end.fun).max() < 1e-12
    assert np.mean((sigma(X @ weights.first) @ weights.second - y[:, None]) ** 2) > 0.05
    assert np.abs(end.x).min() > 0.01
    return weights, flat_gradient, X, y


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_minima_of_narrow_networks_are_fixed_points_of_wide_ones(name):
    weights, grad, _, _ = minimum(name)
    network = TwoLayer(2, 1, activation=name)
    for form in FORMS:
        construction = random_construction(form, np.random.default_rng(1), 1)
        if not construction.lacks(network.kinds[0]):
            wide = embed(network, weights, construction, SplitUnit(0, 0.3), SplitUnit(1, -2.0))
            assert wide.first.shape == (2, 4)
            assert np.abs(grad(wide)).max() < 1e-11


@pytest.mark.parametrize(
    ("name", "construction"),
    [
        ("sigmoid", ZeroUnit()),
        ("tanh", ProportionalUnit(0, 0.5, 0.4)),
        ("quadratic", ProportionalUnit(0, 0.5, 0.4)),
        ("relu", ProportionalUnit(0, -0.5, 0.4)),
        ("relu", DependentUnit([-0.5], [0.4])),
        ("tanh", DependentUnit([0.5], [0.4])),
    ],
)
def test_what_is_refused_would_be_no_fixed_point_of_the_same_map(name, construction):
    weights, grad, _, _ = minimum(name)
    network = TwoLayer(2, 1, activation=name)
    with pytest.raises(AssumptionError):
        embed(network, weights, construction)
    forced = network.with_units(weights, construction.apply(network.units(weights), LINEAR))
    assert np.abs(grad(forced)).max() > 5e-4


def test_refusals_say_what_is_missing():
    relu, sigmoid, quadratic, tanh = (
        TwoLayer(2, 1, activation=name).kinds[0]
        for name in ("relu", "sigmoid", "quadratic", "tanh")
    )
    units = Units(np.ones((1, 2)), np.ones((1, 1)))
    for construction, kind, message in (
        (ZeroUnit(), sigmoid, r"`ZeroUnit` needs units that are silent without .*, φ\(z; 0\) = 0"),
        (ProportionalUnit(0, 1, 1), quadratic, "these are homogeneous of degree 2. Split a unit"),
        (ProportionalUnit(0, 1, 1), tanh, "these are not homogeneous"),
        (ProportionalUnit(0, -1, 1), relu, r"`ProportionalUnit` needs a factor ≥ 0 .* ReLU .*, got -1"),
        (DependentUnit([1], [1]), relu, "`DependentUnit` needs units that are linear"),
    ):  # fmt: skip
        with pytest.raises(AssumptionError, match=message):
            construction.apply(units, kind)


def loss_and_slope(network, weights):
    """Loss on the data of `minimum`, for incoming weights of the second unit, and its derivative."""
    _, _, X, y = minimum("relu")

    def loss(u):
        moved = weights._replace(first=jnp.stack([weights.first[:, 0], u], axis=1))
        return jnp.mean((network.apply(moved, X)[:, 0] - y) ** 2) / 2

    return jax.jit(loss), jax.jit(jax.grad(loss))


DIRECTIONS = np.random.default_rng(1).standard_normal((20, 2))


@pytest.mark.parametrize(
    ("relu", "at_rest"),
    [
        (jax.nn.relu, True),
        (lambda z: jnp.maximum(z, 0), False),
        (lambda z: jnp.where(z >= 0, z, 0), False),
    ],
    ids=["0", "1/2", "1"],
)
def test_relu_units_without_incoming_weights_rest_by_convention_only(relu, at_rest):
    """By its derivative at zero: 0 as jax.nn.relu has it, ½ or 1."""
    network = TwoLayer(2, 1, activation=relu)
    wide = embed(network, minimum("relu")[0], ProportionalUnit(0, 0.0, 1.0))
    with jax.enable_x64(True):
        loss, slope = loss_and_slope(network, wide)
        zero = np.zeros(2)
        assert (np.abs(slope(zero)).max() < 1e-12) == at_rest
        falls = np.array([[loss(zero) - loss(h * d) for h in (1e-4, 2e-4)] for d in DIRECTIONS])
    steepest = falls[np.argmax(falls[:, 0])]
    assert steepest[0] > 1e-6  # linear in the step, whatever the convention
    assert steepest[1] / steepest[0] == pytest.approx(2, rel=1e-2)


def test_with_a_positive_factor_the_loss_is_flat():
    network = TwoLayer(2, 1, activation="relu")
    wide = embed(network, minimum("relu")[0], ProportionalUnit(0, 0.5, 1.0))
    with jax.enable_x64(True):
        loss, _ = loss_and_slope(network, wide)
        u = wide.first[:, 1]
        for d in DIRECTIONS:
            assert abs(float(loss(u + 1e-5 * d) - loss(u))) < 1e-8


factors = st.floats(-3, 3)


@given(st.lists(st.tuples(factors, factors), min_size=3, max_size=3), factors, factors)
def test_linear_maps_stay_as_they_are(dependent, share, factor):
    rng = np.random.default_rng(0)
    weights = TwoLayerWeights(rng.standard_normal((2, 3)), rng.standard_normal((3, 2)))
    gamma_u, gamma_v = zip(*dependent, strict=True)
    chosen = (
        DependentUnit(gamma_u, gamma_v),
        ProportionalUnit(-1, factor, share),
        SplitUnit(2, share),
    )
    wide = embed(TwoLayer(2, 3, 2), weights, *chosen, ZeroUnit())
    assert wide.first.shape == (2, 7)
    size = np.abs(wide.first).max() * np.abs(wide.second).max()
    np.testing.assert_allclose(
        wide.first @ wide.second, weights.first @ weights.second, atol=1e-12 * max(size, 1)
    )
    np.testing.assert_allclose(wide.first[:, 3], weights.first @ gamma_u, atol=1e-12)


def test_several_layers():
    network = Deep(TwoLayer(2, 2, 3, "tanh"), ("relu", "linear"), (2,), output_dimension=2)
    weights = network.init(jax.random.key(0), std=1.0)
    wide = embed(network, weights, SplitUnit(0), ZeroUnit(), layer=0)
    wide = embed(network, wide, ProportionalUnit(1, 2.0, 0.1), layer=1)
    wide = embed(network, wide, DependentUnit([1, -1], [0.5, 2]), layer=2)
    assert [network.units(wide, layer).incoming.shape[0] for layer in range(3)] == [4, 4, 3]
    X = np.random.default_rng(0).standard_normal((5, 2))
    apply = jax.jit(network.apply)
    with jax.enable_x64(True):
        np.testing.assert_allclose(apply(wide, X), apply(weights, X), rtol=1e-12)


def test_float64_in_new_arrays():
    first, second = np.ones((2, 1), np.float32), jnp.ones((1, 1))
    wide = embed(TwoLayer(2, 1), TwoLayerWeights(first, second), SplitUnit(0))
    assert all(type(w) is np.ndarray and w.dtype == np.float64 for w in wide)
    wide.first[:] = 7  # writable, and not the user's
    assert first.max() == 1
    same = embed(TwoLayer(2, 1), TwoLayerWeights(first, second))
    np.testing.assert_array_equal(same.first, first)


def test_constructions_are_values():
    assert DependentUnit(np.array([1, 2]), [0, 1]) == DependentUnit((1.0, 2.0), (0.0, 1.0))
    assert hash(SplitUnit(0, 0.5)) == hash(SplitUnit(0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        SplitUnit(0).share = 1.0


NETWORK = TwoLayer(2, 2)
WEIGHTS = TwoLayerWeights(np.ones((2, 2)), np.ones((2, 1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SplitUnit(0, np.nan), "`share` must be a finite real number, got nan"),
        (lambda: ProportionalUnit(0, "1", 1), "`incoming` must be a finite real number, got '1'"),
        (lambda: DependentUnit([1, np.inf], [0, 1]), r"`incoming\[1\]` must be a finite real number"),
        (lambda: DependentUnit(1.0, [1]), "`incoming` must be a list of numbers, got 1.0"),
        (lambda: embed(NETWORK, WEIGHTS, SplitUnit(2)), r"`unit` must be .* ≤ 1, got 2. There are 2 units"),
        (lambda: embed(NETWORK, WEIGHTS, SplitUnit(0.5)), "`unit` must be a whole number"),
        (lambda: embed(NETWORK, WEIGHTS, SplitUnit([0, 1])), "`unit` must be a single number"),
        (lambda: embed(NETWORK, WEIGHTS, DependentUnit([1], [1, 2])), "`incoming` must have 2 entries"),
        (lambda: embed(NETWORK, WEIGHTS, DependentUnit([1, 2], [1])), "`outgoing` must have 2 entries"),
        (lambda: embed(NETWORK, WEIGHTS, SplitUnit), "`constructions` must be constructions"),
        (lambda: embed(NETWORK, WEIGHTS, SplitUnit(0), layer=1), "`layer` must"),
        (lambda: embed("relu", WEIGHTS), "`network` must be a network of `models`, got 'relu'"),
        (lambda: embed(NETWORK, np.ones((2, 2))), "`weights` must be a tree of arrays as"),
        (
            lambda: embed(NETWORK, TwoLayerWeights(np.ones((2, 2)), np.full((2, 1), np.nan))),
            "`weights.*` must be a finite",
        ),
        (
            lambda: embed(NETWORK, TwoLayerWeights(np.ones((2, 3)), np.ones((2, 1))), ZeroUnit()),
            r"`weights` must be arrays of the shapes .*first=\(2, 'units'\).*, got .*first=\(2, 3\)",
        ),
        (lambda: ZeroUnit().apply(np.ones((2, 2)), LINEAR), r"`units` must be `Units\(incoming, outgoing\)`"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_units_of_a_kind_of_ones_own():
    kind = UnitKind(order=1, degree=1, signed=True)  # homogeneous for both signs, and not linear
    assert not ProportionalUnit(0, -1.0, 1.0).lacks(kind)
    assert DependentUnit([1.0], [1.0]).lacks(kind)
