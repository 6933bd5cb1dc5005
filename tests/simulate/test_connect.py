"""Walks between fixed points, against Lemma 6 and what is known of small data sets."""

import dataclasses

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import Deep, DeepWeights, SkipNetwork, TwoLayer, TwoLayerWeights
from lazyrich.simulate import Supervised, connect, gradient_flow
from lazyrich.simulate._connect import _displaced
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


def test_the_flow_from_weights_of_zero_stays_there():
    """All weights zero are a fixed point; errors relative to their size have no meaning there."""
    run = gradient_flow(linear(), np.linspace(0.1, 1, 10), seeds=[0])
    assert not run.diverged.any()
    assert not run.incoming.any()
    assert np.ptp(run.loss.values) == 0


def test_a_displacement_that_diverges_is_said():
    with pytest.raises(ArgumentError, match=r"`displacement` must be .* ≤ 1e[+]75, got 1e[+]300"):
        connect(linear(), nothing(), unit=0, displacement=1e300)


def test_equal_units_stay_equal():
    """Two units that are equal, one that is displaced: the manifold of two effective units."""
    training = Supervised(TwoLayer(2, 3, activation="sigmoid"), orthogonal_pair(), 0.0)
    start = TwoLayerWeights(np.full((2, 3), 0.1), np.full((3, 1), 0.2))
    path = connect(training, start, unit=2, tolerance=1e-6).path
    np.testing.assert_allclose(path.incoming[:, 0], path.incoming[:, 1], rtol=0, atol=1e-12)
    assert np.abs(path.incoming[-1, 0] - path.incoming[-1, 2]).max() > 1e-4


def deep(activation):
    """Three layers at a fixed point: the first layer's units are zero, the last matrix is not."""
    network = Deep(TwoLayer(2, 3, 4, activation), (activation,), output_dimension=1)
    first = TwoLayerWeights(np.zeros((2, 3)), np.zeros((3, 4)))
    rest = np.array([[0.5], [-0.4], [0.3], [-0.6]])
    return Supervised(network, orthogonal_pair(), 0.0), DeepWeights(first, (rest,))


def skipping():
    network = SkipNetwork(2, 3, skip=0)
    zero = np.zeros((3, 3))
    weights = (np.zeros((2, 3)), zero, 0.7 * np.eye(3), np.array([[0.5], [-0.4], [0.3]]))
    return Supervised(network, orthogonal_pair(), 0.0), weights


@pytest.mark.parametrize("case", [lambda: deep("relu"), lambda: deep("linear"), skipping])
def test_deeper_layers_move_too(case):
    """The end is where the flow is: its loss is the last of the path, and the loss never rises."""
    training, start = case()
    link = connect(training, start, unit=0, displacement=0.1, seed=1)
    data = training.start(1)[1]
    moved = [
        float(np.abs(new - old).max())
        for new, old in zip(jax.tree.leaves(link.weights), jax.tree.leaves(start), strict=True)
    ]
    assert link.arrived
    assert min(moved) > 1e-3
    assert float(training.loss(link.weights, data)) == pytest.approx(
        float(link.path.loss[-1]), abs=1e-6
    )
    assert np.all(np.diff(link.path.loss) <= 1e-9)


def test_stretches_join_to_one_flow():
    training, start = deep("linear")
    link = connect(training, start, unit=0, displacement=0.1, seed=1)
    moved = _displaced(training.network.units(start), 0, 0.1, 1)
    whole = dataclasses.replace(
        training, records=("weights",),
        initial_weights=lambda seed: training.network.with_units(start, moved),
    )  # fmt: skip
    run = gradient_flow(whole, link.path.time.values[-1:], seeds=[1], tolerance=1e-10)
    ends = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(link.weights)])
    np.testing.assert_allclose(run.weights[0, -1], ends, rtol=0, atol=1e-6)


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
