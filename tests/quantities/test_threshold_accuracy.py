"""Accuracy from losses."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.quantities import threshold_accuracy, threshold_loss

losses = st.floats(-12, 6).map(lambda x: 10**x)


@given(losses, losses)
def test_against_mpmath(loss, threshold):
    exact = float(mp.erf(mp.sqrt(mp.mpf(threshold) / (2 * mp.mpf(loss)))))
    assert threshold_accuracy(loss, threshold) == pytest.approx(exact, rel=1e-14)


@given(st.floats(1e-6, 1 - 1e-9), losses)
def test_inverse(accuracy, threshold):
    loss = threshold_loss(accuracy, threshold)
    assert threshold_accuracy(loss, threshold) == pytest.approx(accuracy, rel=1e-13)


@given(st.floats(-1.5, 1.5).map(lambda x: 10**x), st.integers(2, 3000))
def test_several_outputs_against_mpmath(loss, d):
    exact = mp.gammainc(mp.mpf(d) / 2, 0, d / (2 * mp.mpf(loss)), regularized=True)
    found = threshold_accuracy(loss, 1.0, d)
    condition = (
        1 + abs(float(mp.log(exact))) + d / loss
    )  # a relative change of the loss moves it by this
    assert found == pytest.approx(float(exact), rel=1e-13 * condition, abs=1e-300)


@given(st.floats(1e-4, 1 - 1e-6), st.integers(2, 3000))
def test_inverse_for_several_outputs(accuracy, d):
    loss = threshold_loss(accuracy, 1.0, d)
    assert threshold_accuracy(loss, 1.0, d) == pytest.approx(accuracy, rel=1e-10)


def test_number_of_outputs_may_be_an_array():
    table = threshold_accuracy(np.array([[0.5], [2.0]]), 1.0, np.array([1, 2, 50]))
    for i, loss in enumerate((0.5, 2.0)):
        for j, d in enumerate((1, 2, 50)):
            assert table[i, j] == pytest.approx(threshold_accuracy(loss, 1.0, d), rel=1e-14)


def test_share_of_gaussian_errors():
    z = np.random.default_rng(0).normal(0, np.sqrt(0.7), 200_000)
    share = np.mean(z**2 <= 0.2)
    assert threshold_accuracy(0.7, 0.2) == pytest.approx(share, abs=4 * np.sqrt(0.25 / z.size))


def test_limits():
    assert threshold_accuracy(0.0, 1e-3) == 1
    assert threshold_accuracy(1e300, 1e-3) == pytest.approx(0, abs=1e-100)
    assert threshold_loss(0.9544997361036416, 1e-3) == pytest.approx(2.5e-4, rel=1e-14)


@pytest.mark.parametrize("accuracy", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_bad_accuracy(accuracy):
    with pytest.raises(
        ArgumentError, match="`accuracy` must be a finite real number ≥ 1e-12 and < 1"
    ):
        threshold_loss(accuracy, 1e-3)


@pytest.mark.parametrize(
    ("function", "name"), [(threshold_accuracy, "loss"), (threshold_loss, "accuracy")]
)
def test_shapes_that_do_not_fit(function, name):
    with pytest.raises(ArgumentError, match=f"`{name}` must have a shape that broadcasts"):
        function(np.full(3, 0.5), np.ones(2))


def test_bad_loss():
    with pytest.raises(
        ArgumentError, match=r"`loss` must be .* ≥ 0, got -1\.0\. Pass a mean squared"
    ):
        threshold_accuracy(-1, 1e-3)
