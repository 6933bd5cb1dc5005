"""Memorising nodes: against direct maximisation, limits, properties."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.quantities import FeatureEnergy
from lazyrich.theory import Memorisation

P = np.array([0.35, 0.3, 0.2, 0.1, 0.05])


def silu(x):
    return x / (1 + jnp.exp(-x))


def quartic_root(x):
    return x**1.5


def silu_np(x):
    return x / (1 + np.exp(-x))


SPREAD = {
    "relu": ("relu", lambda x: np.maximum(x, 0)),
    "tanh": ("tanh", np.tanh),
    "silu": (silu, silu_np),
    "three halves": (quartic_root, lambda x: np.maximum(x, 0) ** 1.5),
    "versine": ("versine", lambda x: 1 - np.cos(x)),
}


@pytest.mark.parametrize("name", SPREAD)
def test_spread_nodes_are_the_best(name):
    """Random changes along the sphere lower F; random nodes lie below."""
    activation, sigma = SPREAD[name]
    solution = Memorisation(P, activation)
    s, rng = solution.pair_sums, np.random.default_rng(0)
    assert solution.kind == "spread"
    assert np.sum(s**2) == pytest.approx(2, rel=1e-12)
    assert solution.objective == pytest.approx(P @ sigma(s), rel=1e-12)
    assert solution.energy == pytest.approx(solution.objective**2 / 2)
    for scale in (1e-3, 0.1, 1.0):
        others = np.abs(s + scale * rng.standard_normal((3000, 5)))
        others *= np.sqrt(2) / np.linalg.norm(others, axis=1, keepdims=True)
        assert np.max(sigma(others) @ P) <= solution.objective * (1 + 1e-12)
    assert np.all(np.diff(s) <= 0)  # as the probabilities
    active = s > 0
    np.testing.assert_allclose(
        P[active] * solution.slope_ratio(s[active]), 2 * solution.multiplier, rtol=1e-8
    )
    assert solution.local_maxima.size == 0


def test_relu_is_in_proportion_to_the_probabilities():
    s = Memorisation(P, "relu").pair_sums
    np.testing.assert_allclose(s, P * np.sqrt(2) / np.linalg.norm(P), rtol=1e-12)


def test_a_power_below_two_has_a_closed_form():
    s = Memorisation(P, quartic_root).pair_sums  # φ = 1.5 x^(−½): s ∝ p²
    np.testing.assert_allclose(s, P**2 * np.sqrt(2) / np.linalg.norm(P**2), rtol=1e-10)


def test_finite_limit_leaves_rare_pairs_out():
    solution = Memorisation([0.5, 0.45, 0.05], "versine")
    assert solution.limit_ratio == pytest.approx(1)
    s = solution.pair_sums
    assert s[2] == 0
    assert s[1] > 0
    assert 2 * solution.multiplier / 0.05 >= 1


@pytest.mark.parametrize(("activation", "number"), [("quadratic", 1), ("cubic", 5)])
def test_focused(activation, number):
    solution = Memorisation(P, activation)
    assert solution.kind == "focused"
    np.testing.assert_allclose(solution.pair_sums, [np.sqrt(2), 0, 0, 0, 0])
    assert solution.local_maxima.tolist() == list(range(number))
    power = {"quadratic": 2, "cubic": 3}[activation]
    assert solution.objective == pytest.approx(0.35 * 2 ** (power / 2))


def test_equally_frequent_pairs_have_no_single_best_node_for_squares():
    """Why they are refused: every split among them is as good."""
    s = np.random.default_rng(0).standard_normal((50, 4))
    s *= np.sqrt(2) / np.linalg.norm(s, axis=1, keepdims=True)
    np.testing.assert_allclose(np.sum(0.25 * s**2, axis=1), 0.5)
    np.testing.assert_allclose(Memorisation([0.25] * 4, "relu").pair_sums, np.sqrt(0.5))


def test_node_has_the_energy_on_its_samples():
    group, target = groups.symmetric(3), 4
    p = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    pairs = np.stack([np.arange(6), group.table[group.inverses, target]], 1)
    assert np.all(group.table[pairs[:, 0], pairs[:, 1]] == target)
    solution = Memorisation(p, "relu")
    w = solution.weights(group, target)
    assert np.linalg.norm(w) == pytest.approx(1)
    energy = FeatureEnergy(
        pairs, np.full(6, target), "relu", num_weights=12, sample_weights=p, centring="none"
    )
    assert energy.value(w) == pytest.approx(solution.energy, rel=1e-12)
    g = energy.gradient(w)
    np.testing.assert_allclose(g, (g @ w) * w, atol=1e-10)  # critical on the sphere
    centred = FeatureEnergy(pairs, np.full(6, target), "relu", num_weights=12, sample_weights=p)
    assert centred.value(w) == pytest.approx(0, abs=1e-28)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), concentration=st.floats(0.1, 20))
def test_properties(seed, concentration):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(5, concentration))
    p = np.maximum(p, 1e-12)
    p /= p.sum()
    solution = Memorisation(p, "tanh")
    s = solution.pair_sums
    assert np.sum(s**2) == pytest.approx(2, rel=1e-10)
    assert np.all(s > 0)  # φ(0⁺) is infinite
    assert np.array_equal(np.argsort(s, kind="stable"), np.argsort(p, kind="stable"))
    order = rng.permutation(5)
    np.testing.assert_allclose(Memorisation(p[order], "tanh").pair_sums, s[order], rtol=1e-9)
    uniform = np.sum(p * np.tanh(np.sqrt(0.4)))
    assert max(p.max() * np.tanh(np.sqrt(2)), uniform) <= solution.objective * (1 + 1e-12)
    assert solution.objective <= np.tanh(np.sqrt(2))


@pytest.mark.parametrize(
    ("name", "value", "slope"),
    [
        ("tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2),
        (
            "relu",
            lambda x: np.maximum(x, 0),
            np.ones_like,
        ),  # at 0 the slope from above, where s may go
    ],
)
def test_lemma5_needs_the_other_sign(name, value, slope):
    """With −Σ μ s a focused node meets the conditions, though it is not the best; with + it does not."""
    s = np.array([np.sqrt(2), 0, 0, 0, 0])
    multiplier = P[0] * slope(s)[0] / (2 * s[0])
    printed = P * slope(s) - 2 * multiplier * s  # must be μ ≥ 0, and 0 where s > 0
    right = -printed
    assert printed[0] == pytest.approx(0)
    assert np.all(printed[1:] > 0)
    assert np.all(right[1:] < 0)
    assert P @ value(s) < Memorisation(P, name).objective


def test_unseen_pairs_get_nothing():
    assert Memorisation([0.6, 0.0, 0.4], "tanh").pair_sums[1] == 0


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (([0.5, 0.6],), ArgumentError, r"`probabilities` must sum to 1, got 1.1"),
        (([1.5, -0.5],), ArgumentError, r"`probabilities\[1\]` must be a finite real number ≥ 0"),
        (([1.0],), ArgumentError, r"`probabilities` must have the shape \(M,\) with M ≥ 2"),
        ((P, "cosine"), ArgumentError, r"`activation` must be"),
        (([0.25] * 4,), AssumptionError, r"One pair must be more frequent .* 4 have the largest"),
        (([0.1, 0.3, 0.3, 0.3], "cubic"), AssumptionError, r"3 have the largest probability 0.3"),
        ((P, lambda x: -x), AssumptionError, r"σ' must be positive on \(0, √2\]"),
        (
            (P, lambda x: x**3 + x),
            AssumptionError,
            r"φ = σ'\(x\)/x must be monotone .* rises at .* falls at",
        ),
    ],
)
def test_bad_input(arguments, error, match):
    with pytest.raises(error, match=match):
        Memorisation(*arguments)


def test_bad_targets():
    solution = Memorisation(P, "quadratic")
    with pytest.raises(ArgumentError, match=r"`group` must be a group of order 5"):
        solution.weights(groups.cyclic(4), 0)
    with pytest.raises(ArgumentError, match=r"`target` must be the number of an element, 0 to 4"):
        solution.weights(groups.cyclic(5), 5)
    with pytest.raises(ArgumentError, match=r"`x` must be a finite real number > 0"):
        solution.slope_ratio(0.0)


def test_a_derivative_that_is_rounding_near_zero():
    def log_cosh(x):  # its derivative is a difference of two numbers near ½
        return jnp.logaddexp(x, -x)

    with pytest.raises(AssumptionError, match=r"must fall from 0 on, but at .* rounding there"):
        Memorisation([0.5, 0.3, 0.2], log_cosh)
