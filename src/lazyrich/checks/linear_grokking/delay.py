"""Eq. 9–11: accuracy, late times, and the grokking time."""

import math

import numpy as np

from lazyrich import quantities, theory
from lazyrich.checks.linear_grokking import _oracles
from lazyrich.core import CheckResult, check


@check(
    "linear-grokking/eq9",
    "Accuracy as a function of the loss",
    against="integral of the normal density over |z| ≤ √ε",
)
def eq9() -> CheckResult:
    """Eq. 9 as printed sets the accuracy equal to 2 Pr(|z| ≤ √ε): the 2 is wrong."""
    from scipy.integrate import quad

    errors, printed = [], []
    for threshold in (1e-6, 1e-3, 0.1):
        for loss in threshold * np.geomspace(0.02, 1e3, 13):
            half = math.sqrt(threshold / loss)
            share = quad(lambda u: math.exp(-u * u / 2), -half, half, epsabs=0, epsrel=1e-12)[0]
            share /= math.sqrt(2 * math.pi)
            accuracy = quantities.threshold_accuracy(loss, threshold)
            errors.append(abs(accuracy / share - 1))
            errors.append(abs(quantities.threshold_loss(share, threshold) / loss - 1) * (1 - share))
            printed.append(abs(2 * share / accuracy - 1))
    return CheckResult(
        max(errors), 1e-11, len(errors), printed_error=max(printed),
        correction="printed as 2 Pr(|z| ≤ √ε), too large by a factor 2; Pr(|z| ≤ √ε) equals the erf",
    )  # fmt: skip


@check(
    "linear-grokking/eq10",
    "Losses at late times",
    against="quadrature of the density at 30 digits",
    seconds=3,
)
def eq10() -> CheckResult:
    """Eq. 10 holds once 8√λ·ηt ≫ 1 and 4(1 − √λ)²·ηt ≫ 1, not once ηt ≫ √λ as printed."""
    large = 500
    errors, printed = [], []
    for ratio in (1e-4, 0.01, 0.25, 0.6, 0.9, 0.99):
        m = theory.LinearGrokking(ratio, learning_rate=1.0)
        slowest = min(8 * math.sqrt(ratio), 4 * (1 - math.sqrt(ratio)) ** 2)
        right, stated = large / slowest, large * math.sqrt(ratio)
        errors += [_late_error(m, ratio, right, weighted) for weighted in (True, False)]
        printed += [_late_error(m, ratio, stated, weighted) for weighted in (True, False)]
    return CheckResult(
        max(errors), 2 / large, len(errors), printed_error=max(printed),
        correction="the forms hold, the stated condition ηt ≫ √λ does not suffice: the expansion is in "
        "1/(8√λ·ηt), and for the test loss in 1/(4(1 − √λ)²·ηt) too",
    )  # fmt: skip


def _late_error(m: "theory.LinearGrokking", ratio: float, t: float, weighted: bool) -> float:
    exact = _oracles.log_loss(ratio, 4 * t, weighted=weighted)
    lam, gap = ratio, 1 - math.sqrt(ratio)
    log_late = -4 * gap**2 * t - math.log(16 * math.sqrt(math.pi) * lam**0.75 * t**1.5)
    if not weighted:
        log_late -= 2 * math.log(gap)
    shipped = m.late_train_loss(t) if weighted else m.late_test_loss(t)
    if shipped > 0 and abs(math.log(shipped) - log_late) > 1e-9 * (1 + abs(log_late)):
        return math.inf  # the library's form is not the printed one
    return abs(math.expm1(min(float(log_late - exact), 700)))


@check(
    "linear-grokking/eq11",
    "Grokking time for small thresholds",
    against="roots of the quadrature, extrapolated to threshold 0",
    seconds=10,
)
def eq11() -> CheckResult:
    """Eq. 11 is the limit ε → 0; the delay approaches it as 1/log(1/ε), which is extrapolated away."""
    errors = []
    for ratio in (0.1, 0.5, 0.9):
        limit = theory.LinearGrokking(ratio, 1.0).small_threshold_grokking_time()
        shares = []
        for exponent in (400, 800):
            log_level = -exponent * math.log(10)
            train, test = (
                _oracles.falling_time(ratio, log_level, weighted=kind) for kind in (True, False)
            )
            shares.append(float((test - train) / 4) / limit)
        errors.append(abs(2 * shares[1] - shares[0] - 1))
    return CheckResult(max(errors), 2e-3, len(errors))
