"""Networks as sums over units."""

import abc
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import ArgumentError, argument_error, count, is_traced, real, standard_normal
from lazyrich.core._random import checked_key
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

    Networks run inside of traces, where numbers cannot be looked at. Shapes are checked there too, numbers
    nowhere: NaN in, NaN out.

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

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of one input; None stands for any length, that of a context of tokens."""
        raise ArgumentError(
            "`network` must know its inputs' shape; this one leaves it to a feature map."
        )

    @abc.abstractmethod
    def shapes(self) -> Any:
        """The shapes of the weights, as a tree like theirs."""

    @property
    def form(self) -> Any:
        """`shapes`, with words where the weights decide: for numbers of units and of outputs."""
        return self.shapes()

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

    def check_weights(self, weights: Any) -> None:
        """Refuse weights that are no tree of this network's form."""
        check_form("weights", weights, self.form)

    def check_layer(self, layer: int) -> int:
        """The number of a hidden layer, checked."""
        most = len(self.kinds) - 1
        return count("layer", layer, at_least=0, at_most=most, advice="Layers count from 0.")


def draw(key: Any, std: Any, shapes: Any) -> Any:
    """Independent normal weights of the given shapes; `std` is one for all or one for each array."""
    leaves, tree = jax.tree.flatten(shapes, is_leaf=_is_shape)
    sizes = real("std", std, at_least=0, advice="Use e.g. 1e-3.")
    if sizes.shape not in ((), (len(leaves),)):
        raise argument_error("std", f"be a number or {len(leaves)} numbers", sizes.shape)
    keys = jax.random.split(checked_key(key), len(leaves))
    each = np.broadcast_to(sizes, len(leaves))
    drawn = [s * standard_normal(k, shape) for k, s, shape in zip(keys, each, leaves, strict=True)]
    return jax.tree.unflatten(tree, drawn)


def _is_shape(node: Any) -> bool:
    return type(node) is tuple and all(isinstance(size, int) for size in node)


def check_form(name: str, tree: Any, form: Any) -> None:
    """Refuse a tree of other arrays than the form has; a word in it stands for any size, always the same."""
    wanted, outline = jax.tree.flatten(form, is_leaf=_is_form)
    arrays, found = jax.tree.flatten(tree)
    sizes: dict[str, int] = {}
    if found == outline and all(
        _agrees(np.shape(array), shape, sizes) for array, shape in zip(arrays, wanted, strict=True)
    ):
        return
    shown = jax.tree.map(np.shape, tree) if found == outline else tree
    raise argument_error(
        name, f"be arrays of the shapes {form}", shown, "Words stand for any size."
    )


def _is_form(node: Any) -> bool:
    is_shape = type(node) is tuple and len(node) > 0
    return is_shape and all(isinstance(size, int | str) for size in node)


def _agrees(found: tuple[int, ...], wanted: tuple[int | str, ...], sizes: dict[str, int]) -> bool:
    return len(found) == len(wanted) and all(
        have == (sizes.setdefault(want, have) if isinstance(want, str) else want)
        for have, want in zip(found, wanted, strict=True)
    )


def check_inputs(inputs: Any, shape: tuple[int | None, ...]) -> None:
    """Refuse inputs of another shape, which indexing would cut or repeat without a word."""
    found = np.shape(inputs)
    if len(found) != len(shape) + 1 or any(
        want not in (None, have) for have, want in zip(found[1:], shape, strict=True)
    ):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise argument_error("inputs", f"have the shape (samples, {wanted})", found)


def checked_pairs(name: str, pairs: Any, num_symbols: int) -> Any:
    """Pairs of symbols' numbers, as an array of JAX, which looks up what is out of range without a word."""
    kind = pairs.dtype if hasattr(pairs, "dtype") else np.asarray(pairs).dtype
    fits = np.shape(pairs)[1:] == (2,) and jnp.issubdtype(kind, jnp.integer)
    if fits and not is_traced(pairs):
        fits = np.all((np.asarray(pairs) >= 0) & (np.asarray(pairs) < num_symbols))
    if not fits:
        wanted = f"be pairs of whole numbers from 0 to {num_symbols - 1}, shape (samples, 2)"
        raise argument_error(name, wanted, pairs)
    return jnp.asarray(pairs)


def check_units(units: Any, incoming: int, outgoing: int) -> None:
    """Refuse units that read or write by other numbers of weights than the layer's."""
    check_form("units", units, Units(("units", incoming), ("units", outgoing)))


def matrix_units(incoming: Any, outgoing: Any) -> Units:
    """Units of a layer between two matrices: columns of the first and rows of the second."""
    return Units(incoming.T, outgoing)
