"""Deeper networks on top of a first layer of units."""

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from lazyrich.core import argument_error, count, items
from lazyrich.models._activations import activation, activation_kind, activation_of
from lazyrich.models._network import Network, Units, check_units, matrix_units
from lazyrich.models._two_layer import OneHiddenLayer, TwoLayerWeights
from lazyrich.models._unit_kind import UnitKind


class DeepWeights(NamedTuple):
    """The first layer with what it writes, and the matrices after it."""

    first: TwoLayerWeights
    rest: tuple[Any, ...]  # (inputs, outputs) each


@dataclasses.dataclass(frozen=True)
class Deep(Network):
    r"""Fully connected layers after a first layer of neurons, kernels or heads.

    $$ f(x) = W_L^\top \sigma_{L-1}(\cdots W_2^\top \sigma_1(\zeta(x))), \qquad
       \zeta(x) = \sum_i \phi(x; u_i)\, v_i $$

    Source:
        saddles, Fig. 5, Eq. 17.

    Attributes:
        first: a `TwoLayer`, `Convolution` or `Attention` whose outputs ζ are the next layer's inputs.
        activations: $\sigma_1, \sigma_2, \ldots$, one for each matrix that follows.
        widths: sizes between the matrices that follow, one fewer than activations.
        output_dimension: number of outputs.

    Example:
        >>> import jax
        >>> from lazyrich.models import Deep, TwoLayer
        >>> three = Deep(TwoLayer(2, 50, 50, activation="relu"), ("relu",), output_dimension=2)
        >>> weights = three.init(jax.random.key(0), std=5e-3)
        >>> three.apply(weights, jax.numpy.ones((4, 2))).shape, [kind.order for kind in three.kinds]
        ((4, 2), [1, 1])
    """

    first: OneHiddenLayer
    activations: tuple["str | Callable[[Any], Any]", ...] = ("linear",)
    widths: tuple[int, ...] = ()
    output_dimension: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.first, OneHiddenLayer):
            raise argument_error(
                "first", "be a network with one hidden layer", self.first, "Pass e.g. a `TwoLayer`."
            )
        for name in ("activations", "widths"):
            object.__setattr__(self, name, items(name, getattr(self, name), advice="Pass a tuple."))
        if not self.activations or len(self.widths) != len(self.activations) - 1:
            raise argument_error(
                "widths", "have one entry fewer than `activations`", self.widths,
                "Pass a size for each gap between the matrices after the first layer.",
            )  # fmt: skip
        widths = tuple(count(f"widths[{i}]", size) for i, size in enumerate(self.widths))
        object.__setattr__(self, "widths", widths)
        size = count("output_dimension", self.output_dimension)
        object.__setattr__(self, "output_dimension", size)
        for i, name in enumerate(self.activations):
            activation_of(f"activations[{i}]", name)

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the units of the first and each following hidden layer."""
        return (*self.first.kinds, *(activation_kind(name) for name in self.activations))

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of one input."""
        return self.first.input_shape

    @property
    def has_features(self) -> bool:
        """Whether all that follows a first layer with features is linear."""
        return self.first.has_features and set(self.activations) == {"linear"}

    def shapes(self) -> DeepWeights:
        """Shapes of the weights."""
        first = self.first.shapes()
        sizes = (first.second[-1], *self.widths, self.output_dimension)
        return DeepWeights(first, tuple(itertools.pairwise(sizes)))

    @property
    def form(self) -> DeepWeights:
        """`shapes`, with any numbers of units and of outputs."""
        first, second = self.first.form
        between = [f"units {k + 2}" for k in range(len(self.activations))]
        after = tuple(itertools.pairwise((*between, "outputs")))
        return DeepWeights(TwoLayerWeights(first, (*second[:-1], between[0])), after)

    def apply(self, weights: DeepWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs)."""
        self.check_weights(weights)
        zeta = self.first.apply(weights.first, inputs)
        for name, W in zip(self.activations, weights.rest, strict=True):
            zeta = activation(name)(zeta) @ W
        return zeta

    def features(self, inputs: Any) -> Any:
        """The features of the first layer."""
        return self.first.features(inputs) if self.has_features else super().features(inputs)

    def coefficients(self, weights: DeepWeights) -> Any:
        """The first layer's coefficients times all matrices."""
        if not self.has_features:
            return super().coefficients(weights)
        self.check_weights(weights)
        product = self.first.coefficients(weights.first)
        for W in weights.rest:
            product = product @ W
        return product

    def units(self, weights: DeepWeights, layer: int = 0) -> Units:
        """The units of a hidden layer."""
        layer = self.check_layer(layer)
        self.check_weights(weights)
        if layer == 0:
            return self.first.units(weights.first)
        if layer == 1:
            second = weights.first.second
            return matrix_units(second.reshape(-1, second.shape[-1]), weights.rest[0])
        return matrix_units(weights.rest[layer - 2], weights.rest[layer - 1])

    def with_units(self, weights: DeepWeights, units: Units, layer: int = 0) -> DeepWeights:
        """The network with other units in a hidden layer."""
        layer = self.check_layer(layer)
        self.check_weights(weights)
        if layer == 0:
            return weights._replace(first=self.first.with_units(weights.first, units))
        reads = weights.rest[layer - 2] if layer >= 2 else weights.first.second
        check_units(units, math.prod(reads.shape[:-1]), weights.rest[layer - 1].shape[1])
        rest = list(weights.rest)
        rest[layer - 1] = units.outgoing
        if layer >= 2:
            rest[layer - 2] = units.incoming.T
            return weights._replace(rest=tuple(rest))
        second = units.incoming.T.reshape(*weights.first.second.shape[:-1], -1)
        return DeepWeights(weights.first._replace(second=second), tuple(rest))
