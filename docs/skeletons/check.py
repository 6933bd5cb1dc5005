"""Eq. 0: the decay of one weight."""

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate
from lazyrich.core import CheckResult, check


@check(
    "linear-grokking/eq0",
    "Decay of one weight under gradient flow",
    against="Runge–Kutta integration of the gradient",
)
def eq0() -> CheckResult:
    """Say here what is compared, and where the printed form is wrong, if it is."""
    times = np.linspace(0, 2, 9)
    flow = integrate(lambda t, w: -2 * w, [1.0], times)  # (time, weights), by Runge–Kutta
    shipped = theory.LinearFlow(covariance=[[1.0]], difference=[1.0]).difference(times)
    error = float(np.max(np.abs(shipped / flow - 1)))
    return CheckResult(error, tolerance=1e-9, num_cases=len(times))
