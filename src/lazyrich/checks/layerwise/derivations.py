"""Eq. 26–39: the derivation of modes, step by step."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate, relative_gap
from lazyrich.checks.layerwise._instances import (
    TIMES,
    extrapolated_descent,
    half_loss,
    integrate_modes,
    slope,
    uncorrelated,
)
from lazyrich.core import CheckResult, check

SEEDS = range(4)
BY_DIFFERENCES = "differences of the loss over samples"


def _linear(seed: int) -> tuple[Any, ...]:
    """Inputs, variances, weights, targets, and dθ/dt."""
    X, variances = uncorrelated(seed, 4)
    theta, S = np.random.default_rng(seed).standard_normal((2, 4))
    velocity = -slope(lambda w: half_loss(X @ w, X @ S), theta)
    return X, variances, theta, S, velocity


def _diagonal(seed: int) -> tuple[Any, ...]:
    """Inputs, variances, layers, targets, and da/dt, db/dt."""
    X, variances = uncorrelated(seed, 4)
    a, b, S = np.random.default_rng(seed).standard_normal((3, 4))
    of_a = -slope(lambda w: half_loss(X @ (w * b), X @ S), a)
    of_b = -slope(lambda w: half_loss(X @ (a * w), X @ S), b)
    return X, variances, a, b, S, of_a, of_b


@check(
    "layerwise/eq26",
    "Gradient flow of the linear model",
    against="gradient descent extrapolated to a vanishing learning rate",
)
def eq26() -> CheckResult:
    """The definition of gradient flow; what descent tends to is what `LinearModes` gives."""
    errors = []
    for seed in SEEDS:
        _, variances, theta, S, _ = _linear(seed)
        limit = extrapolated_descent(lambda w, v=variances, S=S: v * (w - S), theta, 1.5)
        errors.append(relative_gap(theory.LinearModes(S, variances, theta).modes(1.5), limit))
    return CheckResult(max(errors), 1e-9, len(errors))


@check("layerwise/eq27", "Its velocity as a mean over inputs", against=BY_DIFFERENCES)
def eq27() -> CheckResult:
    """The derivative of each sample's loss, averaged."""
    errors = []
    for seed in SEEDS:
        X, _, theta, S, velocity = _linear(seed)
        each = [slope(lambda w, x=x, S=S: float((x @ w - x @ S) ** 2 / 2), theta) for x in X]
        errors.append(relative_gap(-np.mean(each, axis=0), velocity))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq28", "Its velocity as a correlation with the error", against=BY_DIFFERENCES)
def eq28() -> CheckResult:
    """The sum runs over the d inputs; it is printed with p, the width of a layer that this model lacks."""
    errors, printed = [], []
    for seed in SEEDS:
        X, _, theta, S, velocity = _linear(seed)
        errors.append(relative_gap(-np.mean(X * (X @ (theta - S))[:, None], axis=0), velocity))
        cut = (theta - S) * (np.arange(4) < 3)  # a width p = 3, one below d = 4
        printed.append(relative_gap(-np.mean(X * (X @ cut)[:, None], axis=0), velocity))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=min(printed),
        correction="the sum over j runs to d, the number of inputs, not to p",
    )  # fmt: skip


@check("layerwise/eq29", "Its velocity for uncorrelated inputs", against=BY_DIFFERENCES)
def eq29() -> CheckResult:
    """Modes decouple."""
    errors = []
    for seed in SEEDS:
        _, variances, theta, S, velocity = _linear(seed)
        errors.append(relative_gap(-variances * (theta - S), velocity))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq30",
    "Logarithm of the distance to the target",
    against="Runge–Kutta integration of Eq. 29",
)
def eq30() -> CheckResult:
    """Of |S − θ|, so that targets below the start count too; as printed it needs S > θ."""
    errors = []
    for seed in SEEDS:
        _, variances, theta, S, _ = _linear(seed)
        path = integrate(lambda t, w, v=variances, S=S: -v * (w - S), theta, TIMES)
        fallen = np.log(np.abs(S - path)) - np.log(np.abs(S - theta))
        errors.append(relative_gap(fallen, -variances * TIMES[:, None]))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq31",
    "Exponential saturation from zero",
    against="Runge–Kutta integration of Eq. 29",
)
def eq31() -> CheckResult:
    """The same as Eq. 10."""
    errors = []
    for seed in SEEDS:
        _, variances, _, S, _ = _linear(seed)
        path = integrate(lambda t, w, v=variances, S=S: -v * (w - S), np.zeros(4), TIMES) / S
        errors.append(relative_gap(1 - np.exp(-variances * TIMES[:, None]), path))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq32",
    "Gradient flow of the diagonal network",
    against="gradient descent extrapolated to a vanishing learning rate",
)
def eq32() -> CheckResult:
    """What descent in both layers tends to is what `DiagonalNetwork` gives."""
    errors = []
    for seed in SEEDS:
        _, variances, a, b, S, _, _ = _diagonal(seed)

        def gradient(w: np.ndarray, v=variances, S=S) -> np.ndarray:
            return v * (w[0] * w[1] - S) * w[::-1]

        limit = extrapolated_descent(gradient, np.stack([a, b]), 1.0)
        errors.append(
            relative_gap(
                np.stack(
                    theory.DiagonalNetwork(S, first=a, second=b, variance=variances).layers(1.0)
                ),
                limit,
            )
        )
    return CheckResult(max(errors), 1e-9, len(errors))


