"""The flow on a given training set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.theory import LinearFlow, LinearGrokking

seeds = st.integers(0, 1000)


def random_flow(seed, d=5, num_samples=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((num_samples, d))
    return X, LinearFlow(X.T @ X / num_samples, rng.standard_normal(d), learning_rate=0.3)


@given(seeds, st.floats(0, 20), st.floats(0, 20))
def test_semigroup(seed, t, s):
    X, flow = random_flow(seed)
    later = LinearFlow(X.T @ X / len(X), flow.difference(t), learning_rate=0.3)
    np.testing.assert_allclose(later.difference(s), flow.difference(t + s), atol=1e-12)


@given(seeds, st.floats(0, 20))
def test_losses_are_those_of_the_difference(seed, t):
    X, flow = random_flow(seed)
    D = flow.difference(t)
    assert flow.train_loss(t) == pytest.approx(np.mean((X @ D) ** 2), rel=1e-11, abs=1e-14)
    assert flow.test_loss(t) == pytest.approx(np.sum(D**2), rel=1e-11, abs=1e-14)


@given(seeds)
def test_losses_fall(seed):
    _, flow = random_flow(seed)
    t = np.linspace(0, 30, 40)
    assert np.all(np.diff(flow.train_loss(t)) <= 1e-14)
    assert np.all(np.diff(flow.test_loss(t)) <= 1e-14)


def test_directions_without_data_do_not_move():
    _, flow = random_flow(0, d=6, num_samples=3)
    at_end = flow.difference(1e6)
    np.testing.assert_allclose(flow.difference(2e6), at_end, atol=1e-9)
    assert flow.train_loss(1e6) < 1e-20 < flow.test_loss(1e6)


def test_few_samples_leave_no_negative_loss_and_a_difference_that_stays():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2, 6))
    flow = LinearFlow(X.T @ X / 2, rng.standard_normal(6))
    late = flow.train_loss([50.0, 100.0, 1e3])
    assert np.all(late >= 0)
    assert late[0] < 1e-30
    assert flow.test_loss(1e18) == pytest.approx(flow.test_loss(1e3), rel=1e-12)


def test_rotated_data_give_rotated_differences():
    X, flow = random_flow(3)
    Q = np.linalg.qr(np.random.default_rng(9).standard_normal((5, 5)))[0]
    rotated = LinearFlow(Q @ (X.T @ X / len(X)) @ Q.T, Q @ flow.difference(0.0), learning_rate=0.3)
    np.testing.assert_allclose(rotated.difference(2.0), Q @ flow.difference(2.0), atol=1e-12)


def test_large_training_sets_follow_the_law():
    rng = np.random.default_rng(4)
    d, num_samples, starts = 200, 400, 40
    X = rng.standard_normal((num_samples, d))
    t = np.array([0.2, 1.0, 4.0])
    losses = [
        LinearFlow(X.T @ X / num_samples, rng.standard_normal(d) / np.sqrt(d)).test_loss(t)
        for _ in range(starts)
    ]
    error = np.std(losses, axis=0, ddof=1) / np.sqrt(starts)
    exact = LinearGrokking(0.5).test_loss(t)
    assert np.all(np.abs(np.mean(losses, axis=0) - exact) < 4 * error + 5 / d * exact)


@pytest.mark.parametrize(
    ("covariance", "difference", "message"),
    [
        (
            np.ones((2, 3)),
            np.ones(2),
            r"`covariance` must have the shape \(d, d\), d ≥ 1, got \(2, 3\)",
        ),
        (np.eye(2), np.ones(3), r"`difference` must have the shape \(2,\)"),
        (np.array([[1.0, 1.0], [0.0, 1.0]]), np.ones(2), "`covariance` must be symmetric"),
        (-np.eye(2), np.ones(2), "`covariance` must be positive semi-definite"),
        (np.eye(2) * np.nan, np.ones(2), "`covariance.0, 0.` must be a finite real number"),
    ],
)
def test_bad_input(covariance, difference, message):
    with pytest.raises(ArgumentError, match=message):
        LinearFlow(covariance, difference)
