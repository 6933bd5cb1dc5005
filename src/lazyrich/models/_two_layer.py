"""Fully connected networks with one hidden layer."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from lazyrich.core import count, flag
from lazyrich.models._activations import POWERS, activation, activation_kind
from lazyrich.models._network import Network, Units, check_inputs, check_units
from lazyrich.models._unit_kind import UnitKind


class TwoLayerWeights(NamedTuple):
    """Unit i reads by column i of `first` and writes by row i of `second`."""

    first: Any  # (N_u, units)
    second: Any  # (units, ..., outputs)


class OneHiddenLayer(Network):
    """What networks with one hidden layer share: their weights are `TwoLayerWeights`."""

    @property
    def form(self) -> TwoLayerWeights:
        """`shapes`, with any number of units and of outputs."""
        first, second = self.shapes()
        return TwoLayerWeights((first[0], "units"), ("units", *second[1:-1], "outputs"))

    def units(self, weights: TwoLayerWeights, layer: int = 0) -> Units:
        """The units of the hidden layer."""
        self.check_layer(layer)
        self.check_weights(weights)
        first, second = weights
        return Units(first.T, second.reshape(second.shape[0], -1))

    def with_units(self, weights: TwoLayerWeights, units: Units, layer: int = 0) -> TwoLayerWeights:
        """The network with other units."""
        self.check_layer(layer)
        self.check_weights(weights)
        check_units(units, weights.first.shape[0], math.prod(weights.second.shape[1:]))
        shape = (units.outgoing.shape[0], *weights.second.shape[1:])
        return TwoLayerWeights(units.incoming.T, units.outgoing.reshape(shape))


@dataclasses.dataclass(frozen=True)
class TwoLayer(OneHiddenLayer):
    r"""A network with one hidden layer, a sum over its neurons.

    $$ f(x) = S_1^\top \sigma(S_0^\top x) = \sum_i v_i\, \sigma(u_i^\top x) $$

    with $u_i$ the columns of $S_0$ and $v_i$ the rows of $S_1$. With a bias, inputs get a further entry, 1.
    Where σ is a power, the network is linear in the products of that many inputs.

    Attributes:
        input_dimension: $d_\mathrm{in}$.
        width: number of units $d_h$.
        output_dimension: $d_\mathrm{out}$.
        activation: σ, by name (see `activation`) or as a function of an array.
        bias: whether each unit has a bias, the last entry of its $u_i$.

    Example:
        >>> import jax
        >>> from lazyrich.models import TwoLayer
        >>> model = TwoLayer(input_dimension=3, width=8, output_dimension=2, activation="tanh")
        >>> weights = model.init(jax.random.key(0), std=0.5)
        >>> model.apply(weights, jax.numpy.ones((5, 3))).shape
        (5, 2)
    """

    input_dimension: int
    width: int
    output_dimension: int = 1
    activation: "str | Callable[[Any], Any]" = "linear"
    bias: bool = False

    def __post_init__(self) -> None:
        for name in ("input_dimension", "width", "output_dimension"):
            value = count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "bias", flag("bias", self.bias))
        activation(self.activation)

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the hidden units."""
        return (activation_kind(self.activation),)

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of one input."""
        return (self.input_dimension,)

    @property
    def has_features(self) -> bool:
        """Whether σ is a power."""
        return self.activation in POWERS

    def shapes(self) -> TwoLayerWeights:
        """Shapes of the weights."""
        size = self.input_dimension + self.bias
        return TwoLayerWeights((size, self.width), (self.width, self.output_dimension))

    def apply(self, weights: TwoLayerWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs), for inputs of shape (samples, inputs)."""
        self.check_weights(weights)
        return activation(self.activation)(self._read(inputs) @ weights.first) @ weights.second

    def features(self, inputs: Any) -> Any:
        """Products of as many inputs as the power says, each product once."""
        products = self._products()
        read = self._read(inputs)
        return math.prod(read[:, index] for index in products.T)

    def coefficients(self, weights: TwoLayerWeights) -> Any:
        """Coefficients of the products, shape (products, outputs)."""
        products = self._products()
        self.check_weights(weights)
        reads = math.prod(weights.first[index] for index in products.T)  # (products, units)
        return (_orderings(products)[:, None] * reads) @ weights.second

    def _products(self) -> np.ndarray:
        if not self.has_features:
            super().features(None)
        return _products(self.input_dimension + self.bias, POWERS[str(self.activation)])

    def _read(self, inputs: Any) -> Any:
        check_inputs(inputs, self.input_shape)
        return with_ones(inputs) if self.bias else inputs


def with_ones(inputs: Any) -> Any:
    """Inputs with a further entry, 1, which a bias is the weight of."""
    return jnp.concatenate([inputs, jnp.ones((*inputs.shape[:-1], 1), inputs.dtype)], axis=-1)


@functools.lru_cache
def _products(size: int, power: int) -> np.ndarray:
    return np.array(list(itertools.combinations_with_replacement(range(size), power)))


def _orderings(products: np.ndarray) -> np.ndarray:
    """In how many orders the factors of a product can be written."""
    counts = [
        math.prod(math.factorial(n) for n in np.unique(p, return_counts=True)[1]) for p in products
    ]
    return math.factorial(products.shape[1]) / np.array(counts)