@check("layerwise/eq33", "Velocity of a as a mean over inputs", against=BY_DIFFERENCES)
def eq33() -> CheckResult:
    """The derivative of each sample's loss, averaged."""
    errors = []
    for seed in SEEDS:
        X, _, a, b, S, of_a, _ = _diagonal(seed)
        each = [slope(lambda w, x=x, b=b, S=S: float((x @ (w * b - S)) ** 2 / 2), a) for x in X]
        errors.append(relative_gap(-np.mean(each, axis=0), of_a))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq34", "Velocity of a as a correlation with the error", against=BY_DIFFERENCES)
def eq34() -> CheckResult:
    """Here the sum may run to p: a diagonal network has as many neurons as inputs."""
    errors = []
    for seed in SEEDS:
        X, _, a, b, S, of_a, _ = _diagonal(seed)
        errors.append(relative_gap(-np.mean(b * X * (X @ (a * b - S))[:, None], axis=0), of_a))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq35", "Velocity of a for uncorrelated inputs", against=BY_DIFFERENCES)
def eq35() -> CheckResult:
    """And that of b, which the paper leaves out."""
    errors = []
    for seed in SEEDS:
        _, variances, a, b, S, of_a, of_b = _diagonal(seed)
        errors += [
            relative_gap(-b * variances * (a * b - S), of_a),
            relative_gap(-a * variances * (a * b - S), of_b),
        ]
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq36",
    "Velocity of ab by the product rule",
    against="differences in time along the integrated flow",
)
def eq36() -> CheckResult:
    """Differences over nine neighbouring times."""
    return CheckResult(
        max(_product_velocity(lambda a, b, S, v, da, db: da * b + a * db)), 1e-9, len(SEEDS)
    )


@check(
    "layerwise/eq37",
    "Velocity of ab",
    against="differences in time along the integrated flow",
)
def eq37() -> CheckResult:
    """For any a and b."""
    found = _product_velocity(lambda a, b, S, v, da, db: -v * (a**2 + b**2) * (a * b - S))
    return CheckResult(max(found), 1e-9, len(SEEDS))


@check(
    "layerwise/eq38",
    "Velocity of ab for equal layers",
    against="differences in time along the integrated flow",
)
def eq38() -> CheckResult:
    """For a = b, as stated."""
    found = _product_velocity(lambda a, b, S, v, da, db: -2 * v * a * b * (a * b - S), equal=True)
    return CheckResult(max(found), 1e-9, len(SEEDS))


def _product_velocity(formula: Any, equal: bool = False) -> list[float]:
    """Differences between a formula for d(ab)/dt and the flow's."""
    errors, h = [], 0.002
    stencil = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840
    for seed in SEEDS:
        _, v, a, b, S, _, _ = _diagonal(seed)
        path = integrate_modes(a, a if equal else b, S, v, h * np.arange(9))
        exact = stencil @ path.prod(axis=1) / h
        a, b = path[4]
        rest = v * (S - a * b)
        errors.append(relative_gap(formula(a, b, S, v, b * rest, a * rest), exact))
    return errors


@check(
    "layerwise/eq39",
    "Sigmoidal saturation from equal layers",
    against="Runge–Kutta integration of Eq. 6",
)
def eq39() -> CheckResult:
    """Beyond the stated a(0)b(0) < S too: starts above the target, and targets of the other sign.

    It is 0/0 for S = 0, whose limit ab = a(0)b(0)/(1 + 2a(0)b(0)E[x²]t) the library gives, and has no value
    for a(0)b(0) = 0.
    """
    a = np.array([0.3, 0.02, 1.4, 2.0, 0.6, 1.1])
    S = np.array([1.0, 2.0, 0.8, 0.1, -0.7, -2.0])
    v = np.array([0.7, 1.2, 0.4, 1.0, 0.9, 0.3])
    exact = integrate_modes(a, a, S, v).prod(axis=1)
    printed = S / (1 + (S / a**2 - 1) * np.exp(-2 * S * v * TIMES[:, None]))
    library = theory.DiagonalNetwork(S, first=a, second=a, variance=v).modes(TIMES)
    errors = [np.max(np.abs(form / exact - 1)) for form in (printed, library)]
    no_target = integrate_modes(a, a, 0 * S, v).prod(axis=1)
    errors.append(
        relative_gap(
            theory.DiagonalNetwork(0.0, first=a, second=a, variance=v).modes(TIMES), no_target
        )
    )
    errors.append(relative_gap(a**2 / (1 + 2 * a**2 * v * TIMES[:, None]), no_target))
    return CheckResult(max(errors), 1e-9, 4 * exact.size)
