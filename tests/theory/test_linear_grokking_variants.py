"""Decay, noise, scale and several outputs: against adaptive quadrature at 30 digits, and limits."""

import jax
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import simulate, tasks
from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.theory import LinearGrokking


def exact_losses(lam, gamma, alpha, sigma, d, eta, t):
    """Both losses by quadrature of the modes' second moments over the density, atom apart."""
    with mp.workdps(30):
        lam, g, s = mp.mpf(lam), mp.mpf(gamma) / 2, 4 * mp.mpf(eta) * t / d
        low, high = (1 - mp.sqrt(lam)) ** 2, (1 + mp.sqrt(lam)) ** 2

        def bulk(f):
            def integrand(nu):
                radicand = max((high - nu) * (nu - low), mp.mpf(0))
                return mp.sqrt(radicand) / (2 * mp.pi * lam * nu) * f(nu)

            scales = [k / (1 + s) for k in (0.1, 1, 8, 64)] + [low, 8 * low, g, 8 * g]
            points = sorted({low + scale for scale in scales if 0 < scale < high - low})
            return mp.quad(integrand, [low, *points, high])

        def e(nu):
            return mp.exp(-s * (nu + g) / 2)

        def r(nu):
            return (nu * e(nu) + g) / (nu + g)

        atom = max(1 - 1 / lam, mp.mpf(0))
        rank = min(mp.mpf(1), 1 / lam)
        train = bulk(lambda v: v * (alpha**2 * e(v) ** 2 + r(v) ** 2)) / (2 * d)
        train += sigma**2 * (1 - lam * (rank - bulk(lambda v: r(v) ** 2)))
        test = bulk(lambda v: alpha**2 * e(v) ** 2 + r(v) ** 2) / (2 * d)
        test += atom * (alpha**2 * mp.exp(-s * g) + 1) / (2 * d)
        test += lam * sigma**2 * bulk(lambda v: v * (1 - e(v)) ** 2 / (v + g) ** 2)
        return float(train), float(test)


CASES = [
    (lam, gamma, alpha, sigma, d, t)
    for lam in (1e-3, 0.5, 0.98, 1.0, 1.02, 4.0)
    for gamma, alpha, sigma, d in ((0.0, 2.0, 0.3, 1), (1e-5, 1.0, 0.0, 1), (0.3, 0.0, 0.1, 7))
    for t in (0.0, 3.0, 4e3)
]


@pytest.mark.parametrize(("lam", "gamma", "alpha", "sigma", "d", "t"), CASES)
def test_losses_against_quadrature(lam, gamma, alpha, sigma, d, t):
    m = LinearGrokking(
        lam, 0.05, output_dimension=d, weight_decay=gamma, student_scale=alpha, label_noise=sigma
    )
    train, test = exact_losses(lam, gamma, alpha, sigma, d, 0.05, t)
    assert m.train_loss(t) == pytest.approx(train, rel=1e-12)
    assert m.test_loss(t) == pytest.approx(test, rel=1e-12)


ratios = st.one_of(st.floats(0.01, 0.99), st.floats(1.01, 20))


@given(ratios, st.floats(-6, 0).map(lambda x: 10**x), st.floats(0, 0.5), st.integers(1, 20))
def test_limits_are_those_of_late_times(ratio, decay, noise, d):
    m = LinearGrokking(ratio, 1.0, weight_decay=decay, label_noise=noise, output_dimension=d)
    late = 1e4 * d / decay
    for curve, limit in zip((m.train_loss, m.test_loss), m.limits(), strict=True):
        assert curve(late) == pytest.approx(limit, rel=1e-11)


@given(st.floats(0.02, 0.98))
def test_noise_without_decay_ends_where_least_squares_does(ratio):
    """Training loss σ²(1 − λ), test loss σ²λ/(1 − λ): ordinary least squares on noisy labels."""
    m = LinearGrokking(ratio, 1.0, label_noise=0.3)
    train, test = m.limits()
    assert train == pytest.approx(0.09 * (1 - ratio), rel=1e-13)
    assert test == pytest.approx(0.09 * ratio / (1 - ratio), rel=1e-13)
    late = 200 / (1 - np.sqrt(ratio)) ** 2
    assert m.test_loss(late) == pytest.approx(test, rel=1e-10)


