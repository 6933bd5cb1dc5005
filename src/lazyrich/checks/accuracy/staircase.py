"""The staircase of a linear network whose modes do not mix, and the fastest direction of a ReLU unit."""

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import length, numbers
from lazyrich.core import Comparison, accuracy

SINGULAR, VARIANCES = np.array([2.0, 1.25, 0.75]), np.array([1.5, 0.75, 0.5])
RATE = 0.5
STARTS = [1e-30, 1e-9, 1e-4, 1e-2]
_GRID = "3 modes that do not mix; starts of 4 sizes from 1e-30 to 1e-2, known and random (50 units)"


class _Stairs(NamedTuple):
    """Centres of the drops, μ and rates in the order in which modes are learned; s = rates."""

    centres: list[Any]
    mu: list[Any]
    rates: list[Any]
    order: list[int]

    def fall(self, t: Any) -> Any:
        """How far the loss has fallen at time ηt: one logistic for each mode."""
        x = [
            1 / (1 + mp.exp(-2 * s * (t - c)))
            for s, c in zip(self.rates, self.centres, strict=True)
        ]
        return mp.fsum(m * y * (2 - y) for m, y in zip(self.mu, x, strict=True)) / 2

    def half_way(self, drop: int, near: Any) -> Any:
        """When the loss is between two plateaus, by Newton's iteration from a time that is nearly right."""
        middle = mp.fsum(self.mu[:drop]) / 2 + self.mu[drop] / 4
        return mp.findroot(lambda t: self.fall(t) - middle, near, tol=1e-40)


def _known(size: float) -> tuple[Any, _Stairs]:
    """Each mode has a unit of its own."""
    a, b = size * np.array([1.0, 0.7, 1.3]), size * np.array([0.4, 1.1, 0.9])
    stairs = theory.Staircase(
        np.diag(SINGULAR),
        np.diag(VARIANCES),
        first=np.diag(a),
        second=np.diag(b),
        learning_rate=RATE,
    )
    gains = [mp.log((x + y) ** 2 / 4) for x, y in zip(numbers(a), numbers(b), strict=True)]
    return stairs, _stairs(lambda rank, mode: gains[mode])


def _random(size: float) -> tuple[Any, _Stairs]:
    """Products of H random weights: the mean of the logarithm of a chi-square variable."""
    stairs = theory.Staircase(
        np.diag(SINGULAR), np.diag(VARIANCES), initial_std=size, width=50, learning_rate=RATE
    )
    square = mp.mpf(size) ** 2 / 2
    return stairs, _stairs(
        lambda rank, mode: mp.log(square) + mp.log(2) + mp.digamma(mp.mpf(50 - rank) / 2)
    )


def _stairs(log_product: Any) -> _Stairs:
    """Modes in the order of their arrival; here that is the order of their rates."""
    s, c = numbers(SINGULAR), numbers(VARIANCES)
    centres = [(mp.log(s[k] / c[k]) - log_product(k, k)) / (2 * s[k]) for k in range(3)]
    return _Stairs(centres, [s[k] ** 2 / c[k] for k in range(3)], list(s), [0, 1, 2])


def _cases() -> list[tuple[str, float, Any, _Stairs]]:
    return [
        (kind, size, *make(size))
        for kind, make in (("known", _known), ("random", _random))
        for size in STARTS
    ]


@accuracy(
    "theory.Staircase.drop_times",
    "Plateaus, rates and times of a staircase",
    against="logistic drops of modes that do not mix, at 50 digits",
    grid=_GRID,
    also=tuple(
        f"theory.Staircase.{name}"
        for name in (
            "levels",
            "rates",
            "drop_widths",
            "durations",
            "alignment",
            "order",
            "modes",
            "rank",
        )
    ),
)
def plateaus() -> list[Comparison]:
    """Times by Newton's iteration, widths by the logistic's own inverse."""
    found = []
    for kind, size, stairs, exact in _cases():
        times = [
            exact.half_way(k, mp.mpf(t) * RATE) / RATE for k, t in enumerate(stairs.drop_times)
        ]
        losses = [(mp.fsum(exact.mu) - mp.fsum(exact.mu[:r])) / 2 for r in range(4)]
        x = [1 - mp.sqrt(mp.mpf(left) / 10) for left in (9, 1)]
        width = mp.log(x[1] / (1 - x[1])) - mp.log(x[0] / (1 - x[0]))
        ends = [mp.mpf(0), *times, mp.inf]
        modes = [k for r in range(4) for k in sorted(exact.order[:r])]
        true = {
            "drop_times": (stairs.drop_times, times),
            "levels": (stairs.levels, losses),
            "rates": (stairs.rates, [s * RATE for s in exact.rates]),
            "drop_widths": (stairs.drop_widths, [width / (2 * s * RATE) for s in exact.rates]),
            "durations": (stairs.durations, [b - a for a, b in itertools.pairwise(ends)]),
            "alignment": (stairs.alignment, [1, 1, 1]),
            "order": (stairs.order, exact.order),
            "modes": ([k for chosen in stairs.modes for k in chosen], modes),
            "rank": (stairs.rank, 3),
        }
        for what, (values, reference) in true.items():
            where = {"start": kind, "size": size, "what": what}
            scale = mp.fsum(exact.mu) if what == "levels" else None
            found.append(Comparison(values, np.array(reference, dtype=object), where, scale=scale))
    return found


