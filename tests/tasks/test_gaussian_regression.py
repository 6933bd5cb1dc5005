"""Regression on Gaussian inputs: samples, and quadrature for the whole distribution."""

import itertools

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import GaussianRegression

CORRELATED = np.array([[1.0, 1.0], [1.0, 4.0]])
SINGULAR = np.array([[1.0, -2.0], [-2.0, 4.0]])


def first(x):
    return x[:, :1]


def isserlis(covariance, indices):
    """The mean of a product of Gaussians: the sum over all ways to pair them."""
    if not indices:
        return 1.0
    one, rest = indices[0], indices[1:]
    return sum(
        covariance[one, other] * isserlis(covariance, rest[:k] + rest[k + 1 :])
        for k, other in enumerate(rest)
    )


@pytest.mark.parametrize("covariance", [CORRELATED, SINGULAR, np.zeros((2, 2))])
def test_samples_have_the_covariance(covariance):
    data = GaussianRegression(covariance, first, 100_000).dataset(jax.random.key(0))
    assert data.inputs.dtype == np.float64
    products = data.inputs[:, :, None] * data.inputs[:, None]
    errors = products.std(axis=0) / np.sqrt(1e5) + 1e-12
    assert (np.abs(products.mean(axis=0) - covariance) < 4.5 * errors).all()
    spread = np.sqrt(np.diag(covariance)) / np.sqrt(1e5) + 1e-12
    assert (np.abs(data.inputs.mean(axis=0)) < 4.5 * spread).all()


def test_singular_inputs_lie_on_a_line():
    x = GaussianRegression(SINGULAR, first, 50).dataset(jax.random.key(0)).inputs
    np.testing.assert_allclose(x[:, 1], -2 * x[:, 0], atol=1e-7)  # √ε of a zero eigenvalue
    nodes = GaussianRegression(SINGULAR, first).population(nodes=3).inputs
    np.testing.assert_allclose(nodes[:, 1], -2 * nodes[:, 0], atol=1e-7)


def test_labels_are_the_target_of_the_inputs():
    W = np.array([[1.0, 2.0], [0.0, 3.0], [-1.0, 1.0]])
    task = GaussianRegression(CORRELATED, lambda x: np.tanh(x) @ W.T, 40)
    data = task.dataset(jax.random.key(1))
    np.testing.assert_allclose(data.labels, np.tanh(data.inputs) @ W.T, rtol=1e-15)
    assert data.labels.shape == (40, 3)
    np.testing.assert_array_equal(data.weights, np.full(40, 1 / 40))


def test_targets_in_jax_keep_their_digits():
    data = GaussianRegression(2, lambda x: jax.numpy.sin(x), 10).dataset(jax.random.key(0))
    np.testing.assert_allclose(data.labels, np.sin(data.inputs), rtol=1e-14)


def test_the_key_decides():
    task = GaussianRegression(2, first, 5)
    one, other, again = (task.dataset(jax.random.key(seed)).inputs for seed in (0, 1, 0))
    assert (one == again).all()
    assert (one != other).all()


def test_a_number_of_inputs_stands_for_a_white_covariance():
    task = GaussianRegression(3, first)
    np.testing.assert_array_equal(task.covariance, np.eye(3))
    assert task.input_dimension == 3


@pytest.mark.parametrize("covariance", [CORRELATED, SINGULAR, np.diag([0.5, 0.0])])
def test_quadrature_is_exact_below_twice_the_nodes(covariance):
    nodes = GaussianRegression(covariance, first).population(nodes=4)
    assert nodes.weights.sum() == pytest.approx(1, rel=1e-13)
    for a, b in itertools.product(range(8), range(8)):
        if a + b < 8:
            exact = isserlis(covariance, (0,) * a + (1,) * b) if (a + b) % 2 == 0 else 0.0
            found = nodes.weights @ (nodes.inputs[:, 0] ** a * nodes.inputs[:, 1] ** b)
            size = 1 + isserlis(np.abs(covariance), (0,) * a + (1,) * b) if exact else 10.0
            assert abs(found - exact) < 1e-11 * size


def test_quadrature_is_not_exact_beyond():
    nodes = GaussianRegression(1, first).population(nodes=4)
    assert abs(nodes.weights @ nodes.inputs[:, 0] ** 8 - 105) > 1  # 105 = 7!!


def test_quadrature_of_a_smooth_function():
    """E cos(x) = exp(−σ²/2)."""
    nodes = GaussianRegression([[2.0]], lambda x: np.cos(x)).population()
    assert nodes.weights @ nodes.labels[:, 0] == pytest.approx(np.exp(-1), rel=1e-13)


@pytest.mark.parametrize(("inputs", "nodes"), [(1, 40), (2, 40), (3, 21), (4, 10), (13, 2)])
def test_number_of_points(inputs, nodes):
    assert len(GaussianRegression(inputs, first).population().weights) == nodes**inputs


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"covariance": 0}, r"`covariance` must be .* ≥ 1, got 0.0. Pass a matrix or a number of inputs"),
     ({"covariance": 2.5}, "`covariance` must be a whole number"),
     ({"covariance": None}, "`covariance` must"),
     ({"covariance": [1.0, 2.0]}, r"`covariance` must have the shape \(inputs, inputs\), got \(2,\)"),
     ({"covariance": [[1.0, 2.0]]}, r"`covariance` must have the shape \(inputs, inputs\), got \(1, 2\)"),
     ({"covariance": np.ones((0, 0))}, "`covariance` must"),
     ({"covariance": [[1.0, 0.5], [0.0, 1.0]]}, "`covariance` must be symmetric, got"),
     ({"covariance": [[1.0, 2.0], [2.0, 1.0]]},
      "`covariance` must be positive semi-definite, got 'the eigenvalue -1'"),
     ({"covariance": [[-1.0]]}, "`covariance` must be positive semi-definite"),
     ({"covariance": [[np.nan]]}, r"`covariance\[0, 0\]` must be"),
     ({"covariance": [[np.inf]]}, "`covariance"),
     ({"num_samples": 0}, r"`num_samples` must be .* ≥ 1, got 0.0. Pass e.g. 8192."),
     ({"num_samples": 1.5}, "`num_samples` must"), ({"num_samples": np.nan}, "`num_samples` must"),
     ({"target": np.eye(2)}, "`target` must be a function")],
)  # fmt: skip
def test_bad_input(fields, message):
    with pytest.raises(ArgumentError, match=message):
        GaussianRegression(**{"covariance": 2, "target": first, "num_samples": 10} | fields)


@pytest.mark.parametrize("wrong", [lambda x: x[:, 0], lambda x: x[:3], lambda x: 1.0])
def test_labels_keep_two_axes(wrong):
    with pytest.raises(ArgumentError, match=r"`target` must give labels of shape \(samples, outp"):
        GaussianRegression(2, wrong, 10).dataset(jax.random.key(0))


@pytest.mark.parametrize("wrong", [0, -3, 2.5, np.nan, "4"])
def test_bad_nodes(wrong):
    with pytest.raises(ArgumentError, match="`nodes` must be"):
        GaussianRegression(2, first).population(nodes=wrong)


def test_too_many_nodes():
    with pytest.raises(
        ArgumentError,
        match=r"`nodes` must give at most 100000 points over 4 inputs, got 20. Draw s",
    ):
        GaussianRegression(4, first).population(nodes=20)


def test_keys_must_be_keys():
    with pytest.raises(ArgumentError, match="`key` must be a random key, got 0"):
        GaussianRegression(2, first).dataset(0)
