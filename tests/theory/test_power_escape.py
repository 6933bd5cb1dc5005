"""Weights that grow like a power of themselves."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, Status
from lazyrich.theory import PowerEscape

WHOLE = st.sampled_from([1, 2, 3, 4, 5])
DEGREES = st.one_of(WHOLE, st.floats(1, 6))


@settings(max_examples=30)
@given(st.floats(-1, 1), WHOLE, st.floats(0, 0.95))
def test_is_the_integrated_flow(start, degree, share):
    escape = PowerEscape(start, degree)
    time = share * min(float(escape.blow_up_time().time), 5.0)
    if time == 0:
        return
    flow = solve_ivp(
        lambda t, v: v**degree, (0, time), [start], method="DOP853", rtol=1e-12, atol=1e-300
    )
    assert escape.units(time) == pytest.approx(flow.y[0, -1], rel=1e-9)


@given(st.floats(1e-6, 10), DEGREES, st.floats(0, 0.999))
def test_as_written(start, degree, share):
    escape = PowerEscape(start, degree)
    with mpmath.workdps(60):
        v0, p = mpmath.mpf(start), mpmath.mpf(degree)
        if degree == 1:
            time = share
            exact = v0 * mpmath.exp(mpmath.mpf(time))
        else:
            time = float(share * min(v0 ** (1 - p) / (p - 1), 1e100))
            exact = (v0 ** (1 - p) - (p - 1) * mpmath.mpf(time)) ** (-1 / (p - 1))
        exact = float(exact)
    found = escape.units(time)
    slope = 1 + 1 / (1 - share)  # how errors of time are magnified
    assert found == pytest.approx(exact, rel=1e-13 * slope * max(1, abs(np.log(exact / start))))


def test_quadratic_growth_as_printed():
    start, time = np.array([1e-3, 5e-4, -2e-3]), 800.0
    np.testing.assert_allclose(PowerEscape(start).units(time), 1 / (1 / start - time), rtol=1e-14)


@given(st.floats(1e-6, 10), DEGREES, st.floats(1, 1e6), st.floats(-0.999999, 1))
def test_relative_is_the_solution_at_the_leaders_time(leader, degree, growth, share):
    start = share * leader
    if start < 0:
        degree = round(degree)
    value = leader * growth
    with mpmath.workdps(60):
        v, j, x, p = (mpmath.mpf(number) for number in (start, leader, value, degree))
        grows = -1 if start < 0 and degree % 2 == 0 else 1
        if degree == 1:
            exact = v * x / j
        elif start == 0:
            exact = mpmath.mpf(0)
        else:
            spent = j ** (1 - p) - x ** (1 - p)
            exact = mpmath.sign(v) * (abs(v) ** (1 - p) - grows * spent) ** (-1 / (p - 1))
        exact = float(exact)
    assert PowerEscape(start, degree).relative(leader, value) == pytest.approx(exact, rel=1e-12)


def test_near_ties_keep_their_digits():
    leader, gap = 1e-3, 1e-12
    start = leader * (1 - gap)
    exact = 1 / (1 / start - 1 / leader + 1 / 1e6)
    with mpmath.workdps(40):
        exact = float(1 / (1 / mpmath.mpf(start) - 1 / mpmath.mpf(leader) + mpmath.mpf("1e-6")))
    assert PowerEscape(start).relative(leader, 1e6) == pytest.approx(exact, rel=1e-12)


def test_the_leader_is_large_and_the_others_of_the_order_of_their_start():
    # Sec. 5.2: v_i → v_i(0)/(1 − v_i(0)/v_j(0)) as ε → 0, whatever ε; higher degrees separate more
    shares = np.array([0.9, 0.5, -0.7])
    for scale in (1e-3, 1e-9, 1e-200):
        rest = PowerEscape(scale * shares).relative(scale, 1.0) / scale
        np.testing.assert_allclose(rest, shares / (1 - shares), rtol=20 * scale + 1e-13)
    growth = [PowerEscape(9e-10, p).relative(1e-9, 1.0) / 9e-10 for p in (1, 2, 3, 4, 6)]
    assert np.all(np.diff(growth) < 0)
    assert growth[1] == pytest.approx(10, rel=1e-6)


@pytest.mark.parametrize(
    ("start", "degree", "time", "status"),
    [(0.5, 2, 2.0, Status.REACHED), (0.5, 3, 2.0, Status.REACHED), (-0.5, 3, 2.0, Status.REACHED),
     (0.5, 1, np.inf, Status.NEVER), (-0.5, 2, np.inf, Status.NEVER), (0.0, 2, np.inf, Status.NEVER),
     (0.25, 1.5, 4.0, Status.REACHED)],
)  # fmt: skip
def test_blow_up_times(start, degree, time, status):
    found = PowerEscape(start, degree).blow_up_time()
    assert found.time == pytest.approx(time, rel=1e-15)
    assert found.status == status
    half = PowerEscape(start, degree, learning_rate=0.5).blow_up_time().time
    assert half == pytest.approx(2 * time, rel=1e-15)


def test_nothing_after_the_blow_up():
    escape = PowerEscape(np.array([0.5, 0.1, -1.0, 0.0]))
    before, after = escape.units(2 - 1e-9), escape.units(2.0)
    assert before[0] == pytest.approx(1e9, rel=1e-6)
    assert np.isnan(after).tolist() == [True, False, False, False]
    assert after[3] == 0
    assert np.isnan(escape.relative(0.3, 1e3)[0])  # it was larger than the leader, and is gone


def test_linear_growth_is_the_limit():
    near = [float(PowerEscape(0.3, 1 + c).units(2.0)) for c in (0.0, 1e-9, 1e-7, 1e-5)]
    np.testing.assert_allclose(near, 0.3 * np.exp(2.0), rtol=1e-4)
    assert np.all(np.diff(near) < 0)
    near = [float(PowerEscape(0.2, 1 + c).relative(0.3, 0.9)) for c in (0.0, 1e-9, 1e-7, 1e-5)]
    np.testing.assert_allclose(near, 0.6, rtol=1e-4)
    assert np.all(np.diff(near) < 0)


@pytest.mark.parametrize("degree", [1.0, 2.0, 3.0])
def test_gradients(degree):
    with jax.enable_x64(True):
        slopes = jax.grad(lambda v, p: PowerEscape(v, p).relative(0.4, 0.8), argnums=(0, 1))
        for_start, for_degree = jax.jit(slopes)(0.3, degree)
        time = jax.jit(jax.grad(lambda v: PowerEscape(v, 2.0).blow_up_time().time))(0.3)
    h = 1e-6

    def value(v, p):
        return float(PowerEscape(v, p).relative(0.4, 0.8))

    assert for_start == pytest.approx(
        (value(0.3 + h, degree) - value(0.3 - h, degree)) / (2 * h), rel=1e-6
    )
    forward = (
        -3 * value(0.3, degree) + 4 * value(0.3, degree + h) - value(0.3, degree + 2 * h)
    ) / (2 * h)
    assert for_degree == pytest.approx(forward, rel=1e-4)
    assert time == pytest.approx(-1 / 0.09, rel=1e-12)


def test_maps_and_traces():
    starts = jnp.array([0.1, 0.2, -0.1])
    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(lambda v: PowerEscape(v, 3.0).units(1.5)))(starts.astype(float))
        invalid = jax.jit(lambda p: PowerEscape(0.1, p).blow_up_time())(0.5)
    np.testing.assert_allclose(found, PowerEscape(np.asarray(starts), 3).units(1.5), rtol=1e-6)
    assert np.isnan(invalid.time)
    assert int(invalid.status) == Status.INVALID


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"start": np.nan}, "`start` must be a finite real number.*, got nan"),
     ({"start": 0.1, "degree": 0.5}, "`degree` must be a finite real number ≥ 1, got 0.5"),
     ({"start": [0.1, -0.1], "degree": 1.5}, "`degree` must be a whole number where `start` is negative"),
     ({"start": [0.1, 0.2], "degree": [1, 2, 3]}, "shapes that broadcast"),
     ({"start": 0.1, "learning_rate": 0}, "`learning_rate` must")],
)  # fmt: skip
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        PowerEscape(**arguments)


@pytest.mark.parametrize(
    ("leader", "value", "message"),
    [(0.0, 1.0, "`leader` must"), (-0.1, 1.0, "`leader` must"), (0.5, np.nan, "`value` must"),
     (0.5, 0.4, "`value` must be at least `leader`"), ([0.5, 0.1, 0.3], 1.0, "`leader` must have a shape")],
)  # fmt: skip
def test_bad_leaders(leader, value, message):
    with pytest.raises(ArgumentError, match=message):
        PowerEscape(np.array([0.1, 0.2])).relative(leader, value)
