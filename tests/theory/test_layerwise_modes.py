"""Modes of linear models and diagonal networks."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.theory import DiagonalNetwork, LinearModes, LinearNetworkModes

WEIGHT = st.floats(-2, 2).filter(lambda x: x == 0 or abs(x) > 1e-6)
TARGET = st.floats(-3, 3).filter(lambda x: x == 0 or abs(x) > 1e-3)
TIME = st.floats(0, 5)
MODES = st.tuples(WEIGHT, WEIGHT, TARGET)


def diagonal(mode, variance=0.7):
    a, b, S = mode
    return DiagonalNetwork(S, first=a, second=b, variance=variance)


# ---- the diagonal network


def time_by_quadrature(a, b, S, end):
    """When ab = end, from the flow of ab alone: d(ab)/dt = 2·√(ab² + ((a² − b²)/2)²)·(S − ab)."""
    with mpmath.workdps(30):
        a, b, S, end = (mpmath.mpf(x) for x in (a, b, S, end))
        D, start = (a**2 - b**2) / 2, a * b

        def slowness(u):  # ab = sign·exp(u), as it spans many sizes
            m = mpmath.sign(end) * mpmath.exp(u)
            return m / (2 * mpmath.sqrt(m**2 + D**2) * (S - m))

        ends = [mpmath.log(abs(start)), mpmath.log(abs(end))]
        parts = mpmath.linspace(*ends, 9)
        return float(mpmath.quad(slowness, parts))


@pytest.mark.parametrize(
    ("a", "b", "S", "share"),
    [(0.3, 0.3, 1.0, 0.9), (1e-8, 1e-8, 2.0, 0.5), (1e-100, 2e-100, 1.0, 0.999), (1.5, 1e-5, 1.0, 0.3),
     (0.1, -0.2, -3.0, 0.7), (3.0, 2.0, 1.0, 1.001), (2.0, 0.001, 0.5, 1 - 1e-10)],
)  # fmt: skip
def test_product_against_quadrature(a, b, S, share):
    time = time_by_quadrature(a, b, S, share * S)
    network = DiagonalNetwork(S, first=a, second=b)
    assert network.modes(time) == pytest.approx(share * S, rel=1e-11)
    assert network.residual(time) == pytest.approx(
        (1 - share) * S, rel=3e-6 if share > 0.9999 else 1e-9
    )
    if share < 1:
        assert network.saturation_time(share).time == pytest.approx(
            time, rel=1e-11 / (1 - share) ** 0.4
        )


def test_many_starts_against_integration():
    rng = np.random.default_rng(0)
    a, b, S = rng.standard_normal((3, 60)) * np.array([[1], [1], [2]])
    b[:10], b[10:20], b[20:25], a[25:30], S[::6] = a[:10], -a[10:20], 0, 0, 0
    v, times = rng.uniform(0.2, 1.5, 60), np.array([0.0, 0.3, 1.0, 4.0])

    def velocity(t, flat):
        a, b = flat.reshape(2, -1)
        return np.concatenate([b, a]) * np.tile(v * (S - a * b), 2)

    exact = solve_ivp(
        velocity, (0, 4), np.concatenate([a, b]), "DOP853", times, rtol=1e-12, atol=1e-14
    )
    exact = exact.y.T.reshape(4, 2, 60)
    network = DiagonalNetwork(S, first=a, second=b, variance=v)
    np.testing.assert_allclose(np.stack(network.layers(times), 1), exact, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(network.modes(times), exact.prod(1), rtol=1e-9, atol=1e-10)
    loss = (v * (S - exact.prod(1)) ** 2).sum(1) / 2
    np.testing.assert_allclose(network.loss(times), loss, rtol=1e-9)


def test_digits_against_400_of_them():
    """Starts from 1e-12 to 10, ratios of layers from 1e-3 to 1e3, and times up to Kt = 300."""
    rng, N, eps = np.random.default_rng(1), 150, np.finfo(float).eps
    a = rng.standard_normal(N) * 10 ** rng.uniform(-12, 1, N)
    b = a * rng.choice([1, -1], N) * np.where(rng.random(N) < 0.3, 1, 10 ** rng.uniform(-3, 3, N))
    S, K = rng.standard_normal(N), np.zeros(N)
    exact = np.zeros((2, N))
    t = 10 ** rng.uniform(-3, 2, N)
    t /= np.maximum(1, np.hypot(S, (a**2 - b**2) / 2) * t / 300)
    with mpmath.workdps(400):
        for i in range(N):
            x, y, s, T = (mpmath.mpf(float(value[i])) for value in (a, b, S, t))
            k = mpmath.sqrt(s**2 + (x**2 - y**2) ** 2 / 4)
            c, d = mpmath.cosh(k * T), mpmath.sinh(k * T) / k
            Y, Z = c + (s + (x - y) ** 2 / 2) * d, c + ((x + y) ** 2 / 2 - s) * d
            product = ((x + y) ** 2 * Y / Z - (x - y) ** 2 * Z / Y) / 4
            K[i], exact[:, i] = float(k), (float(product), float((s - x * y) / (Y * Z)))
    network = DiagonalNetwork(S, first=a, second=b)
    found = np.array([[f(t[i])[i] for i in range(N)] for f in (network.modes, network.residual)])
    condition = 1 + K * t
    assert np.all(np.abs(found[1] - exact[1]) <= 8 * eps * condition * np.abs(exact[1]))
    # where ab and S have different signs ab passes through zero, and only its size before counts
    size = np.abs(exact[0]) + np.where(a * b * S < 0, (a**2 + b**2) / 2, 0)
    assert np.all(np.abs(found[0] - exact[0]) <= 16 * eps * condition * size)


@settings(max_examples=40, deadline=None)
@given(MODES, TIME)
def test_layers_multiply_to_the_product_and_conserve(mode, time):
    network = diagonal(mode)
    a, b = network.layers(time)
    assert a * b == pytest.approx(network.modes(time), rel=1e-9, abs=1e-12)
    assert b * b - a * a == pytest.approx(network.conserved, rel=1e-9, abs=1e-12)
    assert network.modes(time) + network.residual(time) == pytest.approx(
        mode[2], rel=1e-12, abs=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(MODES, TIME, TIME)
def test_flows_compose(mode, first, second):
    middle = tuple(float(x) for x in diagonal(mode).layers(first))
    if 0 < max(map(abs, middle)) < 1e-100:
        return
    later = diagonal((*middle, mode[2])).layers(second)
    np.testing.assert_allclose(later, diagonal(mode).layers(first + second), rtol=1e-7, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(MODES, TIME)
def test_symmetries(mode, time):
    (a, b, S), product = mode, diagonal(mode).modes(time)
    assert diagonal((b, a, S)).modes(time) == pytest.approx(product, rel=1e-10, abs=1e-13)
    assert diagonal((-a, -b, S)).modes(time) == pytest.approx(product, rel=1e-13)
    assert diagonal((-a, b, -S)).modes(time) == pytest.approx(-product, rel=1e-10, abs=1e-13)
    assert diagonal(mode, 1.4).modes(time / 2) == pytest.approx(product, rel=1e-12)
    # lengths: a, b → 2a, 2b with S → 4S runs four times as fast
    assert diagonal((2 * a, 2 * b, 4 * S)).modes(time / 4) == pytest.approx(
        4 * product, rel=1e-10, abs=1e-13
    )


@settings(max_examples=40, deadline=None)
@given(MODES)
def test_the_loss_falls_and_the_limit_is_reached(mode):
    network = diagonal(mode)
    losses = network.loss(np.array([0, 0.1, 0.5, 2, 5, 1e9]))
    assert np.all(np.diff(losses) <= 1e-15 * losses[0])
    slowest = abs(mode[2]) > 0 or mode[0] ** 2 != mode[1] ** 2
    if slowest and mode[2] != 0 and network.limit() == mode[2]:
        # rates are as small as the square of the smallest number here
        assert network.modes(1e250) == pytest.approx(network.limit(), rel=1e-9, abs=1e-12)


def test_modes_that_are_stuck():
    network = DiagonalNetwork(
        [1.0, 1.0, -1.0, -1.0], first=[0.5, 0.0, 0.5, 0.5], second=[-0.5, 0.0, 0.5, -0.5]
    )
    np.testing.assert_array_equal(network.limit(), [0, 0, 0, -1])
    np.testing.assert_allclose(network.modes(1e6), [0, 0, 0, -1], atol=1e-15)
    found = network.saturation_time(0.5)
    assert found.status.tolist() == [Status.NEVER] * 3 + [Status.REACHED]
    assert np.all(np.isinf(found.time[:3]))
    assert network.stages().order.tolist() == [3]
    np.testing.assert_array_equal(
        DiagonalNetwork(1.0, first=0.3, second=0.4, variance=0.0).limit(), 0.3 * 0.4
    )


def test_late_residuals_keep_their_digits():
    network = DiagonalNetwork(1.0, first=0.5, second=0.5)
    assert network.residual(50.0) == pytest.approx(3 * np.exp(-100), rel=1e-12)
    assert network.loss(150.0) == pytest.approx(4.5 * np.exp(-600), rel=1e-11)


def test_targets_of_zero():
    network = DiagonalNetwork(0.0, first=[0.5, 0.5], second=[0.5, 0.2])
    np.testing.assert_allclose(network.modes(3.0)[0], 0.25 / (1 + 2 * 0.25 * 3), rtol=1e-14)
    np.testing.assert_array_equal(network.limit(), [0, 0])
    with pytest.raises(AssumptionError, match="needs targets other than 0; 1 of 1 are 0"):
        network.saturation_time()
    # under a trace there is nobody to raise to
    found = jax.jit(lambda S: DiagonalNetwork(S, first=0.5, second=0.5).saturation_time(0.5))(0.0)
    assert int(found.status) == Status.INVALID
    assert np.isnan(found.time)


def test_gradients_where_formulas_branch():
    def values(x, b):
        network = DiagonalNetwork(x[1], first=x[0], second=b)
        return network.modes(0.7), network.residual(0.7)

    with jax.enable_x64(True):
        gradient = jax.jit(jax.jacrev(values))
        for a, b, S in (
            (0.5, 0.5, 0.0),
            (0.5, -0.5, 1.0),
            (0.0, 0.0, 1.0),
            (0.5, 0.5, 1.0),
            (0.7, 0.0, 0.4),
        ):
            slopes, x, h = np.array(gradient(jnp.array([a, S]), b)), np.array([a, S]), 1e-5
            for i, step in enumerate(np.eye(2) * h):
                difference = np.subtract(values(x + step, b), values(x - step, b)) / (2 * h)
                np.testing.assert_allclose(slopes[:, i], difference, rtol=1e-6, atol=1e-8)


def test_modes_have_any_shape():
    network = DiagonalNetwork(np.array([1.0, 2.0, -1.0]), first=np.full((2, 1), 0.1), second=0.2)
    assert network.shape == (2, 3)
    assert network.modes([[0.0, 1.0]]).shape == (1, 2, 2, 3)
    assert network.loss([0.0, 1.0]).shape == (2,)
    assert network.saturation_time().time.shape == (2, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((1.0, 1e-200, 1e-200), "`first and second` must be zero or at least 1e-150 in size, got 1e-200"),
     ((1.0, 1e200, 1.0), "`first` must be at most 1e\\+100 in size, got 1e\\+200"),
     ((1.0, 1.0, np.nan), "`second` must be a finite real number"),
     ((1.0, 1.0, 1.0, -1.0), "`variance` must be a finite real number ≥ 0"),
     (([1.0, 1.0, 1.0], [1.0, 2.0], 1.0), "shapes that broadcast")],
)  # fmt: skip
def test_bad_diagonal_networks(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        DiagonalNetwork(*arguments)


@pytest.mark.parametrize("share", [0, 1, -0.5, 1.5, np.nan, "a", None, [0.1, 0.2]])
def test_bad_shares(share):
    for solution in (
        DiagonalNetwork(1.0, first=0.1, second=0.1),
        LinearModes(1.0),
        LinearNetworkModes([[1.0]], 0.1),
    ):
        with pytest.raises(ArgumentError, match="`share` must"):
            solution.saturation_time(share)


# ---- the linear model


@settings(max_examples=30, deadline=None)
@given(TARGET, st.floats(0, 3), WEIGHT, TIME, TIME)
def test_linear_modes(S, variance, start, first, second):
    modes = LinearModes(S, variance, start)
    middle = modes.modes(first)
    later = LinearModes(S, variance, middle).modes(second)
    assert later == pytest.approx(modes.modes(first + second), rel=1e-11, abs=1e-13)
    assert middle + modes.residual(first) == pytest.approx(S, rel=1e-13, abs=1e-14)
    assert modes.loss(first + second) <= modes.loss(first)
    assert modes.loss(first) == pytest.approx(variance * modes.residual(first) ** 2 / 2, rel=1e-13)


def test_linear_saturation_times():
    modes = LinearModes([1.0, -2.0, 1.0, 1.0], [0.5, 0.2, 0.0, 1.0], [0.0, 0.5, 0.0, 0.95])
    found = modes.saturation_time(0.9)
    assert found.status.tolist() == [Status.REACHED, Status.REACHED, Status.NEVER, Status.AT_START]
    np.testing.assert_allclose(found.time[0], np.log(10) / 0.5, rtol=1e-14)
    np.testing.assert_allclose(modes.modes(found.time[1])[1], -1.8, rtol=1e-13)
    assert np.isinf(found.time[2])
    with pytest.raises(AssumptionError, match="needs targets other than 0"):
        LinearModes([1.0, 0.0]).saturation_time()


# ---- stages


def test_stages_of_sigmoids_separate_as_their_rates_and_start_say():
    for start in (1e-2, 1e-3, 1e-6, 1e-12):
        network = DiagonalNetwork(
            1.0, first=start**0.5, second=start**0.5, variance=[0.1, 0.5, 0.2]
        )
        found, ell = network.stages(), np.log(1 / start - 1)
        assert found.order.tolist() == [1, 2, 0]
        ratio = (ell - np.log(9)) / (ell + np.log(9))
        np.testing.assert_allclose(found.separation, [2.5 * ratio, 2 * ratio], rtol=1e-9)
        assert found.is_stage_like == (2 * ratio > 1)


def test_stages_of_linear_models_do_not_depend_on_scale():
    share = np.log(10 / 9) / np.log(10)
    found = LinearModes([1.0, 5.0], [22.0, 1.0]).stages()
    np.testing.assert_allclose(found.separation, [22 * share])
    assert found.is_stage_like  # variances apart by 21.9 or more
    assert not LinearModes([1.0, 5.0], [21.0, 1.0]).stages().is_stage_like
    assert not LinearModes(1.0).stages().is_stage_like  # one mode has no stages


def test_stages_count_overlap_with_any_earlier_mode():
    # the second mode is fast and lies inside the first one's interval; the third begins after the second only
    found = LinearModes([1.0, 1.0, 1.0], [1.0, 9.0, 0.05], [0.0, -1e3, 0.0]).stages()
    assert found.order.tolist() == [0, 1, 2]
    assert found.separation[1] == pytest.approx(found.begin[2] / max(found.end[:2]))


def test_modes_that_are_learned_already():
    found = LinearModes(1.0, [1.0, 1.0], [0.99, 0.0]).stages()
    assert found.begin[0] == found.end[0] == 0
    assert found.separation.tolist() == [np.inf]


@pytest.mark.parametrize(
    ("bounds", "message"), [((0.9, 0.1), "`upper` must be above `lower`"), ((0.0, 0.5), "`lower` must"),
                            ((0.1, 1.0), "`upper` must")],
)  # fmt: skip
def test_bad_stages(bounds, message):
    with pytest.raises(ArgumentError, match=message):
        LinearModes(1.0).stages(*bounds)


def test_saturation_times_of_tiny_and_of_nearly_opposite_weights():
    # at 500 digits; products of two tiny squares are too small for a float
    tiny = DiagonalNetwork(-2.0, first=1e-100, second=0.3e-100, variance=0.01).saturation_time(1e-9)
    assert tiny.status == Status.REACHED
    assert tiny.time == pytest.approx(11064.6636048105, rel=1e-13)
    # at 500 digits; the way through zero is nearly all of it
    opposite = DiagonalNetwork(
        1e-6, first=1e-3, second=-0.001000000001, variance=0.01
    ).saturation_time(1e-9)
    assert opposite.time == pytest.approx(1080231971.5923938, rel=1e-12)


def test_layers_that_are_stuck_decay_to_the_smallest_numbers():
    a, b = DiagonalNetwork(40.0, first=1e-100, second=-1e-100, variance=0.01).layers(1000.0)
    assert a == pytest.approx(1e-100 * np.exp(-400.0), rel=1e-12)
    assert b == -a
