"""Eq. 55, 56 and 58–62: when a unit of a quadratic layer becomes infinite."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.saddles._quadratic_flow import (
    Layer,
    Particle,
    Record,
    layers,
    particle,
    record,
)
from lazyrich.core import CheckResult, check

TURNS = "v changes its sign in a share of the units, where v(0)² + Σ a_k(0)²(π^{2s_k/s_m} − 1) reaches 0; "


class _Unit:
    """A unit, its Runge–Kutta record, and the integrals of App. H.2."""

    def __init__(self, one: Layer, unit: int):
        self.start, R = particle(one, unit)
        self.flow: Record = record(one, unit)
        self.v, self.a = self.flow.states[:, 0], self.flow.states[:, 1:] @ R / np.sqrt(2)
        self.printed_m = self.start.winner(np.sign(self.start.v))
        self.final_sign = float(np.sign(self.v[-1]))
        self.m = self.start.winner(self.final_sign)  # the eigenvalue that wins in the end
        self.turns = self.printed_m != self.m

    def log_growth(self, m: int) -> np.ndarray:
        """The logarithm of π_m along the record."""
        return np.log(self.a[:, m] / self.start.a[m])

    def is_outgoing(self, point: int) -> bool:
        """Whether v has its final sign."""
        return bool(np.sign(self.v[point]) == self.final_sign)


def _units() -> Iterator[tuple[int, int, "theory.QuadraticEscape", _Unit]]:
    """Number of the layer, of the unit, solution of the layer, unit."""
    for number, one in enumerate(layers()):
        escape = theory.QuadraticEscape(*one)
        for unit in range(one.num_units):
            yield number, unit, escape, _Unit(one, unit)


def _or_one(error: float) -> float:
    """A printed form without a real value is wrong by 1."""
    return 1.0 if np.isnan(error) else float(error)


@check(
    "saddles/eq55",
    "One-dimensional dynamics of a quadratic unit",
    against="Runge–Kutta integration of Eq. 14",
    seconds=3,
)
def eq55() -> CheckResult:
    """Eq. 55: π̇_m = v s_m π_m, where v has the sign that it has now, not that of v(0)."""
    errors, printed_errors = [], []
    for _, unit, escape, one in _units():
        m, time = one.printed_m, one.flow.time
        exact = one.v * one.start.s[m] * np.exp(one.log_growth(m))
        found = escape.units(time)[:, unit, 0] * one.start.s[m] * escape.growth(time)[:, unit, m]
        scale = np.max(np.abs(exact))
        errors.append(np.max(np.abs(found - exact)) / scale)
        root = np.sqrt(np.maximum(one.start.squared_speed(one.log_growth(m), m), 0))
        printed = np.sign(one.start.v) * one.start.s[m] * np.exp(one.log_growth(m)) * root
        printed_errors.append(np.max(np.abs(printed - exact)) / scale)
        if not one.turns:
            errors.append(printed_errors[-1])
    return CheckResult(
        max(errors), 1e-8, len(errors), printed_error=max(printed_errors),
        correction=TURNS + "after that sign(v(0)) is the wrong sign. Replace it by sign(v(t))",
    )  # fmt: skip


@check(
    "saddles/eq56",
    "When a quadratic unit becomes infinite",
    against="Runge–Kutta integration of Eq. 14 in a time that slows down",
    seconds=3,
)
def eq56() -> CheckResult:
    """Eq. 56 in units without a turning point; in the others the path goes to it and back."""
    errors, printed_errors = [], []
    for _, unit, escape, one in _units():
        exact = one.flow.blow_up
        errors.append(abs(escape.blow_up_time().time[unit] / exact - 1))
        printed = one.start.integral(one.printed_m, 0.0, np.inf) / 2  # the time of Eq. 14
        printed_errors.append(_or_one(abs(printed / exact - 1)))
        if not one.turns:
            errors.append(printed_errors[-1])
    return CheckResult(
        max(errors), 1e-10, len(errors), printed_error=max(printed_errors),
        correction=TURNS + "there the printed root is imaginary. Integrate to the turning point and back",
    )  # fmt: skip


@check(
    "saddles/eq58",
    "How much a unit has grown at a given time",
    against="Runge–Kutta integration of Eq. 14",
    seconds=4,
)
def eq58() -> CheckResult:
    """Eq. 58: the integral from 1 to π_m is the time, as long as v has not changed its sign."""
    errors, printed_errors = [], []
    for _, unit, escape, one in _units():
        m, logs = one.printed_m, one.log_growth(one.printed_m)
        found = escape.growth(one.flow.time)[:, unit, m]
        errors.append(np.max(np.abs(found / np.exp(logs) - 1)))
        for point in (3, 7, 10):
            spent = one.start.integral(m, *sorted((0.0, logs[point]))) * np.sign(logs[point]) / 2
            printed_errors.append(_or_one(abs(spent / one.flow.time[point] - 1)))
            if not one.turns:
                errors.append(printed_errors[-1])
    return CheckResult(
        max(errors), 1e-8, len(errors), printed_error=max(printed_errors),
        correction=TURNS + "after that π_m falls, and the time is the integral to the turning point and back",
    )  # fmt: skip


def _psi(start: Particle, m: int, log_growth: Any) -> Any:
    """Ψ of Eq. 60, as printed."""
    x, others = np.asarray(log_growth), np.arange(len(start.s)) != m
    powers = np.expm1(2 * start.s[others] / start.s[m] * x[..., None])
    ratios = (start.a[others] / start.a[m]) ** 2
    return np.exp(-2 * x) * ((start.v / start.a[m]) ** 2 + np.sum(ratios * powers, axis=-1) - 1)


def _rest_of_race(start: Particle, m: int, log_growth: float) -> float:
    """The left side of Eq. 59, ∫ dπ/(π²√(1 + Ψ)) from π to infinity; NaN where the root is imaginary."""
    from scipy.integrate import quad

    grid = log_growth + np.linspace(0, 45, 4001)
    values = 1 + _psi(start, m, grid)
    if np.any(values[1:] <= 0):
        return np.nan
    middle = grid[np.argmin(values)]
    pieces = [(low, high) for low, high in ((grid[0], middle), (middle, grid[-1])) if high > low]

    def integrand(x: float) -> float:
        return float(np.exp(-x) / np.sqrt(1 + _psi(start, m, x)))

    return sum(quad(integrand, *ends, epsabs=0, epsrel=1e-11, limit=500)[0] for ends in pieces)


def _remaining(one: _Unit, m: int, point: int) -> float:
    """The right side of Eq. 59, |s a(0)|·(T − t), in the time of Eq. 48."""
    return abs(one.start.s[m] * one.start.a[m]) * 2 * (one.flow.blow_up - one.flow.time[point])


def _outgoing() -> Iterator[tuple[_Unit, int, list[tuple[int, bool]]]]:
    """Units at points after their turning point: with the m of Eq. 58 (printed) or with the one that wins."""
    for _, _, _, one in _units():
        for point in (2, 6, 10):
            if one.is_outgoing(point):
                yield one, point, [(one.printed_m, True), (one.m, False)]


@check(
    "saddles/eq59",
    "The time that is left to a unit",
    against="Runge–Kutta integration of Eq. 14, to the end",
    seconds=4,
)
def eq59() -> CheckResult:
    """Eq. 59 holds after the turning point, if there is one, with m for the sign that v has then."""
    errors, printed_errors = [], []
    for one, point, choices in _outgoing():
        for m, is_printed in choices:
            left = _rest_of_race(one.start, m, float(one.log_growth(m)[point]))
            error = _or_one(abs(left / _remaining(one, m, point) - 1))
            (printed_errors if is_printed else errors).append(error)
    return CheckResult(
        max(errors), 1e-8, len(errors), printed_error=max(printed_errors),
        correction=TURNS + "afterwards m must maximise sign(v(t))s_m, not sign(v(0))s_m",
    )  # fmt: skip


@check(
    "saddles/eq60",
    "The function under the root of Eq. 59",
    against="Runge–Kutta integration of Eq. 14",
    seconds=3,
)
def eq60() -> CheckResult:
    """Eq. 60: v² = a_m(0)²π²(1 + Ψ), for every m, at all times."""
    errors = []
    for _, _, _, one in _units():
        scale = one.v**2 + np.sum(one.a**2, axis=1)
        for m in range(len(one.start.s)):
            psi = _psi(one.start, m, one.log_growth(m))
            errors.append(np.max(np.abs(one.a[:, m] ** 2 * (1 + psi) - one.v**2) / scale))
    return CheckResult(max(errors), 1e-8, len(errors))


def _bound(one: _Unit, m: int, low: float) -> float:
    """1/√(1 + Ψ_min), the minimum being over π ≥ exp(low), where Ψ ends at 0; NaN where it is imaginary."""
    least = 1 + min(float(np.min(_psi(one.start, m, low + np.linspace(0, 20, 20001)))), 0.0)
    return 1 / np.sqrt(least) if least > 0 else np.nan


@check(
    "saddles/eq61",
    "A bound on the time that is left",
    against="quadrature of Eq. 59 at points of Runge–Kutta paths",
    seconds=5,
)
def eq61() -> CheckResult:
    """Eq. 61: the error is by how much the left side exceeds the bound. The minimum is over the π to come."""
    errors, printed_errors = [], []
    for one, point, choices in _outgoing():
        for m, is_printed in choices:
            log = float(one.log_growth(m)[point])
            left = _rest_of_race(one.start, m, log)
            right = _bound(one, m, 0.0 if is_printed else log) * np.exp(-log)
            error = _or_one(
                max(left / right - 1, 0.0) if left == left and right == right else np.nan
            )
            (printed_errors if is_printed else errors).append(error)
            if is_printed and not one.turns:
                errors.append(error)
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed_errors),
        correction=TURNS + "there 1 + Ψ_min < 0. Take m and the minimum for the way after the turning point",
    )  # fmt: skip


@check(
    "saddles/eq62",
    "A bound on how much the other units have grown",
    against="Runge–Kutta integration of Eq. 14, to the end",
    seconds=4,
)
def eq62() -> CheckResult:
    """Eq. 62: the error is by how much π_m exceeds the bound."""
    errors, printed_errors = [], []
    for one, point, choices in _outgoing():
        for m, is_printed in choices:
            log = float(one.log_growth(m)[point])
            right = _bound(one, m, 0.0 if is_printed else log) / _remaining(one, m, point)
            error = _or_one(max(np.exp(log) / right - 1, 0.0) if right == right else np.nan)
            (printed_errors if is_printed else errors).append(error)
            if is_printed and not one.turns:
                errors.append(error)
    return CheckResult(
        max(errors), 1e-8, len(errors), printed_error=max(printed_errors),
        correction=TURNS + "there the bound is imaginary. Take m and the minimum after the turning point",
    )  # fmt: skip
