"""A linear model on uncorrelated features: modes that saturate exponentially."""

from typing import Any

import jax.numpy as jnp

from lazyrich.core import Crossing, Status, compute, real
from lazyrich.theory._mode_solution import ModeSolution, loss_of
from lazyrich.theory._solution import (
    check_broadcast,
    learning_rate_of,
    target_share,
)


class LinearModes(ModeSolution):
    r"""Gradient flow of a linear model on uncorrelated features.

    $$ f(x) = \sum_i \phi_i(x)\,\theta_i, \qquad \dot\theta_i = -E[\phi_i^2](\theta_i - S_i), \qquad
       \theta_i(t) = S_i + (\theta_i(0) - S_i)\,e^{-E[\phi_i^2]\,\eta t} $$

    Symbols:
        $S_i$ → `target`, $E[\phi_i^2]$ → `variance`, $\theta_i(0)$ → `start`, $\eta$ → `learning_rate`,
        $t$ → `time`.

    Source:
        layerwise, Eq. 5, 7, 10, 21, 29–31.

    Holds when:
        features are uncorrelated, $E[\phi_i\phi_j] = 0$ for $i \ne j$; loss = ½ mean squared error over the
        whole distribution; gradient flow.

    Computed as:
        $\theta_i(0)e^{-s} + S_i(1 - e^{-s})$ with `expm1`.

    Checked by:
        checks `layerwise/eq7`, `layerwise/eq10`, `layerwise/eq30`, `layerwise/eq31`;
        `tests/theory/test_layerwise_modes.py`.

    Args:
        target: S, any shape.
        variance: E[φ²] ≥ 0, any shape.
        start: θ(0), any shape.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is learning rate ×
            step. All four broadcast; their common shape is that of the modes.

    Example:
        >>> from lazyrich.theory import LinearModes
        >>> modes = LinearModes(target=1.0, variance=[0.5, 0.2, 0.1])
        >>> modes.modes(20.0).round(3)
        array([1.   , 0.982, 0.865])
        >>> modes.stages().is_stage_like
        False
    """

    target: Any
    variance: Any
    start: Any
    learning_rate: Any

    def __init__(
        self, target: Any, variance: Any = 1.0, start: Any = 0.0, learning_rate: Any = 1.0
    ):
        self.target = real("target", target, advice="Pass e.g. 1.0.")
        self.variance = real("variance", variance, at_least=0, advice="Use e.g. 1.")
        self.start = real("start", start, advice="Use 0.")
        self.learning_rate = learning_rate_of(learning_rate)
        check_broadcast(self)

    def modes(self, time: Any) -> Any:
        """θ of each mode: the axes of time, then those of the modes."""
        return compute(_modes, self, self._times(time))

    def residual(self, time: Any) -> Any:
        """S − θ of each mode."""
        return compute(_residual, self, self._times(time))

    def loss(self, time: Any) -> Any:
        r"""$\tfrac12\sum_i E[\phi_i^2](S_i - \theta_i)^2$, of all modes together."""
        return compute(_loss, self, self._times(time))

    def saturation_time(self, share: Any = 0.9) -> Crossing:
        """When each mode first reaches a share of its target; inf and `NEVER` where E[φ²] = 0.

        Args:
            share: between 0 and 1.
        """
        return compute(_time_of_share, self, target_share(share, self.target))


def _modes(m: LinearModes, t: Any) -> Any:
    s = m.learning_rate * m.variance * t
    return m.start * jnp.exp(-s) - m.target * jnp.expm1(-s)


def _residual(m: LinearModes, t: Any) -> Any:
    return (m.target - m.start) * jnp.exp(-m.learning_rate * m.variance * t)


def _loss(m: LinearModes, t: Any) -> Any:
    return loss_of(m, _residual(m, t))


def _time_of_share(m: LinearModes, share: Any) -> Crossing:
    S, s, start = jnp.broadcast_arrays(m.target, m.learning_rate * m.variance, m.start)
    known = S != 0
    missing = (share - start / jnp.where(known, S, 1)) / (1 - share)
    at_start, never = missing <= 0, s == 0
    time = jnp.log1p(jnp.where(at_start, 0, missing)) / jnp.where(never, 1, s)
    time = jnp.where(never & ~at_start, jnp.inf, time)
    status = jnp.where(at_start, Status.AT_START, jnp.where(never, Status.NEVER, Status.REACHED))
    valid = known & ~jnp.isnan(missing + s)
    return Crossing(jnp.where(valid, time, jnp.nan), jnp.where(valid, status, Status.INVALID))
