"""The general layerwise linear model, and the linear model."""

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from lazyrich import simulate, tasks, theory
from lazyrich.core import ArgumentError
from lazyrich.models import Layerwise, LinearModel, TwoLayerWeights, Units

RNG = np.random.default_rng(0)
MASK = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 0]], bool)  # the last neuron reads nothing
X = RNG.standard_normal((5, 3))


def weights_of(model):
    return TwoLayerWeights(*(RNG.standard_normal(shape) for shape in model.shapes()))


@pytest.mark.parametrize(
    "model", [Layerwise(MASK), Layerwise.diagonal(3), Layerwise.full(3, 4), Layerwise.full(3, 4, 2),
              Layerwise(MASK, output_dimension=2), Layerwise(MASK, np.tanh)],
)  # fmt: skip
def test_is_a_sum_over_connections(model):
    a, b = weights_of(model)
    phi = X if model.feature_map is None else np.tanh(X)
    written = sum(np.outer(phi[:, i] * a[i, j], b[j]) for i, j in np.argwhere(model.mask))
    weights = TwoLayerWeights(a, b)
    np.testing.assert_allclose(model.apply(weights, X), written, rtol=1e-12)
    np.testing.assert_allclose(phi @ model.coefficients(weights), written, rtol=1e-12)
    np.testing.assert_allclose(model.neuron_feature_values(weights, X).sum(0), written, rtol=1e-12)
    vectors = model.neuron_features(weights)
    assert vectors.shape == (model.mask.shape[1], 3, model.output_dimension)
    np.testing.assert_allclose(np.einsum("ni,hio->no", phi, vectors), written, rtol=1e-12)


def test_missing_connections_neither_act_nor_learn():
    model, (a, b) = Layerwise(MASK), weights_of(Layerwise(MASK))
    changed = TwoLayerWeights(np.where(MASK, a, 7.0), b)
    np.testing.assert_array_equal(model.apply(changed, X), model.apply(TwoLayerWeights(a, b), X))
    with jax.enable_x64(True):
        loss = lambda w: (model.apply(w, X) ** 2).sum()  # noqa: E731
        slope = jax.grad(loss)(changed)
    assert np.all((np.asarray(slope.first) == 0) == ~MASK)
    units = model.units(changed)
    assert np.all(units.incoming.T[~MASK] == 0)


def test_diagonal_and_full_are_the_networks_of_the_paper():
    a, b = RNG.standard_normal((2, 3))
    weights = TwoLayerWeights(np.diag(a), b[:, None])
    np.testing.assert_allclose(
        Layerwise.diagonal(3).apply(weights, X)[:, 0], X @ (a * b), rtol=1e-13
    )
    full = Layerwise.full(3, 6, 2)
    W1, W2 = weights_of(full)
    np.testing.assert_allclose(full.apply(TwoLayerWeights(W1, W2), X), X @ W1 @ W2, rtol=1e-12)
    assert full.kinds[0].linear
    assert not Layerwise.diagonal(3).kinds[0].linear  # such neurons cannot be mixed


def test_equal_models_are_equal_and_hash_alike():
    assert Layerwise.diagonal(3) == Layerwise(np.eye(3, dtype=bool)) != Layerwise.full(3, 3)
    assert hash(Layerwise.diagonal(3)) == hash(Layerwise(np.eye(3, dtype=bool).tolist()))


def test_units_go_to_and_fro():
    model = Layerwise(MASK)
    weights = TwoLayerWeights(np.where(MASK, weights_of(model).first, 0), np.ones((4, 1)))
    again = model.with_units(weights, model.units(weights))
    np.testing.assert_array_equal(again.first, weights.first)
    wider = Units(np.ones((7, 3)), np.ones((7, 1)))
    with pytest.raises(ArgumentError, match="`units` must be 4, one for each column"):
        model.with_units(weights, wider)
    assert Layerwise.full(3, 4).with_units(weights, wider).first.shape == (3, 7)


