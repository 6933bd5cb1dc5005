"""Particles in a convex landscape that is a sum of exponentials; time as an integral along their paths.

A unit of a quadratic layer is such a particle: dy/dt = v with v² = G(y) = v₀² + Σ_k w_k (exp(2 s_k y) − 1).
Where it moves against the slope of G it slows down, and either passes the minimum of G or turns where G = 0.
"""

from typing import Any, NamedTuple

import numpy as np

ROUNDING = 8 * np.finfo(float).eps
"""A minimum of G below this share of the terms it is a sum of counts as 0."""
TAIL = 42.0
"""Where the integral is cut: exp(−42) is beyond rounding."""


class Paths(NamedTuple):
    """One path for each unit, the first axis; y = sign·(base + z(q)), where q increases with time.

    G(z) = g0 + g1·z + Σ_k w_k h(2 s_k z) with h(x) = exp(x) − 1 − x, or exp(x) where `fades`. The base is
    such that no term is negative, so that nothing cancels: the start if G rises from there, else the minimum
    of G, or the turning point.
    """

    sign: Any
    s: Any  # eigenvalues × sign, shape (units, D)
    w: Any  # shape (units, D), at the base
    base: Any
    g0: Any
    g1: Any
    begin: Any  # q at time 0
    end: Any
    turns: Any  # z = q²: v changes its sign at q = 0
    sinks: Any  # z = −base·exp(−q): reaches the minimum of G, which is 0, in infinite time
    fades: Any  # nothing grows: G falls to g0 for ever
    rests: Any  # does not move at all

    @property
    def blows_up(self) -> Any:
        """Whether y is infinite after a finite time."""
        return ~(self.sinks | self.fades | self.rests)

    def take(self, units: Any) -> "Paths":
        """The paths of some units."""
        return Paths(*(field[units] for field in self))

    def z(self, q: Any) -> Any:
        """Distance from the base."""
        return np.where(self.turns, q**2, np.where(self.sinks, -self.base * np.exp(-q), q))

    def squared_speed(self, q: Any) -> Any:
        """G, which is v²."""
        z = self.z(q)
        x = 2 * self.s * z[..., None]
        h = exp_beyond_linear(x)
        if np.any(self.fades):
            h = np.where(self.fades[..., None], np.exp(np.minimum(x, 0)), h)
        return self.g0 + self.g1 * z + np.einsum("...k,...k->...", self.w, h)

    def duration(self, q: Any) -> Any:
        """dt/dq; finite everywhere, thanks to the choice of q."""
        q = np.where(self.turns, np.maximum(np.abs(q), 1e-150), q)
        stretch = np.where(self.turns, 2 * q, np.where(self.sinks, np.abs(self.z(q)), 1.0))
        return stretch / np.sqrt(self.squared_speed(q))


def exp_beyond_linear(x: Any) -> Any:
    """exp(x) − 1 − x ≥ 0, without cancellation."""
    result, is_small = np.expm1(x) - x, np.abs(x) < 0.3
    small = x[is_small]
    series = np.ones_like(small)
    for n in range(13, 2, -1):  # 0.3ⁿ/n! is below rounding then
        series = 1 + small / n * series
    result[is_small] = small**2 / 2 * series
    return result


class _Start(NamedTuple):
    """Units at time 0, seen in the direction in which they move."""

    sign: Any
    s: Any
    w: Any
    squared_speed: Any
    slope: Any  # of G
    rests: Any


def paths(s: np.ndarray, w: np.ndarray, v: np.ndarray) -> Paths:
    """The paths of particles with eigenvalues s (D,), weights w (units, D), velocities v (units,) at y = 0.

    The largest |s| is 1, and so is the larger of |v| and √w for each unit.
    """
    start = _start(s, w, v)
    slows, grows = start.slope < 0, ((start.w > 0) & (start.s > 0)).any(1)
    lowest, low = _lowest(start, slows, grows)
    turns, sinks, passes = slows & (low < 0), slows & grows & (low == 0), slows & grows & (low > 0)
    fades = ~(grows | turns)
    turn = _turning_point(start, turns)
    flip = np.where(turns, -1.0, 1.0)
    base, s = np.select([turns, sinks | passes], [-turn, lowest]), flip[:, None] * start.s
    s = np.where(start.w > 0, s, 0.0)  # what is not there must not overflow
    w = start.w * np.where(fades[:, None], s < 0, np.exp(2 * s * base[:, None]))
    g0 = np.select([turns, slows | fades], [0.0, low], start.squared_speed)
    g1 = np.select([turns, slows], [2 * np.sum(s * w, axis=1), 0.0], start.slope)
    begin = np.select([turns, passes], [-np.sqrt(turn), -lowest])
    end = _end(s, w, g0, fades)
    end = np.select([turns, sinks], [np.sqrt(end), TAIL], end)
    return Paths(
        flip * start.sign, s, w, base, g0, g1, begin, end, turns, sinks, fades, start.rests
    )


