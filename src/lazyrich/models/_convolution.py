"""One-dimensional convolution and a readout."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, flag
from lazyrich.models._activations import activation, activation_kind
from lazyrich.models._network import check_inputs
from lazyrich.models._two_layer import OneHiddenLayer, TwoLayerWeights, with_ones
from lazyrich.models._unit_kind import UnitKind


@dataclasses.dataclass(frozen=True)
class Convolution(OneHiddenLayer):
    r"""A convolution over a one-dimensional input and a linear readout, a sum over its kernels.

    $$ f(x) = \sum_i \sum_p v_{ip}\, \sigma\Bigl(\sum_k u_{ik}\, x_{sp+k}\Bigr) $$

    with position p and stride s; no padding. With a bias, every window gets a further entry, 1.

    Source:
        saddles, Eq. 66, 68.

    Attributes:
        input_length: length of the input.
        width: number of kernels H.
        kernel: length of a kernel.
        stride: s.
        output_dimension: number of outputs.
        activation: σ, as in `TwoLayer`.
        bias: whether each kernel has a bias, the last entry of its $u_i$.

    Example:
        >>> import jax
        >>> from lazyrich.models import Convolution
        >>> model = Convolution(input_length=4, width=50, kernel=2, stride=2, activation="relu")
        >>> weights = model.init(jax.random.key(0), std=1e-3)
        >>> model.apply(weights, jax.numpy.ones((5, 4))).shape, model.num_positions
        ((5, 1), 2)
    """

    input_length: int
    width: int
    kernel: int = 2
    stride: int = 1
    output_dimension: int = 1
    activation: "str | Callable[[Any], Any]" = "linear"
    bias: bool = False

    def __post_init__(self) -> None:
        for name in ("input_length", "width", "kernel", "stride", "output_dimension"):
            object.__setattr__(
                self, name, count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            )
        if self.kernel > self.input_length:
            raise argument_error(
                "kernel", f"be at most `input_length`, {self.input_length}", self.kernel
            )
        object.__setattr__(self, "bias", flag("bias", self.bias))
        activation(self.activation)

    @property
    def num_positions(self) -> int:
        """How many positions the kernel takes."""
        return (self.input_length - self.kernel) // self.stride + 1

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the kernels."""
        return (activation_kind(self.activation),)

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of one input."""
        return (self.input_length,)

    @property
    def has_features(self) -> bool:
        """Whether the network is linear: its features are then its inputs."""
        return self.activation == "linear"

    def shapes(self) -> TwoLayerWeights:
        """Shapes of the weights."""
        readout = (self.width, self.num_positions, self.output_dimension)
        return TwoLayerWeights((self.kernel + self.bias, self.width), readout)

    def apply(self, weights: TwoLayerWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs), for inputs of shape (samples, length)."""
        self.check_weights(weights)
        check_inputs(inputs, self.input_shape)
        windows = self.stride * np.arange(self.num_positions)[:, None] + np.arange(self.kernel)
        read = with_ones(inputs[:, windows]) if self.bias else inputs[:, windows]
        hidden = activation(self.activation)(read @ weights.first)  # (samples, positions, units)
        return jnp.einsum("npi,ipo->no", hidden, weights.second)

    def features(self, inputs: Any) -> Any:
        """The inputs; with a bias, and a further one, 1."""
        if not self.has_features:
            return super().features(inputs)
        check_inputs(inputs, self.input_shape)
        return with_ones(inputs) if self.bias else inputs

    def coefficients(self, weights: TwoLayerWeights) -> Any:
        """The network's linear map, shape (length, outputs); with a bias, what it adds is a further row."""
        if not self.has_features:
            return super().coefficients(weights)
        self.check_weights(weights)
        n = self.input_length
        columns = self.apply(weights, np.eye(n + 1, n, dtype=weights.first.dtype))  # and no input
        return (
            jnp.concatenate([columns[:n] - columns[n:], columns[n:]]) if self.bias else columns[:n]
        )
