"""How many nodes find all maxima, against recursions, series and drawing."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.theory import NodesToCollect

RATES = st.lists(st.floats(0.1, 1), min_size=1, max_size=6)


def recursion(p, shrink):
    """Expected number of nodes, over all sets of maxima that are found."""
    L = len(p)
    wait = np.zeros(2**L)
    for code in range(2**L - 2, -1, -1):
        known = np.array([(code >> i) & 1 for i in range(L)], bool)
        q = np.where(known, shrink, 1.0) * p
        q /= q.sum()
        wait[code] = (1 + sum(q[i] * wait[code | 1 << i] for i in np.flatnonzero(~known))) / q[
            ~known
        ].sum()
    return wait[0]


def chance_by_inclusion(p, K):
    total = 0.0
    for size in range(len(p) + 1):
        for missing in itertools.combinations(p, size):
            total += (-1) ** size * max(1 - sum(missing), 0.0) ** K
    return total


@settings(max_examples=30, deadline=None)
@given(rates=RATES, exponent=st.floats(0.5, 3), factor=st.floats(1, 10))
def test_expectations_are_those_of_the_recursion(rates, exponent, factor):
    nodes = NodesToCollect(rates, exponent)
    p = nodes.probabilities
    np.testing.assert_allclose(p, np.array(rates) ** exponent / np.sum(np.array(rates) ** exponent))
    assert nodes.expected == pytest.approx(recursion(p, 1.0), rel=1e-9)
    exact = recursion(p, factor**-exponent)
    assert nodes.expected_with_suppression(factor) == pytest.approx(exact, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(rates=RATES, exponent=st.floats(0.5, 3))
def test_bounds_enclose(rates, exponent):
    nodes = NodesToCollect(rates, exponent)
    bounds, T = nodes.bounds(), nodes.expected * (1 + 1e-12)
    assert max(bounds.rarest, bounds.even) <= T
    assert bounds.upper >= nodes.expected * (1 - 1e-12)


@settings(max_examples=30, deadline=None)
@given(rates=RATES, exponent=st.floats(0.5, 2), num_nodes=st.integers(0, 200))
def test_chances_are_those_of_inclusion_and_exclusion(rates, exponent, num_nodes):
    nodes = NodesToCollect(rates, exponent)
    exact = chance_by_inclusion(nodes.probabilities, num_nodes)
    assert nodes.chance(num_nodes) == pytest.approx(exact, abs=1e-10)


def test_chances_sum_to_the_expectation_for_many_maxima():
    nodes = NodesToCollect(np.linspace(0.5, 1, 15), 1.0)
    missing = 1 - nodes.chance(np.arange(900))
    assert missing.sum() == pytest.approx(nodes.expected, rel=1e-9)
    assert np.all(np.diff(missing) <= 1e-10)


def test_limits():
    assert NodesToCollect([0.3]).expected == pytest.approx(1)
    even = NodesToCollect(np.ones(1000))
    assert even.expected == pytest.approx(even.bounds().even, rel=1e-12)
    rare = NodesToCollect([1.0, 1e-12], 1.0)
    assert rare.expected == pytest.approx(rare.bounds().rarest, rel=1e-9)
    assert even.expected_with_suppression(np.inf) == 1000
    same = NodesToCollect([7.0, 3.0]).expected, NodesToCollect([0.7, 0.3]).expected
    assert same[0] == pytest.approx(same[1], rel=1e-13)


def test_what_no_float_holds_is_infinite():
    hopeless = NodesToCollect([1.0, 1e-200], 2.0)
    assert hopeless.expected == hopeless.bounds().rarest == np.inf
    assert hopeless.expected_with_suppression(np.inf) == 2
    assert hopeless.chance(10**6) == 0


def test_large_exponents_need_rates_within_a_factor_of_two():
    """Theorem 8 says that suppressed nodes take L for large a; they do not where max μ > 2 min μ."""
    close = [NodesToCollect([1.0, 0.6], a).expected_with_suppression() for a in (5, 20, 80)]
    apart = [NodesToCollect([1.0, 0.4], a).expected_with_suppression() for a in (5, 20, 80)]
    assert close[0] > close[1] > close[2] == pytest.approx(2, rel=1e-4)
    assert apart[0] < apart[1] < apart[2]
    assert apart[2] == pytest.approx((1 / 0.8) ** 80, rel=1e-3)


def test_waits_depend_on_the_sequence():
    """The proof of Theorem 8 calls them independent of it; only their mean over sequences is the same."""
    nodes = NodesToCollect([1.0, 0.5], 2.0)
    first = [1 / nodes.chance_of_new([found]) for found in (0, 1)]
    assert first == pytest.approx([2.0, 17 / 16])


def test_order_of_discovery_has_the_same_law_with_suppression():
    p, rng = np.array([0.6, 0.3, 0.1]), np.random.default_rng(0)
    last = []
    for shrink in (1.0, 0.25):
        first, second = rng.choice(3, 20000, p=p), np.full(20000, -1)
        while np.any(second < 0):  # draw until it is new
            open_ = np.flatnonzero(second < 0)
            q = np.where(np.arange(3) == first[open_, None], shrink, 1) * p
            draw = (rng.random((len(open_), 1)) * q.sum(1, keepdims=True) > np.cumsum(q, 1)).sum(1)
            second[open_] = np.where(draw != first[open_], draw, -1)
        last.append(np.bincount(3 - first - second, minlength=3) / 20000)
    np.testing.assert_allclose(last[0], last[1], atol=0.02)


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match=r"`rates\[0\]` must be a finite real number > 0"):
        NodesToCollect([0.0, 1.0])
    with pytest.raises(ArgumentError, match=r"`rates` must have the shape \(maxima,\)"):
        NodesToCollect(1.0)
    with pytest.raises(ArgumentError, match=r"`exponent` must be a finite real number > 0"):
        NodesToCollect([1.0], 0.0)
    with pytest.raises(ArgumentError, match=r"`factor` must be a real number ≥ 1"):
        NodesToCollect([1.0, 1.0]).expected_with_suppression(0.5)
    with pytest.raises(ArgumentError, match=r"`found` must leave a maximum to find"):
        NodesToCollect([1.0, 1.0]).chance_of_new([0, 1])
    with pytest.raises(ArgumentError, match=r"`num_nodes` must be a whole number"):
        NodesToCollect([1.0, 1.0]).chance(2.5)


def test_small_chances_keep_their_digits():
    # three nodes for three maxima: 3!·p₁p₂p₃, and four: 4!/2·p₁p₂p₃·(p₁ + p₂ + p₃)
    nodes = NodesToCollect([1.0, 1e-6, 1e-9], exponent=2.0)
    p = nodes.probabilities
    np.testing.assert_allclose(nodes.chance([3, 4]), [6 * p.prod(), 12 * p.prod()], rtol=1e-13)


def test_chances_of_many_nodes_keep_their_digits():
    # the second is missed by all K with the chance (1 − p)^K
    nodes = NodesToCollect([1.0, 1e-4], exponent=1.0)
    K, p = 10**7, nodes.probabilities[1]
    rare = NodesToCollect([1.0, 1e-9], exponent=1.0)
    exact = -np.expm1(10**7 * np.log1p(-rare.probabilities[1]))
    np.testing.assert_allclose(rare.chance(10**7), exact, rtol=1e-12)
    np.testing.assert_allclose(
        nodes.chance(K // 1000), -np.expm1(K // 1000 * np.log1p(-p)), rtol=1e-12
    )
