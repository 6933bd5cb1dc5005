"""The polar factor, against Newton's iteration and its definition."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import polar

from lazyrich.core import ArgumentError
from lazyrich.quantities import polar_factor

SHAPES = ((4, 4), (6, 3), (3, 5))


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_scipy(shape):
    G = np.random.default_rng(0).standard_normal((2, *shape))
    expected = [polar(matrix)[0] for matrix in G]
    np.testing.assert_allclose(polar_factor(G), expected, atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**20), rank=st.integers(0, 3), scale=st.sampled_from([1e-300, 1, 1e300])
)
def test_rank_is_kept_and_scale_is_not(seed, rank, scale):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((6, rank)) @ rng.standard_normal((rank, 3))
    D = np.linalg.svd(polar_factor(scale * G), compute_uv=False)
    np.testing.assert_allclose(D, [1] * rank + [0] * (3 - rank), atol=1e-12)


def test_rank_deficient_matrices_are_the_limit_of_regularised_ones():
    rng = np.random.default_rng(1)
    G = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 4))
    values, basis = np.linalg.eigh(G.T @ G + 1e-12 * np.eye(4))
    np.testing.assert_allclose(polar_factor(G), G @ (basis / np.sqrt(values)) @ basis.T, atol=1e-6)


def test_a_node_without_gradient_does_not_move():
    G = np.random.default_rng(2).standard_normal((5, 4))
    G[:, 2] = 0
    assert not polar_factor(G)[:, 2].any()
    assert not polar_factor(np.zeros((5, 4))).any()


def test_orthogonal_matrices_on_either_side_factor_out():
    rng = np.random.default_rng(3)
    G, Q = rng.standard_normal((5, 5)), np.linalg.qr(rng.standard_normal((5, 5)))[0]
    np.testing.assert_allclose(polar_factor(Q @ G @ Q), Q @ polar_factor(G) @ Q, atol=1e-12)


def test_traces():
    G = np.random.default_rng(4).standard_normal((2, 4, 3))
    traced = jax.jit(jax.vmap(polar_factor))(G.astype(np.float32))
    np.testing.assert_allclose(traced, polar_factor(G), atol=1e-5)


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match=r"`matrix` must have the shape \(..., rows, columns\)"):
        polar_factor([1.0, 2.0])
    with pytest.raises(ArgumentError, match=r"`matrix\[0, 1\]` must be a finite real number"):
        polar_factor([[1.0, np.nan]])
