"""Escape of a quadratic layer from the saddle at zero."""

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, Status
from lazyrich.theory import QuadraticEscape
from lazyrich.theory._quadratic_path import exp_beyond_linear

BOTH = np.diag([1.0, -1.0])


def draw(seed, dimension=3, units=4, scale=1.0):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((dimension, dimension))
    first = scale * rng.standard_normal((dimension, units))
    return S + S.T, first, scale * rng.standard_normal(units)


def integrated(S, u, v, time):
    """Eq. 14 by Runge–Kutta, one unit."""

    def velocity(t, x):
        return np.concatenate([[x[1:] @ S @ x[1:]], 2 * x[0] * S @ x[1:]])

    start = np.concatenate([[v], u])
    if time == 0:
        return start
    return solve_ivp(velocity, (0, time), start, method="DOP853", rtol=1e-12, atol=1e-15).y[:, -1]


@settings(max_examples=15)
@given(st.integers(0, 200), st.integers(1, 4), st.floats(0, 0.9))
def test_is_the_integrated_flow(seed, dimension, share):
    S, first, second = draw(seed, dimension, units=2)
    escape = QuadraticEscape(S, first, second)
    for unit, end in enumerate(escape.blow_up_time().time):
        time = share * min(end, 3.0)
        exact = integrated(S, first[:, unit], second[unit], time)
        np.testing.assert_allclose(
            escape.units(time)[unit], exact, rtol=0, atol=1e-9 * np.abs(exact).max()
        )


def blow_up_by_mpmath(s, b, v):
    """T for one unit with parts b in eigenvectors, without a choice of m: 40 digits, tanh-sinh quadrature."""
    with mpmath.workdps(40):
        s, w = [mpmath.mpf(x) for x in s], [mpmath.mpf(x) ** 2 / 2 for x in b]
        v = mpmath.mpf(v)

        def G(y):
            return v * v + sum(wk * mpmath.expm1(2 * sk * y) for sk, wk in zip(s, w, strict=True))

        sign = mpmath.sign(v)
        grid = [sign * mpmath.mpf(n) / 20 for n in range(200)]
        turn = next((i for i in range(len(grid)) if G(grid[i]) < 0), None)
        if turn is None:
            far = max(45 / (sign * sk) for sk in s if sign * sk > 0) * sign
            return (
                mpmath.quad(lambda y: 1 / mpmath.sqrt(G(y)), mpmath.linspace(0, far, 20)) * sign / 2
            )
        low, high = grid[turn - 1], grid[turn]
        for _ in range(140):
            middle = (low + high) / 2
            low, high = (middle, high) if G(middle) > 0 else (low, middle)
        far = max(45 / (-sign * sk) for sk in s if -sign * sk > 0) + abs(low)

        def integrand(q):
            return 2 * q / mpmath.sqrt(abs(G(low - sign * q * q)))

        back: Any = mpmath.quad(integrand, mpmath.linspace(0, mpmath.sqrt(far), 8))
        return (back + mpmath.quad(integrand, mpmath.linspace(0, mpmath.sqrt(abs(low)), 4))) / 2


@pytest.mark.parametrize(
    ("s", "b", "v", "turns"),
    [((1.0, -1.0), (1.0, 2.0), 1.0, False),  # falls from the start
     ((1.0, -1.0), (0.3, 1.0), 0.8, False),  # passes the minimum
     ((1.0, -1.0), (0.3, 1.5), 0.8, True),
     ((1.0, -1.0), (1.0, 0.3), -0.4, True),
     ((2.0, 0.5, -3.0), (0.1, 0.7, 0.9), -1e-3, False),
     ((-1.0, -0.2), (1.0, 1.0), 0.9, True)],
)  # fmt: skip
def test_blow_up_time_to_rounding(s, b, v, turns):
    # the second layer's sign decides the first direction; the integral knows nothing of bases and panels
    escape = QuadraticEscape(np.diag(s), np.array(b)[:, None], [v])
    assert np.isfinite(escape.turning_time().time[0]) == turns
    exact = float(blow_up_by_mpmath(s, b, v))
    assert escape.blow_up_time().time[0] == pytest.approx(exact, rel=1e-12)


