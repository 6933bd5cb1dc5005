"""Losses, accuracies and times of the linear student."""

import equinox as eqx
import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError, AssumptionError, Status
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
    m = LinearGrokking(np.linspace(0.05, 0.99, 40), 0.01)
    delay = m.grokking_time().time
    np.testing.assert_allclose(delay, m.test_time().time - m.train_time().time, rtol=1e-12)
    assert np.all(np.diff(delay) > 0)


def test_statuses():
    m = LinearGrokking(np.array([0.5, 1.5, 1.0002, 0.5]), 0.01, np.array([1e-3, 1e-3, 1e-3, 10.0]))
    assert list(m.test_time().status) == [
        Status.REACHED,
        Status.NEVER,
        Status.REACHED,
        Status.AT_START,
    ]
    delay = m.grokking_time()
    assert np.isinf(delay.time[1])
    assert delay.time[3] == 0
    assert Status(int(delay.status[1])).reason.startswith("the curve's limit")


def test_at_equal_size_the_delay_stays_finite():
    """At λ = 1 the test loss is (πs)^(−1/2) late on: the delay is 4/(πηε²), not infinite."""
    for threshold in (1e-2, 1e-3, 1e-4):
        delay = LinearGrokking(1.0, 0.01, threshold).grokking_time().time
        assert delay == pytest.approx(4 / (np.pi * 0.01 * threshold**2), rel=3 * threshold)


@pytest.mark.parametrize("parameter", ["aspect_ratio", "learning_rate", "threshold"])
@pytest.mark.parametrize("ratio", [0.3, 0.95, 1.0002])
def test_implicit_derivatives_agree_with_differences(parameter, ratio):
    values = {"aspect_ratio": ratio, "learning_rate": 0.01, "threshold": 1e-3}

    def delay(value):
        return LinearGrokking(**values | {parameter: value}).grokking_time().time

    x = values[parameter]
    h = 1e-6 * min(x, abs(1 - x) + 1e-3)
    with jax.enable_x64(True):
        slope = float(jax.jit(jax.grad(delay))(x))
        forward = float(jax.jit(jax.jacfwd(delay))(x))
    assert slope == pytest.approx((delay(x + h) - delay(x - h)) / (2 * h), rel=1e-5)
    assert forward == pytest.approx(slope, rel=1e-12)


def test_derivative_with_respect_to_the_accuracy_and_where_there_is_none():
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(lambda a: LinearGrokking(0.5, 0.01).grokking_time(a).time))(0.9)
        assert np.isfinite(slope)
        never = jax.jit(jax.grad(lambda r: LinearGrokking(r, 0.01).grokking_time().time))(1.5)
        assert np.isfinite(never)


def test_late_forms_approach_the_losses():
    m = LinearGrokking(0.5, 1.0)
    errors = [m.late_train_loss(t) / m.train_loss(t) - 1 for t in (50, 100, 200)]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.05)
    assert m.late_test_loss(400.0) == pytest.approx(m.test_loss(400.0), rel=0.02)


LATE = ["late_train_loss", "late_test_loss", "intermediate_test_loss"]


@pytest.mark.parametrize("form", [*LATE, "small_threshold_grokking_time"])
def test_late_forms_know_their_assumptions(form):
    arguments = (1.0,) if form in LATE else ()
    getattr(LinearGrokking(0.5), form)(*arguments)
    for name, value in {"output_dimension": 2, "weight_decay": 0.1, "student_scale": 3.0}.items():
        with pytest.raises(AssumptionError, match=f"assumes `{name}` = .*, got .*{value}"):
            getattr(LinearGrokking(0.5, **{name: value}), form)(*arguments)
    if form != "late_train_loss":
        with pytest.raises(AssumptionError, match=r"assumes `aspect_ratio` < 1, got .*1\.5"):
            getattr(LinearGrokking(np.array([0.5, 1.5])), form)(*arguments)
        traced = jax.jit(lambda r: getattr(LinearGrokking(r), form)(*arguments))
        assert np.isnan(traced(1.5))


def test_training_that_never_gets_there_is_no_delay():
    delay = LinearGrokking(0.1, 0.01, threshold=1.0, label_noise=0.9).grokking_time(0.9)
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


def test_delay_approaches_the_small_threshold_form_slowly():
    shares = [
        m.grokking_time().time / m.small_threshold_grokking_time()
        for m in (LinearGrokking(0.9, 0.01, e) for e in (1e-3, 1e-6, 1e-30, 1e-300))
    ]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.363, abs=0.002)
    assert shares[-1] == pytest.approx(1, abs=0.005)
