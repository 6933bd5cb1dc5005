"""Modes of a linear network whose layers are out of balance by a given amount."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import Crossing, compute, real
from lazyrich.theory import _two_layer_flow as flow
from lazyrich.theory._mode_solution import ModeSolution
from lazyrich.theory._solution import (
    check_broadcast,
    learning_rate_of,
    target_share,
)


class BalancedModes(ModeSolution):
    r"""Singular values of a λ-balanced two-layer linear network that starts aligned with its task.

    $$ \dot\rho = (\tilde\rho - \rho)\sqrt{\lambda^2 + 4\rho^2}, \qquad
       \rho(t) = \rho_0 + \gamma(t; \lambda)(\tilde\rho - \rho_0), \qquad \gamma = \frac{X}{1 + X} $$

    $$ X = \frac{\alpha^2(e^{\kappa t} - 1) + \beta^2(1 - e^{-\kappa t})}{\kappa}, \quad
       \alpha^2, \beta^2 = \frac{\kappa_0\kappa \pm (\lambda^2 + 4\tilde\rho\rho_0)}{2\kappa}, \quad
       \kappa = \sqrt{\lambda^2 + 4\tilde\rho^2}, \quad \kappa_0 = \sqrt{\lambda^2 + 4\rho_0^2} $$

    A mode is a product $\rho = ab$ of a weight in each layer with $b^2 - a^2 = \lambda$. For λ = 0 the
    transition γ is a sigmoid, for λ far above $\tilde\rho$ and $\rho_0$ an exponential of
    $\lvert\lambda\rvert t$. The sign of λ does not matter.

    Symbols:
        λ → `imbalance`, $\tilde\rho_\alpha$ → `target`, $\rho_\alpha(0)$ → `start`, $t/\tau$ → `time` ×
        `learning_rate`.

    Source:
        layerwise, Theorem F.2, Eq. 69, 70, after lazy-to-rich. The paper leaves γ to its source; this form is
        the library's own.

    Holds when:
        inputs are whitened, the layers are λ-balanced, $W_1W_2(0)$ has the singular vectors of the task, and
        loss = ½ mean squared norm of the error; gradient flow. γ tends to 1, except at λ = 0 with
        $\rho_0 = 0$ or of the sign opposite to $\tilde\rho$: then the mode ends at the saddle ρ = 0.

    Computed as:
        `DiagonalNetwork`, from $a^2 + b^2 = \kappa_0$ and $ab = \rho_0$: sums of terms of one sign.

    Checked by:
        checks `layerwise/thm-f2`, `layerwise/eq69`, `layerwise/eq70`; `tests/theory/test_balanced.py`.

    Args:
        target: singular values of the correlation of inputs and outputs, any shape; they may have either
            sign.
        start: singular values of $W_1W_2$ at the start, likewise.
        imbalance: λ, any shape. For λ → ±∞ a mode is at its target at once; how it gets there, at a given
            $\lvert\lambda\rvert t$, is `exponential_transition`.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is learning rate ×
            step. All four broadcast; their common shape is that of the modes.

    Example:
        >>> from lazyrich.theory import BalancedModes
        >>> modes = BalancedModes(target=1.0, start=0.01, imbalance=[0.0, 2.0])
        >>> modes.transition(2.0).round(4)
        array([0.349 , 0.9943])
    """

    target: Any
    start: Any
    imbalance: Any
    learning_rate: Any

    def __init__(self, target: Any, start: Any, imbalance: Any, learning_rate: Any = 1.0):
        self.target = real("target", target, advice="Pass singular values of the correlation.")
        self.start = real("start", start, advice="Pass singular values of the first product.")
        self.imbalance = real(
            "imbalance", imbalance,
            advice="The limit λ → ±∞ is `exponential_transition` at any finite λ, a function of |λ|t.",
        )  # fmt: skip
        self.learning_rate = learning_rate_of(learning_rate)
        check_broadcast(self)

    def modes(self, time: Any) -> Any:
        """ρ, the singular values of $W_1W_2$: the axes of time, then those of the modes (Eq. 69)."""
        return compute(_modes, self, self._times(time))

    def residual(self, time: Any) -> Any:
        r"""$\tilde\rho - \rho$, accurate also where it is far smaller than $\tilde\rho$."""
        return compute(_residual, self, self._times(time))

    def transition(self, time: Any) -> Any:
        """γ, from 0 towards 1 (Eq. 69)."""
        return compute(_transition, self, self._times(time))

    def remainder(self, time: Any) -> Any:
        """1 − γ, the share of the way that is left, with all its digits."""
        return compute(_remainder, self, self._times(time))

    def sigmoidal_transition(self, time: Any) -> Any:
        r"""γ in the limit λ → 0 (Eq. 70), for targets and starts of one sign."""
        return compute(_sigmoidal, self, self._times(time))

    def exponential_transition(self, time: Any) -> Any:
        r"""γ for λ → ±∞ at a given $\lvert\lambda\rvert t$: $1 - e^{-\lvert\lambda\rvert t}$ (Eq. 70)."""
        return compute(_exponential, self, self._times(time))

    def saturation_time(self, share: Any = 0.9) -> Crossing:
        """When each mode first reaches a share of its target; inf and `NEVER` where it is stuck.

        Args:
            share: between 0 and 1.
        """
        return compute(_saturation_time, self, target_share(share, self.target))


def _flow(m: BalancedModes) -> flow.Flow:
    return flow.flow_of_imbalance(m.imbalance, m.start, m.target)


def _modes(m: BalancedModes, t: Any) -> Any:
    return flow.product_at(_flow(m), m.learning_rate * t)


def _residual(m: BalancedModes, t: Any) -> Any:
    return flow.residual_at(_flow(m), m.learning_rate * t)


def _transition(m: BalancedModes, t: Any) -> Any:
    return flow.moved_at(_flow(m), m.learning_rate * t)


def _remainder(m: BalancedModes, t: Any) -> Any:
    return flow.left_at(_flow(m), m.learning_rate * t)


def _sigmoidal(m: BalancedModes, t: Any) -> Any:
    balanced = flow.flow_of_imbalance(0 * m.imbalance, m.start, m.target)
    return flow.moved_at(balanced, m.learning_rate * t)


def _exponential(m: BalancedModes, t: Any) -> Any:
    gamma = -jnp.expm1(-jnp.abs(m.imbalance) * m.learning_rate * t)
    return jnp.broadcast_to(gamma, np.broadcast_shapes(m.shape, t.shape))


def _saturation_time(m: BalancedModes, share: Any) -> Crossing:
    return flow.time_of_share(_flow(m), share, m.learning_rate)
