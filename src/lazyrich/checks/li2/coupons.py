"""Theorem 8, Lemmas 7 and 10, Eq. 39, 41 and 44–46: how many nodes find all maxima."""

import itertools
from typing import Any

import numpy as np

from lazyrich import measures, simulate, theory
from lazyrich.core import CheckResult, check

CASES: list[tuple[list[float], float]] = [
    ([1.0, 1.0, 1.0], 2.0), ([1.0, 0.8, 0.6, 0.4], 1.5), ([0.9, 0.3], 3.0),
    ([1.0, 0.7, 0.5, 0.5, 0.2, 0.1], 1.2),
]  # fmt: skip
"""Rates and exponents."""


def _winning(weights: np.ndarray, exponent: float) -> np.ndarray:
    """Chance of each $w_jx_j$ to be the largest, by quadrature over the quantile of $x_j$."""
    from scipy.integrate import quad

    def chance(i: int) -> float:
        def others_below(q: float) -> float:
            x = (-np.log(q)) ** (-1 / exponent)
            ratio = np.delete(weights, i) / (weights[i] * x)
            return float(np.exp(-np.sum(ratio**exponent)))

        return float(quad(others_below, 0, 1, epsabs=1e-12, epsrel=1e-12)[0])

    return np.array([chance(i) for i in range(len(weights))])


def _collected(p: np.ndarray, shrink: float) -> float:
    """Expected number of nodes, over all sets of maxima found, whose p are multiplied by `shrink`."""
    L = len(p)
    wait = np.zeros(2**L)
    for code in range(2**L - 2, -1, -1):
        known = np.array([(code >> i) & 1 for i in range(L)], bool)
        q = np.where(known, shrink, 1.0) * p
        q = q / q.sum()
        new = np.flatnonzero(~known)
        wait[code] = (1 + sum(q[i] * wait[code | 1 << int(i)] for i in new)) / q[new].sum()
    return float(wait[0])


def _inclusion_exclusion(p: np.ndarray) -> float:
    r"""$T_0 = \sum_{S \ne \emptyset} (-1)^{|S|+1}/\sum_{l \in S} p_l$."""
    sizes = range(1, len(p) + 1)
    return sum((-1) ** (k + 1) / sum(c) for k in sizes for c in itertools.combinations(p, k))


def _nodes(mu: Any, a: float) -> "tuple[theory.NodesToCollect, np.ndarray]":
    mu = np.array(mu)
    return theory.NodesToCollect(mu, a), mu**a / np.sum(mu**a)


@check(
    "li2/lemma7",
    "Which of several Fréchet variables is the largest",
    against="quadrature over the winner's quantile",
)
def lemma7() -> CheckResult:
    """Probabilities in proportion to $w_i^a$."""
    errors = [
        np.max(np.abs(theory.NodesToCollect(mu, a).probabilities - _winning(np.array(mu), a)))
        for mu, a in [*CASES, ([2.0, 1.0, 0.1], 1.0), ([1.0, 0.5], 0.5)]
    ]
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "li2/eq41",
    "Expected number of independent nodes",
    against="inclusion and exclusion, and a recursion over sets of maxima",
)
def eq41() -> CheckResult:
    """The integral."""
    errors = []
    for mu, a in CASES:
        nodes, p = _nodes(mu, a)
        errors.append(abs(nodes.expected / _inclusion_exclusion(p) - 1))
        errors.append(abs(nodes.expected / _collected(p, 1.0) - 1))
    return CheckResult(max(errors), 1e-10, len(errors))


@check(
    "li2/eq39",
    "Lower bounds of the expected number of nodes",
    against="the mean wait for the rarest maximum, summed, and the recursion over sets",
)
def eq39() -> CheckResult:
    """The wait for the rarest maximum, and a bound that must not exceed the exact value."""
    errors, printed = [], []
    for mu, a in CASES[1:]:
        nodes, p = _nodes(mu, a)
        k = np.arange(1, int(60 / p.min()))
        wait = np.sum(k * p.min() * (1 - p.min()) ** (k - 1))
        bounds, exact = nodes.bounds(), _collected(p, 1.0)
        errors.append(abs(bounds.rarest / wait - 1))
        errors.append(
            max(0.0, max(bounds.rarest, bounds.even) / exact - 1, exact / bounds.upper - 1)
        )
        printed.append(abs(np.min(1 / p) / wait - 1))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="the wait for the rarest maximum is max 1/p; min 1/p is that for the most frequent one",
    )  # fmt: skip


