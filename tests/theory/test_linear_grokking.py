"""Losses, accuracies and times of the linear student."""

import equinox as eqx
import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError, Status
from lazyrich.theory import LinearGrokking

rates = st.floats(-4, 1).map(lambda x: 10**x)
ratios = st.floats(0.01, 0.995)
times = st.floats(0, 6).map(lambda x: 10**x)


@given(ratios, rates, times)
def test_only_rate_times_time_matters(ratio, rate, t):
    one, other = LinearGrokking(ratio, rate), LinearGrokking(ratio, 1.0)
    assert one.test_loss(t) == pytest.approx(other.test_loss(rate * t), rel=1e-10, abs=1e-300)


@given(ratios, times)
def test_training_loss_is_below_test_loss_once_it_starts(ratio, t):
    m = LinearGrokking(ratio, 0.01)
    assert m.train_loss(t) <= m.test_loss(t) * (1 + 1e-12)
    assert m.train_accuracy(t) >= m.test_accuracy(t) - 1e-12


@given(ratios, st.floats(0.05, 0.99), st.floats(-8, -1).map(lambda x: 10**x))
def test_accuracy_at_the_crossing_is_the_level(ratio, accuracy, threshold):
    m = LinearGrokking(ratio, 0.01, threshold)
    for crossing, curve in (
        (m.train_time(accuracy), m.train_accuracy), (m.test_time(accuracy), m.test_accuracy)
    ):  # fmt: skip
        if crossing.status == Status.REACHED:
            assert curve(crossing.time) == pytest.approx(accuracy, rel=1e-9)
        else:
            assert crossing.status == Status.AT_START
            assert curve(0.0) >= accuracy * (1 - 1e-12)


def test_grokking_time_is_the_difference_and_positive():
    m = LinearGrokking(np.linspace(0.05, 0.99, 40), 0.01, np.full(40, 1e-3))
    delay = m.grokking_delay().time
    np.testing.assert_allclose(delay, m.test_time().time - m.train_time().time, rtol=1e-12)
    assert np.all(np.diff(delay) > 0)


def test_statuses():
    ratio, threshold = [0.5, 1.5, 1.0002, 0.5], [1e-3, 1e-3, 1e-3, 10.0]
    # as many as above, so that nothing is compiled twice
    m = LinearGrokking(np.resize(ratio, 40), 0.01, np.resize(threshold, 40))
    assert list(m.test_time().status[:4]) == [
        Status.REACHED,
        Status.NEVER,
        Status.REACHED,
        Status.AT_START,
    ]
    delay = m.grokking_delay()
    assert np.isinf(delay.time[1])
    assert delay.time[3] == 0
    assert Status(int(delay.status[1])).reason.startswith("the curve's limit")


def test_at_equal_size_the_delay_stays_finite():
    """At λ = 1 the test loss is (πs)^(−1/2) late on: the delay is 4/(πηε²), not infinite."""
    for threshold in (1e-2, 1e-3, 1e-4):
        delay = LinearGrokking(1.0, 0.01, threshold).grokking_delay().time
        assert delay == pytest.approx(4 / (np.pi * 0.01 * threshold**2), rel=3 * threshold)


def delay(values):
    values = dict(values)
    accuracy = values.pop("accuracy")
    return LinearGrokking(**values).grokking_delay(accuracy).time


slopes = jax.jit(lambda values: (jax.grad(delay)(values), jax.jacfwd(delay)(values)))
BASE = {"learning_rate": 0.01, "threshold": 1e-3, "accuracy": 0.95}


@pytest.mark.parametrize("ratio", [0.3, 0.95, 1.0002])
def test_implicit_derivatives_agree_with_differences(ratio):
    values = BASE | {"aspect_ratio": ratio}
    with jax.enable_x64(True):
        backward, forward = slopes(values)
    for parameter, x in values.items():
        h = 1e-6 * min(x, abs(1 - x) + 1e-3)
        above, below = (delay(values | {parameter: x + step}) for step in (h, -h))
        slope = float(backward[parameter])
        assert slope == pytest.approx((above - below) / (2 * h), rel=1e-5), parameter
        assert float(forward[parameter]) == pytest.approx(slope, rel=1e-12), parameter


def test_derivatives_are_finite_where_there_is_no_crossing():
    with jax.enable_x64(True):
        slope = slopes(BASE | {"aspect_ratio": 1.5})
    assert np.all(np.isfinite(jax.tree.leaves(slope)))


def test_training_that_never_gets_there_is_no_delay():
    delay = LinearGrokking(0.1, 0.01, threshold=1.0, label_noise=0.9).grokking_delay(0.9)
    assert delay.status == Status.NEVER
    assert delay.time == np.inf


def test_a_changed_solution_forgets_its_shortcuts():
    changed = eqx.tree_at(lambda m: m.weight_decay, LinearGrokking(0.5), np.array(0.5))
    assert changed.test_loss(1.0) == LinearGrokking(0.5, weight_decay=0.5).test_loss(1.0)


def test_times_that_do_not_fit():
    with pytest.raises(
        ArgumentError, match=r"`time` must have a shape that broadcasts against \(3,\)"
    ):
        LinearGrokking(np.array([0.1, 0.2, 0.3])).test_loss(np.ones(2))
    with pytest.raises(ArgumentError, match="`accuracy` must have a shape that broadcasts"):
        LinearGrokking(np.array([0.1, 0.2, 0.3])).test_time(np.array([0.5, 0.6]))
