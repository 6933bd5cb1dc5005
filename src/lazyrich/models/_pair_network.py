"""Networks that read pairs of symbols."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, flag, number, standard_uniform
from lazyrich.core._random import checked_key
from lazyrich.models._activations import POWERS, activation
from lazyrich.models._network import check_form, checked_pairs

BLOCK = 1 << 21
"""Bytes of hidden units that are worked on at a time on a CPU: what its caches hold."""


class PairWeights(NamedTuple):
    """Weights of a `PairNetwork` with M symbols, K units, and C outputs.

    Complex weights have a leading axis of two, real and imaginary part; `PairNetwork.values` joins them.
    """

    first: Any  # (2M, K): rows of the first symbols, then of the second
    middle: Any  # a tuple of (K, K)
    second: Any  # (K, C)


@dataclasses.dataclass(frozen=True)
class PairNetwork:
    r"""A bias-free network on pairs (g, h) of M symbols, each given as a one-hot vector.

    $$ \hat Y = \beta\, F_L V, \qquad F_0 = \sigma(X W), \qquad
       F_l = \sigma(F_{l-1} + F_{l-1} W_l) $$

    Row $X_i = (e_g, e_h)$, so that XW is a sum of two rows of W, looked up and not multiplied.
    Without residual connections $F_l = \sigma(F_{l-1} W_l)$.

    Complex weights act alike and give complex outputs; σ must then be a power, or a function of the user's
    that takes complex numbers.

    Source:
        li2, Sec. 2, Sec. 6, Fig. 12.

    Attributes:
        num_symbols: M ≥ 2.
        width: K, number of units in every hidden layer.
        output_dimension: number of outputs; without it M.
        activation: σ, by name (see `activation`) or as a function of an array.
        middle_layers: number L of layers between the first and the top one.
        residual: whether middle layers add to what they read.
        complex_weights: whether weights are complex numbers.
        output_scale: β > 0.

    Example:
        >>> import jax
        >>> from lazyrich.models import PairNetwork
        >>> network = PairNetwork(num_symbols=5, width=12)
        >>> weights = network.init(jax.random.key(0))
        >>> network.apply(weights, jax.numpy.array([[0, 3], [4, 4]])).shape
        (2, 5)
    """

    num_symbols: int
    width: int
    output_dimension: Any = None
    activation: "str | Callable[[Any], Any]" = "quadratic"
    middle_layers: int = 0
    residual: bool = True
    complex_weights: bool = False
    output_scale: float = 1.0

    def __post_init__(self) -> None:
        sizes = (("num_symbols", 2), ("width", 1), ("output_dimension", 1), ("middle_layers", 0))
        for name, least in sizes:
            value = getattr(self, name)
            value = self.num_symbols if name == "output_dimension" and value is None else value
            object.__setattr__(self, name, count(name, value, at_least=least))
        count("middle_layers", self.middle_layers, at_least=0, at_most=1000)
        for name in ("residual", "complex_weights"):
            object.__setattr__(self, name, flag(name, getattr(self, name)))
        scale = number("output_scale", self.output_scale, above=0, advice="Use 1 as usual.")
        object.__setattr__(self, "output_scale", scale)
        activation(self.activation)
        if self.complex_weights and not (callable(self.activation) or self.activation in POWERS):
            raise argument_error(
                "activation", f"be a function or one of {', '.join(POWERS)} for complex weights",
                self.activation,
            )  # fmt: skip

    def shapes(self) -> PairWeights:
        """Shapes of the weights."""
        K, parts = self.width, (2,) * self.complex_weights
        return PairWeights(
            (*parts, 2 * self.num_symbols, K),
            ((*parts, K, K),) * self.middle_layers,
            (*parts, K, self.output_dimension),
        )

    def init(self, key: Any, scale: Any = 1.0, top_scale: Any = 1.0) -> PairWeights:
        r"""Weights at the start: uniform between $\pm 1/\sqrt{n}$ with n the inputs of a layer.

        Complex weights are such numbers times random phases: with zero imaginary part they would stay real.

        Args:
            key: a random key.
            scale: α ≥ 0, a factor of all weights.
            top_scale: a further factor ≥ 0 of the top layer; 0 is the paper's zero-init.
        """
        scale = number("scale", scale, at_least=0, advice="Use 1 as usual.")
        top = number("top_scale", top_scale, at_least=0, advice="Use 1, or 0 for zero-init.")
        shapes = self.shapes()
        keys = jax.random.split(checked_key(key), 2 + self.middle_layers)
        draw = functools.partial(_uniform, is_complex=self.complex_weights)
        return PairWeights(
            scale * draw(keys[0], shapes.first),
            tuple(scale * draw(*pair) for pair in zip(keys[2:], shapes.middle, strict=True)),
            scale * top * draw(keys[1], shapes.second),
        )

    def values(self, weights: PairWeights) -> PairWeights:
        """The weights as the formulas have them: complex numbers instead of their two parts."""
        K, C, parts = "units", "outputs", (2,) * self.complex_weights
        form = PairWeights(
            (*parts, 2 * self.num_symbols, K),
            ((*parts, K, K),) * self.middle_layers,
            (*parts, K, C),
        )
        check_form("weights", weights, form)
        if any(jnp.iscomplexobj(leaf) for leaf in jax.tree.leaves(weights)):
            raise argument_error(
                "weights", "be real numbers", "complex ones",
                "Of complex weights give both parts, along a first axis.",
            )  # fmt: skip
        if not self.complex_weights:
            return weights
        return jax.tree.map(lambda parts: parts[0] + 1j * parts[1], weights)

    def features(self, weights: PairWeights, pairs: Any) -> Any:
        """What the top layer reads, F, shape (pairs, K)."""
        return self._hidden(self.values(weights), checked_pairs("pairs", pairs, self.num_symbols))

    def apply(self, weights: PairWeights, pairs: Any) -> Any:
        """Outputs, shape (pairs, outputs), for pairs of symbols' numbers, shape (pairs, 2)."""
        pairs, w = checked_pairs("pairs", pairs, self.num_symbols), self.values(weights)
        if self.middle_layers:
            return self.output_scale * (self._hidden(w, pairs) @ w.second)
        return self.output_scale * _by_blocks(self.activation, w.first, w.second, pairs)

    def _hidden(self, w: PairWeights, pairs: Any) -> Any:
        sigma = activation(self.activation)
        x = sigma(_looked_up(w.first, pairs))
        for W in w.middle:
            x = sigma(x + x @ W if self.residual else x @ W)
        return x


