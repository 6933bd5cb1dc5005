"""Unconstrained features against integrated flows, in their limits and outside their assumptions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.measures import neural_collapse
from lazyrich.theory import BalancedNetwork, UnconstrainedFeatures

N, C, WIDTH = 8, 3, 5
TIMES = np.array([0.0, 3.0, 10.0, 30.0, 80.0])
"""One shape for all tests: each compiles once."""


def labels_of(seed):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.concatenate([np.arange(C), rng.integers(C, size=N - C)]))


def model(seed, scale=0.1, **options):
    return UnconstrainedFeatures.small(labels_of(seed), WIDTH, scale, seed=seed, **options)


def flow(solution, times):
    """Features and last layer at each time, by Runge–Kutta on all weights."""

    def velocity(t, flat):
        H, W = flat[: N * WIDTH].reshape(N, WIDTH), flat[N * WIDTH :].reshape(WIDTH, C)
        error = (solution.targets - H @ W) / N
        return np.concatenate([(error @ W.T).ravel(), (H.T @ error).ravel()])

    start = np.concatenate([solution.first.ravel(), solution.second.ravel()])
    y = solve_ivp(
        velocity, (0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-15
    ).y.T
    return y[:, : N * WIDTH].reshape(-1, N, WIDTH), y[:, N * WIDTH :].reshape(-1, WIDTH, C)


@pytest.mark.parametrize("centring", ["none", "samples"])
@pytest.mark.parametrize("seed", [0, 1])
def test_against_the_integrated_flow(seed, centring):
    solution = model(seed, centring=centring)
    H, W = flow(solution, TIMES)
    np.testing.assert_allclose(solution.outputs(TIMES), H @ W, rtol=1e-9, atol=1e-11)
    h, w = solution.features(TIMES), solution.last_layer(TIMES)
    for mine, exact in ((h, H), (np.swapaxes(w, 1, 2), np.swapaxes(W, 1, 2))):  # a rotation is free
        np.testing.assert_allclose(
            mine @ np.swapaxes(mine, 1, 2), exact @ np.swapaxes(exact, 1, 2), rtol=1e-9, atol=1e-11
        )
    loss = np.sum((H @ W - solution.targets) ** 2, axis=(1, 2)) / (2 * N)
    np.testing.assert_allclose(solution.loss(TIMES), loss, rtol=1e-9, atol=1e-14)


def test_outputs_are_those_of_a_balanced_network():
    """Samples are one-hot inputs of a linear network with λ = 0, and its correlation is the labels."""
    solution = model(3)
    network = BalancedNetwork(
        solution.targets.T, solution.first, solution.second, learning_rate=1 / N
    )
    np.testing.assert_allclose(network.product(TIMES), solution.outputs(TIMES), atol=1e-12)


@pytest.mark.parametrize("centring", ["none", "samples"])
def test_conditions_are_those_of_the_measure(centring):
    solution = model(2, centring=centring)
    curves = {
        name: getattr(solution, name)(TIMES)
        for name in ("within_class", "simplex", "duality", "duality_centred", "disagreement")
    }
    for i, (H, W) in enumerate(zip(*flow(solution, TIMES), strict=True)):
        found = neural_collapse(H, solution.labels, W, solution.bias)
        for name, curve in curves.items():
            assert curve[i] == pytest.approx(getattr(found, name), rel=1e-6, abs=1e-9), (name, i)


@given(st.integers(0, 10**6), st.floats(1e-4, 0.5))
@settings(max_examples=15, deadline=None)
def test_properties(seed, scale):
    solution = model(seed, scale)
    h, w = solution.features(TIMES), solution.last_layer(TIMES)
    # balance is conserved, for all hidden directions
    gap = np.swapaxes(h, 1, 2) @ h - w @ np.swapaxes(w, 1, 2)
    assert np.abs(gap).max() < 1e-9 * np.abs(h).max() ** 2 * N
    # the loss never rises
    assert np.all(np.diff(solution.loss(TIMES)) <= 1e-12)
    # the start is the start
    np.testing.assert_allclose(
        solution.outputs(TIMES)[0], solution.first @ solution.second, atol=1e-12
    )
    # rate × time is what counts
    faster = UnconstrainedFeatures(
        solution.labels, solution.first, solution.second, learning_rate=2.0
    )
    np.testing.assert_allclose(faster.loss(TIMES / 2), solution.loss(TIMES), rtol=1e-12)
    # the flow goes on from where it is: the state at 10, 20 later, is the state at 30
    middle = UnconstrainedFeatures(solution.labels, h[2], w[2])
    np.testing.assert_allclose(
        middle.loss(TIMES + np.array([0, 17, 0, 0, 0]))[1], solution.loss(TIMES)[3], rtol=1e-6
    )
    # a rotation of hidden units changes nothing
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((WIDTH, WIDTH)))[0]
    turned = UnconstrainedFeatures(solution.labels, solution.first @ Q, Q.T @ solution.second)
    np.testing.assert_allclose(turned.loss(TIMES), solution.loss(TIMES), rtol=1e-9)


@pytest.mark.parametrize("seed", [0, 3])
def test_the_end(seed):
    """Classes become orthogonal vectors of squared length 1/√n_k, and the labels are fitted."""
    solution = model(seed, 1e-3)
    late = np.array([1e3, 1e6, 1e9, 1e12, 1e15])  # no time is too long
    counts = np.bincount(solution.labels.astype(int))
    gram = np.diag(counts**-0.5)[solution.labels.astype(int)][:, solution.labels.astype(int)]
    for h in solution.features(late):
        np.testing.assert_allclose(h @ h.T, gram, atol=1e-9)
    np.testing.assert_allclose(solution.outputs(late)[0], solution.targets, atol=1e-9)
    assert solution.within_class(late)[0] < 1e-20
    np.testing.assert_allclose(solution.singular_values, np.sort(counts**0.5)[::-1])


def test_spread_decays_at_twice_the_rate_of_the_modes():
    labels = np.array([0, 0, 1, 1, 2, 2, 0, 1])[:N]
    balanced = UnconstrainedFeatures.small(labels, WIDTH, 1e-4, seed=1)
    slowest = balanced.singular_values[-1] / N
    late = 200 + TIMES
    slope = np.polyfit(late, np.log(balanced.within_class(late)), 1)[0]
    assert slope == pytest.approx(-2 * slowest, rel=1e-3)


def test_bad_input():
    solution = model(0)
    first, second, labels = solution.first, solution.second, solution.labels
    with pytest.raises(
        AssumptionError,
        match=r"Layers must be balanced, .* residual of .* 0\.\d+ of the squared length",
    ):
        UnconstrainedFeatures(labels, 2 * first, second)
    low = second * [1, 1, 0]
    R, s, _ = np.linalg.svd(low, full_matrices=False)
    frame = np.linalg.qr(np.random.default_rng(0).standard_normal((N, C)))[0]
    with pytest.raises(AssumptionError, match="rank 3, the number of classes, but it has rank 2"):
        UnconstrainedFeatures(labels, (frame * s) @ R.T, low)
    for wrong, message in [
        (
            (labels * 0, first, second),
            "`labels` must have a sample of every class, got 'none of class 1'",
        ),
        ((labels + 1, first, second), "`labels` must be below 3"),
        ((labels[:-1], first, second), r"`first` must have the shape \(7, width\)"),
        ((labels, first, second.T), r"`second` must have the shape \(5, classes\)"),
        ((labels, first, second[:, :1]), "two classes or more"),
        ((labels, 0 * first, 0 * second), "`first` must not vanish"),
        ((labels + 0.5, first, second), r"`labels\[0\]` must be a whole number"),
        ((labels[None], first, second), r"`labels` must have the shape \(n,\)"),
        ((labels, first, second, [1.0, 2.0]), "`learning_rate` must be a single number"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            UnconstrainedFeatures(*wrong)
    with pytest.raises(ArgumentError, match="`width` must be at least 3, the number of classes"):
        UnconstrainedFeatures.small(labels, 2, 0.1)
    with pytest.raises(ArgumentError, match="`initial_std` must be a finite real number > 0"):
        UnconstrainedFeatures.small(labels, 5, 0.0)


def test_a_start_without_a_growing_part_is_refused():
    """H = −YW⁺ and its like: everything decays first, and the solution's inverse does not exist."""
    labels = np.array([0, 1, 2])
    with pytest.raises(AssumptionError, match="part that grows is singular"):
        UnconstrainedFeatures(labels, -np.eye(3), np.eye(3))


def test_a_missing_class_is_named_before_the_width():
    with pytest.raises(ArgumentError, match=r"have a sample of every class, got .none of class 1"):
        UnconstrainedFeatures.small([0, 2], width=5, initial_std=1e-3)