def test_training_the_diagonal_network_follows_its_modes():
    variances, a = np.array([1.0, 0.4]), np.array([0.3, 0.5])
    S = np.array([1.0, -0.7])
    task = tasks.GaussianRegression(np.diag(variances), lambda x: x @ S[:, None])
    start = TwoLayerWeights(np.diag(a), np.array([[0.3], [0.2]]))
    training = simulate.Supervised(
        Layerwise.diagonal(2), task, initial_weights=lambda seed: start, population=3
    )
    run = simulate.gradient_descent(training, [0, 2000], learning_rate=5e-4, seeds=[0])
    found = np.einsum("ji,j->i", run.incoming.values[0, 1], run.outgoing.values[0, 1, :, 0])
    # the loss has no ½: twice as fast
    exact = theory.DiagonalNetwork(S, first=a, second=[0.3, 0.2], variance=variances).modes(2.0)
    np.testing.assert_allclose(found, exact, atol=2e-3)


def test_more_neurons_than_weights_are_not_mixed_where_connections_are_missing():
    mask = np.zeros((2, 9), bool)
    mask[0, :5], mask[1, 5:] = True, True
    task = tasks.GaussianRegression(2, lambda x: x[:, :1])
    training = simulate.Supervised(Layerwise(mask), task, initial_std=0.1, population=3)
    run = simulate.gradient_descent(training, [0, 3], learning_rate=0.1, seeds=[0])
    assert np.all(run.incoming.values[0, 1].T[~mask] == 0)


def test_the_linear_model():
    theta = RNG.standard_normal((3, 2))
    model = LinearModel(3, np.sin, output_dimension=2)
    np.testing.assert_allclose(model.apply(theta, X), np.sin(X) @ theta, rtol=1e-13)
    np.testing.assert_array_equal(model.neuron_features(theta).sum(0), theta)
    np.testing.assert_array_equal(model.with_units(theta, model.units(theta)), theta)
    assert model.kinds[0].separates == "nothing"
    assert model.init(jax.random.key(0), 0.1).shape == (3, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: Layerwise(np.eye(2)), "`connections` must be booleans"),
     (lambda: Layerwise(np.zeros(3, bool)), "`connections` must be booleans"),
     (lambda: Layerwise(np.zeros((0, 2), bool)), "`connections` must be booleans"),
     (lambda: Layerwise(None), "`connections` must be booleans"),
     (lambda: Layerwise(MASK, "tanh"), "`feature_map` must be a function or None, got 'tanh'"),
     (lambda: Layerwise(MASK, output_dimension=0), "`output_dimension` must"),
     (lambda: Layerwise.diagonal(0), "`num_features` must"),
     (lambda: Layerwise.full(2, 1.5), "`width` must"),
     (lambda: LinearModel(np.nan), "`num_features` must"),
     (lambda: LinearModel(2, 3), "`feature_map` must"),
     (lambda: Layerwise.diagonal(3).apply(weights_of(Layerwise.diagonal(3)), X[:, :2]),
      r"`inputs` must have the shape \(samples, 3\), got \(5, 2\)"),
     (lambda: LinearModel(2, lambda x: x[:, :1]).apply(np.ones((2, 1)), X), "`feature_map` must give"),
     (lambda: Layerwise.diagonal(3).apply(weights_of(Layerwise.full(3, 4)), X), "`weights` must be arrays"),
     (lambda: Layerwise.diagonal(3).units(weights_of(Layerwise.diagonal(3)), 1), "`layer` must")],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


TIMES = np.array([0.0, 0.5, 2.0, 6.0])


