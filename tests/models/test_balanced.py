"""Starts with a given imbalance."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.models import MLP, TwoLayerWeights, balanced_weights, symmetrised


@settings(max_examples=60)
@given(
    st.integers(0, 5), *[st.sampled_from([1, 2, 3, 5])] * 3, st.floats(-50, 50), st.floats(0, 1e3)
)
def test_imbalance_and_scale_are_exact_or_refused(seed, d, p, c, lam, scale):
    """W₂W₂ᵀ = λ + W₁ᵀW₁ has rank p for λ > 0, which needs p ≤ c; and the other way round."""
    exists = lam == 0 or p <= (c if lam > 0 else d)
    key = jax.random.key(seed)
    if not exists:
        with pytest.raises(AssumptionError, match=r"No weights are balanced with λ"):
            balanced_weights(key, d, p, c, imbalance=lam, scale=scale)
        return
    first, second = balanced_weights(key, d, p, c, imbalance=lam, scale=scale)
    assert (first.shape, second.shape) == ((d, p), (p, c))
    size = abs(lam) + scale
    delta = second @ second.T - first.T @ first
    np.testing.assert_allclose(delta, lam * np.eye(p), atol=1e-13 * size + 1e-300)
    assert np.linalg.norm(first @ second) == pytest.approx(
        scale, rel=1e-12, abs=1e-13 * size + 1e-300
    )


def test_a_factor_of_4s_would_be_noticed():
    """With 4S in place of 4S² the product has another norm, unless S is 1."""
    first, second = balanced_weights(jax.random.key(0), 2, 2, 2, imbalance=3.0, scale=5.0)
    S = np.linalg.svd(first @ second, compute_uv=False)
    a, b = np.linalg.svd(first, compute_uv=False), np.linalg.svd(second, compute_uv=False)
    np.testing.assert_allclose(b**2, (np.sqrt(9 + 4 * S**2) + 3) / 2, rtol=1e-12)
    np.testing.assert_allclose(a**2, (np.sqrt(9 + 4 * S**2) - 3) / 2, rtol=1e-12)
    assert not np.allclose(b**2, (np.sqrt(9 + 4 * S) + 3) / 2, rtol=0.1)


def test_grids_share_their_directions():
    grid = balanced_weights(
        jax.random.key(1), 3, 2, 4, imbalance=[[-1.0], [2.0]], scale=[1.0, 5.0, 9.0]
    )
    assert (grid.first.shape, grid.second.shape) == ((2, 3, 3, 2), (2, 3, 2, 4))
    one = balanced_weights(jax.random.key(1), 3, 2, 4, imbalance=2.0, scale=5.0)
    np.testing.assert_allclose(grid.first[1, 1], one.first, rtol=1e-14)
    product = grid.first @ grid.second
    np.testing.assert_allclose(product[0, 0], product[1, 2] / 9, atol=1e-13)


def test_symmetrised_networks_are_silent():
    rng = np.random.default_rng(0)
    drawn = TwoLayerWeights(rng.standard_normal((5, 3, 4)), rng.standard_normal((5, 4, 2)))
    both = symmetrised(drawn)
    assert both.first.shape == (5, 3, 8)
    np.testing.assert_allclose(both.first @ both.second, 0, atol=1e-14)
    np.testing.assert_allclose(
        np.tanh(both.first[0].T @ np.ones(3)) @ both.second[0], 0, atol=1e-14
    )
    np.testing.assert_array_equal(both.second[:, :4], drawn.second)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: balanced_weights(0, 2, 2, 2), "`key` must be a random key|key"),
        (lambda: balanced_weights(jax.random.key(0), 0, 2, 2), "`input_dimension` must be"),
        (lambda: balanced_weights(jax.random.key(0), 2, 2, 2, scale=-1), "`scale` must be .* ≥ 0"),
        (lambda: balanced_weights(jax.random.key(0), 2, 2, 2, imbalance=np.nan), "`imbalance` must be"),
        (lambda: balanced_weights(jax.random.key(0), 2, 2, 2, imbalance=[1, 2], scale=[1, 2, 3]),
         "`scale` must have a shape that broadcasts"),
        (lambda: symmetrised(TwoLayerWeights(np.ones((2, 3)), np.ones((2, 1)))), "`weights` must have"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises((ArgumentError, TypeError), match=message):
        call()


def test_the_reason_is_told():
    with pytest.raises(
        AssumptionError, match=r"λ = 2 at a width of 3 with 2 outputs: the second layer"
    ):
        balanced_weights(jax.random.key(0), 4, 3, 2, imbalance=2.0)
    with pytest.raises(
        AssumptionError, match=r"λ = -2 at a width of 3 with 2 inputs: the first layer"
    ):
        balanced_weights(jax.random.key(0), 2, 3, 4, imbalance=[0.0, -2.0])


def test_weights_of_an_mlp_are_refused_by_name():
    weights = MLP((3, 4, 2), bias=False).init(jax.random.key(0), 1.0)
    with pytest.raises(
        ArgumentError, match=r"two layers alone, got 'MLPWeights'. Pass `TwoLayerWeights"
    ):
        symmetrised(weights)
    both = symmetrised(TwoLayerWeights(*weights.matrices))
    assert both.first.shape == (3, 8)
