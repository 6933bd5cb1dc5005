"""The backpropagated gradient just after the start."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import is_traced
from lazyrich.theory._solution import mode_times


class GradientExpansion(NamedTuple):
    r"""The gradient just after the start, returned by `LazyReadout.expansion`.

    $$ G_F(t) = \beta\tilde Y V_0^\top - \beta^2\tilde F V_0 V_0^\top
       + t\,(\beta^2\tilde Y\tilde Y^\top\tilde F + R_2 + R_3) + O(t^2) $$

    Symbols:
        the five terms in this order → `initial_linear`, `initial_quadratic`, `signal`, `slope_linear`,
        `slope_quadratic`, the last three without t; others as in `LazyReadout`.

    Source:
        li2, Eq. 3, 55, 68, Proposition 1.

    Holds when:
        as `LazyReadout`, at small times.

    Checked by:
        checks `li2/prop1`, `li2/eq69`; `tests/theory/test_lazy_readout.py`.

    Attributes:
        initial_linear: of first order in the initial readout, as all are of shape (n, K).
        initial_quadratic: of second order in it.
        signal: what grows without an initial readout.
        slope_linear: $R_2$, of first order in it, with the decay.
        slope_quadratic: $R_3$, of second order in it, with the decay.

    Example:
        >>> from lazyrich.theory import LazyReadout
        >>> readout = LazyReadout([[1.0], [-1.0]], [[1.0], [-1.0]], start=[[0.1]])
        >>> terms = readout.expansion()
        >>> readout.gradient(0.001)[0].round(5), terms.at([0.0, 0.001])[:, 0].round(5)
        (array([0.09144]), array([[0.09   ],
               [0.09144]]))
    """

    initial_linear: Any
    initial_quadratic: Any
    signal: Any
    slope_linear: Any
    slope_quadratic: Any

    def at(self, time: Any) -> Any:
        """The sum of all terms: the axes of time, then (n, K)."""
        first = self.signal + self.slope_linear + self.slope_quadratic
        return self.initial_linear + self.initial_quadratic + mode_times(time, 2) * first

    @property
    def signal_time(self) -> Any:
        """When the signal would be as large as the noise of the start, ‖G_F(0)‖/‖signal‖."""
        if is_traced(self):
            import jax.numpy as jnp

            norm = jnp.linalg.norm
        else:
            norm = np.linalg.norm
        return norm(self.initial_linear + self.initial_quadratic) / norm(self.signal)


def expansion(F: Any, Y: Any, V: Any, ridge: Any, scale: Any, rate: Any) -> GradientExpansion:
    """Every product of E = E₀ + tE₁ and V = V₀ + tV₁, scaled: −∂J/∂F̃ has a factor β beside EVᵀ."""
    F = scale * F
    FV, FY = F @ V, F.T @ Y
    AV = F.T @ FV + ridge * V
    return GradientExpansion(
        scale * Y @ V.T,
        -scale * FV @ V.T,
        rate * scale * Y @ FY.T,
        -rate * scale * (Y @ AV.T + FV @ FY.T + F @ FY @ V.T),
        rate * scale * (FV @ AV.T + F @ AV @ V.T),
    )
