"""Saddles of linear attention, against autodiff of the exact population loss and sampled sequences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import Attention, TwoLayerWeights
from lazyrich.simulate import Supervised
from lazyrich.tasks import InContextRegression
from lazyrich.theory import AttentionSaddles

COVARIANCES = [
    np.diag([1.0, 0.3]),
    np.array([[1.0, 0.4], [0.4, 0.5]]),
    np.eye(2) / 2,
    np.array([[0.7]]),
]


def weights_at(saddles, modes, heads):
    """Heads of rank one that implement the map of some modes: value on the label, key and query on x."""
    D, chosen = saddles.eigenvectors.shape[0], sorted(modes)
    first = np.zeros((2 * (D + 1), heads))
    second = np.zeros((heads, D + 1, 1))
    for i, mode in enumerate(chosen):
        e = saddles.eigenvectors[:, mode]
        size = np.cbrt(e @ saddles.map(modes) @ e)
        first[:D, i] = first[D + 1 : 2 * D + 1, i] = size * e
        second[i, -1, 0] = size
    return TwoLayerWeights(first, second)


@pytest.mark.parametrize("index", range(len(COVARIANCES)))
@pytest.mark.parametrize("context", [1, 5, 32])
def test_losses_and_zero_gradients(index, context):
    saddles = AttentionSaddles(COVARIANCES[index], context)
    task = InContextRegression(COVARIANCES[index], context)
    training = Supervised(Attention(task.input_dimension + 1, 3), task, 0.0, population=True)
    data = training.data(None)
    subsets = [[], [0]] + ([[1], [0, 1]] if saddles.num_modes > 1 else [])
    for modes in subsets:
        weights = weights_at(saddles, modes, 3)
        with jax.enable_x64(True):
            loss, slope = jax.value_and_grad(training.loss)(
                jax.tree.map(jnp.asarray, weights), data
            )
        assert float(loss) == pytest.approx(float(saddles.loss(modes)), rel=1e-12)
        assert max(np.abs(g).max() for g in slope) < 1e-12


def test_the_last_fixed_point_is_the_best_linear_attention():
    """No coefficients of the features, reachable or not, do better than all modes together."""
    for covariance in COVARIANCES:
        task = InContextRegression(covariance, 7)
        training = Supervised(Attention(task.input_dimension + 1, 3), task, 0.0, population=True)
        saddles = AttentionSaddles(covariance, 7)
        best = saddles.loss(range(saddles.num_modes))
        assert float(training.data(None).least) == pytest.approx(float(best), rel=1e-9)


def test_sampled_sequences_agree():
    saddles = AttentionSaddles(COVARIANCES[1], 8)
    task = InContextRegression(COVARIANCES[1], 8, num_samples=200_000)
    training = Supervised(Attention(3, 3), task, 0.0)
    data = training.data(jax.random.key(0))
    for modes in ([0], [1], [0, 1]):
        with jax.enable_x64(True):
            loss = training.loss(jax.tree.map(jnp.asarray, weights_at(saddles, modes, 3)), data)
        assert float(loss) == pytest.approx(float(saddles.loss(modes)), rel=0.02)


def test_long_contexts_leave_nothing():
    assert AttentionSaddles(np.diag([2.0, 1.0]), 10**9).loss([0, 1]) == pytest.approx(0, abs=1e-8)


def test_correlations_drive_small_heads():
    """The loss of a small head falls as twice the product of its weights and the correlation."""
    saddles = AttentionSaddles(COVARIANCES[0], 5)
    task = InContextRegression(COVARIANCES[0], 5)
    training = Supervised(Attention(3, 1), task, 0.0, population=True)
    data = training.data(None)
    for mode, expected in enumerate(saddles.correlations()):
        e, h = saddles.eigenvectors[:, mode], 1e-4
        first = np.concatenate([h * e, [0], h * e, [0]])[:, None]
        weights = TwoLayerWeights(first, np.array([[[0.0], [0.0], [h]]]))
        with jax.enable_x64(True):
            change = float(training.loss(jax.tree.map(jnp.asarray, weights), data)) - 1.3
        assert change == pytest.approx(-2 * expected * h**3, rel=1e-3)


@pytest.mark.parametrize(
    ("covariance", "context", "message"),
    [
        (np.ones((2, 3)), 4, "`covariance` must have the shape"),
        ([[1, 0.5], [0, 1]], 4, "`covariance` must be symmetric"),
        (np.diag([1.0, -1.0]), 4, "`covariance` must be positive semi-definite"),
        ([[np.nan]], 4, r"`covariance.* must be a finite"),
        (np.eye(2), 0, "`context` must"),
    ],
)
def test_bad_input(covariance, context, message):
    with pytest.raises(ArgumentError, match=message):
        AttentionSaddles(covariance, context)


@pytest.mark.parametrize("modes", [[2], [-1], [0, 0], [0.5]])
def test_modes_are_checked(modes):
    with pytest.raises(ArgumentError, match=r"`modes.* must"):
        AttentionSaddles(np.eye(2), 4).loss(modes)
