"""Skills that emerge with time, data and parameters."""

import jax
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.theory import DiagonalNetwork, Emergence, calibrate_emergence

P = np.array([0.55, 0.25, 0.15, 0.05])
SCALES = st.floats(0.2, 5)
STARTS = st.floats(1e-6, 0.9)
TIMES = np.array([0.0, 0.5, 3.0, 20.0])


@settings(max_examples=10, deadline=None)
@given(SCALES, STARTS, st.floats(0.1, 2))
def test_is_the_integrated_flow(S, share, rate):
    model = Emergence(P, S, share * S, rate)
    flow = solve_ivp(
        lambda t, a: rate * P * a * (S - a**2), (0, 20), np.sqrt(np.full(4, share * S)), method="DOP853",
        t_eval=TIMES, rtol=1e-12, atol=1e-14,
    )  # fmt: skip
    np.testing.assert_allclose(model.modes(TIMES), flow.y.T**2, rtol=1e-9)
    np.testing.assert_allclose(
        model.loss(TIMES), (P @ (S - flow.y**2) ** 2) / 2, rtol=1e-7, atol=1e-12 * S**2
    )


def test_is_a_diagonal_network_with_the_skills_as_inputs():
    model = Emergence(P, 2.0, 1e-3)
    root = np.sqrt(1e-3)
    network = DiagonalNetwork(2.0, first=root, second=root, variance=P)
    np.testing.assert_allclose(model.modes(TIMES), network.modes(TIMES), rtol=1e-11)
    np.testing.assert_allclose(model.residual(TIMES), network.residual(TIMES), rtol=1e-11)
    assert model.stages().order.tolist() == network.stages().order.tolist()