def _start(s: np.ndarray, w: np.ndarray, v: np.ndarray) -> _Start:
    slope = 2 * w @ s
    rests = (v == 0) & (np.abs(slope) <= ROUNDING * 2 * w @ np.abs(s))
    # a unit with v = 0 on a slope is at its turning point, to which it came up the slope
    sign = np.where(rests, 1.0, np.where(v == 0, -np.sign(slope), np.sign(v)))
    w = np.where(rests[:, None], 0.0, w)  # so that it moves evenly in a time that does not run
    slope = np.where(rests, 0.0, sign * slope)
    return _Start(sign, sign[:, None] * s, w, np.where(rests, 1.0, v**2), slope, rests)


def _lowest(start: _Start, slows: np.ndarray, grows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where G is least ahead of a unit that slows, and its value; where nothing grows, 0 and the limit."""
    s, w = start.s, start.w
    y, ahead = np.zeros(len(w)), slows & grows
    y[ahead] = _balance(s[ahead], w[ahead])
    change = start.slope * y + np.sum(w * exp_beyond_linear(2 * s * y[:, None]), axis=1)
    change = np.where(grows, change, -np.sum(w * (s < 0), axis=1))
    scale = np.where(grows, 2 * y * np.sum(w * np.abs(s), axis=1), np.sum(w, axis=1))
    low = start.squared_speed + change
    touches = np.abs(low) <= ROUNDING * (start.squared_speed + scale)
    return y, np.where(touches, 0.0, low)


def _balance(s: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Where Σ s w exp(2sy) = 0, for sums that are negative at y = 0 and positive in the end."""

    def excess(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logarithm of the positive over the negative part, which increases, and its derivative."""
        exponents = 2 * s * y[:, None]
        part, rate, shift = [], [], []
        for side in (s * w > 0, s * w < 0):
            shift.append(np.max(np.where(side, exponents, -np.inf), axis=1))  # against overflow
            terms = np.abs(s) * w * np.exp(np.where(side, exponents - shift[-1][:, None], -np.inf))
            part.append(np.sum(terms, axis=1))
            rate.append(np.sum(np.abs(s) * terms, axis=1) / part[-1])
        return np.log(part[0] / part[1]) + shift[0] - shift[1], 2 * (rate[0] + rate[1])

    slowest = np.min(np.where((w > 0) & (s != 0), np.abs(s), np.inf), axis=1, initial=np.inf)
    y = low = np.zeros(len(w))
    high = -excess(y)[0] / (2 * slowest)  # the derivative is at least 4 × slowest
    for _ in range(200):
        value, rate = excess(y)
        low, high = np.where(value < 0, y, low), np.where(value < 0, high, y)
        newton = y - value / rate
        new = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
        settled, y = np.all(np.abs(new - y) <= 1e-15 * new), new
        if settled:
            break
    return y


def _turning_point(start: _Start, turns: np.ndarray) -> np.ndarray:
    """Where G = 0. It is convex and falls, so that Newton's iteration climbs to the first root from 0."""
    _, s, w, speed, slope, _ = (field[turns] for field in start)
    y, x = np.zeros(len(turns)), np.zeros(len(w))
    for _ in range(200):
        arguments = 2 * s * x[:, None]
        G = speed + slope * x + np.sum(w * exp_beyond_linear(arguments), axis=1)
        step = -G / (slope + np.sum(2 * s * w * np.expm1(arguments), axis=1))
        x = x + step
        if np.all(np.abs(step) <= 1e-15 * x):
            break
    y[turns] = x
    return y


def _end(s: np.ndarray, w: np.ndarray, g0: np.ndarray, fades: np.ndarray) -> np.ndarray:
    """The z beyond which nothing is left to integrate.

    With growing terms the time to come is below rounding; with fading ones only, G is constant, or time is
    beyond any that is asked for.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        growing = np.where((w > 0) & (s > 0), (TAIL - np.log(w) / 2) / s, np.inf).min(1)
        excess = np.where(g0[:, None] > 0, np.log(w / g0[:, None]) + TAIL, 4 * TAIL)
        fading = np.where((w > 0) & (s < 0), excess / (2 * np.abs(s)), 0.0).max(1)
    return np.maximum(np.where(fades, fading, growing), 1.0)
