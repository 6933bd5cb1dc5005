"""Eq. 19–22: the closed form of the training loss, and late times."""

import math

import numpy as np

from lazyrich import theory
from lazyrich.checks.linear_grokking import _oracles
from lazyrich.core import CheckResult, check


@check(
    "linear-grokking/eq19",
    "Closed form of the training loss",
    against="quadrature of the density at 30 digits",
    seconds=3,
)
def eq19() -> CheckResult:
    """Eq. 19, e^{−(1+λ)s} ₀F₁(2; λs²) with s = 4ηt, holds above λ = 1 too."""
    import mpmath as mp

    errors = []
    for ratio in (0.01, 0.5, 0.99, 1.0, 3.0):
        for s in (0.01, 1.0, 20.0, 300.0):
            exact = _oracles.log_loss(ratio, s, weighted=True)
            printed = mp.log(mp.hyp0f1(2, ratio * mp.mpf(s) ** 2)) - (1 + ratio) * mp.mpf(s)
            errors.append(abs(float(printed - exact)))
            shipped = theory.LinearGrokking(ratio, 0.25).train_loss(s)
            if shipped > 0:
                errors.append(abs(math.log(shipped) - float(exact)) / (1 + abs(float(exact))))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "linear-grokking/eq20",
    "The test loss falls at 4η times the training loss",
    against="fifth-order differences of the quadrature at 30 digits",
    seconds=3,
)
def eq20() -> CheckResult:
    """Eq. 20."""
    import mpmath as mp

    errors = []
    for ratio in (0.2, 0.9, 1.5):
        for s in (0.5, 10.0):
            with mp.workdps(30):
                h = mp.mpf("1e-3")
                f = [
                    mp.exp(_oracles.log_loss(ratio, s + k * h, weighted=False))
                    for k in (-2, -1, 1, 2)
                ]
                slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
                train = mp.exp(_oracles.log_loss(ratio, s, weighted=True))
                errors.append(abs(float(slope / -train - 1)))
    return CheckResult(max(errors), 1e-10, len(errors))


@check(
    "linear-grokking/eq21",
    "Training loss at late times",
    against="quadrature of the density at 30 digits (error times 64√ληt/3, which tends to 1)",
)
def eq21() -> CheckResult:
    """Eq. 21; its relative error is 3/(64√λ·ηt) to leading order."""
    errors = []
    for ratio in (0.1, 0.5, 0.9):
        t = 400 / (8 * math.sqrt(ratio))
        form = theory.LateGrokking(ratio).train_loss(t)
        exact = math.exp(float(_oracles.log_loss(ratio, 4 * t, weighted=True)))
        errors.append(abs((form / exact - 1) * 64 * math.sqrt(ratio) * t / 3 - 1))
    return CheckResult(max(errors), 0.01, len(errors))


@check(
    "linear-grokking/eq22",
    "Test loss from the late training loss",
    against="numerical integration of Eq. 21 to infinity",
)
def eq22() -> CheckResult:
    """Eq. 22 is 4η∫ₜ^∞ of Eq. 21, exactly."""
    import mpmath as mp

    errors = []
    for ratio in (0.1, 0.6, 0.95):
        gap = (1 - mp.sqrt(ratio)) ** 2
        m = theory.LateGrokking(ratio)
        for t in np.geomspace(0.3, 300, 5):

            def late(
                v, t=t, gap=gap, ratio=ratio
            ):  # Eq. 21 at x = t·exp(v), times dx and exp(4·gap·t)
                x = t * mp.exp(v)
                return (
                    4
                    * mp.exp(-4 * gap * (x - t))
                    / (16 * mp.sqrt(mp.pi) * ratio**0.75 * mp.sqrt(x))
                )

            end = mp.log(1 + 20 / (gap * t))  # where exp(−4·gap·x) has fallen by e⁻⁸⁰
            exact = mp.quad(late, mp.linspace(0, end, 12)) * mp.exp(-4 * gap * t)
            errors.append(abs(float(m.intermediate_test_loss(t) / exact - 1)))
    return CheckResult(max(errors), 1e-11, len(errors))


@check(
    "linear-grokking/eq30",
    "A step of descent with several outputs",
    against="automatic differentiation of the loss summed over samples and outputs",
)
def eq30() -> CheckResult:
    """Eq. 30 is Eq. 3 without decay."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(30)
    errors = []
    for d_out in (2, 5):
        X, D = rng.standard_normal((9, 4)), rng.standard_normal((4, d_out))
        with jax.enable_x64(True):
            loss = lambda D: sum(jnp.sum((D.T @ x) ** 2) for x in X) / (9 * d_out)  # noqa: B023, E731
            step = D - 0.1 * np.asarray(jax.grad(loss)(jnp.asarray(D)))
        printed = (np.eye(4) - 2 * 0.1 / d_out * X.T @ X / 9) @ D
        errors.append(np.max(np.abs(step - printed)))
    return CheckResult(max(errors), 1e-14, len(errors))
