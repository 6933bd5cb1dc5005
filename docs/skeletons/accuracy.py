"""How many digits of the decay of one weight are right."""

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mp
from lazyrich.core import Comparison, accuracy


@accuracy(
    "theory.LinearFlow.difference",
    "Decay of one weight",
    against="exp(−2t) at 50 digits",
    grid="t: 0 and 50 from 1e-6 to 300",
)
def decay() -> Comparison:
    """One call of the public method on the whole grid; the reference is a function of one point."""
    t = decades(1e-6, 300, 50, zero=True)
    values = theory.LinearFlow(covariance=[[1.0]], difference=[1.0]).difference(t)[:, 0]
    return Comparison(values, lambda t: mp.exp(-2 * t), {"time": t})
