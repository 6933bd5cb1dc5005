"""Eq. 61–69: a network whose output is scaled."""

import numpy as np

from lazyrich import theory
from lazyrich.checks.li2._lazy_instances import distance, flow, instances
from lazyrich.core import CheckResult, check


@check(
    "li2/eq68",
    "The gradient at small times with a scaled output",
    against="finite differences of the loss by the features along the flow",
)
def eq68() -> CheckResult:
    """Eq. 62–68 hold for EVᵀ; what the features receive, −∂J/∂F̃, is β times that."""
    errors, printed, beta, h = [], [], 3.0, 1e-5
    for i in instances():
        F, Y, V = i
        terms = theory.LazyReadout(F, Y, V, output_scale=beta, centring="none").expansion()
        rng = np.random.default_rng(0)
        D = rng.standard_normal(F.shape)
        losses = [np.sum((Y - beta * (F + k * h * D) @ V) ** 2) / 2 for k in (1, -1)]
        descent = (losses[1] - losses[0]) / (2 * h)
        zeroth = Y @ V.T - beta * F @ V @ V.T  # Eq. 66
        errors.append(abs(np.sum(D * terms.at(0.0)) / descent - 1))
        printed.append(abs(np.sum(D * zeroth) / descent - 1))
        R2 = -(Y @ V.T @ F.T @ F + F @ V @ Y.T @ F + F @ F.T @ Y @ V.T)
        R3 = F @ V @ V.T @ F.T @ F + F @ F.T @ F @ V @ V.T
        first = beta * Y @ Y.T @ F + beta**2 * R2 + beta**3 * R3  # Eq. 67
        step = 1e-4 / float(np.linalg.norm(beta * F, 2)) ** 2
        slope = (flow(i, step, 0.0, beta)[2] - flow(i, -step, 0.0, beta)[2]) / (2 * step)
        errors += [distance(terms.at(1.0) - terms.at(0.0), slope), distance(beta * first, slope)]
        printed.append(distance(first, slope))
    return CheckResult(
        max(errors), 1e-5, len(errors), printed_error=max(printed),
        correction="EVᵀ is −∂J/∂F̃ for β = 1 only: all terms lack a factor β; the signal grows as β²t.",
    )  # fmt: skip


@check(
    "li2/eq69",
    "The gradient that remains with a scaled output",
    against="the normal equations of the scaled loss",
)
def eq69() -> CheckResult:
    """It is that of β = 1 with the decay η/β²: smaller by β² for small η, larger by β² for large η."""
    errors, printed = [], []
    for i in instances():
        F, Y, V0 = i
        F = F / np.linalg.norm(F, 2)
        for beta, decay in ((2.0, 1.0), (3.0, 0.1), (0.5, 0.3)):
            A = beta**2 * F.T @ F + decay * np.eye(F.shape[1])
            V = np.linalg.solve(A, beta * F.T @ Y)
            exact = beta * (Y - beta * F @ V) @ V.T
            scaled = theory.LazyReadout(F, Y, V0, decay, beta, centring="none").limit().gradient
            same = theory.LazyReadout(F, Y, V0, decay / beta**2, centring="none").limit().gradient
            plain = theory.LazyReadout(F, Y, V0, decay, centring="none").limit().gradient
            errors += [distance(scaled, exact), distance(same, exact)]
            printed.append(distance(plain / beta**2, exact))
    return CheckResult(
        max(errors), 1e-10, len(errors), printed_error=max(printed),
        correction="G*_β(η) = G*(η/β²), not G*(η)/β²: the decay must be divided too. Equal for η far "
        "below β²σ_min² only.",
    )  # fmt: skip
