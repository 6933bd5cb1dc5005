"""Linear networks with one input and one output, from any start."""

import itertools

import jax
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.theory import ScalarNetwork

FEATURES = 3
WEIGHTS = arrays(float, FEATURES, elements=st.floats(-2, 2).map(lambda x: round(x, 6)))
TARGETS = st.floats(-3, 3).map(lambda x: round(x, 6))
SCALES = st.floats(0.3, 4)
TIMES = np.array([0.0, 0.3, 1.0, 4.0])


def integrated(a, b, S, Z, times):
    def velocity(t, w):
        force = (w[: a.size] @ w[a.size :] / Z - S) / Z
        return -force * np.concatenate([w[a.size :], w[: a.size]])

    ends = [np.concatenate([a, b])]
    for begin, end in itertools.pairwise(times):  # steps end at the times: no interpolation
        span = solve_ivp(velocity, (begin, end), ends[-1], method="DOP853", rtol=1e-12, atol=1e-13)
        ends.append(span.y[:, -1])
    return np.array(ends)[:, : a.size], np.array(ends)[:, a.size :]


@settings(max_examples=25, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS, SCALES)
def test_is_the_integrated_flow(a, b, S, Z):
    network = ScalarNetwork(S, first=a, second=b, normalisation=Z)
    A, B = integrated(a, b, S, Z, TIMES)
    theta = np.sum(A * B, axis=1) / Z
    for found, exact in (
        (network.layers(TIMES)[0], A),
        (network.layers(TIMES)[1], B),
        (network.features(TIMES), A * B / Z),
        (network.movement(TIMES), (A * B - a * b) / Z),
        (network.output(TIMES), theta),
        (network.spread(TIMES), np.sum(A**2 + B**2, axis=1) / (2 * Z)),
        (network.loss(TIMES), (theta - S) ** 2 / 2),
    ):
        np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e-40, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("target", [1.0, -1.0, 1e-12])
@pytest.mark.parametrize("share", [0.0, 1e-9, 0.7, 1.3, 8.0])
def test_digits_of_tiny_weights_and_long_times(scale, target, share):
    a, b = np.array([1.0, -0.4]) * scale, np.array([0.5, 0.4000001]) * scale
    network = ScalarNetwork(target, first=a, second=b)
    with mp.workdps(700):
        S, sa, sb = (
            mp.mpf(target),
            [mp.mpf(float(x)) for x in a],
            [mp.mpf(float(x)) for x in b],
        )
        S0 = mp.fsum(x * y for x, y in zip(sa, sb, strict=True))
        spread = mp.fsum(x * x + y * y for x, y in zip(sa, sb, strict=True)) / 2
        R = mp.sqrt(spread**2 - S0**2 + S**2)
        time = float(share * max(mp.log(abs(S) / spread), 1) / R)
        E = mp.exp(-2 * R * mp.mpf(time))
        gamma = (spread - S0 + S + R + (-spread + S0 - S + R) * E) / (
            spread + S0 - S + R + (-spread - S0 + S + R) * E
        )
        theta = ((spread + S0) * gamma - (spread - S0) / gamma) / 2
        residual, moved = theta - S, theta - S0
        exact = [float(x) for x in (gamma, theta, residual**2 / 2, moved)]
    condition = 1 + 2 * float(R) * time  # of the exponential
    tolerance = 1e-14 * condition
    assert network.growth(time) == pytest.approx(exact[0], rel=tolerance)
    terms = min(float(network.spread(time)), abs(target) + abs(exact[1] - target))
    assert network.output(time) == pytest.approx(
        exact[1], rel=tolerance, abs=tolerance * terms + 1e-300
    )
    assert network.loss(time) == pytest.approx(exact[2], rel=2 * tolerance, abs=1e-300)
    assert np.sum(network.movement(time)) == pytest.approx(exact[3], rel=2 * tolerance, abs=1e-300)


@settings(max_examples=30, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS, SCALES)
def test_what_is_conserved(a, b, S, Z):
    network = ScalarNetwork(S, first=a, second=b, normalisation=Z)
    A, B = network.layers(TIMES)
    np.testing.assert_allclose(A**2 - B**2, np.tile(a**2 - b**2, (4, 1)), atol=1e-11)
    spread, theta = network.spread(TIMES), network.output(TIMES)
    np.testing.assert_allclose(
        spread**2 - theta**2, spread[0] ** 2 - theta[0] ** 2, atol=1e-10 * (1 + spread.max() ** 2)
    )


