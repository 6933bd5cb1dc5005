"""Nodes until every maximum is found."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import numbers
from lazyrich.core import Comparison, accuracy

RATES = (
    (1.0,), (1.0, 1.0, 0.5), (1.0, 0.1), (3.0, 2.0, 1.0, 0.5, 0.25), (1.0,) * 8,
    (1e6, 1.0, 1e-3), tuple(np.linspace(0.5, 1.5, 9).tolist()),
)  # fmt: skip
EXPONENTS = (0.5, 2.0, 7.0)
IN_WORDS = "7 sets of 1 to 9 rates from 1e-3 to 1e6; a = 0.5, 2, 7"


def _cases() -> Iterator[tuple["theory.NodesToCollect", list[Any], dict[str, Any]]]:
    for rates, exponent in itertools.product(RATES, EXPONENTS):
        powers = [mp.mpf(rate) ** exponent for rate in rates]
        p = [power / mp.fsum(powers) for power in powers]
        yield theory.NodesToCollect(rates, exponent), p, {"rates": str(rates), "exponent": exponent}


def _subsets(p: list[Any]) -> Iterator[tuple[int, Any]]:
    """Sign of inclusion and exclusion, and total probability, of all sets that are not empty."""
    for size in range(1, len(p) + 1):
        for chosen in itertools.combinations(p, size):
            yield (-1) ** (size + 1), mp.fsum(chosen)


@accuracy(
    "theory.NodesToCollect.probabilities",
    "Chances of maxima, of a new one, and bounds of the number of nodes",
    against="μᵃ/Σμᵃ, harmonic numbers",
    grid=f"{IN_WORDS}; every subset of the first maxima found, factor 2 and 10",
    also=("theory.NodesToCollect.bounds", "theory.NodesToCollect.chance_of_new"),
    seconds=1,
)
def probabilities() -> Iterator[Comparison]:
    """Ratios of powers."""
    for nodes, p, where in _cases():
        yield Comparison(nodes.probabilities, np.array(p, dtype=object), where)
        harmonic = mp.harmonic(len(p))
        true = (1 / min(p), len(p) * harmonic, harmonic / min(p))
        for name, value, exact in zip(nodes.bounds()._fields, nodes.bounds(), true, strict=True):
            yield Comparison(value, exact, where | {"bound": name})
        for found, factor in itertools.product(range(1, len(p)), (2.0, 10.0)):
            new, old = mp.fsum(p[found:]), mp.fsum(p[:found])
            exact = new / (mp.mpf(factor) ** -nodes.exponent * old + new)
            value = nodes.chance_of_new(list(range(found)), factor)
            yield Comparison(value, exact, where | {"found": found, "factor": factor})


@accuracy(
    "theory.NodesToCollect.expected",
    "Expected number of nodes until all maxima are found, with and without suppression",
    against="inclusion and exclusion at 50 digits; harmonic numbers for equal rates",
    grid=f"{IN_WORDS}; 100 and 3000 equal rates; factor 2 and 10",
    also=("theory.NodesToCollect.expected_with_suppression",),
    seconds=2,
)
def expected() -> Iterator[Comparison]:
    """An integral in the library, a finite sum here."""
    for nodes, p, where in _cases():
        exact = mp.fsum(sign / total for sign, total in _subsets(p))
        yield from _expected(nodes, exact, where)
    for many in (100, 3000):
        nodes = theory.NodesToCollect(np.ones(many))
        yield from _expected(nodes, many * mp.harmonic(many), {"equal": many})


def _expected(nodes: Any, exact: Any, where: dict[str, Any]) -> Iterator[Comparison]:
    yield Comparison(nodes.expected, exact, where)
    for factor in (2.0, 10.0):
        shrink = mp.mpf(factor) ** -nodes.exponent
        true = shrink * exact + (1 - shrink) * len(nodes.rates)
        yield Comparison(nodes.expected_with_suppression(factor), true, where | {"factor": factor})


@accuracy(
    "theory.NodesToCollect.chance",
    "Chance that so many nodes find all maxima",
    against="inclusion and exclusion at 300 digits",
    grid=f"{IN_WORDS}; numbers of nodes: 0 to 12, 20, 50, 200, 1000, 30000",
    seconds=3,
)
def chance() -> Iterator[Comparison]:
    """Sums of terms of both signs that cancel where the chance is small."""
    many = np.array([*range(13), 20, 50, 200, 1000, 30000])
    for nodes, _, where in _cases():
        with mp.workdps(300):
            powers = [mp.mpf(rate) ** nodes.exponent for rate in nodes.rates.tolist()]
            p = [power / mp.fsum(powers) for power in powers]
            sets = list(_subsets(p))
            true = [
                1 - mp.fsum(sign * max(1 - total, 0) ** int(K) for sign, total in sets)
                for K in many
            ]
        true = [v if int(K) >= len(p) else mp.mpf(0) for v, K in zip(true, many, strict=True)]
        yield Comparison(nodes.chance(many), numbers(true), where | {"num_nodes": many})
