"""Modes of one weight vector that race for it."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mp
from lazyrich.core import Comparison, accuracy

RACES = (
    ((1.0, 0.5), (0.1, 0.15), 2), ((1.0, 1.0, 1.0), (0.02, 0.019, 0.01), 2),
    ((2.0, 0.3, 1.0, 0.7), (0.3, 0.5, -0.2, 0.1), 2), ((1.0, 0.9), (1e-6, 1.05e-6), 2),
    ((1.0, 0.5, 0.2), (0.1, 0.12, 0.2), 3), ((1.0, 1.0), (0.3, 0.2999), 4),
)  # fmt: skip
IN_WORDS = "6 races of 2 to 4 modes, d = 2, 3, 4, starts from 1e-6 to 0.5"


class _Race(NamedTuple):
    """A curve x(s): p = d − 1, r = μαᵖ, and the leader's number."""

    race: "theory.ModeRace"
    alpha: list[Any]
    r: list[Any]
    p: int
    leader: int
    where: dict[str, Any]

    def curve(self, y: Any) -> list[Any]:
        """The point where the leader's 1 − p r s is exp(−y)."""
        left = self._left(y)
        return [
            a * (1 - r * left) ** (-mp.mpf(1) / self.p)
            for a, r in zip(self.alpha, self.r, strict=True)
        ]

    def _left(self, y: Any) -> Any:
        return (1 - mp.exp(-y)) / self.r[self.leader]

    def length(self, y: Any) -> Any:
        return mp.sqrt(mp.fsum(x**2 for x in self.curve(y)))

    def decay(self, y: Any, least: int) -> np.ndarray:
        """How fast the logarithm of a mode over the length changes with y; a length below `least` is that."""
        step = mp.mpf(10) ** -20
        now, later = (
            [abs(x) / max(least, self.length(at)) for x in self.curve(at)] for at in (y, y + step)
        )
        return np.array(
            [abs(b / a - 1) / step for a, b in zip(now, later, strict=True)], dtype=object
        )

    def speed(self, y: Any) -> Any:
        """dt/dy."""
        return max(1, self.length(y)) ** self.p * mp.exp(-y) / (self.p * self.r[self.leader])


@functools.cache
def _races() -> tuple[_Race, ...]:
    found = []
    for rates, start, degree in RACES:
        p = degree - 1
        alpha = [mp.mpf(a) for a in start]
        r = [mp.mpf(m) * a**p for m, a in zip(rates, alpha, strict=True)]
        leader = max(range(len(r)), key=lambda l: r[l])  # noqa: E741
        where = {"rates": str(rates), "start": str(start), "degree": degree}
        found.append(_Race(theory.ModeRace(rates, start, degree), alpha, r, p, leader, where))
    return tuple(found)


def _hit(race: _Race) -> tuple[Any, Any]:
    """Where the sphere is reached: y and t."""
    high = -race.p * mp.log(race.alpha[race.leader])
    y = mp.findroot(lambda y: race.length(y) - 1, (high / 2, high), solver="anderson", tol=1e-45)
    return y, race._left(y) / race.p


def _time(race: _Race, y: Any) -> Any:
    hit, t = _hit(race)
    if y <= hit:
        return race._left(y) / race.p
    pieces = mp.linspace(hit, y, 2 + int((y - hit) / 2))
    return t + mp.quad(race.speed, pieces)


@accuracy(
    "theory.ModeRace.amplitudes",
    "Amplitudes of racing modes, and their shares",
    against="the curve at 50 digits, at the time that quadrature finds for a point on it",
    grid=f"{IN_WORDS}; 12 points from the start to 40 units of y beyond the sphere",
    explanation="Amplitudes grow as 1/(t₀ − t) at first, and losers fall as exp(t₁ − t) in the end, where t₀ "
    "and t₁ may be 1e6: the rounding of such times is amplified.",
    also=("theory.ModeRace.shares",),
    seconds=12,
)
def amplitudes() -> Iterator[Comparison]:
    """The time is rounded to a double, and the point moved by what that takes."""
    for race in _races():
        hit, _ = _hit(race)
        for y in [hit * k / 5 for k in range(5)] + [hit + k for k in (0.01, 1, 3, 8, 15, 25, 40)]:
            time = _time(race, mp.mpf(y))
            t = float(time)
            exact = mp.mpf(y) + (mp.mpf(t) - time) / race.speed(mp.mpf(y))
            x = race.curve(exact)
            size = mp.sqrt(mp.fsum(each**2 for each in x))
            where = race.where | {"time": t, "mode": np.arange(len(x))}
            alpha = np.array([each / max(1, size) for each in x], dtype=object)
            condition = t * race.decay(exact, 1) / race.speed(exact)
            yield Comparison(race.race.amplitudes(t), alpha, where, condition=condition)
            shares = np.array([(each / size) ** 2 for each in x], dtype=object)
            condition = 2 * t * race.decay(exact, 0) / race.speed(exact)
            yield Comparison(race.race.shares(t), shares, where, condition=condition)


@accuracy(
    "theory.ModeRace.hitting_time",
    "When the weights reach the sphere, when the leader has won, and who it is",
    against="roots on the curve and quadrature at 50 digits",
    grid=f"{IN_WORDS}; shares 0.6, 0.99, 1 − 1e-6",
    also=("theory.ModeRace.winning_time", "theory.ModeRace.winner"),
    seconds=4,
)
def times() -> Iterator[Comparison]:
    """The share of the squared length decides."""
    for race in _races():
        hit, t = _hit(race)
        yield Comparison(race.race.winner, race.leader, race.where | {"part": "winner"})
        yield Comparison(race.race.hitting_time().time, t, race.where | {"part": "sphere"})
        for share in (0.6, 0.99, 1 - 1e-6):
            missing = _missing(race, mp.mpf(share))
            if missing(mp.mpf(0)) <= 0:
                continue
            y = mp.findroot(missing, (0, hit + 60), solver="anderson", tol=1e-45, maxsteps=200)
            yield Comparison(
                race.race.winning_time(share).time, _time(race, y), race.where | {"share": share}
            )


def _missing(race: _Race, share: Any) -> Callable[[Any], Any]:
    """What the others have over what they may have at this share of the leader, as a logarithm."""

    def function(y: Any) -> Any:
        squares = [x**2 for x in race.curve(y)]
        lead = squares.pop(race.leader)
        return mp.log(mp.fsum(squares) / lead) - mp.log(1 / share - 1)

    return function