def test_one_dimension_in_closed_form():
    # v² = u²/2 is conserved: v̇ = 2sv², blow-up at 1/(2 s v)
    v, s = np.array([0.3, 0.7]), 1.7
    escape = QuadraticEscape([[s]], [np.sqrt(2) * v], v)
    np.testing.assert_allclose(escape.blow_up_time().time, 1 / (2 * s * v), rtol=1e-13)
    np.testing.assert_allclose(escape.units(0.2)[:, 0], 1 / (1 / v - 2 * s * 0.2), rtol=1e-12)


def test_turning_in_closed_form():
    # v = 0, s = 1: v̇ = u², u̇ = 2vu give v = (u₀/√2)·tan(√2·u₀t), u = u₀/cos(√2·u₀t)
    u0, t = 0.9, np.linspace(0, 1.0, 7)
    escape = QuadraticEscape([[1.0]], [[u0]], [0.0])
    x = np.sqrt(2) * u0 * t
    np.testing.assert_allclose(escape.units(t)[:, 0, 0], u0 / np.sqrt(2) * np.tan(x), atol=1e-13)
    np.testing.assert_allclose(escape.units(t)[:, 0, 1], u0 / np.cos(x), rtol=1e-13)
    assert escape.blow_up_time().time[0] == pytest.approx(np.pi / (2 * np.sqrt(2) * u0), rel=1e-13)
    # from the past of the same path: the turning point and the end come later by the same time
    earlier = QuadraticEscape([[1.0]], [[u0 / np.cos(1.0)]], [-u0 / np.sqrt(2) * np.tan(1.0)])
    assert earlier.turning_time().time[0] == pytest.approx(1 / (np.sqrt(2) * u0), rel=1e-12)
    total = earlier.blow_up_time().time[0]
    assert total == pytest.approx((np.pi / 2 + 1) / (np.sqrt(2) * u0), rel=1e-12)


NEVER = {
    "comes to rest": (BOTH, np.sqrt(2) * np.array([1.0, 2.0]), 1.0, [0.0, 2.0, 2.0]),
    "u fades": (np.diag([-1.0, -0.5]), [1.0, 0.5], 1.0, [np.sqrt(0.375), 0.0, 0.0]),
    "all fade": (np.diag([-1.0, -0.5]), np.sqrt(2) * np.array([0.6, 0.8]), 1.0, [0.0, 0.0, 0.0]),
    "no u": (BOTH, [0.0, 0.0], 0.8, [0.8, 0.0, 0.0]),
    "u without drive": (np.diag([1.0, 0.0]), [0.0, 2.0], -0.8, [-0.8, 0.0, 2.0]),
    "balanced": (BOTH, [1.0, 1.0], 0.0, [0.0, 1.0, 1.0]),
    "zero": (BOTH, [0.0, 0.0], 0.0, [0.0, 0.0, 0.0]),
}


@pytest.mark.parametrize("name", NEVER)
def test_units_that_never_blow_up(name):
    S, u, v, limit = NEVER[name]
    escape = QuadraticEscape(S, np.array(u)[:, None], [v])
    found = escape.blow_up_time()
    assert found.time.tolist() == [np.inf]
    assert found.status.tolist() == [Status.NEVER]
    assert escape.escape_time(100.0).status.tolist() == [Status.NEVER]
    times = [0.0, 0.3, 1.0, 2.0]
    exact = np.stack([integrated(S, np.array(u), v, time) for time in times])
    np.testing.assert_allclose(escape.units(times)[:, 0], exact, atol=1e-10)
    np.testing.assert_allclose(escape.units(1e9)[0], limit, atol=1e-8)


@settings(max_examples=20)
@given(st.integers(0, 100), st.floats(1e-200, 1e90))
def test_scaling_the_weights_scales_time(seed, scale):
    S, first, second = draw(seed)
    plain, scaled = (
        QuadraticEscape(S, first, second),
        QuadraticEscape(S, scale * first, scale * second),
    )
    np.testing.assert_allclose(
        scaled.blow_up_time().time * scale, plain.blow_up_time().time, rtol=1e-9
    )
    time = 0.5 * float(plain.blow_up_time().time.min())
    np.testing.assert_allclose(
        scaled.units(time / scale), scale * plain.units(time), rtol=1e-8, atol=1e-10 * scale
    )