def _uniform(key: Any, shape: tuple[int, ...], is_complex: bool) -> np.ndarray:
    """Uniform between ±1/√n, n the inputs of the layer, times random phases where complex; float64."""
    size, phase = jax.random.split(key)
    rows = shape[-2]
    drawn = (2 * standard_uniform(size, shape[-2:]) - 1) / np.sqrt(rows)
    if not is_complex:
        return drawn
    angle = 2 * np.pi * standard_uniform(phase, shape[-2:])
    return drawn * np.stack([np.cos(angle), np.sin(angle)])


def _looked_up(first: Any, pairs: Any) -> Any:
    """XW for one-hot inputs."""
    return first[pairs[:, 0]] + first[first.shape[0] // 2 + pairs[:, 1]]


def _products(sigma: Any, first: Any, second: Any, pairs: Any) -> Any:
    """σ(XW)V, some of the units at a time, so that no array of pairs × units goes through memory.

    The gradient does it once more: looking units up again is cheaper than reading them from memory.
    """
    blocks = _blocks(first, second, pairs)

    def add(total: Any, block: Any) -> Any:
        W, V = block
        return total + activation(sigma)(_looked_up(W, pairs)) @ V, None

    nothing = jnp.zeros((pairs.shape[0], second.shape[1]), second.dtype)
    return jax.lax.scan(add, nothing, blocks)[0]


def _forward(sigma: Any, first: Any, second: Any, pairs: Any) -> Any:
    return _products(sigma, first, second, pairs), (first, second, pairs)


def _backward(sigma: Any, kept: Any, slope: Any) -> Any:
    first, second, pairs = kept
    blocks = _blocks(first, second, pairs)
    num = first.shape[0] // 2

    def one(_: Any, block: Any) -> Any:
        W, V = block
        F, pull = jax.vjp(activation(sigma), _looked_up(W, pairs))
        (G,) = pull(slope @ V.T)
        halves = [jnp.zeros((num, W.shape[1]), W.dtype).at[pairs[:, i]].add(G) for i in (0, 1)]
        return None, (jnp.concatenate(halves), (slope.T @ F).T)

    _, (W, V) = jax.lax.scan(one, None, blocks)
    back = W.transpose(1, 0, 2).reshape(first.shape[0], -1)[:, : first.shape[1]]
    return back, V.reshape(-1, second.shape[1])[: second.shape[0]], None


_by_blocks: Any = jax.custom_vjp(_products, nondiff_argnums=(0,))
_by_blocks.defvjp(_forward, _backward)


def _blocks(first: Any, second: Any, pairs: Any) -> tuple[Any, Any]:
    """The units in blocks of equal size; those that fill up the last block write nothing."""
    K = first.shape[1]
    held = max(pairs.shape[0], 1) * first.dtype.itemsize
    # a GPU has no such caches, and its threads want all units at once
    most = max(64, BLOCK // held) if jax.default_backend() == "cpu" else K
    count = -(-K // most)
    size = -(-K // count)
    missing = count * size - K
    W, V = (jnp.pad(first, ((0, 0), (0, missing))), jnp.pad(second, ((0, missing), (0, 0))))
    return W.reshape(-1, count, size).transpose(1, 0, 2), V.reshape(count, size, -1)
