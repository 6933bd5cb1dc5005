"""Fixed points of linear networks and of linear attention, and the escape from the first of them."""

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mp
from lazyrich.checks.accuracy._matrix import entries, exact, length
from lazyrich.checks.accuracy._symmetric import trace as matrix_trace
from lazyrich.core import Comparison, accuracy

SUBSETS = [modes for size in range(4) for modes in itertools.combinations(range(3), size)]
STRETCHES = [1.0, 1e-2, 1e-4]
_POINTS = (
    "12 random tasks of 3 outputs and 4 inputs whose covariance has condition number 1, 1e4 or 1e8; "
    "all 8 sets of modes"
)
_STRETCHED = (
    "The inverse covariance enters, whose condition number amplifies every rounding; close modes turn "
    "into each other."
)


class _Task(NamedTuple):
    """What the library is given, and the modes at many digits."""

    correlation: np.ndarray
    covariance: np.ndarray
    condition: float
    regression: Any
    values: list[Any]
    vectors: Any


@functools.cache
def _task(seed: int) -> _Task:
    rng, stretch = np.random.default_rng(seed), STRETCHES[seed % 3]
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    root = Q * np.geomspace(1, stretch, 4)
    covariance = root @ root.T
    covariance = (covariance + covariance.T) / 2
    correlation = rng.standard_normal((3, 4)) @ covariance
    S = exact(correlation)
    regression = S * exact(covariance) ** -1
    gain = regression * S.T
    values, vectors = mp.eigsy((gain + gain.T) / 2)
    order = sorted(range(3), key=lambda k: -values[k])
    E = mp.matrix(3, 3)
    for column, k in enumerate(order):
        E[:, column] = vectors[:, k]
    values = [values[k] for k in order]
    gap = min(float((a - b) / a) for a, b in itertools.pairwise(values))
    condition = stretch**-2 / gap
    return _Task(correlation, covariance, condition, regression, values, E)


def _projector(task: _Task, modes: tuple[int, ...]) -> Any:
    P = mp.zeros(3)
    for k in modes:
        P += task.vectors[:, k] * task.vectors[:, k].T
    return P


@accuracy(
    "theory.LinearFixedPoints.map",
    "Maps, losses, residual correlations and escape rates of all fixed points of a linear network",
    against="inverse and eigenvectors at 50 digits",
    grid=f"{_POINTS}; errors relative to the whole task",
    also=tuple(
        f"theory.LinearFixedPoints.{name}"
        for name in (
            "loss",
            "residual_correlation",
            "escape_rate",
            "weights",
            "hessian_index",
            "num_modes",
        )
    ),
    explanation=_STRETCHED,
)
def fixed_points() -> list[Comparison]:
    """Weights are compared by the map that they make."""
    found = []
    for seed in range(12):
        task = _task(seed)
        points = theory.LinearFixedPoints(task.correlation, task.covariance)
        whole = length(task.regression), length(task.correlation), sum(task.values)
        for modes in SUBSETS:
            P, S = _projector(task, modes), exact(task.correlation)
            rest = S - P * S
            rate = mp.sqrt(
                max(mp.eigsy(rest * rest.T, eigvals_only=True) if len(modes) < 3 else [0])
            )
            W = points.weights(modes, width=4)
            loss = (sum(task.values) - sum(task.values[k] for k in modes)) / 2
            missing = [k for k in range(3) if k not in modes]
            index = (4 - len(modes)) * len(missing) + sum(j < k for k in modes for j in missing)
            where = {"seed": seed, "modes": str(modes)}
            pairs = [
                (points.map(modes), entries(P * task.regression), whole[0]),
                ((W.first @ W.second).T, entries(P * task.regression), whole[0]),
                (points.residual_correlation(modes), entries(rest), whole[1]),
                (points.escape_rate(modes), rate, whole[1]),
                (points.loss(modes), loss, whole[2]),
                (points.hessian_index(modes, width=4), index, 1),
                (points.num_modes, 3, 1),
            ]
            found += [
                Comparison(value, true, where, scale=size, condition=task.condition)
                for value, true, size in pairs
            ]
    return found


@accuracy(
    "theory.AttentionSaddles.map",
    "Maps, losses, gains and correlations of the saddles of linear attention",
    against="Eq. 69 and 70 of saddles with eigenvectors at 50 digits",
    grid="9 random covariances of size 3 with condition numbers 1 to 1e8; contexts 1, 32 and 10⁶; "
    "all 8 sets of modes; errors "
    "relative to the whole",
    also=tuple(
        f"theory.AttentionSaddles.{name}" for name in ("loss", "gains", "correlations", "num_modes")
    ),
    explanation="Small eigenvalues are known to 1e-16 of the largest, and vectors of close ones "
    "turn into each other.",
)
def attention_saddles() -> list[Comparison]:
    """Losses by the trace formula for the map, not by the sum over modes."""
    found = []
    for seed, context in itertools.product(range(9), (1, 32, 10**6)):
        covariance, values, E, condition = _covariance(seed)
        saddles = theory.AttentionSaddles(covariance, context)
        trace, N = sum(values), mp.mpf(context)
        scale = N * values[0] ** 2
        L = exact(covariance)
        where = {"seed": seed, "context": context}
        gains = np.array([N * v**2 / ((N + 1) * v + trace) for v in values], dtype=object)
        found.append(Comparison(saddles.gains, gains, where, scale=values[0]))
        found.append(Comparison(saddles.num_modes, 3, where))
        for modes in SUBSETS:
            A = mp.zeros(3)
            for k in modes:
                A += E[:, k] * E[:, k].T / ((N + 1) * values[k] + trace)
            second = N * (N + 1) * L * L + N * trace * L
            loss = matrix_trace(A.T * second * A * L) - 2 * N * matrix_trace(L * A * L) + trace
            missing = [N * values[k] ** 2 for k in range(3) if k not in modes]
            there = where | {"modes": str(modes)}
            largest = 1 / ((N + 1) * values[-1] + trace)
            found += [
                Comparison(saddles.map(modes), entries(A), there, largest, condition),
                Comparison(saddles.loss(modes), loss, there, scale=trace),
                Comparison(saddles.correlations(modes), np.array(missing, dtype=object), there, scale=scale),
            ]  # fmt: skip
    return found


