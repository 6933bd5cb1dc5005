"""Proposition 5, Eq. 57 and 63: which unit of a quadratic layer is first, and how small the others are."""

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate
from lazyrich.checks.saddles._quadratic_flow import Layer, layer, layers, particle, record, velocity
from lazyrich.core import CheckResult, check

SPECTRUM = np.diag([1.0, 0.3, -0.7])
"""The correlation of the random layers."""


@check(
    "saddles/eq57",
    "The order in which the units become infinite",
    against="Runge–Kutta integration of Eq. 14",
    seconds=3,
)
def eq57() -> CheckResult:
    """Eq. 57: no two units share a time. `order` is that of the integrated units; the error counts places."""
    wrong, num_units = 0, 0
    for one in layers():
        exact = np.array([record(one, unit).blow_up for unit in range(one.num_units)])
        order = theory.QuadraticEscape(*one).order
        wrong += int(np.sum(order != np.argsort(exact))) + int(np.sum(np.diff(exact[order]) <= 0))
        num_units += one.num_units
    return CheckResult(wrong, 0.5, num_units)


@check(
    "saddles/eq63",
    "The others' remaining time does not depend on the initial scale",
    against="Runge–Kutta integration of Eq. 14 until the first unit is of size 1, from ε = 1e-6 and 1e-8",
    seconds=5,
)
def eq63() -> CheckResult:
    """Eq. 63: |s a_i(0)|(t_∞,i − t_final) is of order ε⁰; the error is the power of ε that is found."""
    scales, logs = (1e-6, 1e-8), []
    for scale in scales:
        products = []
        for seed in (0, 2):
            one = layer(seed, 3, 5, scale)
            flows = [record(one, unit, size=1.0) for unit in range(one.num_units)]
            first = int(np.argmin([flow.at_size for flow in flows]))
            for unit in set(range(one.num_units)) - {first}:
                start, flow = particle(one, unit)[0], flows[unit]
                m = start.winner(np.sign(flow.states[-1, 0]))
                left = 2 * (flow.blow_up - flows[first].at_size)  # the time of Eq. 48
                products.append(abs(start.s[m] * start.a[m]) * left)
        logs.append(np.log(products))
    powers = (logs[0] - logs[1]) / np.log(scales[0] / scales[1])
    return CheckResult(np.max(np.abs(powers)), 0.01, len(powers))


def _rest(scale: float, num_layers: int, num_units: int = 6) -> np.ndarray:
    """Length of the longest other unit when the first of a layer is of length 1, for random layers."""
    rng = np.random.default_rng(5)
    total = num_layers * num_units  # units do not see each other: all layers are one
    first, second = scale * rng.standard_normal((3, total)), scale * rng.standard_normal(total)
    escape = theory.QuadraticEscape(SPECTRUM, first, second)
    times = escape.escape_time(1.0).time.reshape(num_layers, num_units)
    lengths = np.linalg.norm(escape.units(times.min(axis=1)), axis=-1)  # (layers, all units)
    own = lengths.reshape(num_layers, num_layers, num_units)[
        np.arange(num_layers), np.arange(num_layers)
    ]
    own[np.arange(num_layers), times.argmin(axis=1)] = 0
    return own.max(axis=1)


@check(
    "saddles/prop5",
    "When one unit is large, the others are still small",
    against="Runge–Kutta integration of Eq. 14; the power of ε between 1e-6 and 1e-8, over 60 random layers",
    seconds=12,
)
def prop5() -> CheckResult:
    """Proposition 5: in each layer the rest is of order ε. The factor depends on the draw and has no bound.

    The error is that of the power of ε, the worst of all layers; the solution's distance from Runge–Kutta
    counts 10⁴ times.
    """
    powers = np.log(_rest(1e-6, 60) / _rest(1e-8, 60)) / np.log(1e2)
    errors = [*np.abs(powers - 1), *_distance_of_rests()]
    return CheckResult(max(errors), 1e-2, len(errors))


def _distance_of_rests() -> list[float]:
    """Relative distance between rest and Runge–Kutta, for a few layers."""
    errors = []
    for seed in (0, 2):
        one = layer(seed, 3, 5, 1e-4)
        escape = theory.QuadraticEscape(*one)
        exact = [record(one, unit, size=1.0) for unit in range(one.num_units)]
        first = int(np.argmin([flow.at_size for flow in exact]))
        time = exact[first].at_size
        errors.append(abs(escape.escape_time(1.0).time.min() / time - 1))
        lengths = np.linalg.norm(escape.units(time), axis=1)
        for unit in set(range(one.num_units)) - {first}:
            end = _integrated(one, unit, time)
            errors.append(abs(lengths[unit] / np.linalg.norm(end) - 1))
    return [1e4 * error for error in errors]  # these are exact, unlike the powers


def _integrated(one: Layer, unit: int, time: float) -> np.ndarray:
    start = np.concatenate([[one.second[unit]], one.first[:, unit]])
    return integrate(lambda t, x: velocity(one.correlation, x), start, time, atol=1e-20)


@check(
    "saddles/sec5-2",
    "Which unit is first",
    against="Runge–Kutta integration of Eq. 14; 200 random layers of ten units",
    seconds=5,
)
def sec52() -> CheckResult:
    """Sec. 5.2 says: the one with the largest initial weights. Errors are shares of layers where it is not.

    It is the unit with the smallest t_∞, which weighs v(0) and each part of u(0) by what drives it.
    """
    num_layers, num_units = 200, 10
    rng = np.random.default_rng(52)
    first, second = rng.standard_normal((3, 2000)), rng.standard_normal(2000)
    escape = theory.QuadraticEscape(SPECTRUM, first, second)
    winner = escape.blow_up_time().time.reshape(num_layers, num_units).argmin(axis=1)
    length = np.hypot(second, np.linalg.norm(first, axis=0)).reshape(num_layers, num_units)
    wrong = []
    for draw in range(5):
        mine = slice(draw * num_units, (draw + 1) * num_units)
        one = Layer(escape.correlation, first[:, mine], second[mine])
        times = [record(one, unit).blow_up for unit in range(num_units)]
        wrong.append(int(np.argmin(times)) != winner[draw])
    return CheckResult(
        float(np.mean(wrong)), 0.01, num_layers,
        printed_error=float(np.mean(length.argmax(axis=1) != winner)),
        correction="the one with the smallest t_∞ is; of ten units it is the longest in 4 of 10 layers",
    )  # fmt: skip
