"""Four layers, with a connection that skips none, one or two of them."""

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count
from lazyrich.models._activations import activation, activation_kind
from lazyrich.models._network import Network, Units, check_inputs, check_units, matrix_units
from lazyrich.models._unit_kind import UnitKind

_FREE = {0: (0, 1, 2), 1: (2,), 2: (1,)}
"""Hidden layers whose units write through a matrix only, by number of skipped layers."""


@dataclasses.dataclass(frozen=True)
class SkipNetwork(Network):
    r"""Four fully connected layers, the first hidden one added again further on.

    $$ f(x) = W_4 h_3, \qquad h_1 = \sigma(W_1 x), \qquad
       \begin{aligned}
       \text{no skip: } & h_2 = \sigma(W_2 h_1), & h_3 &= \sigma(W_3 h_2) \\
       \text{skip 1: } & h_2 = \sigma(W_2 h_1) + h_1, & h_3 &= \sigma(W_3 h_2) \\
       \text{skip 2: } & h_2 = \sigma(W_2 h_1), & h_3 &= \sigma(W_3 h_2) + h_1 \end{aligned} $$

    The weights are four matrices of shape (inputs, outputs), the transposes of $W_1 \ldots W_4$. Hidden
    layers that a skipping connection ends or begins at have no units of their own.

    Source:
        saddles, Eq. 18.

    Attributes:
        input_dimension: number of inputs.
        width: units in each hidden layer.
        output_dimension: number of outputs.
        skip: 0, 1 or 2 layers skipped.
        activation: σ, as in `TwoLayer`.

    Example:
        >>> import jax
        >>> from lazyrich.models import SkipNetwork
        >>> model = SkipNetwork(2, width=50, output_dimension=2, skip=1)
        >>> model.apply(model.init(jax.random.key(0), std=0.01), jax.numpy.ones((3, 2))).shape
        (3, 2)
    """

    input_dimension: int
    width: int
    output_dimension: int = 1
    skip: int = 0
    activation: "str | Callable[[Any], Any]" = "linear"

    def __post_init__(self) -> None:
        for name in ("input_dimension", "width", "output_dimension"):
            object.__setattr__(
                self, name, count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            )
        if not isinstance(self.skip, int) or isinstance(self.skip, bool) or self.skip not in _FREE:
            raise argument_error(
                "skip", "be 0, 1 or 2", self.skip, "Four layers have no more to skip."
            )
        activation(self.activation)

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the units of those hidden layers that have units of their own."""
        return (activation_kind(self.activation),) * len(_FREE[self.skip])

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of one input."""
        return (self.input_dimension,)

    @property
    def has_features(self) -> bool:
        """Whether the network is linear: its features are then its inputs."""
        return self.activation == "linear"

    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shapes of the weights."""
        H = self.width
        return ((self.input_dimension, H), (H, H), (H, H), (H, self.output_dimension))

    @property
    def form(self) -> tuple[tuple[Any, Any], ...]:
        """`shapes`, with any numbers of units, those that are added alike, and of outputs."""
        hidden = {0: ("a", "b", "c"), 1: ("a", "a", "b"), 2: ("a", "b", "a")}[self.skip]
        return tuple(itertools.pairwise((self.input_dimension, *hidden, "outputs")))

    def apply(self, weights: tuple[Any, ...], inputs: Any) -> Any:
        """Outputs, shape (samples, outputs), for inputs of shape (samples, inputs)."""
        self.check_weights(weights)
        check_inputs(inputs, self.input_shape)
        sigma = activation(self.activation)
        W1, W2, W3, W4 = weights
        h1 = sigma(inputs @ W1)
        h2 = sigma(h1 @ W2) + (h1 if self.skip == 1 else 0)
        h3 = sigma(h2 @ W3) + (h1 if self.skip == 2 else 0)
        return h3 @ W4

    def features(self, inputs: Any) -> Any:
        """The inputs."""
        if not self.has_features:
            return super().features(inputs)
        check_inputs(inputs, self.input_shape)
        return inputs

    def coefficients(self, weights: tuple[Any, ...]) -> Any:
        """The network's linear map, shape (inputs, outputs)."""
        if not self.has_features:
            return super().coefficients(weights)
        self.check_weights(weights)
        return self.apply(weights, np.eye(self.input_dimension, dtype=weights[0].dtype))

    def units(self, weights: tuple[Any, ...], layer: int = 0) -> Units:
        """The units of a hidden layer that has units of its own."""
        at = _FREE[self.skip][self.check_layer(layer)]
        self.check_weights(weights)
        return matrix_units(weights[at], weights[at + 1])

    def with_units(self, weights: tuple[Any, ...], units: Units, layer: int = 0) -> tuple[Any, ...]:
        """The network with other units in such a layer."""
        at = _FREE[self.skip][self.check_layer(layer)]
        self.check_weights(weights)
        check_units(units, weights[at].shape[0], weights[at + 1].shape[1])
        return (*weights[:at], units.incoming.T, units.outgoing, *weights[at + 2 :])
