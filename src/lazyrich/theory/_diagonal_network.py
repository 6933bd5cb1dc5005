"""Two layers with one path for each input: modes that grow on their own."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import Crossing, argument_error, compute, is_traced, real
from lazyrich.theory import _two_layer_flow as flow
from lazyrich.theory._mode_solution import ModeSolution, loss_of
from lazyrich.theory._solution import (
    check_broadcast,
    learning_rate_of,
    target_share,
)

SMALLEST, LARGEST = 1e-150, 1e100


class DiagonalNetwork(ModeSolution):
    r"""Gradient flow of a diagonal linear network, from any start.

    $$ f(x) = \sum_i x_i a_i b_i, \qquad \dot a_i = -b_i E[x_i^2](a_i b_i - S_i), \qquad
       \dot b_i = -a_i E[x_i^2](a_i b_i - S_i) $$

    Modes do not see each other, and $b_i^2 - a_i^2$ stays as it is. With $\tau = K E[x^2] \eta t$ and
    $K^2 = S^2 + \tfrac14(a_0^2 - b_0^2)^2$,

    $$ y = \cosh\tau + \frac{S + \tfrac12(a_0 - b_0)^2}{K} \sinh\tau, \qquad
       z = \cosh\tau + \frac{\tfrac12(a_0 + b_0)^2 - S}{K} \sinh\tau $$

    $$ a + b = (a_0 + b_0)\sqrt{y/z}, \qquad a - b = (a_0 - b_0)\sqrt{z/y}, \qquad
       S - ab = \frac{S - a_0 b_0}{yz} $$

    For $a_0 = b_0$ this is the sigmoid of Eq. 9, $ab = S/(1 + (S/a_0b_0 - 1)e^{-2SE[x^2]t})$. A mode whose
    layers are opposite, $a_0 = -b_0$, never gets through zero if its target is positive, nor one with
    $a_0 = b_0$ if the target is negative.

    Symbols:
        $S_i$ → `target`, $a(0)$ → `first`, $b(0)$ → `second`, $E[x_i^2]$ → `variance`, $\eta$ →
        `learning_rate`, $t$ → `time`.

    Source:
        layerwise, Eq. 3, 6, 8, 9, 39. The solution for $a \ne b$, which the paper leaves to Saxe et al.
        (2014), is that of Theorem H.1, as corrected in the errata, for one hidden unit.

    Holds when:
        inputs are uncorrelated, $E[x_ix_j] = 0$ for $i \ne j$; loss = ½ mean squared error over the whole
        distribution; gradient flow.

    Computed as:
        sums of terms of one sign, divided by $e^{2\tau}$: starts may be as small as 1e-150 and times as long
        as one likes, and S − ab keeps all its digits. K = 0 is a limit.

    Checked by:
        checks `layerwise/eq6`, `layerwise/eq8`, `layerwise/eq9`, `layerwise/eq39`;
        `tests/theory/test_layerwise_modes.py`.

    Args:
        target: S, any shape, of either sign or zero.
        first: a(0), any shape.
        second: b(0), any shape.
        variance: E[x²] ≥ 0, any shape.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is learning rate ×
            step. All five broadcast; their common shape is that of the modes.

    Example:
        >>> from lazyrich.theory import DiagonalNetwork
        >>> network = DiagonalNetwork(target=1.0, first=0.01, second=0.01, variance=[0.5, 0.2, 0.1])
        >>> network.modes(20.0).round(3)
        array([1.   , 0.23 , 0.005])
        >>> network.saturation_time(0.9).time.round(2)
        array([11.41, 28.52, 57.04])
    """

    target: Any
    first: Any
    second: Any
    variance: Any
    learning_rate: Any

    def __init__(
        self, target: Any, first: Any, second: Any, variance: Any = 1.0, learning_rate: Any = 1.0
    ):
        self.target = real("target", target, advice="Pass e.g. 1.0.")
        self.first = real("first", first, advice="Pass the weights at time 0.")
        self.second = real("second", second, advice="Pass the weights at time 0.")
        self.variance = real("variance", variance, at_least=0, advice="Use e.g. 1.")
        self.learning_rate = learning_rate_of(learning_rate)
        check_broadcast(self)
        _check_sizes(self)

    def modes(self, time: Any) -> Any:
        """The product ab of each mode: the axes of time, then those of the modes (Eq. 9, 39)."""
        return compute(_modes, self, self._times(time))

    def residual(self, time: Any) -> Any:
        """S − ab of each mode, accurate also where it is far smaller than S."""
        return compute(_residual, self, self._times(time))

    def layers(self, time: Any) -> tuple[Any, Any]:
        """The layers a and b of each mode."""
        return compute(_layers, self, self._times(time))

    def loss(self, time: Any) -> Any:
        r"""$\tfrac12\sum_i E[x_i^2](S_i - a_ib_i)^2$, of all modes together."""
        return compute(_loss, self, self._times(time))

    def limit(self) -> Any:
        """The product ab of each mode for t → ∞: its target, or 0 where it is stuck."""
        return compute(_limit, self)

    @property
    def conserved(self) -> Any:
        """b² − a² of each mode, the λ of `quantities.imbalance`; Eq. 8 has the other sign."""
        return (self.second - self.first) * (self.second + self.first)

    def saturation_time(self, share: Any = 0.9) -> Crossing:
        """When each mode first reaches a share of its target; inf and `NEVER` where it is stuck.

        Args:
            share: between 0 and 1.
        """
        return compute(_saturation_time, self, target_share(share, self.target))


def _flow(m: DiagonalNetwork) -> flow.Flow:
    return flow.flow_of_layers(m.first, m.second, m.target)


def _tau(m: DiagonalNetwork, t: Any) -> Any:
    return m.learning_rate * m.variance * t


def _modes(m: DiagonalNetwork, t: Any) -> Any:
    return flow.product_at(_flow(m), _tau(m, t))


def _residual(m: DiagonalNetwork, t: Any) -> Any:
    return flow.residual_at(_flow(m), _tau(m, t))


def _layers(m: DiagonalNetwork, t: Any) -> tuple[Any, Any]:
    return flow.layers_at(_flow(m), m.first, m.second, _tau(m, t))


def _loss(m: DiagonalNetwork, t: Any) -> Any:
    return loss_of(m, _residual(m, t))


def _limit(m: DiagonalNetwork) -> Any:
    start = _flow(m)
    limit = jnp.where(m.variance == 0, start.product, flow.limit_of(start))
    return jnp.broadcast_to(limit, m.shape)


def _saturation_time(m: DiagonalNetwork, share: Any) -> Crossing:
    return flow.time_of_share(_flow(m), share, m.learning_rate * m.variance)


def _check_sizes(m: DiagonalNetwork) -> None:
    """Squares must be neither too large nor too small for a float; 0 is exact."""
    if is_traced(m):
        return
    for name in ("first", "second", "target", "variance"):
        size = np.abs(getattr(m, name)).max(initial=0)
        if size > LARGEST:
            raise argument_error(
                name, f"be at most {LARGEST:g} in size", float(size), "Rescale it."
            )
    size = np.maximum(np.abs(m.first), np.abs(m.second))
    tiny = (size > 0) & (size < SMALLEST)
    if np.any(tiny):
        raise argument_error(
            "first and second", f"be zero or at least {SMALLEST:g} in size", float(size[tiny][0]),
            "Their squares are too small for a float.",
        )  # fmt: skip
