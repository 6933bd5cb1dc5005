"""Times read off records, on curves whose true times are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import theory
from lazyrich.core import ArgumentError, Status
from lazyrich.measures import crossing_time, grokking_delay


def solvable(ratio=0.9):
    return theory.LinearGrokking(ratio, learning_rate=0.01, threshold=1e-3)


@given(st.floats(0.1, 0.97), st.floats(0.2, 0.99))
def test_on_a_solvable_model(ratio, level):
    m = solvable(ratio)
    t = np.geomspace(1, 1e8, 400)
    found = grokking_delay(t, m.train_accuracy(t), m.test_accuracy(t), level)
    exact = m.grokking_delay(level).time
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


def test_falling_curves():
    t = np.linspace(0, 5, 500)
    found = crossing_time(t, np.exp(-t), 0.1, falling=True)
    assert found.time == pytest.approx(np.log(10), abs=1e-3)
    assert found == crossing_time(t, -np.exp(-t), -0.1)
    assert crossing_time(t, np.exp(-t), 2.0, falling=True).status == Status.AT_START
    assert crossing_time(t, np.exp(-t), 1e-3, falling=True).status == Status.TOO_SHORT


@pytest.mark.parametrize("falling", [False, True])
def test_a_level_for_each_run(falling):
    """Runs of two cases and three seeds, at levels of the cases, of the seeds and of each."""
    rng, t = np.random.default_rng(0), np.geomspace(1, 100, 50)
    curves = np.sort(rng.random((2, 3, t.size)), axis=-1)[..., :: -1 if falling else 1]
    for shape in ((2, 1), (3,), (2, 3)):
        levels = rng.uniform(0.2, 0.8, shape)
        found = crossing_time(t, curves, levels, falling=falling)
        for place in np.ndindex(2, 3):
            level = np.broadcast_to(levels, (2, 3))[place]
            one = crossing_time(t, curves[place], level, falling=falling)
            assert one == tuple(part[place] for part in found)


def test_how_many_times_later():
    t = np.geomspace(1, 1e4, 300)
    train, test = (t > 20).astype(float), (t > 300).astype(float)
    found = grokking_delay(t, [train, train, train], [test, train, 0 * test], 0.5)
    times = [crossing_time(t, y, 0.5).time for y in (train, test)]
    np.testing.assert_allclose(found.ratio, [times[1] / times[0], 1, np.inf])
    at_once = grokking_delay([0, 1, 2], [1, 1, 1], [0, 0, 1], 0.5)
    assert (at_once.ratio, at_once.time) == (np.inf, pytest.approx(np.sqrt(2)))
    assert grokking_delay([0, 1, 2], [1, 1, 1], [1, 1, 1], 0.5).ratio == 1


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
        (
            [1, 2],
            [[0, 1], [0, 1]],
            [0.5, 0.5, 0.5],
            r"`level` must be a number, or have a shape that broad",
        ),
    ],
)
def test_bad_input(time, curve, level, message):
    with pytest.raises(ArgumentError, match=message):
        crossing_time(time, curve, level)


def test_mismatched_curves():
    with pytest.raises(ArgumentError, match=r"`test_accuracy` must have the shape \(2,\) of"):
        grokking_delay([1, 2], [0, 1], [0, 1, 1], 0.5)


@pytest.mark.parametrize(
    ("train", "test", "level", "message"),
    [
        (
            [0, 1],
            [0, 1],
            95,
            "`level` must be a finite real number > 0 and ≤ 1, got 95.0. Pass a share",
        ),
        ([0, 1], [0, 1], 0, "`level` must be a finite real number > 0"),
        (
            [0, 99],
            [0, 99],
            0.95,
            r"`train_accuracy\[1\]` must be .* ≤ 1, got 99.0. Pass shares of samples",
        ),
        ([0, 1], [0, 1.5], 0.95, r"`test_accuracy\[1\]` must be .* ≤ 1, got 1.5"),
    ],
)
def test_accuracies_are_shares_and_not_percentages(train, test, level, message):
    with pytest.raises(ArgumentError, match=message):
        grokking_delay([1, 2], train, test, level)
