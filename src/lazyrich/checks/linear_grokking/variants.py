"""Eq. 12–15 and 30–38: several outputs, weight decay, and the student's scale."""

import math

import numpy as np

from lazyrich import quantities, theory
from lazyrich.checks._oracles import integrate
from lazyrich.core import CheckResult, check


@check(
    "linear-grokking/eq12",
    "Losses and accuracy for several outputs",
    against="Runge–Kutta integration with several outputs (losses); SciPy's χ² distribution (accuracy)",
)
def eq12() -> CheckResult:
    """Eq. 12: d_out divides the loss and the learning rate; ‖z‖²/𝓛 follows a χ² law.

    The incomplete gamma function is printed as Γ(a, z) = ∫ₐ^∞ e⁻ᵗ tᶻ⁻¹ dt, with its arguments exchanged.
    """
    from scipy import stats
    from scipy.special import gamma, gammaincc

    errors, printed = [], []
    for d in (1, 2, 5, 50, 700):
        for loss in np.geomspace(0.1, 10, 7):
            share = stats.chi2.cdf(d / loss, d)
            errors.append(abs(quantities.threshold_accuracy(loss, 1.0, d) - share))
            if d <= 50:  # as printed: ∫ from d/2 of e⁻ᵗ t^(d/2𝓛 − 1)
                z = d / (2 * loss)
                printed.append(abs(1 - gammaincc(z, d / 2) * gamma(z) / gamma(d / 2) - share))
    rng = np.random.default_rng(12)
    for d_out in (1, 4):
        X = rng.standard_normal((15, 6))
        D0 = rng.standard_normal((6, d_out)) / math.sqrt(6 * d_out)
        times = np.linspace(0, 60, 7)
        D = _integrated(X, D0, 0.05, times)
        test = np.sum(D**2, axis=(1, 2)) / d_out
        columns = [theory.LinearFlow(X.T @ X / 15, column, 0.05 / d_out) for column in D0.T]
        claimed = sum(flow.test_loss(times) for flow in columns) / d_out
        errors.append(np.max(np.abs(claimed - test)))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="holds with the usual Γ(a, z) = ∫_z^∞ e⁻ᵗ tᵃ⁻¹ dt; the definition printed below Eq. 12 "
        "exchanges the two arguments",
    )  # fmt: skip


def _integrated(X: np.ndarray, D0: np.ndarray, rate: float, times: np.ndarray) -> np.ndarray:
    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        D = flat.reshape(D0.shape)
        return (-rate * 2 * X.T @ (X @ D) / X.shape[0] / D0.shape[1]).ravel()

    return integrate(velocity, D0, times, atol=1e-14).reshape(len(times), *D0.shape)
