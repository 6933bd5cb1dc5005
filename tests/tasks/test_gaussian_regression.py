"""Regression on Gaussian inputs: samples, and quadrature for the whole distribution."""

import itertools

import jax
import numpy as np
import pytest
from scipy.integrate import quad

from lazyrich.core import ArgumentError
from lazyrich.tasks import GaussianRegression
from lazyrich.theory import Staircase

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
    np.testing.assert_allclose(data.targets, np.tanh(data.inputs) @ W.T, rtol=1e-15)
    assert data.targets.shape == (40, 3)
    np.testing.assert_array_equal(data.weights, np.full(40, 1 / 40))


def test_targets_in_jax_keep_their_digits():
    data = GaussianRegression(2, lambda x: jax.numpy.sin(x), 10).dataset(jax.random.key(0))
    np.testing.assert_allclose(data.targets, np.sin(data.inputs), rtol=1e-14)


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
    assert nodes.weights @ nodes.targets[:, 0] == pytest.approx(np.exp(-1), rel=1e-7)


def squared(slope):
    return lambda x: np.tanh(slope * x) ** 2


@pytest.mark.parametrize(
    ("slope", "nodes", "error"), [(1, 16, 1e-4), (2, 24, 1e-3), (2, 40, 1e-5), (2, 80, 1e-9), (4, 80, 5e-5)]
)  # fmt: skip
def test_quadrature_of_a_function_with_poles(slope, nodes, error):
    """E tanh²(sx) = 1 − E sech²(sx), the latter by adaptive quadrature; Gauss–Hermite nodes do far worse."""
    function = squared(slope)
    found = GaussianRegression(1, function).population(nodes)
    integral, _ = quad(lambda x: np.exp(-(x**2) / 2) / np.cosh(slope * x) ** 2, -20, 20, points=[0])
    exact = 1 - integral / np.sqrt(2 * np.pi)
    assert found.weights @ found.targets[:, 0] == pytest.approx(exact, rel=error)
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    assert abs(w @ function(x) / w.sum() - exact) > 5 * error * exact


def test_quadrature_of_units_along_one_direction_of_correlated_inputs():
    """A sum of inputs is normal: its mean over two inputs is one over a single one."""
    both = GaussianRegression(CORRELATED, lambda x: np.tanh(x.sum(axis=1, keepdims=True)) ** 2)
    single = GaussianRegression([[np.sum(CORRELATED)]], squared(1))
    means = [
        data.weights @ data.targets[:, 0] for data in (both.population(), single.population(90))
    ]
    assert means[0] == pytest.approx(means[1], rel=1e-3)


def test_a_polynomial_keeps_its_exact_nodes():
    data = GaussianRegression(1, lambda x: x**3).population(40)
    assert data.weights @ data.targets[:, 0] ** 2 == pytest.approx(15, rel=1e-13)


@pytest.mark.parametrize(("inputs", "nodes"), [(1, 40), (2, 40), (3, 21), (4, 10), (6, 6)])
def test_number_of_points(inputs, nodes):
    assert len(GaussianRegression(inputs, first).population().weights) == nodes**inputs


@pytest.mark.parametrize(("inputs", "degree"), [(14, 1), (9, 2), (7, 3), (13, 1), (17, 1), (60, 1)])
def test_moments_are_exact_in_many_inputs(inputs, degree):
    """All that the squared loss of a power of the inputs needs: moments up to twice the degree."""
    task = GaussianRegression(inputs, lambda x: x[:, :1] ** degree + x[:, 1:2])
    points = task.population(degree=degree)
    moments = points.weights @ points.inputs[:, -1:] ** (2 * np.arange(degree + 1))
    np.testing.assert_allclose(moments, [1, 1, 3, 15][: degree + 1], rtol=1e-12)
    covariance = points.inputs.T @ (points.weights[:, None] * points.inputs)
    np.testing.assert_allclose(covariance, np.eye(inputs), atol=1e-12)
    power = {1: 2, 2: 4, 3: 16}[degree]
    assert points.weights @ points.targets[:, 0] ** 2 == pytest.approx(power, rel=1e-12)


