"""The readout that learns on fixed features, and ridge regression."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mp
from lazyrich.checks.accuracy._matrix import entries, exact, length
from lazyrich.checks.accuracy._symmetric import Symmetric, centred, largest_singular_value
from lazyrich.core import Comparison, accuracy

TIMES = decades(1e-6, 1e4, 16, zero=True)
CASES_IN_WORDS = (
    "random data, (n, K, M) = (6, 3, 2), (4, 6, 3), (8, 4, 1), random or zero start; (η, β) = (0, 1), "
    "(1e-6, 1), (0.1, 0.5), (10, 2)"
)
GRID = f"{CASES_IN_WORDS}; t: 0 and 16 from 1e-6 to 1e4"
EXACT = "exp(−At) with the eigenvectors of A at 50 digits"


class _Case(NamedTuple):
    """One readout; its matrices at many digits."""

    readout: "theory.LazyReadout"
    where: dict[str, Any]
    F: Any  # β F̃
    Y: Any
    V: Any
    ridge: Any
    scale: Any
    A: Symmetric


@functools.cache
def _cases() -> tuple[_Case, ...]:
    found, rng = [], np.random.default_rng(3)
    for n, K, M in ((6, 3, 2), (4, 6, 3), (8, 4, 1)):
        for kind in ("random", "zero"):
            features, targets = rng.standard_normal((n, K)), rng.standard_normal((n, M))
            start = rng.standard_normal((K, M)) * (kind == "random")
            for ridge, scale in ((0.0, 1.0), (1e-6, 1.0), (0.1, 0.5), (10.0, 2.0)):
                readout = theory.LazyReadout(features, targets, start, ridge, scale)
                F, Y, V = (
                    centred(exact(features)) * mp.mpf(scale),
                    centred(exact(targets)),
                    exact(start),
                )
                A = Symmetric(F.T * F + mp.mpf(ridge) * mp.eye(K))
                where = {
                    "shape": f"{n} × {K} × {M}",
                    "start": kind,
                    "ridge": ridge,
                    "output_scale": scale,
                }
                found.append(_Case(readout, where, F, Y, V, mp.mpf(ridge), mp.mpf(scale), A))
    return tuple(found)


def _decay_of(value: Any, t: Any) -> Any:
    """(1 − exp(−λt))/λ; eigenvalues that are rounding count as 0, where it is t."""
    return (1 - mp.exp(-value * t)) / value if abs(value) > mp.mpf(10) ** -40 else t


def _weights(case: _Case, t: Any) -> Any:
    moved = case.A.apply(lambda value: _decay_of(value, t)) * (case.F.T * case.Y)
    return case.A.apply(lambda value: mp.exp(-value * t)) * case.V + moved


def _limit(case: _Case) -> tuple[Any, Any, Any]:
    """Weights, error and gradient for t → ∞; without decay what A does not see stays."""
    small = mp.mpf(10) ** -40

    def inverse(value: Any) -> Any:
        return 1 / value if value > small else mp.mpf(0)

    stays = case.A.apply(lambda value: mp.mpf(1) if value < small else mp.mpf(0)) * case.V
    V = case.A.apply(inverse) * (case.F.T * case.Y) + stays
    E = case.Y - case.F * V
    return V, E, case.scale * E * V.T


def _compared(
    values: Callable[[_Case], Any],
    reference: Callable[[_Case, Any], Any],
    scale: Callable[[_Case, Any], Any] | None = None,
) -> Iterator[Comparison]:
    """A matrix or number at all times, entries relative to the whole or to a scale."""
    for case in _cases():
        for t, value in zip(TIMES.tolist(), values(case), strict=True):
            true = reference(case, mp.mpf(t))
            is_matrix = hasattr(true, "rows")
            size = scale(case, true) if scale else length(true) if is_matrix else None
            shown = entries(true) if is_matrix else true
            yield Comparison(value, shown, case.where | {"time": t}, scale=size)


@accuracy(
    "theory.LazyReadout.weights", "Weights V(t) of a lazy readout", against=EXACT,
    grid=f"{GRID}; entries relative to the length of V(t)", seconds=6,
)  # fmt: skip
def weights() -> Iterator[Comparison]:
    """Also with more nodes than samples, where the Gram matrix is singular."""
    return _compared(lambda case: case.readout.weights(TIMES), _weights)


@accuracy(
    "theory.LazyReadout.error", "Error E(t) on the training samples",
    against=f"Ỹ − βF̃V, {EXACT}", grid=f"{GRID}; entries relative to the length of Ỹ", seconds=6,
)  # fmt: skip
def error() -> Iterator[Comparison]:
    """Where nodes outnumber samples the error vanishes to rounding of the targets."""
    return _compared(
        lambda case: case.readout.error(TIMES),
        lambda case, t: case.Y - case.F * _weights(case, t),
        lambda case, true: length(case.Y),
    )


@accuracy(
    "theory.LazyReadout.gradient",
    "Backpropagated gradient G_F(t), and its length",
    against=f"βEVᵀ, {EXACT}",
    grid=f"{GRID}; relative to β‖Ỹ‖‖V‖ at the end",
    also=("theory.LazyReadout.gradient_norm",),
    seconds=12,
)
def gradient() -> Iterator[Comparison]:
    """The gradient vanishes in the end where the targets can be fitted."""

    def exactly(case: _Case, t: Any) -> Any:
        V = _weights(case, t)
        return case.scale * (case.Y - case.F * V) * V.T

    def size(case: _Case, true: Any) -> Any:
        return case.scale * length(case.Y) * length(_limit(case)[0])

    yield from _compared(lambda case: case.readout.gradient(TIMES), exactly, size)
    yield from _compared(
        lambda case: case.readout.gradient_norm(TIMES),
        lambda case, t: length(exactly(case, t)),
        size,
    )


@accuracy(
    "theory.LazyReadout.loss", "Loss J(t), decay included", against=EXACT,
    grid=f"{GRID}; relative to the loss, and to 2⁻⁵²‖Ỹ‖² where it is below that: errors on single samples "
    "are known up to 2⁻⁵²‖Ỹ‖, so that of a loss near the square of it no digit is left",
    seconds=5,
)  # fmt: skip
def loss() -> Iterator[Comparison]:
    """Without decay the loss of targets that can be fitted ends at the square of their rounding."""

    def exactly(case: _Case, t: Any) -> Any:
        V = _weights(case, t)
        return (length(case.Y - case.F * V) ** 2 + case.ridge * length(V) ** 2) / 2

    for case in _cases():
        true = np.array([exactly(case, mp.mpf(t)) for t in TIMES.tolist()], dtype=object)
        where, floor = case.where | {"time": TIMES}, mp.mpf(2) ** -52 * length(case.Y) ** 2
        yield Comparison(case.readout.loss(TIMES), true, where, scale=floor)


@accuracy(
    "theory.LazyReadout.limit",
    "Where a lazy readout ends: weights, error and gradient",
    against="the inverse of A at 50 digits",
    grid=f"{CASES_IN_WORDS}; entries relative to the length, to ‖Ỹ‖, and to β‖Ỹ‖‖V‖",
    also=(
        "theory.LazyReadout.features",
        "theory.LazyReadout.rank",
        "theory.LazyReadout.unexplained",
    ),
    seconds=2,
)
def limit() -> Iterator[Comparison]:
    """The rank counts, the features are centred."""
    for case in _cases():
        V, E, G = _limit(case)
        sizes = length(V), length(case.Y), case.scale * length(case.Y) * length(V)
        for part, value, true, size in zip(
            "VEG", case.readout.limit(), (V, E, G), sizes, strict=True
        ):
            yield Comparison(value, entries(true), {"part": part} | case.where, scale=size)
        F = case.F / case.scale
        yield Comparison(case.readout.features, entries(F), case.where, scale=length(F))
        shown = case.where | {"part": "rank"}
        yield Comparison(case.readout.rank, min(F.rows - 1, F.cols), shown)
        values, vectors = mp.eigsy(F * F.T)
        inside = [vectors[:, i] for i in range(F.rows) if values[i] > mp.mpf(10) ** -40]
        left = case.Y - sum((v * (v.T * case.Y) for v in inside), 0 * case.Y)
        share = length(left) / length(case.Y)
        yield Comparison(case.readout.unexplained, share, case.where, scale=1)


@accuracy(
    "theory.LazyReadout.convergence",
    "Rate and constant of the convergence of G_F; constant of Proposition 3",
    against="their formulas with eigenvalues at 50 digits",
    grid=CASES_IN_WORDS,
    also=("theory.LazyReadout.decay_constant",),
    seconds=2,
)
def convergence() -> Iterator[Comparison]:
    """The constant of Proposition 3 where features can express the targets and nothing decays."""
    for case in _cases():
        V, E, _ = _limit(case)
        moves = length(case.V - V)
        bound = largest_singular_value(V) + moves
        constant = (
            case.scale
            * moves
            * (largest_singular_value(case.F) * bound + largest_singular_value(E))
        )
        found = case.readout.convergence()
        yield Comparison(found.rate, _rate(case), case.where | {"part": "rate"})
        yield Comparison(found.constant, constant, case.where | {"part": "constant"})
        if not case.ridge and case.F.rows <= case.F.cols:
            yield Comparison(case.readout.decay_constant(), constant, case.where | {"part": "C₀"})


def _rate(case: _Case) -> Any:
    """The smallest eigenvalue of A along which weights move."""
    small, move = mp.mpf(10) ** -40, case.V - _limit(case)[0]
    along = case.A.vectors.T * move
    rates = [case.A.values[i] for i in range(along.rows) if length(along[i, :]) > mp.mpf(10) ** -20]
    return min(rate for rate in rates if rate > small)


@accuracy(
    "theory.LazyReadout.expansion", "Terms of G_F at small times", against="the products at 50 digits",
    grid=f"{CASES_IN_WORDS}; entries relative to the length of their term", seconds=1,
)  # fmt: skip
def expansion() -> Iterator[Comparison]:
    """All five terms of Eq. 3."""
    for case in _cases():
        F, Y, V, b = case.F, case.Y, case.V, case.scale
        AV, FY = F.T * (F * V) + case.ridge * V, F.T * Y
        terms = (
            b * Y * V.T, -b * F * V * V.T, b * Y * FY.T,
            -b * (Y * AV.T + F * V * FY.T + F * FY * V.T), b * (F * V * AV.T + F * AV * V.T),
        )  # fmt: skip
        found = case.readout.expansion()
        for name, value, true in zip(found._fields, found, terms, strict=True):
            yield Comparison(value, entries(true), {"term": name} | case.where, scale=length(true))


@accuracy(
    "theory.ridge_readout",
    "Ridge regression, and the length of the first gradient of a random readout",
    against="the inverse of A at 50 digits; Wishart's second moment",
    grid=f"{CASES_IN_WORDS}, η = 0 for K < n only; entries relative to the length",
    also=("theory.initial_gradient_norm",),
    seconds=1,
)
def ridge() -> Iterator[Comparison]:
    """Both take raw features."""
    for case in _cases():
        features, targets = (
            np.array(part.tolist(), float) for part in (case.F / case.scale, case.Y)
        )
        eta, scale = float(case.ridge), float(case.scale)
        F, Y = centred(exact(features)) * case.scale, centred(exact(targets))
        if eta or F.cols < F.rows - 1:
            A = Symmetric(F.T * F + case.ridge * mp.eye(F.cols))
            V = A.apply(lambda value: 1 / value) * (F.T * Y)
            value = theory.ridge_readout(features, targets, eta, scale)
            yield Comparison(value, entries(V), case.where, scale=length(V))
        for alpha in (1e-6, 0.1, 3.0):
            noise, K, M = case.scale * mp.mpf(alpha), F.cols, Y.cols
            squares = noise**2 * K * length(Y) ** 2
            squares += noise**4 * M * (K + M + 1) * length(F / case.scale) ** 2
            value = theory.initial_gradient_norm(features, targets, alpha, scale)
            yield Comparison(value, mp.sqrt(squares), case.where | {"scale": alpha})
