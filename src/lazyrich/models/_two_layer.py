"""Fully connected networks with one hidden layer."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from lazyrich.core import count, number, standard_normal
from lazyrich.models._activations import activation


class TwoLayerWeights(NamedTuple):
    """Unit i reads the inputs by column i of `first` and writes to the outputs by row i of `second`."""

    first: Any  # (inputs, units)
    second: Any  # (units, outputs)


@dataclasses.dataclass(frozen=True)
class TwoLayer:
    r"""A network with one hidden layer and no biases, a sum over its units.

    $$ f(x) = S_1^\top \sigma(S_0^\top x) = \sum_i v_i\, \sigma(u_i^\top x) $$

    with $u_i$ the columns of $S_0$ and $v_i$ the rows of $S_1$.

    Attributes:
        input_dimension: $d_\mathrm{in}$.
        width: number of units $d_h$.
        output_dimension: $d_\mathrm{out}$.
        activation: σ, by name (linear, relu, quadratic, sigmoid, sine, tanh) or as a function of an array.

    Example:
        >>> import jax
        >>> from lazyrich.models import TwoLayer
        >>> model = TwoLayer(input_dimension=3, width=8, output_dimension=2, activation="tanh")
        >>> weights = model.init(jax.random.key(0), first_std=0.5, second_std=0.5)
        >>> model.apply(weights, jax.numpy.ones((5, 3))).shape
        (5, 2)
    """

    input_dimension: int
    width: int
    output_dimension: int = 1
    activation: "str | Callable[[Any], Any]" = "linear"

    def __post_init__(self) -> None:
        for name in ("input_dimension", "width", "output_dimension"):
            value = count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            object.__setattr__(self, name, value)
        activation(self.activation)

    def init(self, key: Any, *, first_std: float, second_std: float) -> TwoLayerWeights:
        """Weights drawn independently from normal laws of the given standard deviations."""
        import jax

        advice = "Use e.g. 0.1."
        first_std = number("first_std", first_std, at_least=0, advice=advice)
        second_std = number("second_std", second_std, at_least=0, advice=advice)
        keys = jax.random.split(key)
        return TwoLayerWeights(
            first_std * standard_normal(keys[0], (self.input_dimension, self.width)),
            second_std * standard_normal(keys[1], (self.width, self.output_dimension)),
        )

    def apply(self, weights: TwoLayerWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs), for inputs of shape (samples, inputs)."""
        return activation(self.activation)(inputs @ weights.first) @ weights.second