@settings(max_examples=20)
@given(st.integers(0, 100))
def test_rotations_signs_and_rates(seed):
    S, first, second = draw(seed)
    R = np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((3, 3)))[0]
    plain = QuadraticEscape(S, first, second).blow_up_time().time
    turned = QuadraticEscape(R @ S @ R.T, R @ first, second).blow_up_time().time
    mirrored = QuadraticEscape(-S, -first, -second).blow_up_time().time
    faster = QuadraticEscape(3 * S, first, second, learning_rate=0.1).blow_up_time().time
    np.testing.assert_allclose(turned, plain, rtol=1e-9)
    np.testing.assert_allclose(mirrored, plain, rtol=1e-12)
    np.testing.assert_allclose(0.3 * faster, plain, rtol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 100), st.floats(0, 0.99))
def test_conservation_growth_and_order(seed, share):
    S, first, second = draw(seed)
    escape = QuadraticEscape(S, first, second)
    end = escape.blow_up_time().time
    assert np.all(np.diff(end[escape.order]) >= 0)
    time = share * float(end.min())
    units, growth = escape.units(time), escape.growth(time)
    now = units[:, 0] ** 2 - np.sum(units[:, 1:] ** 2, axis=1) / 2
    np.testing.assert_allclose(now, escape.conserved, atol=1e-10 * np.max(units**2))
    parts, start = units[:, 1:] @ escape.eigenvectors, first.T @ escape.eigenvectors
    np.testing.assert_allclose(parts, start * growth, atol=1e-12 * np.abs(parts).max())


@settings(max_examples=20)
@given(st.integers(0, 100), st.floats(0.05, 0.8), st.floats(0.05, 0.9))
def test_going_on_from_where_it_was(seed, one, two):
    S, first, second = draw(seed)
    escape = QuadraticEscape(S, first, second)
    end = float(escape.blow_up_time().time.min())
    half = escape.units(one * end)
    later = QuadraticEscape(S, half[:, 1:].T, half[:, 0])
    np.testing.assert_allclose(
        later.blow_up_time().time, escape.blow_up_time().time - one * end, rtol=1e-8
    )
    rest = two * (1 - one) * end
    exact = escape.units(one * end + rest)
    np.testing.assert_allclose(later.units(rest), exact, rtol=0, atol=1e-8 * np.abs(exact).max())


def test_sizes_and_their_status():
    S, (_, first, second) = np.diag([1.0, 0.3, -0.7]), draw(4, scale=1e-3)
    second[0] = 5.0
    escape = QuadraticEscape(S, first, second)
    found = escape.escape_time(1.0)
    assert found.status.tolist() == [Status.AT_START] + 3 * [Status.REACHED]
    assert found.time[0] == 0
    for unit in (1, 2, 3):
        assert np.linalg.norm(escape.units(found.time[unit])[unit]) == pytest.approx(1, rel=1e-6)
        assert found.time[unit] < escape.blow_up_time().time[unit]
    far = QuadraticEscape(S, 1e-60 * first, 1e-60 * second)
    assert far.escape_time(1.0).time[1] == pytest.approx(far.blow_up_time().time[1], rel=1e-14)


def test_turning_changes_the_sign_of_the_second_layer():
    escape = QuadraticEscape(BOTH, [[1.0, 1.0, 0.3], [0.3, 0.3, 1.0]], [-0.4, 0.0, -0.4])
    found = escape.turning_time()
    assert found.status.tolist() == [Status.REACHED, Status.AT_START, Status.NEVER]
    time = found.time[0]
    before, at, after = escape.units([0.99 * time, time, 1.01 * time])[:, 0, 0]
    assert before < 0 < after
    assert abs(at) < 1e-12


def test_the_solution_ends_with_the_blow_up():
    escape = QuadraticEscape([[1.0]], [[np.sqrt(2), 1e-3]], [1.0, 1e-3])
    assert np.all(np.isfinite(escape.units(0.5 - 1e-9)))
    for time in (0.5, 0.6, 1e3):
        assert np.all(np.isnan(escape.units(time)[0]))
        assert np.all(np.isnan(escape.growth(time)[0]))
    assert np.all(np.isfinite(escape.units(100.0)[1]))