def trained(model, weights, inputs, targets, last_learns=True):
    """Outputs along the flow of ½ mean ‖f − y‖², by Runge–Kutta and automatic differentiation."""
    split, shapes = weights.first.size, [w.shape for w in weights]

    def unflat(flat):
        return TwoLayerWeights(flat[:split].reshape(shapes[0]), flat[split:].reshape(shapes[1]))

    def loss(flat):
        return ((model.apply(unflat(flat), inputs) - targets) ** 2).sum() / (2 * len(inputs))

    slope, learns = jax.jit(jax.grad(loss)), np.arange(split + weights.second.size) < split
    learns = learns | last_learns
    with jax.enable_x64(True):
        start = np.concatenate([w.ravel() for w in weights])
        velocity = lambda t, flat: -np.asarray(slope(flat)) * learns  # noqa: E731
        flat = solve_ivp(
            velocity, (0, TIMES[-1]), start, "DOP853", TIMES, rtol=1e-11, atol=1e-12
        ).y.T
        return np.stack([model.apply(unflat(row), inputs) for row in flat])


WHITE = np.linalg.qr(np.random.default_rng(5).standard_normal((8, 3)))[0] * np.sqrt(8)
VARIANCE, TARGET = np.array([1.0, 0.5, 0.2]), np.array([1.0, -2.0, 0.7])


def linear_model():
    """One neuron for each feature, the last layer of ones and frozen: a model linear in its weights."""
    X, a = WHITE * np.sqrt(VARIANCE), np.array([0.1, 0.3, -0.2])
    model, weights = Layerwise.diagonal(3), TwoLayerWeights(np.diag(a), np.ones((3, 1)))
    found = trained(model, weights, X, X @ TARGET[:, None], last_learns=False)
    return found[..., 0], theory.LinearModes(TARGET, VARIANCE, a).modes(TIMES) @ X.T


def diagonal_network():
    X, (a, b) = WHITE * np.sqrt(VARIANCE), np.array([[0.1, 0.3, -0.2], [0.2, -0.1, 0.5]])
    model, weights = Layerwise.diagonal(3), TwoLayerWeights(np.diag(a), b[:, None])
    found = trained(model, weights, X, X @ TARGET[:, None])
    return found[..., 0], theory.DiagonalNetwork(
        TARGET, first=a, second=b, variance=VARIANCE
    ).modes(TIMES) @ X.T


def scalar_network():
    """One feature that all neurons read."""
    a, b = np.random.default_rng(6).standard_normal((2, 4))
    x, weights = WHITE[:, :1], TwoLayerWeights(a[None], b[:, None])
    found = trained(Layerwise.full(1, 4), weights, x, 1.5 * x)
    return found[..., 0], theory.ScalarNetwork(1.5, first=a, second=b).output(TIMES)[
        :, None
    ] * WHITE[:, 0]


def linear_network():
    """All connections, from a balanced start with the singular vectors of the task."""
    rng = np.random.default_rng(7)
    C, R = rng.standard_normal((3, 2)), np.linalg.qr(rng.standard_normal((4, 4)))[0][:, :2]
    U, _, Vt = np.linalg.svd(C, full_matrices=False)
    root = np.sqrt([0.1, 0.02])
    weights = TwoLayerWeights((U * root) @ R.T, (R * root) @ Vt)
    found = trained(Layerwise.full(3, 4, 2), weights, WHITE, WHITE @ C)
    return found, WHITE @ theory.LinearNetworkModes.from_weights(C.T, weights).product(TIMES)


def unconstrained_features():
    """All connections, and a feature map that tells samples apart and nothing else."""
    labels = [0, 0, 1, 1, 2]
    solution = theory.UnconstrainedFeatures.small(labels, width=4, initial_std=0.3)
    weights = TwoLayerWeights(solution.first, solution.second)
    found = trained(Layerwise.full(5, 4, 3), weights, np.eye(5), solution.targets)
    return found, solution.outputs(TIMES)


@pytest.mark.parametrize(
    "case",
    [linear_model, diagonal_network, scalar_network, linear_network, unconstrained_features],
)
def test_the_solvable_models_are_cases_of_it(case):
    found, solved = case()
    np.testing.assert_allclose(found, solved, atol=1e-9 * np.abs(solved).max())