@settings(max_examples=30, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS, st.floats(0, 2), st.floats(0, 2))
def test_two_times_in_a_row(a, b, S, first, second):
    network = ScalarNetwork(S, first=a, second=b)
    A, B = network.layers(first)
    A, B = np.where(abs(A) < 1e-140, 0, A), np.where(abs(B) < 1e-140, 0, B)
    later = ScalarNetwork(S, first=A, second=B).layers(second)
    np.testing.assert_allclose(later, network.layers(first + second), rtol=1e-9, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS, SCALES)
def test_symmetries(a, b, S, Z):
    network = ScalarNetwork(S, first=a, second=b, normalisation=Z)
    mirrored = ScalarNetwork(-S, first=a, second=-b, normalisation=Z)
    np.testing.assert_allclose(
        mirrored.output(TIMES), -network.output(TIMES), rtol=1e-12, atol=1e-14
    )
    # Z only counts time, up to a common scale of the weights
    rescaled = ScalarNetwork(S, first=a / np.sqrt(Z), second=b / np.sqrt(Z))
    np.testing.assert_allclose(
        rescaled.output(TIMES), network.output(TIMES * Z), rtol=1e-10, atol=1e-12
    )
    order = [2, 0, 1]
    np.testing.assert_allclose(
        ScalarNetwork(S, first=a[order], second=b[order], normalisation=Z).features(1.0),
        network.features(1.0)[order],
        atol=1e-12,
    )


@settings(max_examples=30, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS)
def test_growth_and_loss_are_monotone(a, b, S):
    network = ScalarNetwork(S, first=a, second=b)
    times = np.linspace(0, 5, 30)
    gamma, loss = network.growth(times), network.loss(times)
    direction = np.sign(S - network.initial_output)
    assert gamma[0] == pytest.approx(1, rel=1e-15)
    assert np.all(direction * np.diff(gamma) >= -1e-13 * gamma[1:])
    assert np.all(np.diff(loss) <= 1e-15 * loss[:-1])


@settings(max_examples=30, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS)
def test_modes_and_features_add_up_to_the_output(a, b, S):
    if S == 0:
        return
    network = ScalarNetwork(S, first=a, second=b)
    theta = network.output(TIMES)
    np.testing.assert_allclose(np.sum(network.features(TIMES), axis=1), theta, atol=1e-10)
    silent = np.sum(np.where(a * b == 0, network.features(TIMES), 0), axis=1)
    modes = network.aligned(TIMES) + network.anti_aligned(TIMES)
    np.testing.assert_allclose(modes + silent, theta, atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS, SCALES, st.floats(1e-6, 1 - 1e-6))
def test_saturation_time_inverts_the_output(a, b, S, Z, share):
    network = ScalarNetwork(S, first=a, second=b, normalisation=Z)
    start = float(network.initial_output)
    if abs(S) < 1e-3 or abs(start - S) < 1e-3:
        return
    found = network.saturation_time(share)
    if found.status == Status.NEVER:
        assert network.limit() == 0
    elif found.status == Status.AT_START:
        assert start / S >= share
    else:
        assert network.output(found.time) == pytest.approx(share * S, abs=1e-10 * (1 + abs(start)))


def test_saturation_times_keep_their_digits_early_and_late():
    network = ScalarNetwork(1.0, first=[0.25, -0.5], second=[0.5, 0.25])
    assert network.initial_output == 0
    rate = 2 * network.initial_spread
    assert network.saturation_time(1e-12).time == pytest.approx(1e-12 / rate, rel=1e-11)
    late = network.saturation_time(np.array([1 - 2.0**-30, 1 - 2.0**-40])).time
    R = np.sqrt(network.initial_spread**2 - network.initial_output**2 + 1)
    assert np.diff(late)[0] == pytest.approx(10 * np.log(2) / (2 * R), rel=1e-6)


def test_status_of_times():
    at_target = ScalarNetwork(1.0, first=[1.0], second=[1.0]).saturation_time(0.5)
    assert (float(at_target.time), int(at_target.status)) == (0.0, Status.AT_START)
    stuck = ScalarNetwork(1.0, first=[1.0, 0.5], second=[-1.0, -0.5])
    assert stuck.limit() == 0
    assert stuck.final_growth == np.inf
    np.testing.assert_array_equal(stuck.saturation_time([0.1, 0.9]).status, [Status.NEVER] * 2)
    assert stuck.output([1e3, 1e6]) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.all(stuck.layers(1e6)[0] == 0)


