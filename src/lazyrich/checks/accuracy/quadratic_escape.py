"""How units of a quadratic layer leave the saddle at zero."""

import functools
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import numbers
from lazyrich.core import Comparison, accuracy

RATES = np.array([-0.75, 0.375, 1.0])
SHARES = np.array([0.0, 1e-6, 0.1, 0.5, 0.9, 0.99])
UNITS = 12
_GRID = (
    "12 random units of size 1e-3, half of them moving against the slope, in 3 directions with rates "
    "1, 0.375, −0.75"
)


def _weights() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return 1e-3 * rng.standard_normal((3, UNITS)), 1e-3 * rng.standard_normal(UNITS)


@functools.cache
def _escape() -> Any:
    return theory.QuadraticEscape(np.diag(RATES), *_weights())


class _Particle:
    """One unit as a particle on a line, ẏ = 2v with v² = G(y); integrals at 30 digits."""

    def __init__(self, unit: int):
        first, second = _weights()
        self.b, self.v0, self.s = numbers(first[:, unit]), mp.mpf(second[unit]), numbers(RATES)
        self.sign = 1 if self.v0 > 0 else -1
        self.turn = self._turning_point()
        self.turning_time = mp.inf if self.turn is None else self.elapsed(mp.mpf(0), self.turn)
        self.out = self.sign if self.turn is None else -self.sign
        begin = mp.mpf(0) if self.turn is None else self.turn
        far = begin + self.out * 400  # where e^−400 is left of the integrand, or G is flat
        before = mp.mpf(0) if self.turn is None else self.turning_time
        self.blow_up = before + self.elapsed(begin, far)

    def G(self, y: Any) -> Any:
        terms = (b * b * mp.expm1(2 * s * y) for b, s in zip(self.b, self.s, strict=True))
        return self.v0**2 + mp.fsum(terms) / 2

    def _beyond(self, distance: Any) -> Any:
        """G at a distance from the turning point, where it is 0."""
        terms = (
            b * b * mp.exp(2 * s * self.turn) * mp.expm1(2 * s * distance)
            for b, s in zip(self.b, self.s, strict=True)
        )
        return mp.fsum(terms) / 2

    def _turning_point(self) -> Any:
        """The first zero of the convex G in the direction of the start, or None."""
        slope = mp.diff(self.G, 0)
        if slope * self.sign >= 0:
            return None
        y = mp.mpf(0)
        for _ in range(200):  # Newton's iteration on a convex function comes from one side
            value, slope = self.G(y), mp.diff(self.G, y)
            if slope * self.sign >= 0:
                return None  # past its minimum, which is positive
            step = -value / slope
            y += step
            if abs(step) < mp.mpf(10) ** -45 * abs(y):
                return y
        return y

    def elapsed(self, start: Any, end: Any) -> Any:
        """∫|dy|/2√G; with y = turn ± z² where G has a zero, so that the integrand is smooth."""
        if start == end:
            return mp.mpf(0)
        with mp.workdps(30):
            if self.turn is None:
                near = [start + (end - start) * mp.mpf(10) ** -k for k in (2, 1)]
                cuts = [start, *near, end] if abs(end - start) > 50 else [start, end]
                return abs(mp.quad(lambda y: 1 / (2 * mp.sqrt(self.G(y))), cuts))
            side = -self.sign
            a, b = sorted(mp.sqrt(abs(y - self.turn)) for y in (start, end))
            cuts = [a, *(c for c in (mp.mpf(1), mp.mpf(4)) if a < c < b), b]
            return mp.quad(lambda z: z / mp.sqrt(self._beyond(side * z * z)), cuts)

    def at(self, t: Any, y: Any, v: Any) -> tuple[Any, Any]:
        """Position and velocity at a time, by one Newton step from a position that is nearly right."""
        has_turned = self.turn is not None and v * self.sign < 0
        begin = self.turn if has_turned else mp.mpf(0)
        passed = self.elapsed(begin, y) + (self.turning_time if has_turned else 0)
        velocity = mp.sqrt(self.G(y)) * (-self.sign if has_turned else self.sign)
        y = y + 2 * velocity * (t - passed)
        return y, mp.sqrt(self.G(y)) * mp.sign(velocity)

    def reaching(self, size: Any) -> Any:
        """When √(v² + |u|²) is a size: v² is (size² + 2(v² − |u|²/2))/3 then."""
        conserved = self.v0**2 - np.sum(self.b**2) / 2
        level = (size**2 + 2 * conserved) / 3
        begin = mp.mpf(0) if self.turn is None else self.turn
        near, far = begin, begin + self.out
        while self.G(far) < level:
            near, far = far, begin + 2 * (far - begin)
        y = mp.findroot(
            lambda y: mp.log(self.G(y) / level),
            (near + far) / 2 if near == begin else (near, far),
            solver="secant",
        )
        return self.elapsed(begin, y) + (0 if self.turn is None else self.turning_time)


