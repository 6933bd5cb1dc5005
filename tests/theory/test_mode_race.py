"""Modes that feed on themselves, against Runge–Kutta integration and their laws."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.theory import ModeRace

MODES = 4  # one number of modes, so that little is compiled


def random_race(seed, degree=2, signed=False):
    rng = np.random.default_rng(seed)
    mu, alpha = rng.uniform(0.2, 1, MODES), rng.uniform(0.05, 1, MODES)
    if signed:
        alpha *= rng.choice([-1, 1], MODES)
        alpha[0] = abs(alpha[0])
    return ModeRace(mu, rng.uniform(0.2, 0.9) * alpha / np.linalg.norm(alpha), degree)


def integrated(race, times):
    """Inside the ball and, once it is reached for good, on the sphere."""
    mu, d = race.rates, race.degree

    def on_sphere(t, a):
        return mu * a**d - a * max(0.0, np.sum(mu * a ** (d + 1)))

    def length(t, a):
        return a @ a - 1

    length.terminal, length.direction = True, 1  # pyright: ignore[reportFunctionMemberAccess]
    how = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}
    inside = solve_ivp(
        lambda t, a: mu * a**d, (0, times[-1]), race.start, events=length, t_eval=times, **how
    )
    after = times[inside.t.size :]
    if not after.size:
        return inside.y.T
    hit = inside.t_events[0][0], inside.y_events[0][0]
    outside = solve_ivp(on_sphere, (hit[0], times[-1]), hit[1], t_eval=after, **how)
    return np.concatenate([inside.y.T, outside.y.T])


TIMES = np.linspace(0, 50, 26)


@pytest.mark.parametrize(("degree", "signed"), [(2, False), (2, True), (3, True)])
@pytest.mark.parametrize("seed", range(3))
def test_against_integration(seed, degree, signed):
    race = random_race(seed, degree, signed)
    np.testing.assert_allclose(race.amplitudes(TIMES), integrated(race, TIMES), atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_laws(seed):
    race = random_race(seed)
    alpha = race.amplitudes(TIMES)
    length = np.linalg.norm(alpha, axis=1)
    hit = race.hitting_time().time
    np.testing.assert_allclose(length[hit < TIMES], 1, rtol=1e-12)  # on the sphere from then on
    assert np.all(length[hit > TIMES] < 1)
    np.testing.assert_allclose(np.linalg.norm(race.amplitudes(hit)), 1, rtol=1e-10)
    r = race.rates * alpha
    with np.errstate(divide="ignore"):
        lead = np.log(r[:, [race.winner]] / r)
    assert np.all(np.diff(lead, axis=0) >= -1e-9)  # the leader's lead never shrinks
    far = race.amplitudes(1e6)
    assert far[race.winner] == pytest.approx(1, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**20), first=st.floats(0, 30), second=st.floats(0, 30))
def test_going_on_is_starting_anew(seed, first, second):
    race = random_race(seed)
    middle = ModeRace(race.rates, race.amplitudes(first))
    np.testing.assert_allclose(
        middle.amplitudes(second), race.amplitudes(first + second), atol=1e-9
    )


def test_ratio_law():
    race, t, h = random_race(5), np.array([2.0, 20.0]), 1e-4
    r = [race.rates * race.amplitudes(t + s) for s in (-h, 0, h)]
    slope = (np.log(r[2][:, 0] / r[2][:, 1]) - np.log(r[0][:, 0] / r[0][:, 1])) / (2 * h)
    np.testing.assert_allclose(slope, r[1][:, 0] - r[1][:, 1], rtol=1e-5)


def test_rates_scale_time():
    race = random_race(6)
    fast = ModeRace(3 * race.rates, race.start)
    np.testing.assert_allclose(fast.amplitudes(TIMES / 3), race.amplitudes(TIMES), atol=1e-10)


def test_derivatives_by_rates_and_start():
    race, t, h = random_race(8), np.array([1.0, 12.0]), 1e-6  # one time inside, one on the sphere
    assert t[0] < race.hitting_time().time < t[1]

    def amplitudes(shift):
        return ModeRace(race.rates + shift[0], race.start + shift[1]).amplitudes(t)

    with jax.enable_x64(True):
        slope = jax.jit(jax.jacfwd(amplitudes))(np.zeros((2, MODES)))
    for index in np.ndindex(2, MODES):
        step = np.zeros((2, MODES))
        step[index] = h
        difference = (amplitudes(step) - amplitudes(-step)) / (2 * h)
        np.testing.assert_allclose(slope[..., *index], difference, atol=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.99, 1 - 1e-9])
def test_winning_time_is_when_the_share_is_reached(share):
    race = random_race(7)
    crossing = race.winning_time(share)
    assert crossing.status == Status.REACHED
    reached = 1 - race.shares(crossing.time)[race.winner]
    assert reached == pytest.approx(1 - share, rel=1e-5)


def test_nearly_equal_leaders_take_long():
    race = ModeRace(np.ones(MODES), 0.5 * np.array([1, 1 - 1e-9, 0.2, 0.1]))
    assert race.winner == 0
    assert race.winning_time(0.99).time > 20
    assert race.shares(race.winning_time(0.99).time)[0] == pytest.approx(0.99, rel=1e-6)


def test_nothing_wins_where_nothing_is_positive():
    race = ModeRace(np.ones(MODES), -np.array([0.5, 0.4, 0.3, 0.2]))
    assert race.winner == -1
    assert race.hitting_time() == (np.inf, Status.NEVER)
    assert race.winning_time().status == Status.NEVER
    np.testing.assert_allclose(race.amplitudes(100.0), race.start / (1 - race.start * 100))
    cubic = ModeRace(np.ones(MODES), -np.array([0.5, 0.4, 0.3, 0.2]), degree=3)
    assert cubic.amplitudes(100.0)[0] == pytest.approx(-1)  # of odd degree both signs grow


def test_a_start_on_the_sphere_may_leave_it_for_a_while():
    start = np.array([0.1, -0.9, -0.3, -0.2])
    race = ModeRace(np.ones(MODES), start / np.linalg.norm(start))
    assert np.linalg.norm(race.amplitudes(1.0)) < 1
    assert race.amplitudes(1e4)[0] == pytest.approx(1)
    assert race.hitting_time().time > 1


def test_shared_leads_are_refused():
    race = ModeRace(np.ones(MODES), np.full(MODES, 0.2))
    with pytest.raises(AssumptionError, match=r"needs one leader, but modes \[0, 1, 2, 3\]"):
        _ = race.winner
    np.testing.assert_allclose(race.amplitudes(50.0), 0.5)


def test_bad_input_is_named():
    with pytest.raises(
        ArgumentError, match=r"`rates\[1\]` must be a finite real number > 0, got 0.0"
    ):
        ModeRace([1.0, 0.0], [0.1, 0.1])
    with pytest.raises(
        ArgumentError, match=r"`start` must be at most of length 1, got 1.4.*Scale it down"
    ):
        ModeRace([1.0, 1.0], [1.0, 1.0])
    with pytest.raises(ArgumentError, match=r"`start` must have the shape \(2,\) of `rates`"):
        ModeRace([1.0, 1.0], [0.1])
    with pytest.raises(ArgumentError, match=r"`degree` must be .* ≥ 2"):
        ModeRace([1.0, 1.0], [0.1, 0.1], degree=1)
    with pytest.raises(ArgumentError, match=r"`share` must be .* < 1"):
        random_race(0).winning_time(1.0)


def test_winning_times_of_shares_near_one_keep_their_digits():
    race = ModeRace([2.0, 0.3, 1.0, 0.7], [0.3, 0.5, -0.2, 0.1])
    exact = 4.4997455682886642  # a root and a quadrature at 50 digits
    assert race.winning_time(1 - 1e-6).time == pytest.approx(exact, rel=1e-13)
