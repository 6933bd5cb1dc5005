"""Modes of a linear network whose layers are out of balance by a given amount."""

from typing import Any

import jax.numpy as jnp

from lazyrich.core import compute, real
from lazyrich.theory._solution import Solution, check_broadcast, times


class BalancedModes(Solution):
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
        it is written, with $e^{\kappa t}$ divided out and the smaller of α² and β² from their product,
        $\alpha^2\beta^2 = \lambda^2(\tilde\rho - \rho_0)^2/\kappa^2$: nothing grows and nothing cancels.

    Checked by:
        checks `layerwise/thm-f2`, `layerwise/eq69`, `layerwise/eq70`; `tests/theory/test_balanced.py`.

    Args:
        imbalance: λ, any shape.
        target: singular values of the correlation of inputs and outputs, any shape that broadcasts; they may
            have either sign.
        start: singular values of $W_1W_2$ at the start, likewise.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> from lazyrich.theory import BalancedModes
        >>> modes = BalancedModes(imbalance=[0.0, 2.0], target=1.0, start=0.01)
        >>> modes.transition(2.0).round(4)
        array([0.349 , 0.9943])
    """

    imbalance: Any
    target: Any
    start: Any
    learning_rate: Any

    def __init__(self, imbalance: Any, target: Any, start: Any, learning_rate: Any = 1.0):
        self.imbalance = real("imbalance", imbalance, advice="Use 0 for balanced layers.")
        self.target = real("target", target, advice="Pass singular values of the correlation.")
        self.start = real("start", start, advice="Pass singular values of the first product.")
        self.learning_rate = real("learning_rate", learning_rate, above=0, advice="Use 1 as usual.")
        check_broadcast(self)

    def transition(self, time: Any) -> Any:
        """γ, from 0 towards 1 (Eq. 69)."""
        return compute(_transition, self, times(time, self))[0]

    def remainder(self, time: Any) -> Any:
        """1 − γ, the share of the way that is left, with all its digits."""
        return compute(_transition, self, times(time, self))[1]

    def singular_values(self, time: Any) -> Any:
        """ρ, the singular values of $W_1W_2$ (Eq. 69)."""
        return compute(_singular_values, self, times(time, self))

    def sigmoidal_transition(self, time: Any) -> Any:
        r"""γ in the limit λ → 0 (Eq. 70), for targets and starts of one sign."""
        return compute(_transition, _with_imbalance(self, 0.0), times(time, self))[0]

    def exponential_transition(self, time: Any) -> Any:
        r"""γ for λ → ±∞ at a given $\lvert\lambda\rvert t$: $1 - e^{-\lvert\lambda\rvert t}$ (Eq. 70)."""
        return compute(_exponential, self, times(time, self))


def _with_imbalance(m: BalancedModes, value: float) -> BalancedModes:
    return BalancedModes(0 * m.imbalance + value, m.target, m.start, m.learning_rate)


def _singular_values(m: BalancedModes, t: Any) -> Any:
    gamma, left = _transition(m, t)
    # from the nearer end: the last digits of a small start and of the distance to the target survive
    return jnp.where(
        gamma < 0.5, m.start + gamma * (m.target - m.start), m.target + left * (m.start - m.target)
    )


def _exponential(m: BalancedModes, t: Any) -> Any:
    return -jnp.expm1(-jnp.abs(m.imbalance) * m.learning_rate * t)


def _transition(m: BalancedModes, t: Any) -> tuple[Any, Any]:
    """γ and 1 − γ, by X·exp(−κt)."""
    kappa, kappa0 = _length(m.imbalance, m.target), _length(m.imbalance, m.start)
    up, down = _shares(m, kappa, kappa0)
    x = kappa * m.learning_rate * t
    decay, span = jnp.exp(-x), _span(kappa, m.learning_rate * t)
    grown = kappa0 * (up + down * decay) * span
    # a mode that does not grow for ever: X stays finite while exp(−κt) falls below all numbers
    stuck = (up == 0) | (kappa0 == 0)
    bounded = kappa0 * down * span
    top = jnp.where(stuck, bounded, grown)
    base = jnp.where(stuck, 1.0, decay)
    return top / (top + base), base / (top + base)


def _length(imbalance: Any, product: Any) -> Any:
    """√(λ² + 4ρ²), with a gradient where both vanish and without squares that leave the range of numbers."""
    size = jnp.maximum(jnp.abs(imbalance), 2 * jnp.abs(product))
    safe = jnp.where(size == 0, 1, size)
    x, y = imbalance / safe, 2 * product / safe
    return jnp.where(size == 0, 0 * size, safe * jnp.sqrt(jnp.where(size == 0, 1, x**2 + y**2)))


def _shares(m: BalancedModes, kappa: Any, kappa0: Any) -> tuple[Any, Any]:
    """α²/κ₀ and β²/κ₀, which sum to 1, from the angle between the vectors (λ, 2ρ̃) and (λ, 2ρ₀)."""
    lam, s, rho = m.imbalance, m.target, m.start
    flat = (
        jnp.minimum(kappa, kappa0) == 0
    )  # κ₀ = 0, where nothing moves, or κ = 0, where spans are t
    kappa, kappa0 = jnp.where(flat, 1, kappa), jnp.where(flat, 1, kappa0)
    # every quotient is of order 1, also where one vector is as short as a float can be
    cosine = (lam / kappa) * (lam / kappa0) + (2 * s / kappa) * (2 * rho / kappa0)
    sine = (2 * (s - rho) / jnp.maximum(kappa, kappa0)) * (lam / jnp.minimum(kappa, kappa0))
    large = (1 + jnp.abs(cosine)) / 2
    small = (sine / 2) ** 2 / large
    up, down = jnp.where(cosine >= 0, large, small), jnp.where(cosine >= 0, small, large)
    return jnp.where(flat, 0.5, up), jnp.where(flat, 0.5, down)


def _span(kappa: Any, tau: Any) -> Any:
    """(1 − exp(−κτ))/κ, τ for κ = 0."""
    flat = kappa == 0
    safe = jnp.where(flat, 1, kappa)
    return jnp.where(flat, tau + 0 * kappa, -jnp.expm1(-safe * tau) / safe)