@check(
    "li2/lemma10",
    "The bounds are reached in their limits",
    against="the recursion over sets of maxima",
)
def lemma10() -> CheckResult:
    """Equal probabilities reach the harmonic bound, one very rare maximum reaches the other."""
    errors, printed = [], []
    for L in (2, 3, 6):
        even, p = _nodes(np.ones(L), 2.0)
        errors.append(abs(even.bounds().even / _collected(p, 1.0) - 1))
        rare, p = _nodes([1.0] * (L - 1) + [1e-9], 1.0)
        exact = _collected(p, 1.0)
        errors.append(abs(rare.bounds().rarest / exact - 1))
        printed.append(1 - max(np.min(1 / p), L * np.sum(1 / np.arange(1, L + 1))) / exact)
    return CheckResult(
        max(errors), 1e-7, len(errors), printed_error=max(printed),
        correction="max 1/p for min 1/p",
    )  # fmt: skip


@check(
    "li2/eq44",
    "Chance of a new maximum when those found are suppressed",
    against="quadrature with halved rates, and with smaller ones",
)
def eq44() -> CheckResult:
    """Equality for rates divided by 2; a larger chance if they are divided by more."""
    errors = []
    for mu, a in CASES:
        nodes, _ = _nodes(mu, a)
        known = np.arange(len(mu)) < len(mu) // 2
        for factor in (2.0, 5.0):
            chance = np.sum(_winning(np.array(mu) / np.where(known, factor, 1), a)[~known])
            errors.append(abs(nodes.chance_of_new(np.flatnonzero(known), factor) - chance))
            errors.append(max(0.0, nodes.chance_of_new(np.flatnonzero(known)) - chance))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "li2/eq45",
    "Expected wait for a new maximum",
    against="the mean of the geometric distribution, summed",
)
def eq45() -> CheckResult:
    """An equality for halved rates, for every set of maxima that are known."""
    errors = []
    for mu, a in CASES:
        nodes, p = _nodes(mu, a)
        for size in range(1, len(mu)):
            for found in itertools.combinations(range(len(mu)), size):
                chance = nodes.chance_of_new(found)
                k = np.arange(1, int(40 / chance) + 40)
                wait = np.sum(k * chance * (1 - chance) ** (k - 1))
                formula = 2**-a / (1 - p[list(found)].sum()) + 1 - 2**-a
                errors.append(abs(formula / wait - 1))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "li2/eq46",
    "Expected number of nodes when maxima that are found are suppressed",
    against="a recursion over sets of maxima, with suppression",
)
def eq46() -> CheckResult:
    """Equality for halved rates, although the terms depend on the order in which maxima are found."""
    errors = []
    for mu, a in CASES:
        nodes, p = _nodes(mu, a)
        for factor in (1.0, 2.0, 7.0):
            exact = _collected(p, factor**-a)
            errors.append(abs(nodes.expected_with_suppression(factor) / exact - 1))
    return CheckResult(max(errors), 1e-10, len(errors))


@check(
    "li2/thm8",
    "How many nodes Muon takes to find all maxima",
    against="ascent of node after node along the exact polar factor",
    seconds=2.0,
)
def thm8() -> CheckResult:
    """No node ends in a maximum that is found, earlier gradients being normalised as in Eq. 42."""
    mu, a, trials = np.array([1.0, 0.8, 0.5, 0.2]), 1.5, 32
    alpha = np.random.default_rng(9).exponential(size=(trials, 4, 4)) ** (-1 / a)
    starts = 0.1 * alpha / np.linalg.norm(alpha, axis=-1, keepdims=True)
    ends = simulate.sequential_muon(lambda w: mu * w**2, starts, num_steps=200)
    errors = [float(np.mean(measures.collection_times(ends.argmax(-1), 4))) / 4 - 1]
    errors.append(float(np.mean(ends.max(axis=-1) < 0.9)))  # nodes that have not arrived
    nodes = theory.NodesToCollect(mu, a)
    return CheckResult(
        max(errors), 1e-12, trials, printed_error=nodes.expected_with_suppression() / 4 - 1,
        correction="T_a is what halved rates take; the polar factor takes L nodes, for every a. T_a → L for "
        "large a needs max μ < 2 min μ; the bound Σ1/l lacks a factor L",
    )  # fmt: skip
