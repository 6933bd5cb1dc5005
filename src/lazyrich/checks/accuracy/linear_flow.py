"""Gradient flow of a linear student on a given training set."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mp
from lazyrich.checks.accuracy._matrix import entries, exact, length
from lazyrich.core import Comparison, accuracy

TIMES = decades(1e-6, 1e3, 19, zero=True)
GRID = (
    "training sets of 2, 4 and 8 samples in 4 dimensions, two of each, and one scaled by 1e-8; 20 "
    "times from 0 to "
    "1e3"
)
EXPLANATION = (
    "An eigenvalue of Σ is known to 1e-16 of the largest one, which time multiplies: the condition number is "
    "1 + 4η|Σ|t. Directions without data keep such an eigenvalue for ever."
)


def _cases() -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    for seed, samples in enumerate((2, 2, 4, 4, 8, 8, 8)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((samples, 4)) * (1e-4 if seed == 6 else 1)
        yield seed, samples, X.T @ X / samples, rng.standard_normal(4)


@functools.cache
def _difference(seed: int, t: float) -> Any:
    """exp(−2Σt)·D₀ through the eigenvectors, D₀ and Σ being exactly what the library was given."""
    start = list(_cases())[seed][3]
    nu, V = _spectrum(seed)
    decayed = mp.diag([mp.exp(-2 * nu[k] * mp.mpf(t)) for k in range(len(nu))])
    return V * decayed * V.T * exact(start)


@functools.cache
def _spectrum(seed: int) -> tuple[Any, Any]:
    sigma = exact(list(_cases())[seed][2])
    return mp.eigsy((sigma + sigma.T) / 2)


def _condition(sigma: np.ndarray) -> np.ndarray:
    return 1 + 4 * np.linalg.norm(sigma, 2) * TIMES


@accuracy(
    "theory.LinearFlow.difference",
    "Student minus teacher",
    against="exp(−2ηΣt)D₀ with eigenvectors at 50 digits",
    grid=f"{GRID}; errors relative to its length",
    explanation=EXPLANATION,
)
def difference() -> list[Comparison]:
    """A vector: its small entries are as uncertain as its large ones."""
    found = []
    for seed, samples, sigma, start in _cases():
        values = theory.LinearFlow(sigma, start).difference(TIMES)
        true = np.array([entries(_difference(seed, t))[:, 0] for t in TIMES.tolist()])
        scale = np.array([length(D) for D in true], dtype=object)[:, None]
        where = {"seed": seed, "samples": samples, "time": TIMES[:, None]}
        condition = _condition(sigma)[:, None]
        found.append(Comparison(values, true, where, scale=scale, condition=condition))
    return found


@accuracy(
    "theory.LinearFlow.test_loss",
    "Losses on the training set and on fresh inputs",
    against="DᵀΣD and DᵀD at 50 digits",
    grid=f"{GRID}; training losses relative to |Σ||D|²",
    also=("theory.LinearFlow.train_loss",),
    explanation=EXPLANATION,
)
def losses() -> list[Comparison]:
    """Where the training set does not span the space the training loss goes to 0, but not the difference."""
    found = []
    for seed, samples, sigma, start in _cases():
        flow = theory.LinearFlow(sigma, start)
        D = [_difference(seed, t) for t in TIMES.tolist()]
        test = np.array([length(d) ** 2 for d in D], dtype=object)
        train = np.array([(d.T * exact(sigma) * d)[0] for d in D], dtype=object)
        where = {"seed": seed, "samples": samples, "time": TIMES}
        found += [
            Comparison(flow.test_loss(TIMES), test, where | {"loss": "test"}, condition=_condition(sigma)),
            Comparison(
                flow.train_loss(TIMES), train, where | {"loss": "train"},
                scale=test * np.linalg.norm(sigma, 2), condition=_condition(sigma),
            ),
        ]  # fmt: skip
    return found
