"""Linear networks whose layers are out of balance by λ."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.models import TwoLayerWeights, balanced_weights
from lazyrich.quantities import imbalance, linear_kernel_distance
from lazyrich.theory import BalancedModes, BalancedNetwork, DiagonalNetwork

TIMES = np.array([0.0, 0.2, 1.0, 4.0])
SIZES = st.floats(-3, 3)


def flow(first, second, sigma, times=TIMES):
    """Both layers by Runge–Kutta; `sigma` has the shape (inputs, outputs)."""
    (d, p), c, split = first.shape, second.shape[1], first.size

    def velocity(t, flat):
        W1, W2 = flat[:split].reshape(d, p), flat[split:].reshape(p, c)
        rest = sigma - W1 @ W2
        return np.concatenate([(rest @ W2.T).ravel(), (W1.T @ rest).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    span = (0, times[-1])
    flat = solve_ivp(velocity, span, start, "DOP853", times, rtol=1e-12, atol=1e-13).y.T
    return flat[:, :split].reshape(-1, d, p), flat[:, split:].reshape(-1, p, c)


def gram(first, second):
    Q = np.concatenate([first, np.swapaxes(second, -1, -2)], axis=-2)
    return Q @ np.swapaxes(Q, -1, -2)


def network(lam, seed=0, scale=0.7, shape=(4, 3, 3)):
    """All tests but one share a shape: what JAX compiles for it is compiled once."""
    start = balanced_weights(jax.random.key(seed), *shape, imbalance=lam, scale=scale)
    sigma = np.random.default_rng(seed).standard_normal((shape[0], shape[2]))
    return BalancedNetwork(sigma.T, *start), start, sigma


# modes


@given(SIZES, SIZES, SIZES, st.floats(0, 3))
def test_modes_solve_their_equation(lam, target, start, time):
    """Against the equation itself: the slope, by a difference, is (ρ̃ − ρ)√(λ² + 4ρ²)."""
    modes, h = BalancedModes(target, start=start, imbalance=lam), 1e-5
    rho = modes.modes(time + h)
    slope = (modes.modes(time + 2 * h) - modes.modes(time)) / (2 * h)
    assert slope == pytest.approx((target - rho) * np.hypot(lam, 2 * rho), rel=1e-5, abs=1e-6)


def test_modes_in_many_digits():
    """γ against 40 digits of its definition by an eigenbasis of 2 × 2, early, late and close to λ = 0."""
    for lam, s, rho, t in [
        (1e-9, 1.0, 1e-6, 3.0), (2.0, 1.0, -1.0, 1e-9), (1e-3, 0.5, -0.4, 30.0), (50.0, 1e-3, 2.0, 0.7)
    ]:  # fmt: skip
        with mpmath.workdps(40):
            L, S, R, T = (mpmath.mpf(x) for x in (lam, s, rho, t))
            root = mpmath.sqrt(L**2 + 4 * R**2)
            a, b = mpmath.sqrt((root - L) / 2), mpmath.sqrt((root + L) / 2) * (1 if rho > 0 else -1)
            F = mpmath.matrix([[-L / 2, S], [S, L / 2]])
            values, V = mpmath.eigsy(F)
            q = V.T * mpmath.matrix([a, b])
            X = sum(
                q[i] ** 2 * (mpmath.exp(2 * values[i] * T) - 1) / (2 * values[i]) for i in (0, 1)
            )
        modes = BalancedModes(s, start=rho, imbalance=lam)
        assert abs(modes.transition(t) / (X / (1 + X)) - 1) < 1e-12
        assert abs(modes.remainder(t) / (1 / (1 + X)) - 1) < 1e-12


@given(SIZES, st.floats(0.1, 3), SIZES, st.floats(0, 3), st.floats(0, 3))
def test_modes_are_a_semigroup(lam, target, start, one, two):
    half = BalancedModes(target, start=start, imbalance=lam).modes(one)
    again = BalancedModes(target, start=half, imbalance=lam).modes(two)
    whole = BalancedModes(target, start=start, imbalance=lam).modes(one + two)
    # close to the saddle of λ = 0 rounding of the first half grows
    assert again == pytest.approx(whole, abs=1e-12 * np.exp(min(2 * target * two, 20)))


@given(SIZES, SIZES, SIZES, st.floats(0, 5))
@example(0.0, 2.0, 1.1125369292536007e-308, 0.0)  # twice the start is the smallest normal number
@example(0.0, 1.1125369292536007e-308, 1.0, 0.0)
@example(1.5982664375234394, 0.859375, 0.5, 1.0)  # the last digit differed
def test_modes_have_symmetries(lam, target, start, time):
    gamma = BalancedModes(target, start=start, imbalance=lam).transition(time)
    assert BalancedModes(target, start=start, imbalance=-lam).transition(time) == gamma
    assert BalancedModes(-target, start=-start, imbalance=lam).transition(time) == gamma
    scaled = BalancedModes(2 * target, start=2 * start, imbalance=2 * lam).transition(time / 2)
    assert scaled == pytest.approx(gamma, rel=1e-12)


@given(SIZES, SIZES, SIZES)
def test_transitions_rise_and_parts_sum_to_one(lam, target, start):
    modes, times = BalancedModes(target, start=start, imbalance=lam), np.linspace(0, 20, 50)
    gamma = modes.transition(times)
    assert np.all(np.diff(gamma) >= -1e-15)
    assert gamma[0] == 0
    np.testing.assert_allclose(gamma + modes.remainder(times), 1, rtol=1e-14)


def test_limits_of_eq70():
    times = np.linspace(0, 5, 11)
    near = BalancedModes(1.0, start=0.1, imbalance=1e-8)
    np.testing.assert_allclose(near.transition(times), near.sigmoidal_transition(times), rtol=1e-12)
    grown = np.expm1(2 * times)
    np.testing.assert_allclose(near.sigmoidal_transition(times), grown / (grown + 10.0), rtol=1e-12)
    far = BalancedModes(1.0, start=0.1, imbalance=[1e7, -1e7])
    np.testing.assert_allclose(
        far.transition(times / 1e7), far.exponential_transition(times / 1e7), rtol=1e-9
    )  # fmt: skip


def test_modes_that_do_not_reach_their_target():
    modes = BalancedModes([1.0, 1.0, 0.0], start=[0.0, -0.5, 0.5], imbalance=0.0)
    assert modes.modes(1e6) == pytest.approx([0, 0, 0.5 / (1 + 1e6)], abs=1e-15)
    np.testing.assert_allclose(modes.remainder(1e6), [1, 2 / 3, 1 / (1 + 1e6)], rtol=1e-12)
    assert np.all(
        BalancedModes([1.0, 1.0], start=[-1.0, -1.0], imbalance=[2.0, 1e-3]).transition(1e6) == 1
    )


def test_modes_that_are_stuck_keep_their_sign_and_digits():
    """b² = a² and ρ = −a², which decays towards 0 as exp(−2t) and cannot pass it."""
    found = BalancedModes(1.0, start=-1e-2, imbalance=0.0).modes([20.0, 30.0])
    exact = [float(-1 / (101 * mpmath.exp(2 * t) - 1)) for t in (20, 30)]
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_gradients_at_a_vanishing_target():
    def value(target):
        return BalancedModes(target, start=0.09, imbalance=0.0).modes(0.9)

    with jax.enable_x64(True):
        slope = jax.grad(value)(0.0)
    assert slope == pytest.approx((value(1e-5) - value(-1e-5)) / 2e-5, rel=1e-8)


def test_modes_are_those_of_a_diagonal_network():
    """Its layers have a² − b² = ∓λ and ab = ρ; also the times, and what is left."""
    a, b, S = np.array([0.3, -0.1, 0.2]), np.array([0.5, 0.7, 0.2]), np.array([1.0, 1.0, -2.0])
    modes, network = (
        BalancedModes(S, start=a * b, imbalance=b**2 - a**2, learning_rate=0.5),
        DiagonalNetwork(S, first=a, second=b, variance=0.5),
    )
    for name in ("modes", "residual"):
        same = getattr(network, name)(TIMES)
        np.testing.assert_allclose(getattr(modes, name)(TIMES), same, rtol=1e-12)
    np.testing.assert_allclose(
        modes.saturation_time(0.7).time, network.saturation_time(0.7).time, rtol=1e-12
    )
    assert modes.stages().order.tolist() == network.stages().order.tolist()


# networks


@pytest.mark.parametrize(
    ("shape", "lam"),
    [((4, 3, 3), -2.0), ((4, 3, 3), 0.0), ((4, 3, 3), 5.0), ((2, 5, 3), 0.0), ((2, 3, 4), 1.0)],
)
def test_network_is_the_flow_of_both_layers(shape, lam):
    solution, start, sigma = network(lam, 1, shape=shape)
    W1, W2 = flow(*start, sigma)
    exact = gram(W1, W2)
    np.testing.assert_allclose(solution.gram(TIMES), exact, atol=1e-10 * np.abs(exact).max())
    if shape == (4, 3, 3):
        np.testing.assert_allclose(solution.product(TIMES), W1 @ W2, atol=1e-9)
        loss = np.sum((W1 @ W2 - sigma) ** 2, axis=(1, 2)) / 2
        np.testing.assert_allclose(solution.loss(TIMES), loss, rtol=1e-9, atol=1e-12)
        moved = linear_kernel_distance(*start, W1, W2, np.eye(4))
        np.testing.assert_allclose(solution.kernel_distance(TIMES), moved, atol=1e-11)


def test_a_large_unit_hides_no_small_one_out_of_balance():
    """The second unit, by Runge–Kutta: at 1e4 its product is 6.33e-6, not the 5.66e-6 of balanced layers."""
    with pytest.raises(
        AssumptionError, match=r"at the best λ = -5e-05 .* up to 0\.5 of the squared"
    ):
        BalancedNetwork(np.diag([1e4, 1e-5]), np.diag([100, 1e-2]), np.diag([100.0, 0]))


def test_rounding_of_a_large_unit_is_not_held_against_a_small_one():
    rng = np.random.default_rng(0)
    U, R, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (3, 4, 3))
    size = np.array([[1e3, 1.0, 1e-4]])
    found = BalancedNetwork(np.eye(3), U * size @ R[:3], R[:3].T * size @ V.T)
    assert abs(found.imbalance) < 1e-9
    both = np.array([[1e3, 0.0], [0.0, 1e-6]])
    shifted = both + np.array([[3e-13, 0.0], [0.0, 0.0]])
    assert BalancedNetwork(np.eye(2), both, shifted).imbalance == 0


def test_parameters_that_must_be_single_numbers():
    _, start, sigma = network(0.0)
    for name, value in (("learning_rate", [0.1, 0.2]), ("output_power", [90.0, 91.0])):
        with pytest.raises(ArgumentError, match=f"`{name}` must be a single number"):
            BalancedNetwork(sigma.T, *start, **{name: value})


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_network_in_many_digits(lam):
    """Late, with close singular values and almost nothing of the fastest, against 400 digits."""
    times, tiny, s = np.array([0.1, 5.0, 20.0, 50.0]), 1e-8, np.array([2 + 1e-6, 2.0, 0.5])
    U = np.linalg.qr([[tiny, 0, 1], [1, 0, -tiny], [0, 1, 0], [tiny, 1, 2]])[0]
    R = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2)[0]
    root = np.hypot(lam, 2 * np.array([1.0, 0.3, tiny]))
    first, second = (U * np.sqrt((root - lam) / 2)) @ R.T, R * np.sqrt((root + lam) / 2)
    sigma = np.eye(4, 3) * s
    found = BalancedNetwork(sigma.T, first, second).gram(times)
    for t, value in zip(times, found, strict=True):
        exact = riccati(first, second, sigma, t)
        np.testing.assert_allclose(value, exact, atol=1e-12 * np.abs(exact).max())


def riccati(first, second, sigma, t):
    """The solution with growing exponentials, in digits enough to cancel them."""
    d, n, p = len(sigma), sum(sigma.shape), first.shape[1]
    with mpmath.workdps(400):
        A, B = mpmath.matrix(first.tolist()), mpmath.matrix(second.tolist())
        delta = B * B.T - A.T * A
        lam = sum(delta[i, i] for i in range(p)) / p
        F = mpmath.diag([-lam / 2 if i < d else lam / 2 for i in range(n)])
        F[:d, d:], F[d:, :d] = mpmath.matrix(sigma.tolist()), mpmath.matrix(sigma.T.tolist())
        mu, V = mpmath.eigsy(F)
        q = V.T * mpmath.matrix(np.concatenate([first, second.T]).tolist())
        spans = [mpmath.expm1(2 * m * t) / (2 * m) if m else t for m in mu]
        grown = mpmath.diag([mpmath.exp(m * t) for m in mu]) * q
        core = mpmath.inverse(mpmath.eye(p) + q.T * mpmath.diag(spans) * q)
        return np.array((V * grown * core * grown.T * V.T).tolist(), dtype=float)


@settings(max_examples=10)
@given(st.integers(0, 99), SIZES, st.floats(0, 3))
def test_weights_stay_balanced_and_make_the_product(seed, lam, time):
    solution, start, _ = network(lam, seed)
    weights = solution.weights(time)
    found = imbalance(*weights)
    assert found.coefficient == pytest.approx(lam, abs=1e-10)
    assert found.residual < 1e-9 * (1 + np.sum(weights.first**2))
    np.testing.assert_allclose(weights.first @ weights.second, solution.product(time), atol=1e-10)
    for now, then in zip(solution.weights(0.0), start, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-12)


@settings(max_examples=10)
@given(st.integers(0, 99), SIZES, st.floats(0, 2), st.floats(0, 2))
def test_network_is_a_semigroup(seed, lam, one, two):
    solution, _, sigma = network(lam, seed)
    half = BalancedNetwork(sigma.T, *solution.weights(one))
    np.testing.assert_allclose(half.product(two), solution.product(one + two), atol=1e-7)


@settings(max_examples=10)
@given(st.integers(0, 99), SIZES, st.floats(0, 4))
def test_rotations_rotate_the_product(seed, lam, time):
    solution, (first, second), sigma = network(lam, seed)
    rng = np.random.default_rng(seed + 1000)
    A, B, R = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (4, 3, 3))
    turned = BalancedNetwork((A @ sigma @ B).T, A @ first @ R, R.T @ second @ B)
    np.testing.assert_allclose(turned.product(time), A @ solution.product(time) @ B, atol=1e-8)


@settings(max_examples=10)
@given(st.integers(0, 99), SIZES)
def test_loss_falls_and_long_times_are_stable(seed, lam):
    solution, _, sigma = network(lam, seed)
    loss = solution.loss(np.array([0.0, 0.5, 2.0, 10.0]))
    assert np.all(np.diff(loss) <= 1e-12 * loss[0])
    late = solution.loss(np.array([1e8, 1e9, 1e10]))  # exp(1e10) is no number
    assert np.all(np.isfinite(late))
    assert np.all(np.diff(late) <= 1e-12)
    # λ = 0 can rest at a saddle for ever; away from it everything is learned
    if abs(lam) > 0.1:
        np.testing.assert_allclose(solution.product(1e10), sigma, atol=1e-8)


def test_rate_and_time_are_one():
    solution, start, sigma = network(1.0)
    slow = BalancedNetwork(sigma.T, *start, learning_rate=0.01)
    np.testing.assert_allclose(slow.product(100.0), solution.product(1.0), rtol=1e-12)
    power = np.sum(sigma**2) + 3.0
    more = BalancedNetwork(sigma.T, *start, output_power=power).loss(1.0)
    assert more - solution.loss(1.0) == pytest.approx(1.5)


def test_a_start_at_a_saddle_stays_there():
    """A direction that the start lacks is never learned; rounding must not grow into it."""
    first, second = np.diag([0.1, 0.0, 0.0]), np.diag([0.1, 0.0, 0.0])
    solution = BalancedNetwork(
        np.eye(3, 4) * [2.0, 1.0, 3.0, 0.0], np.pad(first, ((0, 1), (0, 0))), second
    )
    np.testing.assert_allclose(solution.product(1e3), np.eye(4, 3) * [2.0, 0, 0], atol=1e-12)


def test_aligned_networks_are_their_modes():
    lam, rho, s = 0.8, np.array([0.3, 0.1, 0.2]), np.array([2.0, 1.0, 0.5])
    root = np.hypot(lam, 2 * rho)
    first = np.eye(4, 3) * np.sqrt((root - lam) / 2)
    second = np.diag(np.sqrt((root + lam) / 2))
    product = BalancedNetwork(np.eye(3, 4) * s[:, None], first, second).product(TIMES)
    modes = BalancedModes(s, start=rho, imbalance=lam).modes(TIMES)
    np.testing.assert_allclose(np.diagonal(product, axis1=1, axis2=2), modes, rtol=1e-12)


GOOD = TwoLayerWeights(np.eye(2), 2 * np.eye(2))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: BalancedNetwork(np.eye(2), np.ones((2, 2)), 2 * np.eye(2)), AssumptionError,
         r"must be λ-balanced.*best λ = 2 a residual of 2.83 is left, up to 0.5 of the squared"),
        (lambda: BalancedNetwork(np.eye(2), *GOOD, covariance=np.diag([1.0, 1.5])), AssumptionError,
         r"must be whitened.*differs by 0.5"),
        (lambda: BalancedNetwork(np.eye(2), *GOOD, covariance=np.eye(3)), ArgumentError, "`covariance`"),
        (lambda: BalancedNetwork(np.eye(3), *GOOD), ArgumentError, r"`first` must have the shape \(3"),
        (lambda: BalancedNetwork(np.eye(2), np.eye(2), np.eye(3)), ArgumentError, "`second` must have"),
        (lambda: BalancedNetwork(np.ones(2), *GOOD), ArgumentError, "`correlation` must have the shape"),
        (lambda: BalancedNetwork(np.eye(2), *GOOD, output_power=1.0), ArgumentError, "`output_power`"),
        (lambda: BalancedNetwork(np.full((2, 2), np.nan), *GOOD), ArgumentError, "`correlation"),
        (lambda: BalancedModes(1.0, start=1.0, imbalance=-np.inf), ArgumentError,
         r"`imbalance` must be a finite .*-inf. The limit λ → ±∞ is `exponential_transition`"),
        (lambda: BalancedModes(np.ones(2), start=np.ones(3), imbalance=1), ArgumentError, "must have shapes"),
        (lambda: jax.jit(lambda s: BalancedNetwork(s, *GOOD).loss(1.0))(jnp.eye(2)), ArgumentError,
         "must be known now"),
    ],
)  # fmt: skip
def test_bad_input(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_losses_do_not_fall_below_zero():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        first, root = 0.1 * rng.standard_normal((3, 4)), rng.standard_normal((3, 3))
        network = BalancedNetwork(root @ root.T + np.eye(3), first, first.T)
        assert 0 <= network.loss(1e4) < 1e-26