@pytest.mark.parametrize(
    ("inputs", "target", "degree"),
    [(7, first, None), (14, first, None), (8, lambda x: np.tanh(x[:, :1]), 1), (12, first, 3),
     (7, lambda x: x[:, :1] ** 6, 1)],
)  # fmt: skip
def test_what_needs_too_many_points_is_refused(inputs, target, degree):
    with pytest.raises(ArgumentError, match=f"points over {inputs} inputs.*Draw samples instead"):
        GaussianRegression(inputs, target).population(degree=degree)


@pytest.mark.parametrize(
    ("nodes", "target", "degree", "least"),
    [(1, first, None, 2), (2, first, 2, 3), (3, lambda x: x**3, 1, 4), (4, lambda x: x**2, 4, 5)],
)
def test_nodes_that_give_wrong_means_are_refused(nodes, target, degree, least):
    message = f"`nodes` must be .* ≥ {least}, got {nodes}.* Fewer give wrong means"
    with pytest.raises(ArgumentError, match=message):
        GaussianRegression(2, target).population(nodes, degree)
    GaussianRegression(2, target).population(least, degree)


@pytest.mark.parametrize(
    ("target", "degree"),
    [(lambda x: np.ones_like(x), 0), (lambda x: 1e-9 * x + 3, 1), (lambda x: x[:, :1] * x[:, 1:], 2),
     (lambda x: x**8, 8), (lambda x: x**9, None), (lambda x: np.tanh(x), None), (lambda x: 0 * x, 0),
     (lambda x: np.clip(x, -2, 2), None), (lambda x: np.maximum(x, 0), None), (lambda x: x + x**2, 2)],
)  # fmt: skip
def test_degrees_of_polynomials(target, degree):
    assert GaussianRegression(CORRELATED, target)._target_degree == degree


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"covariance": 0}, r"`covariance` must be .* ≥ 1, got 0. Pass a matrix or a number of inputs"),
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
     ({"num_samples": 0}, r"`num_samples` must be .* ≥ 1, got 0. Pass e.g. 8192."),
     ({"num_samples": 1.5}, "`num_samples` must"), ({"num_samples": np.nan}, "`num_samples` must"),
     ({"target": np.eye(2)}, "`target` must be a function")],
)  # fmt: skip
def test_bad_input(fields, message):
    with pytest.raises(ArgumentError, match=message):
        GaussianRegression(**{"covariance": 2, "target": first, "num_samples": 10} | fields)


@pytest.mark.parametrize("wrong", [lambda x: x[:, 0], lambda x: x[:3], lambda x: 1.0])
def test_labels_keep_two_axes(wrong):
    with pytest.raises(ArgumentError, match=r"`target` must give targets of shape \(samples, outp"):
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


@pytest.mark.parametrize("inputs", [2, 30])
def test_moments_of_a_linear_target(inputs):
    rng = np.random.default_rng(0)
    root, W = rng.standard_normal((inputs, inputs)), rng.standard_normal((3, inputs))
    task = GaussianRegression(root @ root.T, lambda x: x @ W.T)
    found = task.moments()
    np.testing.assert_array_equal(found.covariance, task.covariance)
    np.testing.assert_allclose(found.correlation, W @ root @ root.T, rtol=1e-9, atol=1e-9)
    assert found.output_power == pytest.approx(np.trace(W @ root @ root.T @ W.T), rel=1e-10)


def test_moments_of_a_nonlinear_target():
    """Stein: ⟨sin(x) x⟩ = σ² e^(−σ²/2), and ⟨sin²⟩ = (1 − e^(−2σ²))/2."""
    found = GaussianRegression([[0.5]], lambda x: np.sin(x)).moments()
    assert found.correlation[0, 0] == pytest.approx(0.5 * np.exp(-0.25), rel=1e-7)
    assert found.output_power == pytest.approx((1 - np.exp(-1)) / 2, rel=1e-7)


def test_moments_predict_a_staircase():
    """From the task to the prediction: drops of the same run as by hand."""
    s = np.diag([3.0, 1.0])
    found = GaussianRegression(2, lambda x: x @ s).moments()
    by_task = Staircase(found.correlation, found.covariance, initial_std=1e-6, width=20)
    by_hand = Staircase(s, np.eye(2), initial_std=1e-6, width=20)
    np.testing.assert_allclose(by_task.drop_times, by_hand.drop_times, rtol=1e-9)
