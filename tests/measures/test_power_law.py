"""Exponents of exact power laws, and of noisy ones beside NumPy's least squares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.measures import power_law

X = np.array([3.0, 5.0, 11.0, 40.0, 200.0])


@given(st.floats(-4, 4), st.floats(0.1, 100))
def test_an_exact_law(exponent, constant):
    found = power_law(X, constant * X**exponent)
    assert found.exponent == pytest.approx(exponent, abs=1e-12)
    assert found.constant == pytest.approx(constant, rel=1e-12)
    assert found.uncertainty < 1e-13


@given(st.integers(0, 1000))
def test_least_squares_of_logarithms(seed):
    y = np.exp(np.random.default_rng(seed).normal(-np.log(X), 0.2))
    (slope, offset), covariance = np.polyfit(np.log(X), np.log(y), 1, cov=True)
    found = power_law(X, y)
    expected = (slope, np.exp(offset), np.sqrt(covariance[0, 0]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_many_runs_and_one_that_has_no_value():
    y = np.random.default_rng(0).random((2, 3, X.size)) + 0.5
    y[1, 2, 0] = np.inf
    found = power_law(X, y)
    for place in np.ndindex(2, 3):
        parts = tuple(part[place] for part in found)
        np.testing.assert_allclose(parts, power_law(X, y[place]), rtol=1e-13)
    assert all(np.isnan(part[1, 2]) and np.isfinite(part[0]).all() for part in found)


def test_two_points_have_no_scatter():
    found = power_law([1, 10], [5.0, 500.0])
    assert (found.exponent, found.constant) == pytest.approx((2, 5))
    assert np.isnan(found.uncertainty)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 1], [1, 2], "`x` must have the shape .* at least two different entries"),
        ([1, 0], [1, 2], r"`x\[1\]` must be a finite real number > 0"),
        ([1, 2], [1, 0], "`y` must be numbers > 0"),
        ([1, 2], [1, np.nan], "`y` must be numbers > 0"),
        ([1, 2], ["a", "b"], "`y` must be an array of numbers"),
        ([1, 2], [1, 2, 3], r"`y` must have the shape \(..., 2\) of `x`"),
    ],
)
def test_bad_input(x, y, message):
    with pytest.raises(ArgumentError, match=message):
        power_law(x, y)
