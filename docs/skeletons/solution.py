"""One weight in a quadratic valley."""

from typing import Any

import jax.numpy as jnp

from lazyrich.core import compute, moderate
from lazyrich.theory._solution import Solution, check_broadcast, learning_rate_of, times


class QuadraticValley(Solution):
    r"""Gradient flow of one weight on the loss $w^2$.

    $$ \dot w = -2\eta w, \qquad w(t) = w_0 e^{-2\eta t} $$

    Symbols:
        $w_0$ → `start`, $\eta$ → `learning_rate`, $t$ → `time`.

    Source:
        linear-grokking, Eq. 4.

    Holds when:
        there is one weight, and the loss is its square without ½.

    Computed as:
        it is written.

    Checked by:
        check `linear-grokking/eq4`.

    Args:
        start: $w_0$, any shape.
        learning_rate: η > 0, any shape; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> from lazyrich.theory import QuadraticValley
        >>> round(float(QuadraticValley(start=1.0).loss(0.5)), 6)
        0.135335
    """

    start: Any
    learning_rate: Any

    def __init__(self, start: Any, learning_rate: Any = 1.0):
        self.start = moderate("start", start, advice="Pass a number such as 1.0.")
        self.learning_rate = learning_rate_of(learning_rate)
        check_broadcast(self)

    def loss(self, time: Any) -> Any:
        """The squared weight."""
        return compute(_loss, self, times(time, self))


def _loss(m: QuadraticValley, t: Any) -> Any:
    w0, eta = m.start, m.learning_rate
    return w0**2 * jnp.exp(-4 * eta * t)
