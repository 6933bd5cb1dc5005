"""Repulsion of similar features, against a fit for each pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.theory import feature_repulsion


def features(seed, samples=12, nodes=5):
    return np.random.default_rng(seed).standard_normal((samples, nodes))


def refit(F, eta, j, l):  # noqa: E741
    F = F - F.mean(axis=0)
    others = np.delete(F, [j, l], axis=1)
    P = (
        np.eye(len(F))
        - others @ np.linalg.inv(others.T @ others + eta * np.eye(others.shape[1])) @ others.T
    )
    return F[:, j] @ P @ F[:, l]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**20), eta=st.floats(1e-3, 1e3))
def test_residual_similarities_are_those_of_a_refit(seed, eta):
    F = features(seed)
    found = feature_repulsion(F, eta)
    for j in range(5):
        for l in range(5):  # noqa: E741
            exact = refit(F, eta, j, l)
            assert found.residual_similarity[j, l] == pytest.approx(exact, rel=1e-8, abs=1e-9)
            if j != l:
                assert np.sign(found.coefficients[j, l]) == -np.sign(exact)


def test_more_nodes_than_samples():
    F = features(0, samples=4, nodes=9)
    found = feature_repulsion(F, 0.3)
    assert found.residual_similarity[2, 7] == pytest.approx(refit(F, 0.3, 2, 7), rel=1e-9)


def test_mixed_features_solve_the_normal_equations():
    F = features(1)
    found = feature_repulsion(F, 0.2)
    np.testing.assert_allclose(
        found.mixed @ (found.similarity + 0.2 * np.eye(5)), F - F.mean(axis=0), atol=1e-12
    )


def test_means_do_not_matter_and_order_permutes():
    F, order = features(2), [3, 0, 4, 1, 2]
    plain, shifted = feature_repulsion(F, 0.1), feature_repulsion(F + 7.0, 0.1)
    np.testing.assert_allclose(plain.coefficients, shifted.coefficients, rtol=1e-9)
    permuted = feature_repulsion(F[:, order], 0.1)
    np.testing.assert_allclose(
        permuted.coefficients, plain.coefficients[np.ix_(order, order)], rtol=1e-9
    )


@pytest.mark.parametrize("eta", [1e9, 1e15])
def test_large_decay_leaves_the_plain_similarity(eta):
    """What other nodes explain is of order 1/η, on the diagonal too: nothing may round it away."""
    found = feature_repulsion(features(3), eta)
    near = max(1e3 / eta, 1e-12)  # products of features, over η, over the smallest similarity
    np.testing.assert_allclose(found.residual_similarity, found.similarity, rtol=near)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose(found.coefficients[off], -found.similarity[off] / eta**2, rtol=near)


def test_copies_repel_and_mirror_images_attract():
    f, g = features(4, nodes=2).T
    for sign in (1, -1):
        found = feature_repulsion(np.column_stack([f, sign * f, g]), 0.1)
        assert np.sign(found.coefficients[0, 1]) == -sign


def test_plain_similarity_does_not_decide():
    f, g, _ = features(5, nodes=3).T
    # both hold a large common part, which the third node explains; what is left has opposite signs
    F = np.column_stack([g + 0.3 * f, g - 0.3 * f, g])
    found = feature_repulsion(F, 1e-4)
    assert found.similarity[0, 1] > 0
    assert found.coefficients[0, 1] > 0


def test_repelled_features_are_less_alike():
    """Columns of the mixed features have smaller cosines than the features, for one pair of nodes."""
    f, g = features(6, nodes=2).T
    found = feature_repulsion(np.column_stack([f, f + 0.3 * g]), 0.1)
    cosine = [
        M[0, 1] / np.sqrt(M[0, 0] * M[1, 1])
        for M in (found.similarity, found.mixed.T @ found.mixed)
    ]
    assert cosine[1] < 0 < cosine[0]


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match=r"`features` must have the shape \(samples, nodes\)"):
        feature_repulsion([1.0, 2.0], 0.1)
    with pytest.raises(ArgumentError, match=r"`features\[0, 1\]` must be a finite real number"):
        feature_repulsion([[1.0, np.nan]], 0.1)
    with pytest.raises(ArgumentError, match=r"`ridge` must be a finite real number ≥ 0, got -1.0"):
        feature_repulsion(features(0), -1.0)
    with pytest.raises(ArgumentError, match=r"`ridge` must be large enough .* linearly dependent"):
        feature_repulsion(features(0, samples=4, nodes=9), 0.0)


def test_mixed_features_of_nearly_dependent_nodes():
    # the difference of both features is 2⁻¹⁰: with decay η they share f/(2f² + η), ± a large multiple of it
    f, g, eta = np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1]), 2.0**-20
    step = 2.0**-10
    found = feature_repulsion(np.stack([f + step * g, f - step * g], axis=1), eta).mixed
    common, apart = f / (8 + eta), step * g / (8 * step**2 + eta)
    exact = np.stack([common + apart, common - apart], axis=1)
    np.testing.assert_allclose(found, exact, rtol=1e-12)
