"""Means, medians and ratios over runs that are drawn from known distributions."""

import numpy as np
import pytest
import xarray

from lazyrich.core import ArgumentError
from lazyrich.measures import seed_geometric_mean, seed_mean, seed_median, seed_ratio


def ratio(values, dimension="seed"):
    return seed_ratio(values, values.astype(float) ** 2 + 1, dimension)


ALL = (seed_mean, seed_geometric_mean, seed_median, ratio)


def test_mean_and_standard_error():
    values = xarray.DataArray(np.random.default_rng(0).normal(3, 2, (400, 5)), dims=("seed", "x"))
    mean, error = seed_mean(values)
    assert np.all(np.abs(mean - 3) < 4 * error)
    np.testing.assert_allclose(error, values.std("seed", ddof=1) / 20)
    assert np.isnan(seed_mean(values[:1]).uncertainty).all()


@pytest.mark.parametrize("measure", ALL)
def test_plain_arrays_and_xarray_agree_in_float64(measure):
    values = np.random.default_rng(1).random((3, 8)).astype(np.float32)
    named = measure(xarray.DataArray(values, dims=("case", "seed")))
    plain, first = measure(values.astype(float), -1), measure(values.astype(float).T)
    for a, b, c in zip(named, plain, first, strict=True):
        np.testing.assert_allclose(a.values, b, rtol=1e-14)
        np.testing.assert_array_equal(b, c)
        assert a.dims == ("case",)
    assert seed_mean(xarray.DataArray(values, dims=("case", "seed"))).mean.dtype == np.float64


def test_geometric_mean_is_that_of_logarithms():
    values = [1.0, 100.0, 1000.0]
    mean, error = seed_geometric_mean(values)
    assert mean == pytest.approx(10 ** (5 / 3))
    assert error == pytest.approx(mean * np.std(np.log(values), ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("runs", [3, 8, 16])
def test_error_of_the_median_covers_it_in_two_of_three_samples(runs):
    draws = np.random.default_rng(runs).normal(size=(runs, 4000))
    median, error = seed_median(draws)
    np.testing.assert_array_equal(median, np.median(draws, axis=0))
    assert np.mean(np.abs(median) < error) == pytest.approx(2 / 3, abs=0.03)


def test_error_of_a_ratio_is_its_scatter():
    """Numerator and denominator of a run are correlated; samples of 30 runs scatter as one says."""
    rng = np.random.default_rng(0)
    below = rng.normal(5, 1, (30, 3000))
    above = 2 * below + rng.normal(0, 0.5, below.shape)
    ratio, error = seed_ratio(above, below)
    np.testing.assert_allclose(ratio, above.mean(axis=0) / below.mean(axis=0))
    assert error.mean() == pytest.approx(ratio.std(), rel=0.05)


def test_what_a_run_that_never_gets_there_does():
    times = [1.0, 2.0, 3.0, 4.0, np.inf]
    for measure in (seed_mean, seed_geometric_mean):
        found = measure(times)
        assert found.mean == np.inf
        assert np.isnan(found.uncertainty)
    assert seed_median(times).median == 3
    assert seed_median([1.0, np.inf, np.inf]) == (np.inf, np.inf)
    assert seed_mean(np.minimum(times, 5.0)).mean == 3
    assert all(np.isnan(part) for measure in ALL for part in measure(np.array([1.0, np.nan, 2.0])))


def test_a_single_run_has_no_uncertainty():
    for measure in ALL:
        value, error = measure(np.array([2.0]))
        assert np.isfinite(value)
        assert np.isnan(error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: seed_geometric_mean([1.0, -1.0]), "`values` must be ≥ 0.*use `seed_mean`"),
        (lambda: seed_ratio([1.0, 2.0], [1.0]), r"`other` must have the shape \(2,\) of `values`"),
        (lambda: seed_ratio([1.0], ["a"]), "`other` must be an array of numbers"),
        (lambda: seed_median([]), "`values` must be an array of numbers, not empty"),
        (lambda: seed_median([1.0], "run"), "`dimension` must be an axis"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
