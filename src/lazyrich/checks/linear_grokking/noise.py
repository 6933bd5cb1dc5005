"""Eq. 26–28: label noise."""

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate
from lazyrich.core import CheckResult, check

RATIO, NOISE, RATE = 0.5, 0.4, 0.2


def _descents(steps: list[int], runs: int = 60, d: int = 100):
    """Losses of plain gradient descent on noisy labels, shape (run, step) each."""
    rng = np.random.default_rng(26)
    num_samples = round(d / RATIO)
    train, test = np.zeros((2, runs, len(steps)))
    for run in range(runs):
        X = rng.standard_normal((num_samples, d))
        S, T = rng.standard_normal((2, d)) / np.sqrt(2 * d)
        Y = X @ T + NOISE * rng.standard_normal(num_samples)
        for step in range(steps[-1] + 1):
            if step in steps:
                at = steps.index(step)
                train[run, at], test[run, at] = np.mean((X @ S - Y) ** 2), np.sum((S - T) ** 2)
            S = S - RATE / 20 * 2 * X.T @ (X @ S - Y) / num_samples
    return train, test


def _scores(found: np.ndarray, right: np.ndarray, printed: np.ndarray) -> tuple[float, float]:
    """Deviations of the mean over runs from both forms, in standard errors (and 1 % for the step size)."""
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found)) + 0.01 * np.abs(right)
    return (
        float(np.max(np.abs(found.mean(axis=0) - right) / error)),
        float(np.max(np.abs(found.mean(axis=0) - printed) / error)),
    )


STEPS = [0, 20, 200, 1500]


def _forms() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    times = np.array(STEPS, float)
    noisy = theory.LinearGrokking(RATIO, RATE / 20, label_noise=NOISE)
    clean = theory.LinearGrokking(RATIO, RATE / 20)
    printed_train = clean.train_loss(times) + NOISE**2
    return noisy.train_loss(times), noisy.test_loss(times), printed_train, clean.test_loss(times)


@check(
    "linear-grokking/eq26",
    "Training loss on noisy labels",
    against="plain gradient descent over 60 training sets (deviation in standard errors)",
    seconds=4,
)
def eq26() -> CheckResult:
    """Eq. 26 adds σ² to the noise-free loss for all times."""
    train, _ = _descents(STEPS)
    right, _, printed, _ = _forms()
    error, off = _scores(train, right, printed)
    return CheckResult(
        error, 4.5, len(STEPS), printed_error=off,
        correction="the student fits the noise: the training loss ends at (1 − λ)σ² below λ = 1 (0 above), "
        "not at σ², a factor 1 − λ",
    )  # fmt: skip


@check(
    "linear-grokking/eq27",
    "Test loss after training on noisy labels",
    against="plain gradient descent over 60 training sets (deviation in standard errors)",
    seconds=4,
)
def eq27() -> CheckResult:
    """Eq. 27 leaves the test loss unchanged by noise."""
    _, test = _descents(STEPS)
    _, right, _, printed = _forms()
    error, off = _scores(test, right, printed)
    return CheckResult(
        error, 4.5, len(STEPS), printed_error=off,
        correction="the fitted noise is carried to fresh inputs: the test loss ends at λσ²/(1 − λ) below "
        "λ = 1 and σ²/(λ − 1) more above, not at 0",
    )  # fmt: skip


@check(
    "linear-grokking/eq28",
    "Flow of the difference on noisy labels",
    against="Runge–Kutta integration of the gradient of the noisy loss",
)
def eq28() -> CheckResult:
    """Eq. 28 has neither noise nor time in it, and twice the exponent of Eq. 4."""
    from scipy.linalg import expm

    rng = np.random.default_rng(28)
    X, D0, noise = rng.standard_normal((12, 5)), rng.standard_normal(5), rng.standard_normal(12)
    sigma, pull = X.T @ X / 12, X.T @ noise / 12
    errors, printed = [], []
    for t in (1.0, 5.0):
        slope = lambda _, D: -2 * RATE * X.T @ (X @ D - noise) / 12  # noqa: E731
        exact = integrate(slope, D0, t, atol=1e-14)
        decay = expm(-2 * RATE * sigma * t)
        settled = np.linalg.solve(sigma, pull)
        errors.append(np.max(np.abs(decay @ (D0 - settled) + settled - exact)))
        printed.append(np.max(np.abs(expm(-4 * RATE * sigma) @ D0 - exact)))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="the gradient contains −2Xᵀδ/N: D = e^{−2ηΣt}(D₀ − Σ⁺Xᵀδ/N) + Σ⁺Xᵀδ/N. As printed, the "
        "exponent also lacks t and is twice that of Eq. 4",
    )  # fmt: skip
