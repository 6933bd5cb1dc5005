"""A unit's response φ in a network of any depth, and what comes after the units."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import models
from lazyrich.checks.saddles._instances import instance

if TYPE_CHECKING:
    from lazyrich.models import Network


HOMOGENEOUS = (
    ("relu", 0),
    ("relu convolution", 0),
    ("linear with bias", 0),
    ("merged attention", 0),
    ("four layers", 1),
)
"""Networks and layers with units that are homogeneous of degree 1."""
LINEAR = (("linear with bias", 0), ("merged attention", 0), ("three layers", 1))
"""Networks and layers with units that are linear in their incoming weights."""


class Responses:
    """The pieces of Eq. 19 for one layer of a network: φ(g_in(x); u) and g_out(ζ).

    φ is read off a network with a single unit that writes the unit vectors, one after the other.
    """

    def __init__(self, network: "Network", weights: Any, inputs: Any, layer: int):
        import jax

        self.layer, self.inputs = layer, inputs
        self.until, self.before, self.after = _cut(network, weights, layer)
        self.num_outgoing = network.units(weights, layer).outgoing.shape[1]
        self.phi = jax.jit(jax.vmap(self._phi))
        self.slopes = jax.jit(jax.vmap(jax.jacfwd(self._phi)))

    def _phi(self, u: Any) -> Any:
        """φ(g_in(x); u), shape (samples, N_φ, N_v): one network for each column."""
        import jax
        import jax.numpy as jnp

        def column(v: Any) -> Any:
            single = models.Units(u[None], v[None])
            weights = self.until.with_units(self.before, single, self.layer)
            return self.until.apply(weights, self.inputs)

        return jnp.moveaxis(jax.vmap(column)(jnp.eye(self.num_outgoing)), 0, -1)

    def zeta(self) -> Any:
        """ζ, what the layer's units write together."""
        return self.until.apply(self.before, self.inputs)

    def g_out(self, zeta: Any) -> Any:
        """The network's outputs."""
        for name, W in self.after:
            zeta = models.activation(name)(zeta) @ W
        return zeta


def _cut(
    network: "Network", weights: Any, layer: int
) -> "tuple[Network, Any, list[tuple[Any, Any]]]":
    """The network up to a layer of units, its weights, and the layers that follow."""
    if not isinstance(network, models.Deep):
        return network, weights, []
    after = list(zip(network.activations, weights.rest, strict=True))[layer:]
    if layer == 0:
        return network.first, weights.first, after
    size = int(np.shape(weights.rest[layer - 1])[1])
    until = models.Deep(
        network.first, network.activations[:layer], network.widths[: layer - 1], size
    )
    return until, models.DeepWeights(weights.first, weights.rest[:layer]), after


@functools.cache
def responses_of(name: str, layer: int) -> tuple[Responses, np.ndarray, Any]:
    """Responses of a network's layer, the incoming weights of its units, and their kind."""
    import jax

    here = instance(name)
    weights = here.random_weights(np.random.default_rng(5))
    with jax.enable_x64(True):
        parts = Responses(here.network, weights, here.inputs, layer)
    return parts, here.network.units(weights, layer).incoming, here.network.kinds[layer]


def responses(name: str, layer: int, u: np.ndarray, *, slopes: bool = False) -> np.ndarray:
    """φ(g_in(x); u) of units with incoming weights u, one in each row, or its derivative by them."""
    import jax

    parts = responses_of(name, layer)[0]
    with jax.enable_x64(True):
        return np.asarray(parts.slopes(u) if slopes else parts.phi(u))
