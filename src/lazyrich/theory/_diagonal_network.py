"""Two layers with one path for each input: modes that grow on their own."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    AssumptionError,
    Crossing,
    argument_error,
    compute,
    is_traced,
    number,
    real,
)
from lazyrich.theory._diagonal_flow import (
    ModeStart,
    layers_at,
    limit_of,
    product_at,
    residual_at,
    time_of_share,
)
from lazyrich.theory._solution import Solution, check_broadcast, times
from lazyrich.theory._stages import Stages, stages_of

SMALLEST, LARGEST = 1e-150, 1e100


class DiagonalNetwork(Solution):
    r"""Gradient flow of a diagonal linear network, from any start.

    $$ f(x) = \sum_i x_i a_i b_i, \qquad \dot a_i = -b_i E[x_i^2](a_i b_i - S_i), \qquad
       \dot b_i = -a_i E[x_i^2](a_i b_i - S_i) $$

    Modes do not see each other, and $a_i^2 - b_i^2$ stays as it is. With $\tau = K E[x^2] t$ and
    $K^2 = S^2 + \tfrac14(a_0^2 - b_0^2)^2$,

    $$ y = \cosh\tau + \frac{S + \tfrac12(a_0 - b_0)^2}{K} \sinh\tau, \qquad
       z = \cosh\tau + \frac{\tfrac12(a_0 + b_0)^2 - S}{K} \sinh\tau $$

    $$ a + b = (a_0 + b_0)\sqrt{y/z}, \qquad a - b = (a_0 - b_0)\sqrt{z/y}, \qquad
       S - ab = \frac{S - a_0 b_0}{yz} $$

    For $a_0 = b_0$ this is the sigmoid of Eq. 9, $ab = S/(1 + (S/a_0b_0 - 1)e^{-2SE[x^2]t})$. A mode whose
    layers are opposite, $a_0 = -b_0$, never gets through zero if its target is positive, nor one with
    $a_0 = b_0$ if the target is negative.

    Symbols:
        $a(0)$ → `first`, $b(0)$ → `second`, $S_i$ → `target`, $E[x_i^2]$ → `variance`, $t$ → `time`.

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
        first: a(0), any shape.
        second: b(0), any shape.
        target: S, any shape, of either sign or zero.
        variance: E[x²] ≥ 0, any shape. All four broadcast; their common shape is that of the modes.

    Example:
        >>> from lazyrich.theory import DiagonalNetwork
        >>> network = DiagonalNetwork(first=0.01, second=0.01, target=1.0, variance=[0.5, 0.2, 0.1])
        >>> network.product(20.0).round(3)
        array([1.   , 0.23 , 0.005])
        >>> network.saturation_time(0.9).time.round(2)
        array([11.41, 28.52, 57.04])
    """

    first: Any
    second: Any
    target: Any
    variance: Any

    def __init__(self, first: Any, second: Any, target: Any, variance: Any = 1.0):
        self.first = real("first", first, advice="Pass the weights at time 0.")
        self.second = real("second", second, advice="Pass the weights at time 0.")
        self.target = real("target", target, advice="Pass e.g. 1.0.")
        self.variance = real("variance", variance, at_least=0, advice="Use e.g. 1.")
        check_broadcast(self)
        _check_sizes(self)

    def product(self, time: Any) -> Any:
        """The product ab of each mode: the axes of time, then those of the modes (Eq. 9, 39)."""
        return compute(product_at, *self._at(time))

    def residual(self, time: Any) -> Any:
        """S − ab of each mode, accurate also where it is far smaller than S."""
        return compute(residual_at, *self._at(time))

    def layers(self, time: Any) -> tuple[Any, Any]:
        """The layers a and b of each mode."""
        return compute(layers_at, *self._at(time))

    def loss(self, time: Any) -> Any:
        r"""$\tfrac12\sum_i E[x_i^2](S_i - a_ib_i)^2$, of all modes together."""
        return compute(_loss, *self._at(time))

    def limit(self) -> Any:
        """The product ab of each mode for t → ∞: its target, or 0 where it is stuck."""
        return compute(limit_of, self._start())

    @property
    def conserved(self) -> Any:
        """a² − b² of each mode (Eq. 8)."""
        return (self.first - self.second) * (self.first + self.second)

    def saturation_time(self, fraction: Any = 0.9) -> Crossing:
        """When each mode first reaches a share of its target; inf and `NEVER` where it is stuck.

        Args:
            fraction: the share, between 0 and 1.
        """
        share = number("fraction", fraction, above=0, below=1, advice="Use e.g. 0.9.")
        if not is_traced(self) and np.any(self.target == 0):
            raise AssumptionError(
                "A share of the target needs targets other than 0; "
                f"{np.sum(self.target == 0)} of {self.target.size} are 0. Leave these modes out."
            )
        return compute(time_of_share, self._start(), np.float64(share))

    def stages(self, lower: float = 0.1, upper: float = 0.9) -> Stages:
        """When the modes are learned, and whether one after the other; modes are numbered flat."""
        return stages_of(self.saturation_time, lower, upper)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the modes."""
        return np.broadcast_shapes(*(np.shape(value) for value in self._parameters()))

    def _parameters(self) -> tuple[Any, ...]:
        return self.first, self.second, self.target, self.variance

    def _start(self) -> ModeStart:
        spread = jnp.broadcast_to if is_traced(self) else np.broadcast_to
        return ModeStart(*(spread(value, self.shape) for value in self._parameters()))

    def _at(self, time: Any) -> tuple[ModeStart, Any]:
        return self._start(), with_axes(times(time), len(self.shape))


def with_axes(time: Any, count: int) -> Any:
    """Times with so many further axes, for the modes."""
    return time.reshape((*time.shape, *(1,) * count))


def _loss(start: ModeStart, time: Any) -> Any:
    parts = start.variance * residual_at(start, time) ** 2 / 2
    return jnp.sum(parts, axis=tuple(range(-start.target.ndim, 0)))


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
