"""Times read off records, on curves whose true times are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import theory
from lazyrich.core import ArgumentError, Status
from lazyrich.measures import crossing_time, grokking_delay, seed_mean


def solvable(ratio=0.9):
    return theory.LinearGrokking(ratio, learning_rate=0.01, threshold=1e-3)


@given(st.floats(0.1, 0.97), st.floats(0.2, 0.99))
def test_on_a_solvable_model(ratio, level):
    m = solvable(ratio)
    t = np.geomspace(1, 1e8, 400)
    found = grokking_delay(t, m.train_accuracy(t), m.test_accuracy(t), level)
    exact = m.grokking_time(level).time
    crossing = crossing_time(t, m.test_accuracy(t), level)
    assert abs(crossing.time - m.test_time(level).time) <= crossing.uncertainty
    assert abs(found.time - exact) <= 3 * found.uncertainty


def test_noise_widens_the_uncertainty_and_it_covers_the_truth():
    m = solvable()
    t = np.geomspace(1, 1e6, 600)
    rng = np.random.default_rng(0)
    noisy = np.clip(m.test_accuracy(t) + rng.normal(0, 0.02, (200, t.size)), 0, 1)
    found = crossing_time(t, noisy, 0.8)
    exact = m.test_time(0.8).time
    clean = crossing_time(t, m.test_accuracy(t), 0.8)
    assert np.mean(found.uncertainty) > clean.uncertainty
    assert np.mean(np.abs(found.time - exact) <= 3 * found.uncertainty) > 0.95


def test_for_good_means_the_last_time():
    found = crossing_time([0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 1, 1], 0.5)
    assert 2 < found.time < 3
    assert found.uncertainty > 0.9


def test_statuses():
    rising, low, high = [0.0, 0.5, 1.0], [0.0, 0.1, 0.2], [1.0, 1.0, 1.0]
    found = crossing_time([1, 2, 3], [rising, low, high], 0.4)
    assert list(found.status) == [Status.REACHED, Status.TOO_SHORT, Status.AT_START]
    assert found.time[1] == np.inf
    assert found.time[2] == 1
    delay = grokking_delay([1, 2, 3], [rising, rising], [low, high], 0.4)
    assert list(delay.status) == [Status.TOO_SHORT, Status.AT_START]


def test_falling_curves_by_sign():
    t = np.linspace(0, 5, 500)
    found = crossing_time(t, -np.exp(-t), -0.1)
    assert found.time == pytest.approx(np.log(10), abs=1e-3)


@given(st.floats(0.1, 100), st.floats(0.1, 10))
def test_time_unit_does_not_matter(unit, scale):
    t = np.geomspace(1, 1e6, 100)
    y = solvable().test_accuracy(t)
    a, b = crossing_time(t, y, 0.5), crossing_time(unit * t, scale * y, scale * 0.5)
    assert b.time == pytest.approx(unit * a.time, rel=1e-9)
    assert b.uncertainty == pytest.approx(unit * a.uncertainty, rel=1e-9)


@pytest.mark.parametrize(
    ("time", "curve", "level", "message"),
    [
        ([1, 1], [0, 1], 0.5, "`time` must increase strictly"),
        ([1], [0], 0.5, "at least two entries"),
        ([1, 2], [0, 1, 2], 0.5, r"`curve` must have the shape \(..., 2\)"),
        ([1, 2], [0, np.nan], 0.5, "`curve.1.` must be a finite real number"),
        ([1, 2], [0, 1], "half", "`level` must be"),
    ],
)
def test_bad_input(time, curve, level, message):
    with pytest.raises(ArgumentError, match=message):
        crossing_time(time, curve, level)


def test_mismatched_curves():
    with pytest.raises(ArgumentError, match=r"`test` must have the shape \(2,\) of `train`"):
        grokking_delay([1, 2], [0, 1], [0, 1, 1], 0.5)


def test_seed_mean():
    import xarray

    values = xarray.DataArray(np.random.default_rng(0).normal(3, 2, (400, 5)), dims=("seed", "x"))
    mean, error = seed_mean(values)
    assert np.all(np.abs(mean - 3) < 4 * error)
    np.testing.assert_allclose(error, values.std("seed", ddof=1) / 20)
    assert np.isnan(seed_mean(values[:1]).error).all()
