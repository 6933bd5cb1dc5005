"""Eq. 6–10: modes of the linear model and of the diagonal network."""

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate, relative_gap
from lazyrich.checks.layerwise._instances import (
    TIMES,
    half_loss,
    integrate_modes,
    slope,
    uncorrelated,
)
from lazyrich.core import CheckResult, check

STARTS = (
    (0.3, 0.3),
    (0.7, -0.4),
    (-0.5, 0.5),
    (1.3, 0.0),
    (0.0, 0.0),
    (2.0, 1.5),
    (-0.02, 0.6),
    (1e-3, 1e-3),
)
"""Layers at the start: equal, of either sign, opposite, one or both zero, beyond the target, small."""
TARGETS = (1.0, 0.4, 0.0, -0.8)


def _modes() -> tuple[np.ndarray, ...]:
    """Every start with every target, and random ones."""
    rng = np.random.default_rng(6)
    a, b, S = (
        np.ravel(part) for part in zip(*[(*s, t) for s in STARTS for t in TARGETS], strict=True)
    )
    drawn = rng.standard_normal((3, 40)) * np.array([[1.0], [1.0], [1.5]])
    a, b, S = (np.concatenate(pair) for pair in zip((a, b, S), drawn, strict=True))
    return a, b, S, rng.uniform(0.2, 1.5, a.size)


@check(
    "layerwise/eq6",
    "Gradient flow of the diagonal network, and its solution from any start",
    against="differences of the loss over samples; Runge–Kutta integration",
)
def eq6() -> CheckResult:
    """The printed gradients, and the general solution with a ≠ b that the paper leaves to Saxe et al."""
    errors = []
    for seed in range(4):
        X, variances = uncorrelated(seed, 4)
        a, b, S = np.random.default_rng(seed).standard_normal((3, 4))
        rest = variances * (a * b - S)
        of_a = slope(lambda a, X=X, b=b, S=S: half_loss(X @ (a * b), X @ S), a)
        of_b = slope(lambda b, X=X, a=a, S=S: half_loss(X @ (a * b), X @ S), b)
        errors += [relative_gap(-b * rest, -of_a), relative_gap(-a * rest, -of_b)]
    a, b, S, variances = _modes()
    exact = integrate_modes(a, b, S, variances)
    first, second = theory.DiagonalNetwork(S, first=a, second=b, variance=variances).layers(TIMES)
    errors += [relative_gap(first, exact[:, 0]), relative_gap(second, exact[:, 1])]
    return CheckResult(max(errors), 1e-9, 8 + 2 * exact[:, 0].size)


@check(
    "layerwise/eq7",
    "Gradient flow of the linear model",
    against="differences of the loss over samples; Runge–Kutta integration",
)
def eq7() -> CheckResult:
    """The printed gradient, and its solution from any start."""
    errors = []
    for seed in range(4):
        X, variances = uncorrelated(seed, 4)
        theta, S = np.random.default_rng(seed).standard_normal((2, 4))
        found = slope(lambda w, X=X, S=S: half_loss(X @ w, X @ S), theta)
        errors.append(relative_gap(-variances * (theta - S), -found))
        exact = integrate(lambda t, w, v=variances, S=S: -v * (w - S), theta, TIMES)
        errors.append(relative_gap(theory.LinearModes(S, variances, theta).modes(TIMES), exact))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq8",
    "What the diagonal network conserves",
    against="Runge–Kutta integration",
)
def eq8() -> CheckResult:
    """a² − b² along integrated flows, of all modes."""
    a, b, S, variances = _modes()
    path = integrate_modes(a, b, S, variances)
    found = path[:, 0] ** 2 - path[:, 1] ** 2
    kept = -theory.DiagonalNetwork(S, first=a, second=b, variance=variances).conserved
    return CheckResult(relative_gap(found, np.broadcast_to(kept, found.shape)), 1e-9, found.size)


@check(
    "layerwise/eq9",
    "Sigmoidal saturation from equal layers",
    against="Runge–Kutta integration",
)
def eq9() -> CheckResult:
    """Small and equal layers, down to a(0)b(0) = 1e-12, and the limits t = 0 and t → ∞."""
    sizes, S = np.array([0.3, 0.1, 1e-2, 1e-4, 1e-6]), np.array([1.0, 0.5, 2.0, 3.0, 4.0])
    variances = np.array([1.0, 0.3, 0.7, 1.2, 0.9])
    exact = integrate_modes(sizes, sizes, S, variances).prod(axis=1) / S
    printed = 1 / (1 + (S / sizes**2 - 1) * np.exp(-2 * S * variances * TIMES[:, None]))
    network = theory.DiagonalNetwork(S, first=sizes, second=sizes, variance=variances)
    # small modes are compared by their own size
    errors = [np.max(np.abs(form / exact - 1)) for form in (printed, network.modes(TIMES) / S)]
    errors += [relative_gap(network.modes(0.0), sizes**2), relative_gap(network.modes(1e6), S)]
    return CheckResult(max(errors), 1e-9, 2 * exact.size + 2)


@check(
    "layerwise/eq10",
    "Exponential saturation of the linear model from zero",
    against="Runge–Kutta integration of Eq. 7",
)
def eq10() -> CheckResult:
    """Targets of either sign."""
    S, variances = np.array([1.0, -0.6, 3.0]), np.array([0.5, 0.2, 1.4])
    exact = integrate(lambda t, w: -variances * (w - S), np.zeros(3), TIMES) / S
    printed = -np.expm1(-variances * TIMES[:, None])
    errors = [
        relative_gap(printed, exact),
        relative_gap(theory.LinearModes(S, variances).modes(TIMES) / S, exact),
    ]
    return CheckResult(max(errors), 1e-9, 2 * exact.size)