def test_weights_that_cannot_grow_decay_beyond_the_range_of_growth():
    a = np.array([1e-8, 3e-8])
    stuck = ScalarNetwork(
        50.0, first=a, second=-a
    )  # e^{−50t}, while γ = e^{100t} overflows at t = 7.1
    np.testing.assert_allclose(stuck.layers(10.0)[0], a * np.exp(-500.0), rtol=1e-12)
    np.testing.assert_allclose(stuck.layers(10.0)[1], -a * np.exp(-500.0), rtol=1e-12)
    mirrored = ScalarNetwork(-50.0, first=a, second=a)
    np.testing.assert_allclose(mirrored.layers(10.0)[0], a * np.exp(-500.0), rtol=1e-12)


def test_the_outputs_inflection_keeps_its_digits_far_from_the_start():
    # from far below 0 nearly the whole way is covered when the curve bends over: θ there, without the share
    network = ScalarNetwork(3.0, first=[1e-3, 1e3], second=[1e-3, -1e3])
    A, B, S = 2 * 1e-6, 2 * 1e6, 3.0
    found = network.output_inflection_time()
    assert found.status == Status.NEVER  # S² < 8AB
    network = ScalarNetwork(3.0, first=[1e-4, 1e3], second=[1e-4, -1e3])
    A, level = 2 * 1e-8, (S + np.sqrt(S**2 - 8 * 0.04)) / 4
    with mp.workdps(50):
        root, gamma = (
            mp.sqrt(mp.mpf(A) * B + S**2),
            (level + mp.sqrt(mp.mpf(level) ** 2 + mp.mpf(A) * B)) / A,
        )
        exact = mp.atanh(root * (gamma - 1) / (B + S - gamma * (A - S))) / root
    np.testing.assert_allclose(network.output_inflection_time().time, float(exact), rtol=1e-13)


def test_the_outputs_inflection_where_its_two_levels_meet():
    network = ScalarNetwork(
        4.0, first=[1.5, 0.5], second=[-0.5, 0.5]
    )  # A, B, S = 1, 2, 4: S² = 8AB
    found = network.output_inflection_time()
    np.testing.assert_allclose(network.output(found.time), 1.0, rtol=1e-13)


def test_without_target_balanced_weights_decay_like_one_over_time():
    network = ScalarNetwork(0.0, first=[1.0, 2.0], second=[1.0, 2.0])
    times = np.array([0.0, 1.0, 1e3, 1e9])
    np.testing.assert_allclose(network.output(times), 5 / (1 + 10 * times), rtol=1e-13)
    with pytest.raises(AssumptionError, match="A share of the target needs targets other than 0"):
        network.saturation_time()
    assert network.final_growth == 0


@settings(max_examples=40, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS)
def test_inflections_are_where_second_derivatives_change_sign(a, b, S):
    network = ScalarNetwork(S, first=a, second=b)
    for found, curve in (
        (network.inflection_time(), network.growth),
        (network.output_inflection_time(), network.output),
    ):
        t, sign = float(found.time), np.sign(S) if curve == network.output else 1
        if not 0.02 < t < 20:
            continue
        h = min(0.3 * t, 0.02)
        bend = [curve(x - h) - 2 * curve(x) + curve(x + h) for x in (t - 0.5 * h, t + 0.5 * h)]
        if np.abs(bend).max() > 1e-9 * abs(curve(t)):
            assert sign * bend[0] > sign * bend[1]
            assert sign * bend[0] > -0.1 * abs(bend[1])


@settings(max_examples=40, deadline=None)
@given(WEIGHTS, WEIGHTS, TARGETS)
def test_concave_growth(a, b, S):
    network = ScalarNetwork(S, first=a, second=b)
    bends = np.diff(network.growth(np.linspace(0, 3, 40)), 2)
    tolerance = 1e-12 * network.growth(3.0)
    if network.is_concave:
        assert np.all(bends <= tolerance)
        assert network.inflection_time().status == Status.NEVER
    elif network.initial_output > S:
        assert np.all(bends >= -tolerance)


@settings(max_examples=40, deadline=None)
@given(WEIGHTS, WEIGHTS, st.floats(0.01, 3))
def test_the_ratio_bounds_the_growth(a, b, S):
    network = ScalarNetwork(S, first=a, second=b)
    spread, start = float(network.initial_spread), float(network.initial_output)
    if spread**2 - start**2 < 1e-6:
        return
    assert network.final_growth >= (1 - 1e-12) / network.weight_to_target_ratio
    c = np.sqrt(spread**2 - start**2)
    log_growth = np.arcsinh(S / c) - np.arcsinh(start / c)
    assert np.log(network.final_growth) == pytest.approx(log_growth, rel=1e-6, abs=1e-9)


