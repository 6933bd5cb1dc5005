"""Networks with random weights and data, and data for which given weights are a fixed point."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import models, theory

if TYPE_CHECKING:
    from lazyrich.models import Network


@functools.cache
def networks() -> "dict[str, Network]":
    """Networks with two to six units in each layer; some can be taken away and given back in many ways.

    A function, because ids of checks must be known without loading models.
    """
    from lazyrich.models import Attention, Convolution, Deep, SkipNetwork, TwoLayer

    return {
        "linear": TwoLayer(3, 4, 2),
        "linear with bias": TwoLayer(2, 6, 1, bias=True),
        "relu": TwoLayer(3, 4, 2, "relu"),
        "relu with bias": TwoLayer(2, 5, 1, "relu", bias=True),
        "tanh": TwoLayer(3, 6, 2, "tanh"),
        "sigmoid": TwoLayer(3, 2, 2, "sigmoid"),
        "quadratic": TwoLayer(3, 5, 1, "quadratic"),
        "convolution": Convolution(5, 3, kernel=2, stride=1, output_dimension=2),
        "relu convolution": Convolution(4, 6, kernel=2, stride=2, activation="relu"),
        "attention": Attention(3, 4, rank=2, output_dimension=2),
        "merged attention": Attention(3, 3, merged=True),
        "softmax attention": Attention(3, 2, softmax=True),
        "three layers": Deep(TwoLayer(3, 5, 4, "relu"), ("linear",), output_dimension=2),
        "four layers": Deep(TwoLayer(2, 3, 5), ("relu", "tanh"), (4,), output_dimension=2),
        "convolution and layer": Deep(Convolution(4, 3, stride=2, output_dimension=5), ("relu",)),
        "transformer": Deep(Attention(2, 3, output_dimension=5), ("linear", "linear"), (4,)),
        "skip": SkipNetwork(3, 5, 2, skip=1, activation="relu"),
    }


class Instance:
    """A network on random inputs, with the Jacobian of its outputs by automatic differentiation.

    One compilation serves all weights of the network's full width, narrower ones being padded with units that
    write nothing.
    """

    def __init__(self, network: "Network", inputs: np.ndarray):
        import jax

        self.network, self.inputs = network, inputs
        self._outputs = jax.jit(lambda w: network.apply(w, inputs))
        twice = lambda w: (network.apply(w, inputs),) * 2  # noqa: E731
        self._jacobian = jax.jit(jax.jacrev(twice, has_aux=True))

    def outputs(self, weights: Any) -> np.ndarray:
        """Outputs of weights of any width, one after the other."""
        import jax

        with jax.enable_x64(True):
            return np.asarray(self._outputs(weights)).ravel()

    def jacobian(self, weights: Any) -> np.ndarray:
        """Derivatives of the outputs by the weights of full width, shape (outputs, weights)."""
        return self.jacobian_and_outputs(weights)[0]

    def jacobian_and_outputs(self, weights: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both at once, the outputs one after the other."""
        import jax

        with jax.enable_x64(True):
            tree, outputs = self._jacobian(weights)
            leaves = [np.reshape(leaf, (outputs.size, -1)) for leaf in jax.tree.leaves(tree)]
            return np.concatenate(leaves, axis=1), np.asarray(outputs).ravel()

    def gradient(self, weights: Any, error: np.ndarray) -> Any:
        """The gradient of a loss with the given derivative by the outputs, as a tree like the weights."""
        return self.unflatten(error @ self.jacobian(weights), weights)

    def unflatten(self, flat: np.ndarray, weights: Any) -> Any:
        """Numbers in the order of the Jacobian's columns as a tree like the weights."""
        import jax

        sizes = [w.size for w in jax.tree.leaves(weights)]
        parts = np.split(flat, np.cumsum(sizes)[:-1])
        shaped = [p.reshape(w.shape) for p, w in zip(parts, jax.tree.leaves(weights), strict=True)]
        return jax.tree.unflatten(jax.tree.structure(weights), shaped)

    def num_units(self, layer: int) -> int:
        """How many units a layer has at full width."""
        return len(
            self.network.units(self.random_weights(np.random.default_rng(0)), layer).incoming
        )

    def narrow_fixed_point(self, rng: Any, layer: int, units: int) -> tuple[Any, np.ndarray]:
        """Random narrow weights, and a derivative of the loss by the outputs that puts them at rest.

        Data for that derivative e exist for any loss: labels f − e for the squared error, f − artanh e for
        the logarithm of cosh, and so on.
        """
        return self.fixed_point(rng, {layer: units})

    def fixed_point(self, rng: Any, widths: dict[int, int]) -> tuple[Any, np.ndarray]:
        """The same with several layers narrow.

        Weights are drawn again where the network is silent on nearly all inputs: an error that must vanish
        on the others would put any weights at rest.
        """
        for _ in range(20):
            narrow = padded = self.random_weights(rng)
            kept = np.ones(self.jacobian(padded).shape[1], dtype=bool)
            for layer, units in widths.items():
                kept &= self._mask(padded, layer, units)
                narrow = self.narrowed(narrow, layer, units)
                padded = self.silenced(padded, layer, units)
            jacobian = self.jacobian(padded)[:, kept]
            error = _orthogonal(rng, jacobian)
            pull = np.max(np.abs(error) @ np.abs(jacobian))
            if pull > 1e-3 * np.linalg.norm(error) * np.abs(jacobian).max():
                return narrow, error
        raise RuntimeError("random weights leave no error at a fixed point")

    def narrowed(self, full: Any, layer: int, units: int) -> Any:
        """Weights with the first units of a layer only."""
        u, v = self.network.units(full, layer)
        return self.network.with_units(full, models.Units(u[:units], v[:units]), layer)

    def silenced(self, full: Any, layer: int, units: int) -> Any:
        """Weights of full width and the same map as the narrowed ones: the other units write nothing."""
        u, v = self.network.units(full, layer)
        silent = np.concatenate([v[:units], 0 * v[units:]])
        return self.network.with_units(full, models.Units(u, silent), layer)

    def random_weights(self, rng: Any) -> Any:
        """Normal weights of the network's full width."""
        import jax

        is_shape = lambda node: type(node) is tuple and isinstance(node[0], int)  # noqa: E731
        return jax.tree.map(rng.standard_normal, self.network.shapes(), is_leaf=is_shape)

    def _mask(self, full: Any, layer: int, units: int) -> np.ndarray:
        """Which weights of the padded network are weights of the narrow one."""
        import jax

        ones = jax.tree.map(np.ones_like, full)
        u, v = self.network.units(ones, layer)
        inside = (np.arange(len(u)) < units).astype(float)[:, None]
        marked = self.network.with_units(ones, models.Units(u * inside, v * inside), layer)
        return np.concatenate([leaf.ravel() for leaf in jax.tree.leaves(marked)]) > 0


