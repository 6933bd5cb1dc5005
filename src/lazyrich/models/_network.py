"""Networks as sums over units."""

import abc
from typing import Any, NamedTuple

import jax
import numpy as np

from lazyrich.core import ArgumentError, argument_error, real, standard_normal, whole
from lazyrich.models._unit_kind import UnitKind


class Units(NamedTuple):
    """A layer as a list of units: what each reads by and what it writes by."""

    incoming: Any  # (units, N_u), the u_i
    outgoing: Any  # (units, N_v), the v_i


class Network(abc.ABC):
    r"""A network whose hidden layers are sums over units.

    $$ f(x) = g_\mathrm{out}\Bigl(\sum_{i=1}^H \phi(g_\mathrm{in}(x); u_i)\, v_i\Bigr) $$

    Make it a frozen dataclass. Its weights are a tree of arrays; their shapes, not the network, say how many
    units there are, so the same network acts on narrower and wider weights.

    Source:
        saddles, Eq. 1, 2.
    """

    @property
    @abc.abstractmethod
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the units of each hidden layer, first layer first."""

    @property
    @abc.abstractmethod
    def has_features(self) -> bool:
        """Whether the outputs are linear in fixed features of the inputs."""

    @abc.abstractmethod
    def shapes(self) -> Any:
        """The shapes of the weights, as a tree like theirs."""

    @abc.abstractmethod
    def apply(self, weights: Any, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs), for inputs with one sample in each row."""

    @abc.abstractmethod
    def units(self, weights: Any, layer: int = 0) -> Units:
        """The units of a hidden layer."""

    @abc.abstractmethod
    def with_units(self, weights: Any, units: Units, layer: int = 0) -> Any:
        """The weights with other units in a hidden layer, as many as one likes."""

    def features(self, inputs: Any) -> Any:
        """The fixed features z of the inputs, shape (samples, features)."""
        raise ArgumentError("`network` must be linear in fixed features; this one is not.")

    def coefficients(self, weights: Any) -> Any:
        """The outputs' coefficients in the features, shape (features, outputs)."""
        raise ArgumentError("`network` must be linear in fixed features; this one is not.")

    def init(self, key: Any, std: Any) -> Any:
        """Independent normal weights.

        Args:
            key: a random key.
            std: standard deviation, one for all or one for each array of weights.
        """
        return draw(key, std, self.shapes())

    def check_layer(self, layer: int) -> int:
        """The number of a hidden layer, checked."""
        most = len(self.kinds) - 1
        return int(whole("layer", layer, at_least=0, at_most=most, advice="Layers count from 0."))


def draw(key: Any, std: Any, shapes: Any) -> Any:
    """Independent normal weights of the given shapes; `std` is one for all or one for each array."""
    leaves, tree = jax.tree.flatten(shapes, is_leaf=_is_shape)
    sizes = real("std", std, at_least=0, advice="Use e.g. 1e-3.")
    if sizes.shape not in ((), (len(leaves),)):
        raise argument_error("std", f"be a number or {len(leaves)} numbers", sizes.shape)
    keys = jax.random.split(key, len(leaves))
    each = np.broadcast_to(sizes, len(leaves))
    drawn = [s * standard_normal(k, shape) for k, s, shape in zip(keys, each, leaves, strict=True)]
    return jax.tree.unflatten(tree, drawn)


def _is_shape(node: Any) -> bool:
    return type(node) is tuple and all(isinstance(size, int) for size in node)


def check_length(inputs: Any, size: int) -> None:
    """Refuse inputs of another length, which indexing would cut or repeat without a word."""
    if np.shape(inputs)[-1:] != (size,):
        raise argument_error("inputs", f"have {size} entries on the last axis", np.shape(inputs))


def matrix_units(incoming: Any, outgoing: Any) -> Units:
    """Units of a layer between two matrices: columns of the first and rows of the second."""
    return Units(incoming.T, outgoing)