@accuracy(
    "theory.Staircase.loss",
    "The loss of a staircase",
    against="logistic drops of modes that do not mix, at 50 digits",
    grid=f"{_GRID}; 60 times until the last drop is over; errors relative to the first loss",
    explanation="A drop at time T is a logistic of rate·T, an exponent that is known to 1e-16 of itself.",
)
def loss() -> list[Comparison]:
    """Down to the last plateau, which is 0."""
    found = []
    for kind, size, stairs, exact in _cases():
        times = np.linspace(0, 1.5 * stairs.drop_times[-1], 60)
        whole = mp.fsum(exact.mu) / 2
        true = [whole - exact.fall(mp.mpf(t) * RATE) for t in times.tolist()]
        where = {"start": kind, "size": size, "time": times}
        condition = 1 + 2 * SINGULAR[0] * RATE * times
        found.append(
            Comparison(
                stairs.loss(times), np.array(true, dtype=object), where, scale=whole, condition=condition
            )
        )  # fmt: skip
    return found


@accuracy(
    "theory.Staircase.spread",
    "Standard deviation of the drop times over random starts",
    against="the derivative of an implicit function, and ψ′, at 50 digits",
    grid=_GRID,
    explanation="The derivatives are central differences with step 1e-4: an estimate to first "
    "order needs no more digits.",
    bound=1e-8,
)
def spread() -> list[Comparison]:
    """0 for a start that is known."""
    found = []
    for kind, size, stairs, exact in _cases():
        true = [
            _deviation(exact, k, mp.mpf(t) * RATE) / RATE for k, t in enumerate(stairs.drop_times)
        ]
        reference = np.array(true, dtype=object) if kind == "random" else 0
        found.append(Comparison(stairs.spread, reference, {"start": kind, "size": size}))
    return found


def _deviation(stairs: _Stairs, drop: int, near: Any) -> Any:
    t = stairs.half_way(drop, near)
    parts = []
    for s, c, m in zip(stairs.rates, stairs.centres, stairs.mu, strict=True):
        x = 1 / (1 + mp.exp(-2 * s * (t - c)))
        parts.append(2 * s * m * x * (1 - x) ** 2)  # the speed of this drop
    shares = [part / mp.fsum(parts) for part in parts]
    variances = [
        mp.psi(1, mp.mpf(50 - rank) / 2) / (4 * s * s) for rank, s in enumerate(stairs.rates)
    ]
    return mp.sqrt(mp.fsum(share**2 * v for share, v in zip(shares, variances, strict=True)))


@accuracy(
    "theory.fastest_direction",
    "The direction in which a small ReLU unit grows fastest",
    against="all activation patterns around the circle, at 50 digits",
    grid="40 random data sets of 1 to 8 samples in two dimensions, one output; errors relative to "
    "the rate and to 1",
)
def fastest() -> list[Comparison]:
    """In two dimensions, where the answer is exact."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_normal((1 + seed % 8, 2)), rng.standard_normal(1 + seed % 8)
        result = theory.fastest_direction(x, y)
        rate, u, v = _fastest(x, y)
        where = {"seed": seed}
        values = [result.rate, *result.incoming, *result.outgoing]
        reference = np.array([rate, *u, v], dtype=object)
        found.append(Comparison(values, reference, where, scale=np.array([0, 1, 1, 1])))
    return found


def _fastest(x: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray, Any]:
    X, Y = numbers(x), numbers(y) / len(y)
    corners = sorted(
        (mp.atan2(b, a) + turn) % (2 * mp.pi) for a, b in X for turn in (mp.pi / 2, -mp.pi / 2)
    )
    directions = [_direction(angle) for angle in corners]
    for k, begin in enumerate(corners):
        end = corners[k + 1] if k + 1 < len(corners) else corners[0] + 2 * mp.pi
        active = X @ _direction((begin + end) / 2) > 0
        pull = (Y[active, None] * X[active]).sum(axis=0) if active.any() else np.zeros(2, object)
        if length(pull) > 0:
            directions += [pull / length(pull), -pull / length(pull)]
    gain = functools.partial(_gain, X, Y)
    best = max(directions, key=lambda u: abs(gain(u)))
    return abs(gain(best)), best, mp.sign(gain(best))


def _direction(angle: Any) -> np.ndarray:
    return np.array([mp.cos(angle), mp.sin(angle)], dtype=object)


def _gain(X: np.ndarray, Y: np.ndarray, u: np.ndarray) -> Any:
    """Mean of ReLU(uᵀx)·y; a corner's own sample is at 0 up to 50 digits."""
    return mp.fsum(max(z, mp.mpf(0)) * y for z, y in zip(X @ u, Y, strict=True))
