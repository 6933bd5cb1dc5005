"""Fixed points of linear networks, against brute force on their definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.theory import LinearFixedPoints


def data(seed, inputs=4, outputs=3, num_samples=20):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((num_samples, inputs)) @ rng.standard_normal((inputs, inputs))
    Y = Z @ rng.standard_normal((inputs, outputs)) + 0.3 * rng.standard_normal(
        (num_samples, outputs)
    )
    return Z, Y


def points(Z, Y):
    power = np.mean(np.sum(Y**2, axis=1))
    return LinearFixedPoints(Y.T @ Z / len(Z), Z.T @ Z / len(Z), power)


@given(st.integers(0, 100), st.sets(st.integers(0, 2)))
def test_loss_is_that_of_the_map(seed, modes):
    Z, Y = data(seed)
    found = points(Z, Y)
    W = found.map(sorted(modes))
    loss = np.mean(np.sum((Y - Z @ W.T) ** 2, axis=1)) / 2
    assert found.loss(sorted(modes)) == pytest.approx(loss, rel=1e-9)
    assert np.linalg.matrix_rank(W, tol=1e-9) == len(modes)


@given(st.integers(0, 100))
def test_all_modes_are_least_squares(seed):
    Z, Y = data(seed)
    W = np.linalg.lstsq(Z, Y, rcond=None)[0].T
    np.testing.assert_allclose(points(Z, Y).map([0, 1, 2]), W, rtol=1e-7, atol=1e-9)


@given(st.integers(0, 100), st.integers(0, 2))
def test_the_first_modes_are_the_best_map_of_their_rank(seed, rank):
    """Reduced-rank regression: no other set, and no random map of that rank, has a smaller loss."""
    Z, Y = data(seed)
    found = points(Z, Y)
    best = found.loss(range(rank))
    for modes in itertools.combinations(range(3), rank):
        assert best <= found.loss(modes) * (1 + 1e-12)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        W = found.map(range(rank)) + 0.1 * rng.standard_normal((3, rank)) @ rng.standard_normal(
            (rank, 4)
        )
        U, s, Vt = np.linalg.svd(W)
        W = (U[:, :rank] * s[:rank]) @ Vt[:rank]
        assert best <= np.mean(np.sum((Y - Z @ W.T) ** 2, axis=1)) / 2 * (1 + 1e-12)


@given(st.integers(0, 100), st.sets(st.integers(0, 2)), st.integers(3, 6))
def test_weights_are_fixed_and_implement_the_map(seed, modes, width):
    Z, Y = data(seed)
    found = points(Z, Y)
    mixing = np.random.default_rng(seed).standard_normal((width, width))
    weights = found.weights(sorted(modes), width, mixing)
    np.testing.assert_allclose(
        (weights.first @ weights.second).T, found.map(sorted(modes)), atol=1e-8
    )
    rest = found.correlation - (weights.first @ weights.second).T @ found.covariance
    scale = np.abs(found.correlation).max() * max(
        np.abs(weights.first).max(), np.abs(weights.second).max()
    )
    assert np.abs(rest @ weights.first).max() < 1e-9 * max(scale, 1) * 100
    assert np.abs(rest.T @ weights.second.T).max() < 1e-9 * max(scale, 1) * 100


def test_an_eigenvalue_index_for_every_set_of_modes():
    """The index against counting by hand: two unused units, one mode missing, one pair out of order."""
    found = LinearFixedPoints(np.diag([3.0, 2.0, 1.0]), np.eye(3))
    assert found.hessian_index([], 2) == 6
    assert found.hessian_index([1], 3) == 2 * 2 + 1
    assert found.hessian_index([0, 1, 2], 5) == 0
    assert found.hessian_index([1, 2], 2) == 2
    assert found.escape_rate([0]) == pytest.approx(2)


def numerical_index(found, modes, width):
    """Negative eigenvalues of the Hessian of the loss by all weights, by differences of its gradient."""
    S, C = found.correlation, found.covariance
    weights = found.weights(modes, width)
    at = np.concatenate([weights.first.ravel(), weights.second.ravel()])
    cut = weights.first.size

    def gradient(flat):
        U, V = flat[:cut].reshape(-1, width), flat[cut:].reshape(width, -1)
        rest = S - (U @ V).T @ C
        return -np.concatenate([(rest.T @ V.T).ravel(), (rest @ U).T.ravel()])

    step = 1e-5
    columns = [(gradient(at + d) - gradient(at - d)) / (2 * step) for d in step * np.eye(at.size)]
    eigenvalues = np.linalg.eigvalsh((np.array(columns) + np.array(columns).T) / 2)
    return int(np.sum(eigenvalues < -1e-6 * np.abs(eigenvalues).max()))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mu", [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 1.0, 0.3)])
def test_equal_modes_have_equal_indices(seed, mu):
    """The μ of random tasks are equal up to rounding only; the fixed points are as good as each other."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 3))
    C = Z.T @ Z / 20
    A, B = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    S = A * np.sqrt(mu) @ B @ np.linalg.cholesky(C).T
    found = LinearFixedPoints(S, C)
    np.testing.assert_allclose(found.eigenvalues, mu, rtol=1e-9)
    for size in (1, 2):
        for modes in itertools.combinations(range(3), size):
            assert found.hessian_index(modes, 3) == numerical_index(found, modes, 3)


def test_singular_covariance():
    Z = np.random.default_rng(0).standard_normal((20, 2)) @ np.array([[1.0, 0, 1], [0, 1, 1]])
    Y = Z @ np.array([[1.0], [2.0], [3.0]])
    found = points(Z, Y)
    assert found.rank == 2
    assert found.loss([0]) == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(Z @ found.map([0]).T, Y, rtol=1e-8)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"correlation": np.ones(3)}, "`correlation` must have the shape"),
     ({"covariance": np.eye(3)}, "`covariance` must have the shape"),
     ({"covariance": np.array([[1.0, 2], [0, 1]])}, "`covariance` must be symmetric"),
     ({"covariance": np.diag([1.0, -1])}, "`covariance` must be positive semi-definite"),
     ({"covariance": np.full((2, 2), np.nan)}, "`covariance"), ({"output_power": 0.1}, "`output_power` must"),
     ({"correlation": "x"}, "`correlation` must")],
)  # fmt: skip
def test_bad_input(changes, message):
    with pytest.raises(ArgumentError, match=message):
        LinearFixedPoints(**{"correlation": np.eye(2), "covariance": np.eye(2)} | changes)


@pytest.mark.parametrize("modes", [[2], [-1], [0, 0], [0.5], ["a"], [np.nan]])
def test_bad_modes(modes):
    with pytest.raises(ArgumentError, match="`modes"):
        LinearFixedPoints(np.eye(2), np.eye(2)).map(modes)


def test_bad_widths_and_mixing():
    found = LinearFixedPoints(np.eye(2), np.eye(2))
    with pytest.raises(ArgumentError, match="`width` must be at least 2"):
        found.weights([0, 1], 1)
    with pytest.raises(ArgumentError, match="`width` must be at least 2"):
        found.hessian_index([0, 1], 1)
    with pytest.raises(ArgumentError, match="`mixing` must be invertible"):
        found.weights([0], 2, np.ones((2, 2)))
