"""Gram matrices against what their entries say, formed in full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.measures import gram_diagonality


def plainly(A):
    m = len(A)
    off, on = np.abs(A)[~np.eye(m, dtype=bool)], np.diag(A).real
    return (
        np.sqrt(np.mean(off**2)) / np.sqrt(np.mean(on**2)),
        np.sum(off**2) / np.sum(np.abs(A) ** 2),
        off.mean() / on.mean(),
        off.max() / on.mean(),
    )


@st.composite
def features(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    shape = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    F = rng.standard_normal(shape) * 10.0 ** draw(st.integers(-60, 60))
    return F + 1j * rng.standard_normal(shape) * np.abs(F).max() if draw(st.booleans()) else F


@given(features())
def test_plain_formulas(F):
    tilde = F - F.mean(axis=0)
    found = gram_diagonality(F, entries=True)
    tilde = tilde / np.abs(tilde).max()
    for said, A in ((found.nodes, tilde.conj().T @ tilde), (found.samples, tilde @ tilde.conj().T)):
        np.testing.assert_allclose(said, plainly(A), rtol=1e-9, atol=1e-12)


@given(features(), st.floats(-100, 100))
def test_scale_shift_and_rotation(F, shift):
    """Neither a factor nor a shift of nodes counts; rotated samples are other samples, but the same nodes."""
    size = np.abs(F).max()
    found, moved = gram_diagonality(F), gram_diagonality(3 * F + shift * size)
    np.testing.assert_allclose(moved.nodes.typical, found.nodes.typical, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(moved.samples.share, found.samples.share, rtol=1e-6, atol=1e-9)
    permuted = gram_diagonality(F[::-1])
    np.testing.assert_allclose(permuted.nodes.typical, found.nodes.typical, rtol=1e-9, atol=1e-12)


def test_orthogonal_nodes_are_diagonal():
    F = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 8)) - 0.3)[0]
    F = np.linalg.qr(F - F.mean(axis=0))[0]
    found = gram_diagonality(F)
    assert found.nodes.typical < 1e-7
    assert found.nodes.share < 1e-14
    assert found.samples.share > 0.5  # 30 samples in 8 dimensions cannot be orthogonal


def test_independent_nodes():
    """Random features: typical entries 1/√n and 1/√K, shares K/(K + n) and n/(K + n)."""
    n, K = 900, 400
    found = gram_diagonality(np.random.default_rng(0).standard_normal((n, K)), entries=True)
    assert found.nodes.typical == pytest.approx(1 / np.sqrt(n), rel=0.02)
    assert found.samples.typical == pytest.approx(1 / np.sqrt(K), rel=0.02)
    assert found.nodes.share == pytest.approx(K / (K + n), rel=0.02)
    assert found.samples.share == pytest.approx(n / (K + n), rel=0.02)
    assert found.nodes.typical / found.nodes.mean == pytest.approx(np.sqrt(np.pi / 2), rel=0.02)


def test_leading_axes_and_float32():
    F = np.random.default_rng(1).standard_normal((2, 3, 7, 5))
    found = gram_diagonality(F)
    assert found.nodes.typical.shape == (2, 3)
    assert found.nodes.mean is None
    one = gram_diagonality(F[1, 2].astype(np.float32))
    assert one.samples.share == pytest.approx(found.samples.share[1, 2], rel=1e-5)
    assert one.samples.share.dtype == np.float64


def test_constant_features_say_nothing():
    assert np.isnan(gram_diagonality(np.ones((4, 3))).nodes.typical)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros((1, 3)), "`features` must have at least two samples, got 1"),
        (np.zeros(3), r"`features` must have the shape \(..., samples, nodes\), not empty"),
        (np.zeros((3, 0)), "not empty, got"),
        ([[1.0, np.nan], [0, 0]], r"`features\[0, 1\]` must be a finite real number, got nan"),
        ([[1j, np.inf], [0, 0]], "`features` must be an array of finite numbers"),
        ("no", "`features` must be"),
    ],
)
def test_bad_input(features, message):
    with pytest.raises(ArgumentError, match=message):
        gram_diagonality(features)