@functools.cache
def _covariance(seed: int) -> tuple[np.ndarray, list[Any], Any, float]:
    rng, smallest = np.random.default_rng(seed), 10.0 ** -(4 * (seed % 3))
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    L = (Q * np.geomspace(1, smallest / 2, 3)) @ Q.T
    L = (L + L.T) / 2
    values, vectors = mp.eigsy(exact(L))
    order = [2, 1, 0]  # largest first
    E = mp.matrix(3, 3)
    for column, k in enumerate(order):
        E[:, column] = vectors[:, k]
    return L, [values[k] for k in order], E, 2 / smallest


TIMES = decades(1e-6, 100, 17, zero=True)


@accuracy(
    "theory.LinearEscape.units",
    "Small weights of a linear layer, with their parts along and across the winning direction",
    against="the exponential of the block matrix with eigenvectors at 50 digits",
    grid="6 random correlations of 2 × 3, scales 1e-3 to 1e3, 4 units; 18 times from 0 to 100 in "
    "units of the largest singular "
    "value; errors relative to each unit's length",
    also=tuple(
        f"theory.LinearEscape.{name}"
        for name in (
            "aligned",
            "misaligned",
            "escape_time",
            "singular_values",
            "misalignment_exponent",
            "multiplicity",
        )
    ),
    explanation="Growth to e^100 amplifies the rounding of a singular value a hundredfold; the "
    "condition number is 1 + s₁t.",
)
def linear_escape() -> list[Comparison]:
    """Growth over forty decades."""
    found = []
    for seed in range(6):
        rng, scale = np.random.default_rng(seed), 10.0 ** (seed - 3)
        S = scale * rng.standard_normal((2, 3))
        first, second = 1e-6 * rng.standard_normal((3, 4)), 1e-6 * rng.standard_normal((4, 2))
        escape = theory.LinearEscape(S, first, second)
        largest = np.linalg.norm(S, 2)
        found += _escape(escape, S, np.concatenate([second.T, first]), TIMES / largest, seed)
    return found


def _escape(
    escape: Any, S: np.ndarray, start: np.ndarray, times: np.ndarray, seed: int
) -> list[Comparison]:
    blocks = mp.zeros(5)
    for i, j in itertools.product(range(2), range(3)):
        blocks[i, 2 + j] = blocks[2 + j, i] = mp.mpf(S[i, j])
    rates, V = mp.eigsy(blocks)
    s1, s2 = rates[4], rates[3]
    parts = V.T * exact(start)
    condition = 1 + np.linalg.norm(S, 2) * times
    where = {"seed": seed, "time": times}
    whole, along, across = [], [], []
    for t in times.tolist():
        grown = mp.diag([mp.exp(rates[k] * mp.mpf(t)) for k in range(5)]) * parts
        whole.append(entries((V * grown).T))
        along.append([abs(grown[4, i]) for i in range(4)])
        across.append([length([grown[k, i] for k in range(4)]) for i in range(4)])
    units, along, across = (np.array(part, dtype=object) for part in (whole, along, across))
    size = np.array([[length(u) for u in at] for at in units], dtype=object)
    wait = np.array([mp.log(1 / a) / s1 for a in along[0]], dtype=object)
    deep = where | {"time": times[:, None, None]}
    wide = where | {"time": times[:, None]}
    here = {"seed": seed}
    gap = float(s1 / (s1 - s2))
    # directions turn by a rounding error over the gap: the smaller a part, the more that changes it
    of_along, of_across = (gap * (size[0] / part[0]).astype(float) for part in (along, across))
    grows = condition[:, None]
    return [
        Comparison(escape.units(times), units, deep, size[..., None], gap * grows[..., None]),
        Comparison(escape.aligned(times), along, wide, condition=of_along * grows),
        Comparison(escape.misaligned(times), across, wide, condition=of_across * grows),
        Comparison(escape.escape_time().time, wait, here, condition=of_along),
        Comparison(escape.singular_values, np.array([s1, s2], dtype=object), here, scale=s1),
        Comparison(escape.misalignment_exponent, 1 - s2 / s1, here, scale=1),
        Comparison(escape.multiplicity, 1, here),
    ]  # fmt: skip
