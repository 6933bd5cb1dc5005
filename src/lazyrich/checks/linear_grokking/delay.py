"""Eq. 9–11 and 23–25: accuracy, late times, and the grokking time."""

import math
from collections.abc import Callable
from typing import Any

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
        m = theory.LateGrokking(ratio, learning_rate=1.0)
        slowest = min(8 * math.sqrt(ratio), 4 * (1 - math.sqrt(ratio)) ** 2)
        right, stated = large / slowest, large * math.sqrt(ratio)
        errors += [_late_error(m, ratio, right, weighted) for weighted in (True, False)]
        printed += [_late_error(m, ratio, stated, weighted) for weighted in (True, False)]
    return CheckResult(
        max(errors), 2 / large, len(errors), printed_error=max(printed),
        correction="the forms hold, the stated condition ηt ≫ √λ does not suffice: the expansion is in "
        "1/(8√λ·ηt), and for the test loss in 1/(4(1 − √λ)²·ηt) too",
    )  # fmt: skip


def _late_error(m: "theory.LateGrokking", ratio: float, t: float, weighted: bool) -> float:
    exact = _oracles.log_loss(ratio, 4 * t, weighted=weighted)
    lam, gap = ratio, 1 - math.sqrt(ratio)
    log_late = -4 * gap**2 * t - math.log(16 * math.sqrt(math.pi) * lam**0.75 * t**1.5)
    if not weighted:
        log_late -= 2 * math.log(gap)
    shipped = m.train_loss(t) if weighted else m.test_loss(t)
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
        limit = theory.LateGrokking(ratio).small_threshold_delay()
        shares = []
        for exponent in (400, 800):
            log_level = -exponent * math.log(10)
            train, test = (
                _oracles.falling_time(ratio, log_level, weighted=kind) for kind in (True, False)
            )
            shares.append(float((test - train) / 4) / limit)
        errors.append(abs(2 * shares[1] - shares[0] - 1))
    return CheckResult(max(errors), 2e-3, len(errors))


@check(
    "linear-grokking/eq23",
    "Training time at late times, by Lambert's function",
    against="bisection on the late form of Eq. 21, at 30 digits",
)
def eq23() -> CheckResult:
    """Eq. 23 solves Eq. 21 = ε/4 exactly; its cube root is (1 − √λ)²/√λ π^(1/3)."""
    return _late_time(0, _printed_eq23)


@check(
    "linear-grokking/eq24",
    "Test time at late times, by Lambert's function",
    against="bisection on the late form of Eq. 10, at 30 digits",
)
def eq24() -> CheckResult:
    """Eq. 24 solves Eq. 10 = ε/4 exactly; its cube root is (1 − √λ)^(2/3)/√λ π^(1/3)."""
    return _late_time(2, _printed_eq24)


def _late_time(power: int, printed: Callable[[Any, Any], Any]) -> CheckResult:
    """The time t at which exp(−4g²t)/16√π λ^(3/4) t^(3/2) g^power is ε/4, with g = 1 − √λ and η = 1."""
    import mpmath as mp

    errors = []
    for ratio in (0.01, 0.3, 0.9, 0.99):
        for threshold in (1e-2, 1e-6, 1e-30):
            with mp.workdps(30):
                lam, eps = mp.mpf(ratio), mp.mpf(threshold)
                g = 1 - mp.sqrt(lam)

                def excess(u, g=g, lam=lam, eps=eps):  # u = log t
                    front = 16 * mp.sqrt(mp.pi) * lam ** mp.mpf("0.75") * g**power
                    return (
                        -4 * g**2 * mp.exp(u) - mp.log(front) - mp.mpf(3) / 2 * u - mp.log(eps / 4)
                    )

                t = mp.exp(
                    mp.findroot(excess, (mp.mpf(-30), mp.mpf(30)), solver="bisect", tol=1e-25)
                )
                m = theory.LateGrokking(ratio, 1.0, threshold)
                shipped = (m.test_time() if power else m.train_time()).time
                errors += [abs(float(shipped / t - 1)), abs(float(printed(lam, eps) / t - 1))]
    return CheckResult(max(errors), 1e-12, len(errors))


def _printed_eq23(lam: Any, eps: Any) -> Any:
    import mpmath as mp

    root = mp.cbrt(
        (lam ** mp.mpf("1.5") + lam ** mp.mpf("-1.5") - 6 * lam + 15 * mp.sqrt(lam) - 6 / lam
         + 15 / mp.sqrt(lam) - 20) / mp.pi
    )  # fmt: skip
    argument = 2 * mp.mpf(2) ** (mp.mpf(2) / 3) * root / (3 * eps ** (mp.mpf(2) / 3))
    return 3 / (8 * (1 - mp.sqrt(lam)) ** 2) * mp.lambertw(argument).real


def _printed_eq24(lam: Any, eps: Any) -> Any:
    import mpmath as mp

    root = mp.cbrt((lam ** mp.mpf("-1.5") + 1 / mp.sqrt(lam) - 2 / lam) / mp.pi)
    argument = mp.mpf(2) ** (mp.mpf(5) / 3) * root / (3 * eps ** (mp.mpf(2) / 3))
    return 3 / (8 * (1 - mp.sqrt(lam)) ** 2) * mp.lambertw(argument).real


@check(
    "linear-grokking/eq25",
    "Grokking time with its first correction in the threshold",
    against="differences of mpmath's Lambert function for Eq. 23 and 24 (error times log(1/ε)²/log log(1/ε))",
)
def eq25() -> CheckResult:
    """Eq. 25 keeps W(z) ≃ log z − log log z, so what it lacks falls as log log(1/ε)/log(1/ε)².

    In units of that the error must settle to a constant: it is compared between ε = 1e-300 and 1e-3000.
    """
    import mpmath as mp

    scaled = []
    for ratio in (0.1, 0.5, 0.9):
        row = []
        for exponent in (300, 3000):
            with mp.workdps(30):
                lam, eps = mp.mpf(ratio), mp.mpf(10) ** -exponent
                exact = _printed_eq24(lam, eps) - _printed_eq23(lam, eps)
                g = 1 - mp.sqrt(lam)
                z = (
                    2
                    * (2 - 2 * mp.sqrt(lam)) ** (mp.mpf(2) / 3)
                    / (3 * mp.cbrt(mp.pi) * mp.sqrt(lam) * eps ** (mp.mpf(2) / 3))
                )
                front = 3 / (8 * g**2)
                printed = mp.log(1 / g) / (2 * g**2)
                printed += front * mp.log(1 + mp.log(g ** (mp.mpf(4) / 3)) / mp.log(z))
                size = mp.log(mp.log(1 / eps)) / mp.log(1 / eps) ** 2
                row.append(float(abs(exact - printed) / exact / size))
                if exponent == 300:
                    shipped = theory.LateGrokking(ratio, 1.0, 1e-300).two_term_delay()
                    if abs(float(shipped / printed - 1)) > 1e-12:
                        return CheckResult(
                            math.inf, 1.0, 1
                        )  # the library's form is not the printed one
        scaled += row
    return CheckResult(max(scaled), 3.0, len(scaled))
