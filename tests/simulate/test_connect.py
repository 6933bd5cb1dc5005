"""Walks between fixed points, against Lemma 6 and what is known of small data sets."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import TwoLayer, TwoLayerWeights
from lazyrich.simulate import Supervised, connect
from lazyrich.tasks import GaussianRegression, orthogonal_pair
from lazyrich.theory import LinearFixedPoints

COVARIANCE = np.array([[2.0, 0.3], [0.3, 0.7]])


def linear(width=3):
    task = GaussianRegression(COVARIANCE, lambda x: x @ np.array([[1.0, 0.4], [0.0, 0.8]]))
    return Supervised(TwoLayer(2, width, 2), task, 0.0, population=True)


def nothing(width=3):
    return TwoLayerWeights(np.zeros((2, width)), np.zeros((width, 2)))


def test_walks_through_the_fixed_points_of_lemma_6():
    training, weights = linear(), nothing()
    W = np.array([[1.0, 0.4], [0.0, 0.8]]).T
    points = LinearFixedPoints(W @ COVARIANCE, COVARIANCE)
    losses = [2 * points.loss(modes) for modes in ([0], [1])]
    first = connect(training, weights, unit=1)
    assert first.arrived
    assert min(abs(float(first.path.loss[-1]) - loss) for loss in losses) < 1e-9
    np.testing.assert_array_equal(first.weights.first[:, [0, 2]], 0)  # the others stay zero
    second = connect(training, first.weights, unit=0)
    assert second.arrived
    assert float(second.path.loss[-1]) == pytest.approx(0, abs=1e-12)
    assert second.gradient_norm < 1e-7
    np.testing.assert_array_equal(second.weights.first[:, 2], 0)
    assert np.all(np.diff(second.path.loss) <= 1e-12)
    assert np.all(np.diff(second.path.time) > 0)


def test_equal_units_stay_equal():
    """Two units that are equal, one that is displaced: the manifold of two effective units."""
    training = Supervised(TwoLayer(2, 3, activation="sigmoid"), orthogonal_pair(), 0.0)
    start = TwoLayerWeights(np.full((2, 3), 0.1), np.full((3, 1), 0.2))
    path = connect(training, start, unit=2, tolerance=1e-6).path
    np.testing.assert_allclose(path.incoming[:, 0], path.incoming[:, 1], rtol=0, atol=1e-12)
    assert np.abs(path.incoming[-1, 0] - path.incoming[-1, 2]).max() > 1e-4


def test_seeds_repeat_and_set_the_displacement():
    paths = [connect(linear(), nothing(), unit=0, seed=seed).path.incoming for seed in (0, 0, 1)]
    np.testing.assert_array_equal(paths[0], paths[1])
    assert np.abs(paths[0][0] - paths[2][0]).max() > 1e-6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": 3}, "`unit` must"),
        ({"unit": -1}, "`unit` must"),
        ({"unit": 0, "displacement": 0}, "`displacement` must"),
        ({"unit": 0, "tolerance": -1}, "`tolerance` must"),
    ],
)
def test_bad_input(changes, message):
    with pytest.raises(ArgumentError, match=message):
        connect(linear(), nothing(), **changes)


def test_needs_a_supervised_training():
    with pytest.raises(ArgumentError, match="`training` must be a `Supervised`"):
        connect(jax.nn.relu, nothing(), unit=0)  # pyright: ignore[reportArgumentType]