def test_target_downscaling_is_lazy():
    times = np.array([0.1, 0.5, 2.0])
    gaps = []
    for S in (1e-1, 1e-2, 1e-3):
        network = ScalarNetwork(S, first=[1.0, 1.0], second=[1.0, -1.0])
        np.testing.assert_allclose(
            network.lazy_output(times) / S, 1 - np.exp(-4 * times), rtol=1e-12
        )
        gaps.append(np.max(np.abs(network.output(times) - network.lazy_output(times))) / S)
        assert np.max(np.abs(network.movement(1e3))) < 0.5 * S * (1 + S)
    np.testing.assert_allclose(np.array(gaps[:-1]) / gaps[1:], 100, rtol=0.02)


def test_ntk_limit_is_lazy():
    rng = np.random.default_rng(0)
    movement = []
    for p in (100, 10_000):
        a, b = rng.standard_normal((2, 64, p))
        network = ScalarNetwork(1.0, first=a, second=b, normalisation=np.sqrt(p))
        gap = np.abs(network.output(0.5) - network.lazy_output(0.5))
        assert np.mean(gap) < 1.5 / np.sqrt(p)
        assert np.mean(2 * network.initial_spread) / np.sqrt(p) == pytest.approx(2, rel=0.05)
        distance = np.abs(1 - network.initial_output)
        movement.append(np.sqrt(np.mean(network.movement(100.0) ** 2, axis=-1)) / distance)
    ratio = np.mean(movement[0]) / np.mean(movement[1])
    assert ratio == pytest.approx(100, rel=0.05)  # a feature a·b/Z moves as 1/p, a·b itself as p^−½


def test_many_networks_at_once():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 4, 3))
    targets = np.array([0.5, -1.0, 2.0, 0.1])
    together = ScalarNetwork(targets, first=a, second=b, normalisation=2.0)
    table = together.features(TIMES[:, None])
    assert table.shape == (4, 4, 3)
    for i in range(4):
        alone = ScalarNetwork(targets[i], first=a[i], second=b[i], normalisation=2.0)
        np.testing.assert_allclose(table[:, i], alone.features(TIMES), rtol=1e-12)
        assert together.final_growth[i] == pytest.approx(alone.final_growth, rel=1e-14)


@pytest.mark.parametrize("start", [([0.5, 0.1], [0.2, -0.3]), ([0.3, 0.1], [0.3, 0.1])])
@pytest.mark.parametrize("method", ["output", "loss"])
def test_gradients_at_a_vanishing_target(start, method):
    def value(S):
        return getattr(ScalarNetwork(S, *start), method)(1.0)

    with jax.enable_x64(True):
        slope = jax.grad(value)(0.0)
    assert slope == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"normalisation": 0.0}, r"`normalisation` must be .* > 0, got 0.0.*negate it and `second`"),
     ({"normalisation": -1.0}, r"`normalisation` must be .* > 0, got -1.0"),
     ({"first": np.zeros(0), "second": np.zeros(0)}, r"`first` must have the shape \(\.\.\., features\)"),
     ({"first": 1.0}, r"`first` must have the shape \(\.\.\., features\)"),
     ({"second": [1.0]}, r"`second` must have the shape \(2,\) of `first`, got \(1,\)"),
     ({"first": [np.nan, 1.0]}, r"`first\[0\]` must be a finite real number, got nan"),
     ({"target": np.inf}, "`target` must be a finite real number, got inf"),
     ({"first": np.ones((3, 2)), "second": np.ones((3, 2)), "target": [1.0, 2.0]}, "`target` must have a"),
     ({"first": [1e-160, 0.0], "second": [0.0, 0.0]}, "`first` must differ from ±`second`"),
     ({"first": [1e200, 0.0]}, "`first` must have squares")],
)  # fmt: skip
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        ScalarNetwork(**{"target": 1.0, "first": [1.0, 2.0], "second": [1.0, 0.5]} | arguments)


def test_bad_arguments_of_methods():
    network = ScalarNetwork(0.0, first=np.ones((3, 2)), second=np.ones((3, 2)))
    with pytest.raises(
        ArgumentError, match=r"`target` must not be 0 here, got 0\.0\. Without a target the"
    ):
        _ = network.weight_to_target_ratio
    with pytest.raises(ArgumentError, match="`target` must not be 0 here"):
        network.aligned(1.0)
    with pytest.raises(
        ArgumentError, match=r"`time` must have a shape that broadcasts against \(3,\)"
    ):
        network.output([1.0, 2.0])
    network = ScalarNetwork(1.0, first=np.ones((3, 2)), second=np.ones((3, 2)))
    for share in (0.0, 1.0, np.nan):
        with pytest.raises(ArgumentError, match="`share` must be"):
            network.saturation_time(share)
