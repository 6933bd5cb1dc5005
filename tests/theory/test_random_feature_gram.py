"""Gram matrices of random features."""

import math

import mpmath
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.theory import PairFeatureGram, RandomFeatureGram

CORRELATIONS = [-1.0, -0.7, 0.0, 0.3, 0.999, 1.0]


def arc_cosine(s, rho):
    angle = math.acos(rho)
    return s**2 / (2 * math.pi) * (math.sin(angle) + (math.pi - angle) * rho)


@pytest.mark.parametrize("s", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("rho", CORRELATIONS)
def test_closed_forms(s, rho):
    relu, square = RandomFeatureGram("relu", s, rho), RandomFeatureGram("quadratic", s, rho)
    assert relu.diagonal == pytest.approx(s**2 / 2, rel=1e-13)
    assert relu.off_diagonal == pytest.approx(arc_cosine(s, rho), rel=1e-12, abs=1e-13 * s**2)
    assert relu.slope == pytest.approx(s**2 / 2, rel=1e-13)
    assert square.diagonal == pytest.approx(3 * s**4, rel=1e-13)
    assert square.off_diagonal == pytest.approx(s**4 * (1 + 2 * rho**2), rel=1e-13)
    assert square.contrast == pytest.approx(2 * s**4 * (1 - rho**2), rel=1e-11, abs=1e-14 * s**4)
    assert square.slope == pytest.approx(4 * s**4, rel=1e-13)
    assert relu.uncertainty < 1e-13 * s**2


def test_contrast_keeps_its_digits_near_one():
    rho = 1 - 2.0**-40
    mpmath.mp.dps = 40
    angle = mpmath.acos(mpmath.mpf(rho))
    exact = 0.5 - (mpmath.sin(angle) + (mpmath.pi - angle) * mpmath.mpf(rho)) / (2 * mpmath.pi)
    assert RandomFeatureGram("relu", 1.0, rho).contrast == pytest.approx(float(exact), rel=1e-9)


def test_own_activations_and_series():
    import jax.numpy as jnp

    gram = RandomFeatureGram(jnp.sin, 1.2, -0.4)
    exact = math.exp(-(1.2**2)) * math.sinh(-0.4 * 1.2**2)
    assert gram.off_diagonal == pytest.approx(exact, rel=1e-12)
    a = gram.coefficients(60)
    order = np.arange(60)
    assert np.sum(a**2) == pytest.approx(gram.diagonal, rel=1e-12)
    assert np.sum(a**2 * (-0.4) ** order) == pytest.approx(gram.off_diagonal, rel=1e-12)
    assert np.sum(order * a**2) == pytest.approx(gram.slope, rel=1e-12)
    assert a[0::2] == pytest.approx(np.zeros(30), abs=1e-14)
    assert RandomFeatureGram(lambda z: abs(z - 1)).uncertainty > 1e-9  # a kink elsewhere shows


def test_limits_of_the_factor():
    gram = RandomFeatureGram("tanh", 1.0, 0.0)
    c, eta = gram.contrast, 2.0
    wide, narrow = gram.gradient_factor(10**7, 50, eta), gram.gradient_factor(2, 10**7, eta)
    assert wide == pytest.approx(eta / (10**7 * c + eta) ** 2, rel=1e-4)
    assert narrow == pytest.approx(1 / (10**7 * c + eta), rel=1e-4)
    strong = gram.gradient_factor(30, 50, 1e9)
    assert strong == pytest.approx(1e-9, rel=1e-5)


def test_factor_is_that_of_random_matrices():
    rng, n, K, eta = np.random.default_rng(0), 300, 200, 20.0
    F = np.tanh(rng.standard_normal((n, K)))
    F = F - F.mean(0)
    eigenvalues = np.maximum(np.linalg.eigvalsh(F @ F.T)[1:], 0)  # without the mean
    expected = (
        eta
        * np.mean(1 / (eigenvalues + eta))
        * np.mean(eigenvalues / (eigenvalues + eta))
        / np.mean(eigenvalues)
    )
    found = RandomFeatureGram("tanh").gradient_factor(K, n, eta)
    assert found == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("activation", ["quadratic", "relu"])
def test_eigenvalues_on_all_pairs(activation):
    M = 4
    gram = PairFeatureGram(activation, M, initial_std=0.7)
    first, second = np.indices((M, M)).reshape(2, -1)
    shared = (first[:, None] == first).astype(int) + (second[:, None] == second)
    kernel = np.array(gram.kernel)[shared]
    values = np.sort(np.linalg.eigvalsh(kernel))
    labels = np.eye(M)[(first + second) % M] - 1 / M
    np.testing.assert_allclose(kernel @ labels, gram.label_eigenvalue * labels, atol=1e-12)
    assert values[: (M - 1) ** 2] == pytest.approx(np.full(9, gram.label_eigenvalue), rel=1e-12)
    assert values[9:15] == pytest.approx(np.full(6, gram.symbol_eigenvalue), rel=1e-12)


def test_linear_units_know_no_labels():
    assert PairFeatureGram("linear", 5).label_eigenvalue == pytest.approx(0, abs=1e-14)


def test_bad_input():
    with pytest.raises(ArgumentError, match="`activation` must be a function or one of"):
        RandomFeatureGram("rleu")
    with pytest.raises(ArgumentError, match=r"`norm` must be .* > 0 and ≤ 1e\+06, got 0"):
        RandomFeatureGram("relu", 0.0)
    with pytest.raises(ArgumentError, match=r"`correlation` must be .* ≤ 1, got 1\.5"):
        RandomFeatureGram("relu", 1.0, 1.5)
    with pytest.raises(ArgumentError, match="`activation` must be finite"):
        RandomFeatureGram(lambda z: 1 / z**-0.5)
    gram = RandomFeatureGram("relu")
    with pytest.raises(ArgumentError, match="`width` must be a whole number ≥ 1, got 0"):
        gram.gradient_factor(0, 10, 1.0)
    with pytest.raises(ArgumentError, match="without decay nothing remains"):
        gram.gradient_factor(10, 10, 0.0)
    with pytest.raises(ArgumentError, match="`num_terms` must be at most 128"):
        gram.coefficients(1000)
    with pytest.raises(ArgumentError, match="`num_symbols` must be a whole number ≥ 2, got 1"):
        PairFeatureGram("relu", 1)