def _orthogonal(rng: Any, columns: np.ndarray) -> np.ndarray:
    """A random vector orthogonal to columns."""
    Q = np.linalg.qr(columns)[0]
    if Q.shape[0] <= Q.shape[1]:
        raise RuntimeError("the inputs are too few to leave an error at a fixed point")
    vector = rng.standard_normal(Q.shape[0])
    for _ in range(2):  # twice, to be orthogonal to all digits
        vector = vector - Q @ (Q.T @ vector)
    return vector


def random_inputs(network: "Network", rng: Any, samples: int = 80) -> np.ndarray:
    """Normal inputs of a shape that the network takes."""
    return rng.standard_normal((samples, *(size or 5 for size in network.input_shape)))


@functools.cache
def instance(name: str) -> Instance:
    """A network of the list on random inputs."""
    seed = list(networks()).index(name)
    network = networks()[name]
    return Instance(network, random_inputs(network, np.random.default_rng(seed)))


def layers() -> list[tuple[str, int]]:
    """Every network of the list with each of its layers of units."""
    return [(name, layer) for name, net in networks().items() for layer in range(len(net.kinds))]


def random_construction(form: str, rng: Any, units: int) -> Any:
    """A construction of a form with random factors, for any sort of unit that allows the form."""
    unit, (share, factor) = int(rng.integers(units)), rng.standard_normal(2)
    return {
        "split": lambda: theory.SplitUnit(unit, share),
        "zero": theory.ZeroUnit,
        "proportional": lambda: theory.ProportionalUnit(unit, abs(factor), share),
        "negative": lambda: theory.ProportionalUnit(unit, -abs(factor), share),
        "dependent": lambda: theory.DependentUnit(
            rng.standard_normal(units), rng.standard_normal(units)
        ),
    }[form]()


def random_manifold(form: str, rng: Any, units: int) -> Any:
    """A manifold of a form with random factors and units."""
    unit, other = (int(n) for n in rng.choice(units, 2, replace=False))
    factor = float(rng.uniform(0.3, 2))
    return {
        "split": lambda: theory.EqualManifold(other, unit),
        "zero": lambda: theory.ZeroManifold(unit),
        "proportional": lambda: theory.ProportionalManifold(factor, other, unit),
        "negative": lambda: theory.ProportionalManifold(-factor, other, unit),
        "dependent": lambda: theory.DependentManifold(rng.standard_normal(units - 1), unit),
    }[form]()


FORMS = ("split", "zero", "proportional", "negative", "dependent")
"""The constructions and manifolds of Theorems 1 and 3; proportional units by the factor's sign."""
