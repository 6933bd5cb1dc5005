"""The backpropagated gradient just after the start."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import is_traced


class GradientExpansion(NamedTuple):
    """Terms of G_F(t) up to first order in time, by their order in the initial readout; each (n, K)."""

    initial_linear: Any  # β Ỹ V₀ᵀ
    initial_quadratic: Any  # −β² F̃ V₀ V₀ᵀ
    signal: Any  # t·: β² Ỹ Ỹᵀ F̃
    slope_linear: Any  # t·: R₂, with the decay
    slope_quadratic: Any  # t·: R₃, with the decay

    def at(self, time: Any) -> Any:
        """The sum of all terms at a single time."""
        first = self.signal + self.slope_linear + self.slope_quadratic
        return self.initial_linear + self.initial_quadratic + time * first

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