def test_the_general_rule_agrees_with_the_plain_one():
    ratio, t = np.array([0.01, 0.5, 0.999, 1.0, 1.3])[:, None], np.geomspace(0.1, 1e4, 9)
    plain = LinearGrokking(ratio, 0.1)
    general = LinearGrokking(ratio, 0.1, weight_decay=1e-300)  # too small to do anything
    assert plain._resolved().is_plain
    assert not general._resolved().is_plain
    np.testing.assert_allclose(general.test_loss(t), plain.test_loss(t), rtol=1e-11, atol=1e-200)
    np.testing.assert_allclose(general.train_loss(t), plain.train_loss(t), rtol=1e-11, atol=1e-200)


def test_scale_without_decay_is_a_change_of_threshold():
    scaled = LinearGrokking(0.9, 0.01, 1e-3, student_scale=3.0)
    same = LinearGrokking(0.9, 0.01, 1e-3 * 2 / (1 + 9))
    assert scaled.grokking_delay().time == pytest.approx(same.grokking_delay().time, rel=1e-9)


def test_outputs_slow_the_losses_and_shrink_them():
    m = LinearGrokking(0.9, 0.01, output_dimension=5)
    t = np.array([0.0, 100.0, 1e4])
    np.testing.assert_allclose(
        m.test_loss(t), LinearGrokking(0.9, 0.01 / 5).test_loss(t) / 5, rtol=1e-12
    )


def test_many_outputs_are_correct_from_the_start():
    m = LinearGrokking(0.9, 0.01, output_dimension=np.array([1, 700, 2000]))
    assert list(m.test_time().status) == [Status.REACHED, Status.REACHED, Status.AT_START]
    assert m.grokking_delay().time[2] == 0


def test_smallest_threshold_divides_reached_from_never():
    m = LinearGrokking(0.9, 0.01, weight_decay=1e-2)
    smallest = m.smallest_threshold()
    above, below = (
        LinearGrokking(0.9, 0.01, smallest * f, weight_decay=1e-2).test_time()
        for f in (1.001, 0.999)
    )
    assert above.status == Status.REACHED
    assert below.status == Status.NEVER
    assert np.isinf(below.time)


def test_noise_lets_the_test_loss_dip_and_rise():
    m = LinearGrokking(0.9, 0.01, threshold=0.2, label_noise=0.3)
    t = np.geomspace(1, 1e7, 400)
    curve = m.test_loss(t)
    assert curve.min() < 0.5 * curve[-1]
    crossing = m.test_time(0.5)
    assert crossing.status == Status.REACHED
    first = t[np.argmax(m.test_accuracy(t) >= 0.5)]
    assert crossing.time == pytest.approx(first, rel=0.05)
    assert m.test_accuracy(crossing.time) == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("ratio", [0.01, 0.9, 1.1, 10.0])
def test_limits_keep_their_digits_under_strong_decay(ratio):
    # E[ν/(ν + g)²] is 1/g² there, which m + gm′ finds by cancellation of 1/g
    train, test = LinearGrokking(ratio, weight_decay=2e9, label_noise=0.3).limits()
    g = mp.mpf(1e9)
    mean, square = 1 - 2 * (1 + mp.mpf(ratio)) / g, 1 - 2 / g  # up to 1/g²
    carried = mp.mpf(0.3) ** 2 * mp.mpf(ratio) / g**2
    assert float(abs(test - (square / 2 + carried))) < 1e-14
    assert float(abs(train - (mean / 2 + mp.mpf(0.3) ** 2 * (1 - 2 * mp.mpf(ratio) / g)))) < 1e-14


def test_decay_time():
    assert LinearGrokking(
        1.5, 0.01, weight_decay=1e-3, output_dimension=2
    ).decay_time() == pytest.approx(2e5)
    assert np.isinf(LinearGrokking(1.5, 0.01).decay_time())


def delay(values, output_dimension):
    return LinearGrokking(output_dimension=output_dimension, **values).grokking_delay().time


slopes = jax.jit(jax.grad(delay), static_argnums=1)