@settings(max_examples=20, deadline=None)
@given(SCALES, STARTS, st.floats(0.05, 0.95))
def test_saturation_times_are_where_strengths_pass(S, start, share):
    model = Emergence(P, S, start * S)
    times = model.saturation_time(share)
    reached = times.status == Status.REACHED
    strengths = np.diagonal(model.modes(times.time))
    np.testing.assert_allclose(strengths[reached], share * S, rtol=1e-9)
    assert np.all(strengths[~reached] >= share * S * (1 - 1e-9))
    np.testing.assert_allclose(times.time * P, times.time[0] * P[0], atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(SCALES, st.floats(0, 50), st.floats(0, 50))
def test_strengths_grow_in_the_order_of_frequency(S, one, two):
    model = Emergence(P, S, 1e-3 * S)
    early, late = model.modes(np.sort([one, two]))
    assert np.all(late >= early)
    assert np.all(np.diff(early) <= 0)
    assert np.all((early >= 0) & (late <= S))


def test_time_and_rate_are_one():
    np.testing.assert_allclose(
        Emergence(P, 2.0, 0.01, 0.25).modes(4 * TIMES),
        Emergence(P, 2.0, 0.01).modes(TIMES),
        rtol=1e-12,
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 400), st.integers(1, 60))
def test_mean_over_binomial_numbers_of_samples(D, needed):
    model = Emergence(P, 2.0, 1e-3, samples_needed=needed)
    d = np.arange(D + 1)
    learned = np.array([stats.binom.pmf(d, D, p) @ np.minimum(1, d / needed) for p in P])
    np.testing.assert_allclose(
        model.modes_from_data(D), 1e-3 + (2 - 1e-3) * learned, rtol=1e-9, atol=1e-12
    )
    loss = (2 - 1e-3) ** 2 / 2 * P @ (1 - learned)
    assert model.loss_from_data(D) == pytest.approx(loss, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("D", [10**4, 10**9, 10**12])
@pytest.mark.parametrize("mean", [0.01, 20.0, 60.0])
def test_digits_do_not_depend_on_the_number_of_samples(D, mean):
    """D_c = 20 samples of a skill with so many on average; strength and loss each to its own digits."""
    model = Emergence([mean / D], 1.0, 1e-12, samples_needed=20)
    with mpmath.workdps(60):
        p, lacks = mpmath.mpf(mean / D), mpmath.mpf(0)
        for d in range(20):
            chance = mpmath.binomial(D, d) * p**d * (1 - p) ** (D - d)
            lacks += (1 - mpmath.mpf(d) / 20) * chance
        gap = 1 - mpmath.mpf(1e-12)
        strength, loss = float(1 - gap * lacks), float(gap**2 / 2 * p * lacks)
    assert model.modes_from_data(D)[0] == pytest.approx(strength, rel=1e-13)
    assert model.loss_from_data(D) == pytest.approx(loss, rel=1e-12)


def test_one_sample_is_enough_for_a_given_skill():
    D = np.array([0, 1, 2, 10, 1000])
    expected = 1e-6 + (1 - 1e-6) * (1 - (1 - P) ** D[:, None])
    np.testing.assert_allclose(Emergence(P, 1.0, 1e-6).modes_from_data(D), expected, rtol=1e-10)


def test_many_samples_are_needed_sharply():
    """For large D_c the mean over numbers of samples is that of the mean number."""
    model = Emergence(P, 1.0, 1e-9, samples_needed=100_000)
    for share in (0.2, 0.8, 1.3):
        found = model.modes_from_data(round(share * 1e5 / P[1]))[1]
        assert found == pytest.approx(min(share, 1), abs=1e-4)


@given(st.floats(0, 40), st.floats(0.3, 6))
def test_units_go_to_the_most_frequent_skills(N, needed):
    found = Emergence(P, 3.0, 1e-3, units_needed=needed).modes_from_units(N)
    assert np.sum(found) == pytest.approx(3 * min(N / needed, 4))
    assert np.all(np.diff(found) <= 0)
    assert np.sum((found > 0) & (found < 3)) <= 1


def test_a_skill_is_learned_if_and_only_if_it_is_a_feature():
    found = Emergence(P, 3.0, 1e-3).modes_from_units(np.arange(6))
    expected = 3.0 * (np.arange(4) < np.arange(6)[:, None])
    np.testing.assert_array_equal(found, expected)
    loss = Emergence(P, 3.0, 1e-3).loss_from_units(np.arange(6))
    np.testing.assert_allclose(loss, 4.5 * np.append(1 - np.cumsum([0, *P]), 0), atol=1e-15)


def test_data_laws_inside_traces():
    model = Emergence(P, 1.0, 1e-3, samples_needed=7)
    with jax.enable_x64(True):
        for method in (model.modes_from_data, model.loss_from_data, model.modes_from_units):
            np.testing.assert_allclose(jax.jit(method)(20.0), method(20), rtol=1e-9)


@settings(max_examples=10, deadline=None)
@given(SCALES, st.floats(1e-6, 0.02), st.floats(0.01, 3))
def test_calibration_finds_the_constants_of_time(S, start, rate):
    model = Emergence(P, S, start * S, rate)
    t = np.linspace(0, 1.6 * model.saturation_time(0.5).time[0], 60)
    found = calibrate_emergence(P, S, time=(t, model.modes(t)[:, 0]))
    assert found.learning_rate == pytest.approx(rate, rel=1e-6)
    assert found.start == pytest.approx(start * S, rel=1e-5)
    np.testing.assert_allclose(found.modes(3 * t), model.modes(3 * t), rtol=1e-5)


@pytest.mark.parametrize("needed", [1, 37])
def test_calibration_finds_the_samples_needed(needed):
    model = Emergence(P, 2.0, 1e-9, samples_needed=needed)
    D = np.append(0, needed * np.arange(1, 12) // 2 + 1)
    assert (
        calibrate_emergence(P, 2.0, data=(D, model.modes_from_data(D)[:, 0])).samples_needed
        == needed
    )


@given(st.floats(0.8, 8))
def test_calibration_finds_the_units_needed(needed):
    N = np.arange(1, 21)
    strengths = Emergence(P, 2.0, 1e-3, units_needed=needed).modes_from_units(N)[:, 0]
    if strengths[0] < 1:
        found = calibrate_emergence(P, 2.0, units=(N, strengths)).units_needed
        assert found == pytest.approx(needed, rel=1e-4)


def test_calibration_needs_an_emergence():
    with pytest.raises(
        ArgumentError,
        match="`time` must contain the emergence of the first skill, got strengths from",
    ):
        calibrate_emergence(P, 1.0, time=([0, 1, 2], [0, 0.1, 0.2]))
    with pytest.raises(ArgumentError, match="`data` must be a pair"):
        calibrate_emergence(P, 1.0, data=[1, 2, 3])
    with pytest.raises(ArgumentError, match="`units` must be two arrays of one shape"):
        calibrate_emergence(P, 1.0, units=([1, 2, 3], [0, 1]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"frequencies": [0.5, 0]},
            r"`frequencies\[1\]` must be a finite real number > 0, got 0\.0",
        ),
        ({"frequencies": []}, r"`frequencies` must have the shape \(skills,\)"),
        ({"frequencies": 0.5}, r"`frequencies` must have the shape \(skills,\)"),
        ({"start": 2.0}, "`start` must be below `target_scale` = 1, got"),
        ({"start": 0}, "`start` must be a finite real number > 0"),
        ({"target_scale": -1}, "`target_scale` must be a finite real number > 0"),
        ({"learning_rate": [1.0, 2.0]}, "`learning_rate` must be a single number"),
        ({"samples_needed": 1.5}, "`samples_needed` must be a whole number ≥ 1"),
        ({"units_needed": 0}, "`units_needed` must be a finite real number > 0"),
    ],
)
def test_bad_parameters(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        Emergence(**{"frequencies": P} | wrong)


def test_skills_that_cannot_exclude_each_other():
    with pytest.raises(
        AssumptionError, match=r"sum to at most 1, got 1\.2\. Divide them by their sum"
    ):
        Emergence([0.7, 0.5])


def test_bad_resources():
    model = Emergence(P)
    with pytest.raises(ArgumentError, match="`num_samples` must be a whole number ≥ 0"):
        model.modes_from_data(2.5)
    with pytest.raises(ArgumentError, match="`num_units` must be a finite real number ≥ 0, got -1"):
        model.loss_from_units(-1)
    with pytest.raises(ArgumentError, match="`share` must be a finite real number > 0 and < 1"):
        model.saturation_time(1.0)


def test_rare_skills_from_few_samples_keep_their_digits():
    found = Emergence([1e-7, 0.9], start=1e-30).modes_from_data([0, 20000])
    np.testing.assert_allclose(found[0], 1e-30)
    np.testing.assert_allclose(found[1, 0], -np.expm1(20000 * np.log1p(-1e-7)), rtol=1e-14)
    np.testing.assert_allclose(
        Emergence([0.9]).loss_from_data(200), 0.45 * 0.999**2 * 0.1**200, rtol=1e-12
    )
    assert Emergence([1.0]).modes_from_data(1) == 1


def test_units_go_to_the_most_frequent_skills_in_any_order():
    """Eq. 60 numbers skills by falling frequency."""
    skills = Emergence([0.1, 0.6, 0.3])
    assert skills.modes_from_units([1, 2]).tolist() == [[0, 1, 0], [0, 1, 1]]
    assert skills.loss_from_units(1) == Emergence([0.6, 0.3, 0.1]).loss_from_units(1)
