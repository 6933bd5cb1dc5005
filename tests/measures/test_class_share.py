"""What labels explain of a node: plain regressions, known nodes, and the distribution for random ones."""

import numpy as np
import pytest
from group_runs import hidden, pairs_of, waves
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.measures import class_share


def residual(columns, y):
    return y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]


@given(st.integers(0, 10**6), st.booleans())
def test_two_regressions(seed, from_pairs):
    """R² beyond the additive effects is what a second regression, with the labels, adds to the first."""
    rng = np.random.default_rng(seed)
    M = int(rng.integers(3, 6))
    pairs, _ = pairs_of(M, 0.95, seed)
    n, labels = len(pairs), pairs.sum(axis=1) % M
    X = np.eye(M)[pairs].reshape(n, -1) if from_pairs else rng.standard_normal((n, 2))
    F = rng.standard_normal((n, 4)) + X @ rng.standard_normal((X.shape[1], 4))
    without = np.hstack([np.ones((n, 1)), X])
    with_labels = np.hstack([without, np.eye(M)[labels]])
    ranks = [np.linalg.matrix_rank(columns) for columns in (without, with_labels)]
    if not ranks[0] < ranks[1] < n:
        return
    R2 = 1 - np.sum(residual(with_labels, F) ** 2, 0) / np.sum(residual(without, F) ** 2, 0)
    null = (ranks[1] - ranks[0]) / (n - ranks[0])
    found = class_share(F, labels, pairs if from_pairs else X)
    np.testing.assert_allclose(found.share, (R2 - null) / (1 - null), atol=1e-8)


@pytest.mark.parametrize(
    "sigma", [np.square, lambda z: np.maximum(z, 0), lambda z: z / (1 + np.exp(-z))]
)
def test_single_frequencies_have_half(sigma):
    """Whatever the activation: cos(a + b) and cos(a − b) are alike in what is not additive."""
    M, rng = 31, np.random.default_rng(0)
    pairs, labels = (
        np.argwhere(np.ones((M, M))),
        np.add.outer(np.arange(M), np.arange(M)).ravel() % M,
    )
    first = waves(M, rng.integers(1, 16, 20), *rng.uniform(0, 6, (2, 20)))
    F = sigma(first[pairs[:, 0]] + first[M + pairs[:, 1]])
    null = (M - 1) / (M**2 - 2 * M + 1)
    np.testing.assert_allclose(
        class_share(F, labels, pairs).share, (0.5 - null) / (1 - null), atol=0.02
    )


def test_random_nodes():
    """Zero on average, and the chance is uniform."""
    M = 11
    train, _ = pairs_of(M, 0.6)
    first = np.random.default_rng(0).standard_normal((2 * M, 4000))
    found = class_share(hidden(first, train), train.sum(1) % M, train)
    assert abs(found.share.mean()) < 0.01
    for level in (0.01, 0.1, 0.5, 0.9):
        assert np.mean(found.chance <= level) == pytest.approx(level, abs=0.15 * level + 0.02)


def test_additive_nodes_have_no_share():
    pairs = np.argwhere(np.ones((5, 5)))
    F = np.stack([pairs[:, 0] ** 2.0 - pairs[:, 1], np.ones(25), pairs[:, 0] * pairs[:, 1]], axis=1)
    found = class_share(F, pairs.sum(1) % 5, pairs)
    np.testing.assert_array_equal(np.isnan(found.share), [True, True, False])
    np.testing.assert_array_equal(np.isnan(found.chance), [True, True, False])


def test_scale_shift_and_leading_axes():
    pairs, _ = pairs_of(7, 0.9)
    F = np.random.default_rng(0).standard_normal((2, len(pairs), 3))
    found = class_share(F, pairs.sum(1) % 7, pairs)
    assert found.share.shape == (2, 3)
    moved = class_share(1e-3 * F[1] + pairs[:, :1] * 5, pairs.sum(1) % 7, pairs)
    np.testing.assert_allclose(moved.share, found.share[1], atol=1e-9)


PAIRS = np.argwhere(np.ones((4, 4)))
F, K = np.random.default_rng(0).standard_normal((16, 2)), PAIRS.sum(axis=1) % 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: class_share(F[:8], K[:8], PAIRS[:8]), "`features` must have more samples than"),
        (lambda: class_share(F, K[:3], PAIRS), r"`labels` must have the shape \(16,\)"),
        (lambda: class_share(F, K, PAIRS[:3]), r"`inputs` must have the shape \(16, d\)"),
        (lambda: class_share(F, -K, PAIRS), r"`labels\[1\]` must be a whole number ≥ 0"),
        (lambda: class_share(F * 1j, K, PAIRS), "`features` must be real"),
        (lambda: class_share(F, K, F * np.nan), "got nan"),
        (lambda: class_share(F, 0 * K, PAIRS), "0 classes beyond them"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
