"""Networks with one hidden layer."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import TwoLayer, TwoLayerWeights, activation


def test_is_a_sum_over_units():
    model = TwoLayer(3, 4, 2, "tanh")
    weights = model.init(jax.random.key(0), std=1.0)
    X = np.random.default_rng(0).standard_normal((5, 3))
    units = sum(np.outer(np.tanh(X @ weights.first[:, i]), weights.second[i]) for i in range(4))
    with jax.enable_x64(True):
        np.testing.assert_allclose(model.apply(weights, X), units, rtol=1e-13)


def test_draws_have_the_stated_spread():
    weights = TwoLayer(200, 300, 100).init(jax.random.key(1), std=(0.3, 2.0))
    assert weights.first.shape == (200, 300)
    assert weights.second.shape == (300, 100)
    assert weights.first.std() == pytest.approx(0.3, rel=0.02)
    assert weights.second.std() == pytest.approx(2.0, rel=0.02)
    assert (
        abs(np.corrcoef(weights.first[:100].T.ravel()[:30000], weights.second.ravel())[0, 1]) < 0.03
    )


def test_weights_are_float64_whatever_the_setting():
    assert TwoLayer(2, 3).init(jax.random.key(0), std=1).first.dtype == np.float64


@pytest.mark.parametrize(
    ("name", "value"),
    [("linear", 0.7), ("relu", 0.7), ("quadratic", 0.49), ("sigmoid", 1 / (1 + np.exp(-0.7))),
     ("sine", np.sin(0.7)), ("tanh", np.tanh(0.7))],
)  # fmt: skip
def test_activations(name, value):
    with jax.enable_x64(True):
        assert float(activation(name)(np.float64(0.7))) == pytest.approx(value, rel=1e-14)


def test_any_function_will_do():
    model = TwoLayer(1, 1, activation=lambda z: z**3)
    one = TwoLayerWeights(np.ones((1, 1)), np.ones((1, 1)))
    assert float(model.apply(one, np.full((1, 1), 2.0))[0, 0]) == 8


@pytest.mark.parametrize("wrong", ["softplus?", 3, None])
def test_unknown_activations_are_refused(wrong):
    with pytest.raises(
        ArgumentError, match="`activation` must be a function or one of linear, relu"
    ):
        TwoLayer(2, 3, activation=wrong)


@pytest.mark.parametrize("field", ["input_dimension", "width", "output_dimension"])
@pytest.mark.parametrize("wrong", [0, -1, 2.5, np.nan, "3", None, True])
def test_sizes_are_checked(field, wrong):
    sizes = {"input_dimension": 2, "width": 3, "output_dimension": 1} | {field: wrong}
    with pytest.raises(ArgumentError, match=f"`{field}` must"):
        TwoLayer(**sizes)


@pytest.mark.parametrize("wrong", [-1, np.nan, np.inf, "a", None])
def test_spreads_are_checked(wrong):
    with pytest.raises(ArgumentError, match="`std` must"):
        TwoLayer(2, 3).init(jax.random.key(0), std=wrong)
