"""The law against random matrices, and its transforms against Bessel functions at 50 digits."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError, compute
from lazyrich.theory import MarchenkoPastur
from lazyrich.theory._laplace import log_laplace, log_weighted_laplace

from . import oracles

ratios = st.one_of(
    st.floats(-4, 2).map(lambda x: 10**x), st.floats(-12, -1).map(lambda x: 1 + 10**x),
    st.floats(-12, -1).map(lambda x: 1 - 10**x), st.just(1.0),
)  # fmt: skip
arguments = st.one_of(st.just(0.0), st.floats(-6, 6).map(lambda x: 10**x))


def grid():
    rng = np.random.default_rng(0)
    lam = np.concatenate(
        [
            10 ** rng.uniform(-4, 2, 700),
            1 + rng.choice([-1, 1], 300) * 10 ** rng.uniform(-12, -1, 300),
        ]
    )
    return lam, 10 ** rng.uniform(-4, 6, 1000)


def test_weighted_transform_on_a_thousand_points():
    lam, s = grid()
    found = compute(log_weighted_laplace, lam, s)
    exact = np.array(
        [float(oracles.log_weighted_laplace(*point)) for point in zip(lam, s, strict=True)]
    )
    condition = (
        1 + s * (1 - np.sqrt(lam)) ** 2
    )  # a relative error of ε in s or λ moves the log by this
    assert np.max(np.abs(found - exact) / condition) < 2e-14


def test_derivative_links_the_two_transforms_on_a_thousand_points():
    lam, s = grid()
    with jax.enable_x64(True):
        value, slope = jax.jvp(
            lambda s: log_laplace(lam, s), (jnp.asarray(s),), (jnp.ones(len(s)),)
        )
        log_slope = jnp.log(-slope) + value  # d/ds E[exp(−sν)] = −E[ν exp(−sν)]
        expected = log_weighted_laplace(lam, s)
    bulk = (lam < 1) | (
        s * (1 - np.sqrt(lam)) ** 2 < 20
    )  # above λ = 1 the atom hides the bulk's tail
    condition = 1 + s * (1 - np.sqrt(lam)) ** 2
    error = np.abs(log_slope - expected) / condition
    assert np.max(error[(lam < 1) & bulk]) < 1e-13
    assert np.max(error[bulk]) < 1e-6


@pytest.mark.parametrize("ratio", [1e-3, 0.05, 0.5, 0.9, 0.97])
@pytest.mark.parametrize("s", [0.0, 0.01, 3.0, 200.0, 5e4])
def test_transform_below_one_is_the_integral_of_the_other(ratio, s):
    exact = float(oracles.log_laplace_by_bessel_integral(ratio, s or 1e-20))
    condition = 1 + s * (1 - np.sqrt(ratio)) ** 2
    assert abs(compute(log_laplace, ratio, s) - exact) < 1e-12 * condition


@pytest.mark.parametrize("s", [0.0, 1e-3, 1.0, 50.0, 1e5])
def test_transform_at_one(s):
    exact = mp.exp(-2 * s) * (mp.besseli(0, 2 * s) + mp.besseli(1, 2 * s))
    assert MarchenkoPastur(1.0).laplace(s) == pytest.approx(float(exact), rel=2e-15 * 10)


@given(ratios, arguments)
def test_duality(ratio, s):
    """XᵀX and XXᵀ share their nonzero eigenvalues: λ·(E_λ[e^{−sν}] − 1) = E_{1/λ}[e^{−sλν}] − 1."""
    one = ratio * (MarchenkoPastur(ratio).laplace(s) - 1)
    other = MarchenkoPastur(1 / ratio).laplace(s * ratio) - 1
    assert one == pytest.approx(other, rel=1e-9, abs=1e-13 * max(1, ratio))


@given(ratios)
def test_transforms_begin_at_one(ratio):
    law = MarchenkoPastur(ratio)
    assert law.laplace(0.0) == pytest.approx(1, abs=1e-14)
    assert law.weighted_laplace(0.0) == pytest.approx(1, abs=1e-14)


@given(ratios, arguments, arguments)
def test_transform_decreases_and_is_log_convex(ratio, s, r):
    low, high = sorted((s, r))
    a, middle, b = compute(log_laplace, ratio, np.array([low, (low + high) / 2, high]))
    slack = 1e-12 * (1 + abs(b))
    assert b <= middle + slack <= a + 2 * slack
    assert middle <= (a + b) / 2 + slack


@given(ratios)
def test_transform_tends_to_the_atom(ratio):
    law = MarchenkoPastur(ratio)
    late = law.laplace(1e30)
    assert late == pytest.approx(law.atom, rel=1e-12, abs=1e-14)


def test_far_tail_is_finite_in_logs():
    assert compute(log_laplace, 0.25, 1e8) == pytest.approx(-2.5e7, rel=1e-5)


@pytest.mark.parametrize("ratio", [0.05, 0.5, 1.0, 2.0])
def test_density_integrates_to_one_with_the_atom(ratio):
    law = MarchenkoPastur(ratio)
    low, high = law.edges
    phi = (np.arange(2000) + 0.5) * np.pi / 4000
    nu = low + (high - low) * np.sin(phi) ** 2
    mass = np.mean(law.density(nu) * (high - low) * np.sin(2 * phi)) * np.pi / 2
    assert mass + law.atom == pytest.approx(1, abs=1e-10)
    assert law.density(low - 1e-9) == law.density(high + 1e-9) == 0


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.5])
def test_sampled_spectrum_follows_the_law(ratio):
    d = 600
    X = np.random.default_rng(1).standard_normal((round(d / ratio), d))
    nu = np.linalg.eigvalsh(X.T @ X / len(X))
    law = MarchenkoPastur(d / len(X))
    for s in (0.1, 1.0, 5.0):  # fluctuations of linear statistics are of order 1/d
        assert np.mean(np.exp(-s * nu)) == pytest.approx(law.laplace(s), abs=10 / d)


@pytest.mark.parametrize("ratio", [1e-3, 0.9, 1.0, 1.0001, 30.0])
def test_expectation_of_powers(ratio):
    law = MarchenkoPastur(ratio)
    assert law.expectation(lambda x: x) == pytest.approx(1, rel=1e-13)
    assert law.expectation(lambda x: x**2) == pytest.approx(1 + ratio, rel=1e-13)
    assert law.expectation(lambda x: jnp.exp(-x)) == pytest.approx(law.laplace(1.0), rel=1e-13)


def test_expectation_where_the_function_has_no_value_at_zero():
    assert MarchenkoPastur(0.5).expectation(lambda x: 1 / x) == pytest.approx(2, rel=1e-13)
    assert MarchenkoPastur(0.5).expectation(jnp.log) == pytest.approx(np.log(2) - 1, rel=1e-12)
    assert np.isinf(MarchenkoPastur(2.0).expectation(lambda x: 1 / x))


def test_expectation_of_a_traced_function():
    slope = jax.grad(lambda g: MarchenkoPastur(0.5).expectation(lambda x: 1 / (x + g)))(0.3)
    h = 1e-5
    up, down = (MarchenkoPastur(0.5).resolvent(0.3 + k) for k in (h, -h))
    assert slope == pytest.approx((up - down) / (2 * h), rel=1e-4)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 3.0])
def test_distribution_function_is_the_integral_of_the_density(ratio):
    law = MarchenkoPastur(ratio)
    low, high = law.edges
    for share in (0.1, 0.5, 0.9):
        nu = low + share * (high - low)
        phi = (np.arange(4000) + 0.5) / 4000 * np.arcsin(np.sqrt(share))
        inner = low + (high - low) * np.sin(phi) ** 2
        step = np.arcsin(np.sqrt(share)) / 4000
        area = np.sum(law.density(inner) * (high - low) * np.sin(2 * phi)) * step
        assert law.cdf(nu) == pytest.approx(law.atom + area, abs=1e-7)
    assert law.cdf(-1.0) == 0
    assert law.cdf(high + 1) == pytest.approx(1, rel=1e-14)
    assert law.cdf(low * 0.5) == pytest.approx(law.atom)
    assert np.isfinite(jax.grad(law.cdf)(float(high) + 1))


@pytest.mark.parametrize("ratio", [1e-10, 0.0624, 0.0626])
def test_distribution_function_keeps_its_digits_for_small_ratios(ratio):
    law = MarchenkoPastur(ratio)
    with mp.workdps(25):
        root = mp.sqrt(mp.mpf(ratio))
        low, high = (1 - root) ** 2, (1 + root) ** 2
        nu = float(low + (high - low) / 5)
        exact = mp.quad(
            lambda x: mp.sqrt((high - x) * (x - low)) / (2 * mp.pi * mp.mpf(ratio) * x), [low, nu]
        )
    # an error in the last digit of ν is one of 1e-16 of 1, the bulk's width is 4√λ
    assert float(abs(law.cdf(nu) - exact)) < 1e-15 / np.sqrt(ratio)


@pytest.mark.parametrize("order", range(6))
def test_moments_are_those_of_wishart_matrices(order):
    rng = np.random.default_rng(order)
    X = rng.standard_normal((40, 300, 150))
    traces = [np.mean(np.linalg.eigvalsh(x.T @ x / 300) ** order) for x in X]
    error = np.std(traces, ddof=1) / np.sqrt(len(X))
    exact = MarchenkoPastur(0.5).moment(order)
    assert abs(np.mean(traces) - exact) < 4 * error + 1e-3 * exact


def test_resolvent_solves_its_equation():
    for ratio in (0.01, 0.9, 1.0, 1.1, 50.0):
        for g in (1e-12, 1e-3, 1.0, 1e4):
            m = MarchenkoPastur(ratio).resolvent(g)
            terms = ratio * g * m**2, (1 - ratio + g) * m  # of opposite sign above λ = 1
            assert sum(terms) == pytest.approx(1, abs=1e-14 * (1 + sum(map(abs, terms))))
            if g >= 1e-3:
                mean = MarchenkoPastur(ratio).expectation(lambda x, g=g: 1 / (x + g))
                assert m == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("ratio", [0.4, 2.5])
def test_samples_follow_the_distribution(ratio):
    law = MarchenkoPastur(ratio)
    drawn = law.sample(jax.random.key(0), (4000,))
    levels = np.linspace(*law.edges, 9)[1:-1]
    shares = np.mean(drawn[:, None] <= levels, axis=0)
    assert np.max(np.abs(shares - law.cdf(levels))) < 4 * np.sqrt(0.25 / drawn.size)
    assert np.mean(drawn == 0) == pytest.approx(law.atom, abs=0.04)
    assert jax.jit(lambda key: law.sample(key, (3,)))(jax.random.key(1)).shape == (3,)
    with pytest.raises(ArgumentError, match="`aspect_ratio` must be a single number"):
        MarchenkoPastur([0.4, 0.5]).sample(jax.random.key(0))


def test_gradient_is_smooth_through_one():
    with jax.enable_x64(True):
        slope = jax.grad(lambda r: MarchenkoPastur(r).laplace(4e3))
        around = [float(slope(1 + h)) for h in (-1e-9, 0.0, 1e-9)]
    assert around[1] == pytest.approx(around[0], rel=1e-6)
    assert around[1] == pytest.approx(around[2], rel=1e-6)