@functools.cache
def _particle(unit: int) -> _Particle:
    return _Particle(unit)


@accuracy(
    "theory.QuadraticEscape.blow_up_time",
    "When units of a quadratic layer turn, have a size, and become infinite",
    against="tanh–sinh quadrature of dy/2√G along the path at 30 digits",
    grid=f"{_GRID}; size 1",
    also=tuple(
        f"theory.QuadraticEscape.{name}"
        for name in ("turning_time", "escape_time", "order", "conserved")
    ),
    seconds=2,
)
def times() -> list[Comparison]:
    """Units that turn take the way there and back."""
    escape, unit = _escape(), np.arange(UNITS)
    particles = [_particle(k) for k in unit.tolist()]
    first, second = _weights()
    blow_up = [p.blow_up for p in particles]
    true = {
        "blow-up": (escape.blow_up_time().time, blow_up),
        "turning": (escape.turning_time().time, [p.turning_time for p in particles]),
        "escape": (escape.escape_time().time, [p.reaching(mp.mpf(1)) for p in particles]),
        "order": (escape.order, sorted(unit.tolist(), key=lambda k: blow_up[k])),
        "conserved": (escape.conserved, [p.v0**2 - np.sum(p.b**2) / 2 for p in particles]),
    }
    size = second**2 + np.sum(first**2, axis=0)
    return [
        Comparison(
            values, np.array(exact, dtype=object), {"what": what, "unit": unit},
            scale=size if what == "conserved" else None,
        )
        for what, (values, exact) in true.items()
    ]  # fmt: skip


@accuracy(
    "theory.QuadraticEscape.units",
    "Weights of a quadratic layer, and the growth of their parts",
    against="the same quadrature, inverted by Newton's iteration",
    grid=f"{_GRID}; 6 times from 0 to 0.99 of the blow-up; errors relative to the unit",
    also=("theory.QuadraticEscape.growth",),
    explanation="Close to the blow-up the condition number is the inverse of the share of the time "
    "that is left, times the "
    "logarithm of the growth.",
    seconds=2,
)
def units() -> list[Comparison]:
    """Each unit at shares of its own time."""
    escape, found = _escape(), []
    for unit in range(UNITS):
        particle = _particle(unit)
        t = SHARES * escape.blow_up_time().time[unit]
        weights, growth = escape.units(t)[:, unit], escape.growth(t)[:, unit]
        true_weights, true_growth = [], []
        for k, time in enumerate(t.tolist()):
            y, v = particle.at(mp.mpf(time), mp.log(mp.mpf(growth[k, 2])), weights[k, 0])
            factors = [mp.exp(s * y) for s in particle.s]
            true_growth.append(factors)
            true_weights.append([v, *(b * f for b, f in zip(particle.b, factors, strict=True))])
        left = 1 - t / float(particle.blow_up)
        where = {"unit": unit, "time": t[:, None]}
        sizes = np.array([mp.norm(w) for w in true_weights], dtype=object)[:, None]
        condition = (10 / left)[:, None]
        found += [
            Comparison(weights, np.array(true_weights, dtype=object), where, sizes, condition),
            Comparison(growth, np.array(true_growth, dtype=object), where, condition=condition),
        ]  # fmt: skip
    return found
