"""What a layer of random units does on average: Gaussian means of an activation and its slope."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.theory._quadrature import normal_panels

REACH, PANELS, ORDER = 12.0, 16, 20
"""Gauss–Legendre panels of this order between −REACH and REACH standard deviations, one edge at 0."""


class ActivationMoments(NamedTuple):
    """Means over z ~ N(0, q).

    σ(z) is its mean, plus slope·z, plus a rest that correlates with neither.
    """

    mean: Any  # E σ
    slope: Any  # a = E σ′
    slope_variance: Any  # v = Var σ′
    curvature: Any  # q (E σ″)², as (E zσ′)²/q: no second derivative is needed
    rest: Any  # Var σ − q a²


def activation_moments(sigma: Callable[[Any], Any], q: Any) -> ActivationMoments:
    """The moments for preactivations of variance q, any shape; kinks of σ at 0 are allowed for."""
    nodes = normal_panels(np.linspace(-REACH, REACH, PANELS + 1), ORDER)
    x, weight = (jnp.asarray(values, q.dtype) for values in nodes)
    z = jnp.sqrt(q)[..., None] * x
    value, slope = jax.jvp(lambda z: sigma(z) + 0 * z, (z,), (jnp.ones_like(z),))

    def mean(f: Any) -> Any:
        return jnp.sum(weight * f, axis=-1)

    m, a = mean(value), mean(slope)
    rest = (
        value - m[..., None] - a[..., None] * z
    )  # squared after subtracting, so that nothing cancels
    return ActivationMoments(
        m, a, mean((slope - a[..., None]) ** 2), mean(x * slope) ** 2, mean(rest**2)
    )
