"""Fully connected networks of any depth, with biases and with scales."""

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, flag, number, real
from lazyrich.models._activations import activation, activation_kind
from lazyrich.models._network import Network, Units, check_inputs, check_units, matrix_units
from lazyrich.models._unit_kind import UnitKind


class MLPWeights(NamedTuple):
    """The matrices, first layer first, and the layers' biases, None without."""

    matrices: tuple[Any, ...]  # (inputs, outputs) each
    biases: Any  # (outputs,) each


@dataclasses.dataclass(frozen=True)
class MLP(Network):
    r"""Fully connected layers between given sizes, with a scale for what goes in and for what comes out.

    $$ f(x) = s_\mathrm{out}\, h_L, \qquad h_l = W_l^\top \sigma(h_{l-1}) + b_l, \qquad
       h_1 = W_1^\top s_\mathrm{in} x + b_1 $$

    Two of the four scales of App. G.3 are here; the scale of the weights is that of the start, `lecun`, and
    the scale of the target the task's. With convolutions or heads as the first layer: `Deep`.

    Source:
        layerwise, App. G.3.

    Attributes:
        widths: sizes from the inputs to the outputs, at least three.
        activation: σ, by name (see `activation`) or as a function of an array.
        bias: whether every layer has a bias.
        input_scale: $s_\mathrm{in}$ > 0.
        output_scale: $s_\mathrm{out}$ > 0; α of Fig. 8, 1/Z of Eq. 15.

    Example:
        >>> import jax
        >>> from lazyrich.models import MLP
        >>> network = MLP((64, 100, 100, 10), activation="tanh", output_scale=0.1)
        >>> weights = network.init(jax.random.key(0), network.lecun(5.0))
        >>> network.apply(weights, jax.numpy.ones((3, 64))).shape, round(float(weights[0][1].std()), 1)
        ((3, 10), 0.5)
    """

    widths: tuple[int, ...]
    activation: "str | Callable[[Any], Any]" = "relu"
    bias: bool = True
    input_scale: float = 1.0
    output_scale: float = 1.0

    def __post_init__(self) -> None:
        try:
            sizes = tuple(count("widths", size, advice="Pass sizes ≥ 1.") for size in self.widths)
        except TypeError:  # not a sequence
            sizes = ()
        if len(sizes) < 3:
            raise argument_error(
                "widths", "hold at least three sizes", self.widths, "Pass e.g. (64, 100, 10)."
            )
        object.__setattr__(self, "widths", sizes)
        object.__setattr__(self, "bias", flag("bias", self.bias))
        for name in ("input_scale", "output_scale"):
            value = number(name, getattr(self, name), above=0, advice="Use 1 as usual.")
            object.__setattr__(self, name, float(value))
        activation(self.activation)

    def lecun(self, scale: Any = 1.0, layers: Any = 1.0) -> np.ndarray:
        r"""Standard deviations for `init`: those of LeCun, $1/\sqrt{n_\mathrm{in}}$, times a scale.

        Args:
            scale: of all layers.
            layers: of each layer, first layer first: `(0.5, 2.0)` is upstream, with a heavier last layer,
                `(2.0, 0.5)` downstream.

        Returns:
            One for each array of weights: the matrices, then the biases, which start at zero.
        """
        advice = "Use e.g. 1.0, or one for each layer."
        depth = len(self.widths) - 1
        scale = number("scale", scale, at_least=0, advice=advice)
        each = real("layers", layers, at_least=0, advice=advice)
        if each.shape not in ((), (depth,)):
            raise argument_error("layers", f"be a number or {depth} numbers", each.shape, advice)
        matrices = scale * each / np.sqrt(self.widths[:-1])
        return np.concatenate([matrices, np.zeros(depth * self.bias)])

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the units of each hidden layer."""
        return (activation_kind(self.activation),) * (len(self.widths) - 2)

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of one input."""
        return (self.widths[0],)

    @property
    def has_features(self) -> bool:
        """Whether the network is linear: its features are then the scaled inputs, with a bias also 1."""
        return self.activation == "linear"

    def shapes(self) -> MLPWeights:
        """Shapes of the weights."""
        biases = tuple((size,) for size in self.widths[1:]) if self.bias else None
        return MLPWeights(tuple(itertools.pairwise(self.widths)), biases)

    @property
    def form(self) -> MLPWeights:
        """`shapes`, with any numbers of units and of outputs."""
        hidden = [f"units {k + 1}" for k in range(len(self.widths) - 2)]
        sizes = (self.widths[0], *hidden, "outputs")
        biases = tuple((size,) for size in sizes[1:]) if self.bias else None
        return MLPWeights(tuple(itertools.pairwise(sizes)), biases)

    def apply(self, weights: MLPWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs), for inputs of shape (samples, inputs)."""
        self.check_weights(weights)
        check_inputs(inputs, self.input_shape)
        return self.output_scale * self._layers(weights, self.input_scale * inputs)

    def features(self, inputs: Any) -> Any:
        """The inputs times their scale, and 1 where there is a bias."""
        if not self.has_features:
            return super().features(inputs)
        check_inputs(inputs, self.input_shape)
        ones = jnp.ones((inputs.shape[0], int(self.bias)))
        return jnp.concatenate([self.input_scale * inputs, ones], axis=1)

    def coefficients(self, weights: MLPWeights) -> Any:
        """The product of the matrices, and what the biases add, times the output's scale."""
        if not self.has_features:
            return super().coefficients(weights)
        self.check_weights(weights)
        size = weights.matrices[0].shape[0]
        probes = jnp.concatenate([jnp.eye(size), jnp.zeros((1, size))])
        outputs = self.output_scale * self._layers(weights, probes)
        slopes = outputs[:-1] - outputs[-1]
        return jnp.concatenate([slopes, outputs[-1:]]) if self.bias else slopes

    def _layers(self, weights: MLPWeights, h: Any) -> Any:
        sigma = activation(self.activation)
        for layer, W in enumerate(weights.matrices):
            h = (h if layer == 0 else sigma(h)) @ W
            if self.bias:
                h = h + weights.biases[layer]
        return h

    def units(self, weights: MLPWeights, layer: int = 0) -> Units:
        """The units of a hidden layer; a bias is the last of a unit's incoming weights."""
        layer = self.check_layer(layer)
        self.check_weights(weights)
        first, second = weights.matrices[layer : layer + 2]
        if self.bias:
            first = jnp.concatenate([first, weights.biases[layer][None]])
        return matrix_units(first, second)

    def with_units(self, weights: MLPWeights, units: Units, layer: int = 0) -> MLPWeights:
        """The network with other units in a hidden layer."""
        layer = self.check_layer(layer)
        self.check_weights(weights)
        reads, writes = weights.matrices[layer : layer + 2]
        check_units(units, reads.shape[0] + self.bias, writes.shape[1])
        matrices, biases, first = list(weights.matrices), weights.biases, units.incoming.T
        if self.bias:
            first, bias = first[:-1], first[-1]
            biases = (*biases[:layer], bias, *biases[layer + 1 :])
        matrices[layer : layer + 2] = first, units.outgoing
        return MLPWeights(tuple(matrices), biases)