@pytest.mark.parametrize(
    ("changes", "output_dimension"),
    [
        ({"weight_decay": 1e-3}, 1), ({"weight_decay": 1e-3, "student_scale": 2.0}, 1),
        ({"label_noise": 0.005}, 1), ({"weight_decay": 1e-4}, 4),
    ],
)  # fmt: skip
def test_implicit_derivatives(changes, output_dimension):
    base = {"aspect_ratio": 0.8, "learning_rate": 0.01, "threshold": 3e-3} | changes
    plain = {"weight_decay": 0.0, "student_scale": 1.0, "label_noise": 0.0}
    for parameter in ("aspect_ratio", *plain):
        x = base.get(parameter) or 1e-3
        values = plain | base | {parameter: x}
        with jax.enable_x64(True):
            slope = float(slopes(values, output_dimension)[parameter])
        h = 1e-4 * x
        at = [delay(values | {parameter: x + step}, output_dimension) for step in (h, 0, -h)]
        difference = (at[0] - at[2]) / (2 * h)
        assert slope == pytest.approx(difference, rel=1e-5, abs=1e-6 * abs(at[1])), parameter


@pytest.mark.parametrize("name", ["weight_decay", "student_scale", "label_noise"])
def test_bad_values(name):
    with pytest.raises(ArgumentError, match=f"`{name}` must be .* ≥ 0, got -1.0"):
        LinearGrokking(0.5, **{name: -1.0})
    assert np.isnan(jax.jit(lambda v: LinearGrokking(0.5, **{name: v}).test_loss(1.0))(-1.0))


@pytest.mark.parametrize("value", [0, 2.5, -3])
def test_bad_outputs(value):
    with pytest.raises(ArgumentError, match="`output_dimension` must be"):
        LinearGrokking(0.5, output_dimension=value)


def test_shapes_that_do_not_fit():
    with pytest.raises(
        ArgumentError, match=r"must have shapes that broadcast.*aspect_ratio\[:, None\]"
    ):
        LinearGrokking(np.ones(3), weight_decay=np.ones(2))


@pytest.mark.parametrize(
    ("ratio", "outputs", "decay"),
    [(0.9, 40, 0.0), (0.9, 400, 0.0), (0.5, 100, 0.05), (2.0, 100, 0.3)],
)
def test_accuracy_with_finitely_many_inputs(ratio, outputs, decay):
    """Against descent: three standard errors, and what a χ² law of matched variance lacks."""
    d_in, steps, seeds = 120, np.unique(np.round(np.geomspace(30, 1e6, 20))), 12
    task = tasks.TeacherStudent(d_in, round(d_in / ratio), outputs)
    run = simulate.linear_descent(
        task, steps, learning_rate=0.01, seeds=range(seeds), weight_decay=decay, num_test=400
    ).isel(threshold=0)  # fmt: skip
    m = LinearGrokking(task.aspect_ratio, 0.01, 1e-3, output_dimension=outputs, weight_decay=decay)
    for kind, finite in zip(("train", "test"), m.finite_accuracies(steps, d_in), strict=True):
        found = run[f"{kind}_accuracy"]
        error = 3 * found.std("seed", ddof=1).values / seeds**0.5 + 0.03
        assert np.all(np.abs(found.mean("seed").values - finite) < error)


@given(st.floats(0.05, 20), st.floats(0, 1e6), st.integers(1, 300))
def test_infinitely_many_inputs_give_eq12(ratio, time, outputs):
    m = LinearGrokking(ratio, 0.01, 1e-3, output_dimension=outputs)
    train, test = m.finite_accuracies(time, 1e15)
    assert train == pytest.approx(m.train_accuracy(time), abs=1e-6)
    assert test == pytest.approx(m.test_accuracy(time), abs=1e-6)


@given(st.floats(0.05, 20), st.floats(0, 1e8), st.integers(1, 1000), st.integers(2, 5000))
def test_accuracies_with_finitely_many_inputs_are_shares(ratio, time, outputs, inputs):
    m = LinearGrokking(ratio, 0.01, 1e-3, output_dimension=outputs)
    for accuracy in m.finite_accuracies(time, inputs):
        assert 0 <= accuracy <= 1


def test_finite_accuracies_say_what_they_need():
    with pytest.raises(AssumptionError, match=r"`label_noise` = 0, got 0\.1"):
        LinearGrokking(0.9, label_noise=0.1).finite_accuracies(1.0, 100)
    with pytest.raises(ArgumentError, match="`input_dimension` must be"):
        LinearGrokking(0.9).finite_accuracies(1.0, 0)