def test_near_the_saddle_it_takes_long():
    # S = diag(1, −1), b = √2(1, 2): v = 1 comes to rest, a little more passes, a little less turns. Near the
    # minimum G = δ + 8y² with δ ∝ shift, in and out: T = −ln(shift)/(2·√8) + const
    b = np.sqrt(2) * np.array([[1.0], [2.0]])
    for sign in (1, -1):
        ends = []
        for shift in (1e-4, 1e-6, 1e-8):
            escape = QuadraticEscape(BOTH, b, [1 + sign * shift])
            ends.append(escape.blow_up_time().time[0])
            assert np.isfinite(escape.turning_time().time[0]) == (sign < 0)
        np.testing.assert_allclose(np.diff(ends), np.log(100) / (2 * np.sqrt(8)), rtol=3e-3)


def test_zero_eigenvalues_and_many_times():
    S = np.diag([1.0, 0.0, -2.0])
    first, second = (
        np.random.default_rng(0).standard_normal((2, 3, 4))[0],
        np.array([1.0, -1, 0.1, 0]),
    )
    escape = QuadraticEscape(S, first, second)
    times = np.linspace(0, 0.05, 6).reshape(2, 3)
    values = escape.units(times)
    assert values.shape == (2, 3, 4, 4)
    np.testing.assert_allclose(values[..., 2], np.broadcast_to(first[1], (2, 3, 4)), rtol=1e-15)
    np.testing.assert_allclose(values[1, 2, 1], integrated(S, first[:, 1], -1.0, 0.05), rtol=1e-10)
    assert escape.units(np.zeros(0)).shape == (0, 4, 4)
    np.testing.assert_allclose(escape.units(0)[:, 0], second, atol=1e-15)


@given(st.floats(-3, 3).filter(lambda x: x == 0 or abs(x) > 1e-30))
def test_exponential_beyond_linear(x):
    with mpmath.workdps(60):
        exact = float(mpmath.expm1(mpmath.mpf(x)) - mpmath.mpf(x))
    assert exp_beyond_linear(np.array([x]))[0] == pytest.approx(exact, rel=2e-15, abs=1e-320)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"correlation": np.ones(3)}, "`correlation` must have the shape"),
     ({"correlation": np.ones((2, 3))}, "`correlation` must have the shape"),
     ({"correlation": np.zeros((3, 3))}, "`correlation` must not vanish"),
     ({"correlation": np.triu(np.ones((3, 3)))}, "`correlation` must be symmetric, got 'an asymmetry of 1'"),
     ({"correlation": np.full((3, 3), np.nan)}, "`correlation"),
     ({"first": np.ones((2, 4))}, r"`first` must have the shape \(3, units\)"),
     ({"first": np.ones((3, 0))}, "`first` must have the shape"),
     ({"first": np.full((3, 4), np.nan)}, "`first"),
     ({"second": np.ones((4, 1))}, r"`second` must have the shape \(4,\)"),
     ({"second": [1.0, 2.0, np.nan, 1.0]}, r"`second\[2\]` must be a finite real number, got nan"),
     ({"learning_rate": 0}, "`learning_rate` must"), ({"learning_rate": [1.0, 2.0]}, "`learning_rate`")],
)  # fmt: skip
def test_bad_input(changes, message):
    S, first, second = draw(0)
    with pytest.raises(ArgumentError, match=message):
        QuadraticEscape(**{"correlation": S, "first": first, "second": second} | changes)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "a", None])
def test_bad_times_and_sizes(value):
    escape = QuadraticEscape(*draw(0))
    with pytest.raises(ArgumentError, match="`time` must"):
        escape.units(value)
    with pytest.raises(ArgumentError, match="`time` must"):
        escape.growth(value)
    with pytest.raises(ArgumentError, match="`size` must"):
        escape.escape_time(value)


def test_traces_are_refused():
    S, first, second = draw(0)
    with pytest.raises(ArgumentError, match="must be known now"):
        jax.jit(lambda v: QuadraticEscape(S, first, v))(jnp.asarray(second))
    with pytest.raises(ArgumentError, match="`time` must be known now"):
        jax.jit(QuadraticEscape(S, first, second).units)(0.1)
