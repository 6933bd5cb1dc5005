"""Modes of linear networks."""

import functools
import itertools

import jax
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.theory import LinearNetworkModes

TIME = st.floats(0, 5)


@functools.cache
def random_aligned(d, p, c, seed=0, scale=0.3, depth=2):
    """Correlation and balanced, aligned layers."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((d, c))
    U, _, Vt = np.linalg.svd(C, full_matrices=False)
    modes = min(d, c)
    A = np.diag(scale * rng.uniform(0.5, 2, modes))
    turns = [np.linalg.qr(rng.standard_normal((p, modes)))[0] for _ in range(depth - 1)]
    middle = [a @ A @ b.T for a, b in itertools.pairwise(turns)]
    return C, [U @ A @ turns[0].T, *middle, turns[-1] @ A @ Vt]


def flow_of_layers(C, layers, times):
    shapes = [W.shape for W in layers]
    cuts = np.cumsum([W.size for W in layers])[:-1]

    def split(flat):
        return [
            part.reshape(shape) for part, shape in zip(np.split(flat, cuts), shapes, strict=True)
        ]

    def velocity(t, flat):
        Ws = split(flat)
        rest = C - np.linalg.multi_dot(Ws)
        found = []
        for k in range(len(Ws)):
            before = np.linalg.multi_dot([np.eye(len(C)), np.eye(len(C)), *Ws[:k]])
            after = np.linalg.multi_dot([*Ws[k + 1 :], np.eye(C.shape[1]), np.eye(C.shape[1])])
            found.append((before.T @ rest @ after.T).ravel())
        return np.concatenate(found)

    start = np.concatenate([W.ravel() for W in layers])
    path = solve_ivp(velocity, (0, times[-1]), start, "DOP853", times, rtol=1e-11, atol=1e-13).y.T
    return np.array([np.linalg.multi_dot(split(flat)) for flat in path])


@pytest.mark.parametrize(
    ("shape", "depth"), [((4, 3, 2), 2), ((2, 5, 3), 2), ((3, 3, 3), 3), ((3, 4, 2), 4)]
)
def test_product_against_integrated_layers(shape, depth):
    C, layers = random_aligned(*shape, depth=depth, scale=0.6)
    times = np.array([0.0, 0.5, 2.0, 5.0])
    network = LinearNetworkModes.from_weights(C.T, layers)
    products = flow_of_layers(C, layers, times)
    np.testing.assert_allclose(network.product(times), products, rtol=1e-8, atol=1e-9)
    losses = ((C - products) ** 2).sum((1, 2)) / 2
    np.testing.assert_allclose(network.loss(times), losses, rtol=1e-7, atol=1e-14)
    singular = np.linalg.svd(layers[0], compute_uv=False)
    np.testing.assert_allclose(
        np.sort(network.layer_strengths(0.0)), np.sort(singular[: min(C.shape)]), rtol=1e-10
    )


@pytest.mark.parametrize("depth", [3, 5])
@pytest.mark.parametrize(
    ("start", "target", "end"),
    [(1e-9, 2.0, 1e-3), (1e-3, 2.0, 1.9), (0.5, 0.7, 0.7 - 1e-9), (5.0, 0.7, 0.8), (400.0, 1.0, 50.0),
     (1.0, 0.999, 0.9991)],
)  # fmt: skip
def test_deep_modes_against_quadrature(depth, start, target, end):
    def slowness(u):  # dt/d(log s)
        return mpmath.exp(u * (mpmath.mpf(2) / depth - 1)) / (depth * (target - mpmath.exp(u)))

    with mpmath.workdps(30):
        parts = mpmath.linspace(mpmath.log(start), mpmath.log(end), 9)
        time = float(str(mpmath.quad(slowness, parts)))
    network = LinearNetworkModes([[3.0, 0], [0, target]], [3.0, start], depth)
    assert network.modes(time)[1] == pytest.approx(end, rel=1e-10)
    loss = (target - end) ** 2 / 2  # the first mode starts at its target
    assert network.loss(time) == pytest.approx(loss, rel=1e-6)
    if start < end < target:
        assert network.saturation_time(end / target).time[1] == pytest.approx(time, rel=1e-8)


@pytest.mark.parametrize("depth", [2, 3, 6])
def test_limits_of_the_linear_network(depth):
    C = np.diag([2.0, 1.0, 0.0])
    network = LinearNetworkModes(C.T, [0.3, 0.0, 0.5], depth)
    late = network.modes(1e12)
    assert late[0] == 2.0
    assert late[1] == 0.0
    assert 0 < late[2] < 1e-4
    at_rest = LinearNetworkModes(C.T, [2.0, 1.0, 0.0], depth)
    np.testing.assert_allclose(at_rest.modes([0.0, 7.0]), [[2, 1, 0], [2, 1, 0]], rtol=1e-15)
    assert network.rank([0.0, 1e12]).tolist() == [2, 1]
    p = (2 * depth - 2) / depth  # without a target: s^(−p) grows linearly
    np.testing.assert_allclose(network.modes(5.0)[2] ** -p, 0.5**-p + depth * p * 5, rtol=1e-12)
    with pytest.raises(AssumptionError, match="targets other than 0; 1 of 3 are 0"):
        network.saturation_time()


def test_depth_two_is_the_sigmoid_and_deeper_ones_are_later():
    network = LinearNetworkModes(np.diag([3.0, 1.0]), 1e-4)
    times = np.array([0.0, 1.0, 4.0])
    printed = [[r / (1 + (r / 1e-4 - 1) * np.exp(-2 * r * t)) for r in (3.0, 1.0)] for t in times]
    np.testing.assert_allclose(network.modes(times), printed, rtol=1e-11)
    deeper = [
        LinearNetworkModes(np.diag([3.0, 1.0]), 1e-4, depth).saturation_time(0.5).time
        for depth in (2, 3, 5)
    ]
    assert np.all(np.diff(deeper, axis=0) > 0)
    assert network.stages().is_stage_like


@pytest.mark.parametrize("depth", [2, 4])
@settings(max_examples=15, deadline=None)
@given(start=st.floats(1e-8, 3), rho=st.floats(0.05, 3), first=TIME, second=TIME)
def test_linear_network_flows_compose(depth, start, rho, first, second):
    middle = LinearNetworkModes([[rho]], start, depth).modes(first)
    later = LinearNetworkModes([[rho]], float(middle[0]), depth).modes(second)
    assert later == pytest.approx(
        LinearNetworkModes([[rho]], start, depth).modes(first + second), rel=1e-9
    )


def test_deep_modes_can_be_differentiated():
    def mode(start, time):
        return LinearNetworkModes([[2.0]], start, depth=3).modes(time)[0]

    with jax.enable_x64(True):
        value, slopes = jax.jit(jax.value_and_grad(mode, (0, 1)))(0.1, 0.8)
    s, of_start, of_time = float(value), float(slopes[0]), float(slopes[1])
    assert s == pytest.approx(mode(0.1, 0.8), rel=1e-12)
    assert of_time == pytest.approx(3 * s ** (4 / 3) * (2 - s), rel=1e-9)
    h = 1e-6
    assert of_start == pytest.approx((mode(0.1 + h, 0.8) - mode(0.1 - h, 0.8)) / (2 * h), rel=1e-6)


def test_labels_that_no_linear_map_explains():
    network = LinearNetworkModes(np.diag([2.0, 1.0]), 0.1, output_power=7.0)
    assert network.loss(1e3) == pytest.approx(1.0)  # (7 − 5)/2
    with pytest.raises(
        ArgumentError,
        match=r"`output_power` must be a finite real number ≥ 5, got 4\.0\. Pass the mean",
    ):
        LinearNetworkModes(np.diag([2.0, 1.0]), 0.1, output_power=4.0)


def test_from_weights_names_what_is_violated():
    C, (W1, W2) = random_aligned(4, 3, 2)
    covariance = np.eye(4) + 0.25 * np.eye(4)[::-1]
    with pytest.raises(
        AssumptionError,
        match=r"Inputs must be whitened, E\[xxᵀ\] = 1, but an entry of `covariance` differs by 0.25",
    ):
        LinearNetworkModes.from_weights(C.T, [W1, W2], covariance=covariance)
    with pytest.raises(
        AssumptionError, match=r"Layers must be balanced, W2W2ᵀ − W1ᵀW1 = 0, but a residual of"
    ):
        LinearNetworkModes.from_weights(C.T, [W1, 2 * W2])
    turn = np.linalg.qr(np.random.default_rng(5).standard_normal((4, 4)))[0]
    with pytest.raises(AssumptionError, match=r"a share .* of the .* lies off their diagonal"):
        LinearNetworkModes.from_weights(C.T, [turn @ W1, W2])
    with pytest.raises(AssumptionError, match="opposite to it, at -1"):
        LinearNetworkModes.from_weights(C.T, [-W1, W2])
    measured = LinearNetworkModes.from_weights(C.T, [W1, W2], covariance=np.eye(4))
    np.testing.assert_allclose(measured.product(0.0), W1 @ W2, rtol=1e-12)


def test_from_weights_where_singular_values_repeat():
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    A = (
        Q @ np.diag([0.5, 0.3, 0.1]) @ Q.T
    )  # aligned with 1, but not with the vectors that an SVD of 1 gives
    network = LinearNetworkModes.from_weights(2 * np.eye(3), [A, A])
    np.testing.assert_allclose(np.sort(network.modes(0.0)), [0.01, 0.09, 0.25], rtol=1e-10)
    exact = flow_of_layers(2 * np.eye(3), [A, A], np.array([0.0, 1.0]))
    np.testing.assert_allclose(network.product([0.0, 1.0]), exact, rtol=1e-9, atol=1e-10)


def test_from_weights_of_zero():
    network = LinearNetworkModes.from_weights(
        np.diag([2.0, 1.0]), [np.zeros((2, 3)), np.zeros((3, 2))]
    )
    np.testing.assert_array_equal(network.modes(100.0), [0, 0])
    assert network.saturation_time().status.tolist() == [Status.NEVER] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(([1.0, 2.0], 0.1), r"`correlation` must have the shape \(outputs, inputs\), got \(2,\)"),
     ((np.zeros((2, 2)), 0.1), "`correlation` must not vanish"),
     ((np.eye(2), -0.1), "`start` must be a finite real number ≥ 0"),
     ((np.eye(2), [0.1, 0.1, 0.1]), "`start` must be a number or 2 numbers"),
     ((np.eye(2), 0.1, 1), "`depth` must be .* ≥ 1|`depth` must be .* ≥ 2"),
     ((np.eye(2), 0.1, 2.5), "`depth` must be a whole number"),
     ((np.eye(2) * np.nan, 0.1), "`correlation")],
)  # fmt: skip
def test_bad_linear_networks(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        LinearNetworkModes(*arguments)


def test_bad_weights_and_bases():
    with pytest.raises(ArgumentError, match="`weights` must hold at least two layers, got 1"):
        LinearNetworkModes.from_weights(np.eye(2), [np.eye(2)])
    with pytest.raises(
        ArgumentError, match=r"product has the shape \(2, 2\) of `correlation` transposed"
    ):
        LinearNetworkModes.from_weights(np.eye(2), [np.ones((2, 3)), np.ones((2, 2))])
    with pytest.raises(ArgumentError, match="`covariance` must have the shape"):
        LinearNetworkModes.from_weights(np.eye(2), [np.eye(2)] * 2, covariance=np.eye(3))
    with pytest.raises(ArgumentError, match="`basis` must be singular vectors"):
        LinearNetworkModes(np.diag([2.0, 1.0]), 0.1, basis=(np.eye(2), np.eye(2)[::-1]))
    with pytest.raises(ArgumentError, match="`correlation` must be known now"):
        jax.jit(lambda C: LinearNetworkModes(C, 0.1).modes(1.0))(np.eye(2))


def test_deep_modes_far_above_their_target_keep_their_digits():
    # at 60 digits, by Newton's method on the integral of 1/(s^(2−2/L)(ρ − s))
    network = LinearNetworkModes(np.diag([1e-5, 1e-6]), 0.5, depth=3)
    assert network.modes(0.01)[0] == pytest.approx(0.49412885939494043, rel=1e-13)


TURN = np.linalg.qr([[2.0, 1.0], [-1.0, 3.0]])[0]


@pytest.mark.parametrize("turn", [np.eye(2), TURN])
@pytest.mark.parametrize(
    ("correlation", "first", "second"),
    [([1.0, 1.0], [10.0, 0.01], [10.0, 0.0]), ([3.0, 1.0], [1.5, 1e-3], [1.5, 0.0])],
)
def test_a_large_mode_hides_no_small_one_out_of_balance(correlation, first, second, turn):
    """A mode that starts at W₂ = 0 and W₁ ≠ 0 is learned by the flow, but never by balanced layers."""
    layers = [np.diag(first) @ turn, turn.T @ np.diag(second)]
    learned = flow_of_layers(np.diag(correlation), layers, np.array([0.0, 30.0]))[-1, 1, 1]
    assert learned == pytest.approx(correlation[1], rel=1e-3)
    with pytest.raises(AssumptionError, match=r"up to 1 of the squared length of the units"):
        LinearNetworkModes.from_weights(np.diag(correlation), layers)


def test_rank_counts_from_the_largest_singular_value_in_any_basis():
    swapped = np.eye(2)[:, ::-1]
    network = LinearNetworkModes(np.diag([2.0, 0.01]), 1e-6, basis=(swapped, swapped))
    assert network.singular_values.tolist() == [0.01, 2.0]
    assert network.rank(1e4).tolist() == 1
    assert LinearNetworkModes(np.diag([2.0, 0.01]), 1e-6).rank(1e4).tolist() == 1
