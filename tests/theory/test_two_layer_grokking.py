"""Two-layer students: fixed and moving kernels, any activation."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich import simulate
from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.models import activation
from lazyrich.theory import LinearGrokking, TwoLayerGrokking
from lazyrich.theory._activation_moments import activation_moments

RATIOS = st.floats(0.02, 30)
TIMES = st.floats(0, 1e5)


def moments(sigma, q):
    with jax.enable_x64(True):
        return [float(x) for x in activation_moments(activation(sigma), jnp.asarray(q))]


@pytest.mark.parametrize("q", [1e-6, 0.0025, 0.5, 3.0])
def test_moments_of_tanh_by_quadrature(q):
    with mp.workdps(30):
        q = mp.mpf(q)

        def mean(f):
            density = lambda x: mp.exp(-(x**2) / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
            return mp.quad(lambda x: density(x) * f(mp.sqrt(q) * x), mp.linspace(-14, 14, 29))

        slope = lambda z: 1 / mp.cosh(z) ** 2  # noqa: E731
        a = mean(slope)
        exact = [
            0,
            a,
            mean(lambda z: (slope(z) - a) ** 2),
            0,
            mean(lambda z: (mp.tanh(z) - a * z) ** 2),
        ]
    found = moments("tanh", float(q))
    assert found[0] == pytest.approx(0, abs=1e-15 * float(mp.sqrt(q)))  # odd: only rounding is left
    for value, right in zip(found[1:], exact[1:], strict=True):
        assert value == pytest.approx(float(right), rel=1e-10, abs=1e-28)


@pytest.mark.parametrize("q", [1e-4, 0.01, 2.0])
def test_moments_of_relu_in_closed_form(q):
    exact = [np.sqrt(q / (2 * np.pi)), 0.5, 0.25, 1 / (2 * np.pi), q * (0.25 - 1 / (2 * np.pi))]
    assert moments("relu", q) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("q", [1e-4, 2.0])
def test_moments_of_a_square_in_closed_form(q):
    mean, slope, spread, curvature, rest = moments("quadratic", q)
    assert slope == pytest.approx(0, abs=1e-15)
    assert [mean, spread, curvature, rest] == pytest.approx([q, 4 * q, 4 * q, 2 * q**2], rel=1e-12)


@given(RATIOS, TIMES, st.integers(1, 10), st.integers(1, 1000))
def test_linear_units_are_one_layer_at_another_rate_and_size(ratio, time, outputs, width):
    two = TwoLayerGrokking(ratio, width, 0.01, output_dimension=outputs)
    one = LinearGrokking(ratio, 0.01 / (2 * outputs), output_dimension=outputs)
    for name in ("train_loss", "test_loss"):
        right = getattr(one, name)(time) / (2 * width)
        assert getattr(two, name)(time) == pytest.approx(right, rel=1e-11)


@pytest.mark.parametrize("name", ["linear", "tanh", "relu", "sine", "sigmoid"])
def test_starts_with_all_of_sigma(name):
    width, outputs = 40, 3
    with jax.enable_x64(True):
        x, w = np.polynomial.hermite_e.hermegauss(150)
        second = float(
            w @ np.asarray(activation(name)(jnp.asarray(x / np.sqrt(2 * width)))) ** 2 / w.sum()
        )
    m = TwoLayerGrokking(0.7, width, output_dimension=outputs, activation=name)
    assert m.train_loss(0.0) == pytest.approx(second / outputs, rel=1e-9)
    assert m.test_loss(0.0) == pytest.approx(second / outputs, rel=1e-9)


def coupled_by_steps(ratio, width, outputs, times):
    """Modes and kernel of Eq. 17 by Runge–Kutta, student and teacher averaged over by hand."""
    angle = (np.arange(600) + 0.5) * np.pi / 1200
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    nu = low + (high - low) * np.sin(angle) ** 2
    weight = np.sqrt((high - nu) * (nu - low)) / (2 * np.pi * ratio * nu)
    weight *= (high - low) * np.sin(2 * angle) * np.pi / 1200
    size = 1 / (4 * width)  # of student and of teacher; D = S − T

    def velocity(t, y):
        h, e = y[0], y[1:]
        slope_e = -2 * h / outputs**2 * nu * e
        correlation = size * (2 * e**2 - e)  # E[D(D + T)] with D = e·(S₀ − T)
        return np.concatenate([[-4 / outputs * np.sum(weight * nu * correlation)], slope_e])

    start = np.concatenate([[0.5], np.ones(nu.size)])
    flow = solve_ivp(
        velocity, (0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-11, atol=1e-13
    )
    h, e = flow.y[0], flow.y[1:].T
    losses = [2 * size / outputs * (e**2 @ w) for w in (weight * nu, weight)]
    return h, *losses


@pytest.mark.parametrize(("ratio", "width", "outputs"), [(0.3, 20, 3), (0.9, 8, 5), (0.6, 200, 1)])
def test_the_moving_kernel_by_integration(ratio, width, outputs):
    times = np.array([0, 0.3, 2, 10, 60, 300]) * outputs**2
    h, train, test = coupled_by_steps(ratio, width, outputs, times)
    m = TwoLayerGrokking(ratio, width, output_dimension=outputs)
    np.testing.assert_allclose(m.kernel(times), h, rtol=1e-8)
    train_loss, test_loss = m.coupled_losses(times)
    np.testing.assert_allclose(train_loss, train, rtol=1e-7, atol=1e-20)
    np.testing.assert_allclose(test_loss, test, rtol=1e-7, atol=1e-20)


@given(RATIOS, TIMES, st.integers(1, 9))
def test_the_kernel_dips_and_never_rises_above_its_start(ratio, time, outputs):
    h = TwoLayerGrokking(ratio, 10, output_dimension=outputs).kernel(time)
    assert 0.5 * np.sqrt(1 - outputs / 10) - 1e-12 <= h <= 0.5 + 1e-12


def test_a_wide_network_has_a_fixed_kernel():
    times = np.geomspace(1, 1e5, 7)
    m = TwoLayerGrokking(0.8, 10**8, output_dimension=3)
    np.testing.assert_allclose(m.coupled_losses(times)[1], m.test_loss(times), rtol=1e-6)


@given(RATIOS, st.floats(1, 1e6), st.sampled_from(["linear", "tanh", "relu", "sine"]))
def test_training_loss_falls(ratio, time, name):
    m = TwoLayerGrokking(ratio, 30, output_dimension=2, activation=name)
    now, later = m.train_loss(time), m.train_loss(1.3 * time)
    assert later <= now * (1 + 1e-12)


@given(RATIOS, TIMES)
def test_rate_and_time_are_one(ratio, time):
    slow = TwoLayerGrokking(ratio, 30, 0.01, activation="tanh").test_loss(time)
    assert slow == pytest.approx(
        TwoLayerGrokking(ratio, 30, activation="tanh").test_loss(0.01 * time)
    )


@pytest.mark.parametrize("name", ["linear", "relu"])
def test_crossings_lie_on_the_curves(name):
    ratio = np.array([0.2, 0.9])
    m = TwoLayerGrokking(ratio, 100, 0.01, 2e-4, output_dimension=2, activation=name)
    train, test, delay = m.train_time(0.4), m.test_time(0.4), m.grokking_delay(0.4)
    assert Status.REACHED in test.status
    for crossing, accuracy in ((train, m.train_accuracy), (test, m.test_accuracy)):
        reached = crossing.status == Status.REACHED
        times = np.where(reached, crossing.time, 0)
        np.testing.assert_allclose(accuracy(times)[reached], 0.4, atol=1e-9)
    np.testing.assert_allclose(delay.time, test.time - train.time)


def test_a_kinked_activation_memorises_and_never_generalises():
    ratio = np.array([0.3, 0.5])
    m = TwoLayerGrokking(ratio, 100, 1.0, 1e-6, output_dimension=2, activation="relu")
    assert np.all(m.train_time(0.95).status == Status.REACHED)
    assert np.all(m.test_time(0.95).status == Status.NEVER)
    assert np.all(np.isinf(m.grokking_delay(0.95).time))


@pytest.mark.parametrize("name", ["tanh", "relu"])
def test_losses_of_simulated_networks(name):
    """Within four standard errors, if rates may lie anywhere in the spectrum of a kernel of this width.

    N·d_out residuals meet d_in·d_h weights: rates spread as Marchenko–Pastur eigenvalues of that ratio do.
    """
    d_in, width, outputs = 100, 100, 3
    student = simulate.TwoLayerStudent(d_in, 200, width, outputs, name, num_test=2000)
    run = simulate.gradient_flow(student, [0, 20, 60, 200.0], seeds=range(12), tolerance=1e-5)
    m = TwoLayerGrokking(0.5, width, output_dimension=outputs, activation=name)
    times, spread = run.time.values, (200 * outputs / (d_in * width)) ** 0.5
    for kind in ("train", "test"):
        loss = getattr(m, f"{kind}_loss")
        mean, error = (
            run[f"{kind}_loss"].mean("seed").values,
            run[f"{kind}_loss"].std("seed").values / 12**0.5,
        )
        assert np.all(mean < loss(times * (1 - spread) ** 2) * (1 + 2 * outputs / d_in) + 4 * error)
        assert np.all(mean > loss(times * (1 + spread) ** 2) * (1 - 2 * outputs / d_in) - 4 * error)


@pytest.mark.parametrize("name", ["linear", "tanh"])
def test_gradients_agree_with_differences(name):
    def delay(ratio):
        m = TwoLayerGrokking(ratio, 100, 0.01, 1e-4, output_dimension=2, activation=name)
        return m.grokking_delay(0.7).time

    with jax.enable_x64(True):
        slope = float(jax.jit(jax.grad(delay))(0.6))
    h = 1e-5
    above, below = delay(np.array([0.6 + h, 0.6 - h]))
    assert slope == pytest.approx((above - below) / (2 * h), rel=1e-6)


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [("aspect_ratio", 0), ("aspect_ratio", np.nan), ("width", 0), ("width", 2.5), ("width", "a"),
     ("learning_rate", -1), ("threshold", 0), ("output_dimension", 0), ("activation", "no"),
     ("activation", None)],
)  # fmt: skip
def test_bad_input(argument, wrong):
    with pytest.raises(ArgumentError, match=f"`{argument}` must"):
        TwoLayerGrokking(**{"aspect_ratio": 0.9, "width": 10} | {argument: wrong})


def test_shapes_must_broadcast():
    with pytest.raises(ArgumentError, match="shapes that broadcast"):
        TwoLayerGrokking(np.full(2, 0.9), np.full(3, 10))


def test_coupled_equations_say_what_they_assume():
    with pytest.raises(AssumptionError, match="`activation` = 'linear', got 'tanh'"):
        TwoLayerGrokking(0.9, 10, activation="tanh").kernel(1.0)
    with pytest.raises(AssumptionError, match="`width` > `output_dimension`, got 3"):
        TwoLayerGrokking(0.9, 3, output_dimension=3).coupled_losses(1.0)
