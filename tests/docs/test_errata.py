"""Evidence for the errata page where no check holds it."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from lazyrich import quantities, theory


def test_eq9_the_loss_is_the_variance():
    rng = np.random.default_rng(0)
    difference = rng.standard_normal(30) / 6
    loss = difference @ difference  # inputs are standard normal: Σ = 1
    errors = rng.standard_normal((200_000, 30)) @ difference
    assert np.var(errors) == pytest.approx(loss, rel=0.02)
    assert np.std(errors) != pytest.approx(loss, rel=0.02)


def test_eq8_regularised_means_divided_by_gamma():
    a, z = mpmath.mpf(3), mpmath.mpf("0.7")
    series = mpmath.nsum(
        lambda k: z**k / (mpmath.gamma(a + k) * mpmath.factorial(k)), [0, mpmath.inf]
    )
    assert mpmath.almosteq(series, mpmath.hyp0f1(a, z) / mpmath.gamma(a), 1e-12)
    assert not mpmath.almosteq(series, mpmath.hyp0f1(a, z) * mpmath.gamma(a), 1e-1)
    assert mpmath.gamma(2) == 1


@pytest.mark.parametrize(("threshold", "factor"), [(1e-3, 2.753), (1e-6, 1.322)])
def test_eq11_overestimates_the_delay(threshold, factor):
    model = theory.LinearGrokking(0.9, 0.01, threshold)
    limit = theory.LateGrokking(0.9, 0.01).small_threshold_delay()
    ratio = limit / model.grokking_delay().time
    assert ratio == pytest.approx(factor, abs=1e-3)


@pytest.mark.parametrize("threshold", [1e-2, 1e-3, 1e-4])
def test_eq11_the_delay_at_one_is_finite(threshold):
    delay = theory.LinearGrokking(1.0, 0.01, threshold).grokking_delay().time
    assert delay == pytest.approx(4 / (math.pi * 0.01 * threshold**2), rel=0.1 * threshold**0.5)


def test_sec311_eigenvectors_live_in_input_space():
    input_dimension, output_dimension, num_samples = 12, 1, 20
    rng = np.random.default_rng(1)
    squares = []
    for _ in range(400):
        X = rng.standard_normal((num_samples, input_dimension))
        vectors = np.linalg.eigh(X.T @ X / num_samples)[1]
        assert vectors.shape[0] == input_dimension != output_dimension
        squares.append(vectors[:, -1] ** 2)  # uniform on the sphere: 1/d_in in every direction
    assert np.mean(squares, axis=0) == pytest.approx(1 / input_dimension, abs=0.02)


@pytest.mark.parametrize("outputs", [1, 2, 5])
def test_eq12_the_accuracy_is_a_chi_squared_distribution(outputs):
    loss, threshold = 0.3, 0.2
    share = chi2.cdf(outputs * threshold / loss, outputs)
    assert quantities.threshold_accuracy(loss, threshold, outputs) == pytest.approx(
        share, rel=1e-10
    )
    a, z = outputs / 2, outputs * threshold / (2 * loss)
    right = mpmath.quad(lambda t: mpmath.exp(-t) * t ** (a - 1), [z, mpmath.inf]) / mpmath.gamma(a)
    printed = mpmath.quad(lambda t: mpmath.exp(-t) * t ** (z - 1), [a, mpmath.inf]) / mpmath.gamma(
        a
    )
    assert float(1 - right) == pytest.approx(share, rel=1e-10)
    assert float(1 - printed) != pytest.approx(share, rel=0.01)


def test_eq28_noise_enters_the_gradient():
    rng = np.random.default_rng(2)
    X, noise, D = rng.standard_normal((40, 5)), rng.standard_normal(40), rng.standard_normal(5)

    def loss(D):
        return np.mean((X @ D - noise) ** 2)

    slope = np.array([(loss(D + step) - loss(D - step)) / 2e-5 for step in 1e-5 * np.eye(5)])
    printed = 2 * X.T @ X @ D / 40
    assert slope == pytest.approx(printed - 2 * X.T @ noise / 40, abs=1e-8)
    assert slope != pytest.approx(printed, abs=1e-2)


def _correlation(inputs, outputs):
    return np.random.default_rng(3).standard_normal((inputs, outputs))


def test_eq49_the_two_decompositions_are_transposed():
    C = _correlation(4, 3)
    columns, singular, V = np.linalg.svd(C, full_matrices=False)  # UPV of Sec. 5.1
    assert columns @ np.diag(singular) @ V == pytest.approx(C)
    rows = columns.T  # of App. C.4, UᵀPV
    assert rows.T @ np.diag(singular) @ V == pytest.approx(C)
    assert columns.shape != rows.shape  # neither U can stand in the other formula


@pytest.mark.parametrize(("inputs", "outputs"), [(4, 3), (3, 4)])
@pytest.mark.parametrize("width", [3, 4, 6])
def test_eq50_the_printed_shape_of_r_is_for_one_width(inputs, outputs, width):
    C, rng = _correlation(inputs, outputs), np.random.default_rng(4)
    U, _, V = np.linalg.svd(C)
    A = np.zeros((inputs, outputs))
    np.fill_diagonal(A, 0.1)
    R = np.linalg.qr(rng.standard_normal((outputs, outputs)))[
        0
    ]  # as printed; then W₁ = UᵀAR is (d, c)
    assert ((U @ A @ R).shape == (inputs, width)) == (width == outputs)
    modes = min(inputs, outputs)
    R = np.linalg.qr(rng.standard_normal((width, modes)))[0].T  # orthonormal rows
    first, second = U[:, :modes] @ (0.1 * R), 0.1 * R.T @ V[:modes]
    assert (first.shape, second.shape) == ((inputs, width), (width, outputs))
    assert first.T @ first == pytest.approx(second @ second.T)
    modes_of_product = U[:, :modes].T @ first @ second @ V[:modes].T
    assert modes_of_product == pytest.approx(0.01 * np.eye(modes))
