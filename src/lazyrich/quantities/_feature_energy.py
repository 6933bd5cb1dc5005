"""The energy that a hidden node climbs when its gradient depends on itself only."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    argument_error,
    choice,
    compute,
    count,
    is_traced,
    real,
    representable,
    untraced,
    whole,
)
from lazyrich.models import activation as activation_function

BLOCK = 2**24
"""Numbers of features held at once: 128 MiB in float64. More nodes are taken one block after the other."""
MAX_CLASSES = 10**6
"""Larger labels are no classes counted from 0 on."""


def feature_energy(
    weights: Any,
    data: Any,
    labels: Any,
    activation: Any = "quadratic",
    *,
    centring: str = "samples",
) -> Any:
    r"""How much of the targets the feature of a node explains: the energy it ascends.

    $$ \mathcal{E}(w) = \tfrac12 \bigl\| \tilde Y^\top \sigma(X w) \bigr\|^2
       = \tfrac12 \sum_h \Bigl\lvert \sum_{i:\, y_i = h} \sigma(x_i^\top w)
         - \tfrac{n_h}{n} \sum_i \sigma(x_i^\top w) \Bigr\rvert^2 $$

    Symbols:
        $w$ → `weights`, $X$ → `data`, $Y$ → `labels` (one-hot rows), $\sigma$ → `activation`, $n_h$ the
        number of samples of class h. $\tilde Y$ is Y minus its mean over samples.

    Source:
        li2, Theorem 1, Eq. 7.

    Holds when:
        always; it is a definition. Sums run over samples, without a mean.

    Computed as:
        the second form. Pairs are gathers, dense inputs a matrix product.

    Checked by:
        checks `li2/thm1`, `li2/eq6`, `li2/eq7`; `tests/quantities/test_feature_energy.py`.

    Args:
        weights: nodes, shape (..., d), real or complex. For pairs d = 2M: first the weights of the first
            factor, then those of the second.
        data: whole numbers of shape (n, 2) are pairs of symbols; real inputs have the shape (n, d).
        labels: classes, whole numbers from 0 on, shape (n,).
        activation: a name of `models.activation`, or a function; analytic if the weights are complex.
        centring: `samples`, or `none`, which leaves Y as it is.

    Returns:
        The energy of every node, shape (...). It is not normalised: divide weights by their norm first to
        compare nodes.

    Example:
        >>> import numpy as np
        >>> from lazyrich.quantities import feature_energy
        >>> a, b = np.divmod(np.arange(25), 5)
        >>> u = np.cos(2 * np.pi * np.arange(5) / 5) / np.sqrt(5)
        >>> weights = np.concatenate([u, u])
        >>> float(feature_energy(weights, np.stack([a, b], 1), (a + b) % 5).round(12))
        1.25
    """
    energy = FeatureEnergy(
        data, labels, activation, num_weights=np.shape(weights)[-1:], centring=centring
    )
    return energy.value(weights)


class FeatureEnergy:
    r"""`feature_energy` for fixed data, with its gradient and Hessian.

    The gradient is $X^\top D \tilde Y\tilde Y^\top\sigma(Xw)$ with $D = \operatorname{diag}\sigma'(Xw)$, the
    right side of the paper's Eq. 6. For complex weights it is the direction of steepest ascent,
    $2\,\partial\mathcal{E}/\partial\bar w$.

    Args:
        data: as for `feature_energy`.
        labels: as for `feature_energy`.
        activation: as for `feature_energy`.
        num_weights: length d of a node; by default the number of columns of dense inputs, and for pairs twice
            the largest symbol plus one.
        sample_weights: how often each sample counts, ≥ 0, shape (n,); 0 leaves it out. By default 1.
        centring: `samples`, or `none`, which leaves Y as it is.

    Example:
        >>> import numpy as np
        >>> from lazyrich.quantities import FeatureEnergy
        >>> a, b = np.divmod(np.arange(9), 3)
        >>> energy = FeatureEnergy(np.stack([a, b], 1), (a + b) % 3)
        >>> w = np.array([1.0, 0, 0, 0, 1, 0])
        >>> float(energy.value(w).round(3)), energy.gradient(w).round(2)
        (1.333, array([ 2.67, -1.33, -1.33, -1.33,  2.67, -1.33]))
    """

    @untraced
    def __init__(
        self, data: Any, labels: Any, activation: Any = "quadratic", *,
        num_weights: Any = None, sample_weights: Any = None, centring: str = "samples",
    ):  # fmt: skip
        self.inputs, self.is_pairs = _data(data)
        n = self.inputs.shape[0]
        self.labels = whole(
            "labels", labels, at_least=0, at_most=MAX_CLASSES, advice="Pass classes from 0 on."
        )
        if is_traced(self.labels) or self.labels.shape != (n,):
            raise argument_error(
                "labels", f"have the shape ({n},) of the samples", np.shape(labels)
            )
        self.num_weights = _length(self.inputs, self.is_pairs, num_weights)
        self.sample_weights = _sample_weights(sample_weights, n)
        self.activation = activation_function(activation)
        self.centring = choice("centring", centring, ("samples", "none"))
        classes = int(self.labels.max()) + 1
        Y = (self.labels[:, None] == np.arange(classes)).astype(float)
        self._data = EnergyData(self.inputs, Y, np.asarray(self.sample_weights))

    @property
    def num_samples(self) -> int:
        """How many samples there are, n."""
        return int(self.inputs.shape[0])

    def value(self, weights: Any) -> Any:
        """The energies, shape (...)."""
        return self._evaluate("value", weights)

    def gradient(self, weights: Any) -> Any:
        """The gradients, shape (..., d)."""
        return self._evaluate("gradient", weights)

    @untraced
    def hessian_product(self, weights: Any, direction: Any) -> Any:
        """The Hessian times a direction, shape (..., d)."""
        parts, along = (
            _parts("weights", weights, self.num_weights),
            _parts("direction", direction, self.num_weights),
        )
        size = max(len(parts), len(along))
        parts, along = (_padded(value, size) for value in (parts, along))
        along = tuple(_spread(part, parts[0].shape) for part in along)
        product = _joined(compute(self._function("product", size), parts, along, self._data))
        return self._representable(product, weights=parts, direction=along)

    def hessian(self, weights: Any) -> np.ndarray:
        """The Hessians, shape (..., d, d); of complex weights in their real and imaginary parts, 2d."""
        parts = _parts("weights", weights, self.num_weights)
        found = compute(self._function("hessian", len(parts)), parts, self._data)
        return self._representable(found, weights=parts)

    def _evaluate(self, what: str, weights: Any) -> Any:
        parts = _parts("weights", weights, self.num_weights)
        found = _joined(compute(self._function(what, len(parts)), parts, self._data))
        return self._representable(found, weights=parts)

    def _representable(self, result: Any, **nodes: Any) -> Any:
        inputs = () if is_traced(self._data) else self.inputs
        return representable(result, data=inputs, sample_weights=self.sample_weights, **nodes)

    def _function(self, what: str, num_parts: int) -> Callable[..., Any]:
        if num_parts == 2 and not _is_analytic(self.activation):
            raise argument_error(
                "activation", "be analytic for complex weights", self.activation, "Use 'quadratic'."
            )
        return _functions(self.activation, self.is_pairs, self.centring)[what]


class EnergyData(NamedTuple):
    """What the energy is a function of, beside the weights: inputs or pairs, one-hot labels, weights."""

    inputs: Any
    targets: Any
    sample_weights: Any


def energy_and_gradient(
    weights: Any, data: EnergyData, activation: Callable[..., Any], is_pairs: bool, centring: str
) -> tuple[Any, Any]:
    """Eq. 7 and the right side of Eq. 6 for weights (..., d), real or complex; no checks, any dtype."""
    s = data.sample_weights
    x = _preactivations(weights, data.inputs, is_pairs)
    feature, slope = jax.jvp(activation, (x,), (jnp.ones_like(x),))
    z = (feature * s) @ data.targets
    shares = (s @ data.targets) / jnp.sum(s, -1, keepdims=True)
    if centring == "samples":
        z = z - shares * jnp.sum(feature * s, -1, keepdims=True)
    back = z @ data.targets.T
    if centring == "samples":
        back = back - jnp.sum(z * shares, -1, keepdims=True)
    gradient = (jnp.conj(slope) * back * s) @ _dense(
        data.inputs, is_pairs, weights.shape[-1], x.dtype
    )
    return 0.5 * jnp.sum(jnp.abs(z) ** 2, axis=-1), gradient


def _preactivations(weights: Any, inputs: Any, is_pairs: bool) -> Any:
    if not is_pairs:
        return weights @ inputs.T
    first, second = inputs.astype(int).T
    return weights[..., first] + weights[..., weights.shape[-1] // 2 + second]


def _dense(inputs: Any, is_pairs: bool, length: int, dtype: Any) -> Any:
    """Rows of inputs; a product with them is faster than the scatter that a gather has as its transpose."""
    if not is_pairs:
        return inputs.astype(dtype)
    first, second = inputs.astype(int).T
    half = length // 2
    both = [jax.nn.one_hot(symbols, half, dtype=dtype) for symbols in (first, second)]
    return jnp.concatenate(both, axis=1)


@functools.lru_cache(maxsize=64)
def _functions(activation: Callable[..., Any], is_pairs: bool, centring: str) -> dict[str, Any]:
    """Pure functions of (parts of the weights, data), made once so that their compilations are kept."""

    def both(weights: Any, data: EnergyData) -> tuple[Any, Any]:
        return energy_and_gradient(weights, data, activation, is_pairs, centring)

    def gradient(parts: Any, data: EnergyData) -> Any:
        g = _in_blocks(lambda w: both(w, data)[1], parts, data)
        return (g.real, g.imag) if len(parts) == 2 else (g,)

    def hessian(parts: Any, data: EnergyData) -> Any:
        d, shape = parts[0].shape[-1], parts[0].shape[:-1]
        flat = jnp.concatenate(parts, -1).reshape(-1, d * len(parts))

        def of_flat(x: Any) -> Any:
            return jnp.concatenate(gradient(tuple(jnp.split(x, len(parts))), data))

        H = jax.lax.map(jax.jacfwd(of_flat), flat)
        return H.reshape(*shape, *H.shape[1:])

    return {
        "value": lambda parts, data: (_in_blocks(lambda w: both(w, data)[0], parts, data),),
        "gradient": gradient,
        "product": lambda parts, along, data: jax.jvp(
            lambda p: gradient(p, data), (parts,), (along,)
        )[1],
        "hessian": hessian,
    }


def _in_blocks(function: Callable[[Any], Any], parts: Any, data: EnergyData) -> Any:
    """The function of all nodes, in blocks if their features are too many to hold at once."""
    weights = jax.lax.complex(*parts) if len(parts) == 2 else parts[0]
    n, d = data.inputs.shape[0], weights.shape[-1]
    nodes = weights.reshape(-1, d)
    if nodes.shape[0] * n <= BLOCK:
        return function(weights)
    result = jax.lax.map(function, nodes, batch_size=max(1, BLOCK // n))
    return result.reshape(*weights.shape[:-1], *result.shape[1:])


@functools.lru_cache(maxsize=64)
def _is_analytic(activation: Callable[..., Any]) -> bool:
    """Whether the derivative along i is i times that along 1, at a few points (Cauchy and Riemann)."""
    with jax.enable_x64(True), jax.ensure_compile_time_eval():
        z = np.array([0.3 + 0.2j, -0.7 + 0.4j, 0.5 - 0.9j])
        try:
            real_, imaginary = (
                np.asarray(jax.jvp(activation, (z,), (np.full(3, unit),))[1])
                for unit in (1 + 0j, 1j)
            )
        except (TypeError, ValueError):
            return False
    return bool(np.allclose(imaginary, 1j * real_, rtol=1e-9, atol=1e-12))


def _data(data: Any) -> tuple[Any, bool]:
    array = np.asarray(data) if not is_traced(data) else data
    is_pairs = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
    if is_pairs:
        checked = whole("data", array, at_least=0, advice="Pass numbers of symbols from 0 on.")
    else:
        checked = real(
            "data", array, advice="Pass inputs (n, d), or pairs (n, 2) of whole numbers."
        )
    if checked.ndim != 2 or checked.shape[0] < 1:
        raise argument_error(
            "data", "have the shape (n, d), or (n, 2) for pairs, with n ≥ 1", checked.shape
        )
    return checked, is_pairs


def _length(inputs: Any, is_pairs: bool, given: Any) -> int:
    name, even, exact = "num_weights", "be an even number ≥ {}", "be {}"
    if isinstance(given, tuple):  # the last axis of weights, none of a number
        name, even = "weights", "have a last axis of even length ≥ {}"
        exact = "have the shape (..., {})"
        if not given:
            raise argument_error("weights", "have the shape (..., d)", "a single number")
        given = given[0]
    if not is_pairs:
        d = inputs.shape[1]
        if given is not None and count(name, given) != d:
            raise argument_error(name, f"{exact.format(d)} to fit the columns of `data`", given)
        return int(d)
    needed = 2 * (int(np.max(inputs)) + 1)
    length = needed if given is None else count(name, given)
    if length < needed or length % 2:
        raise argument_error(
            name, f"{even.format(needed)} to fit the pairs of `data`", length,
            "Pass the weights of the first factor, then those of the second.",
        )  # fmt: skip
    return length


def _sample_weights(value: Any, n: int) -> Any:
    weights = real(
        "sample_weights", np.ones(n) if value is None else value,
        at_least=0, advice="Use 0 to leave a sample out.",
    )  # fmt: skip
    if weights.shape != (n,) or not np.any(weights):
        raise argument_error(
            "sample_weights", f"have the shape ({n},), not all of them 0", np.shape(weights)
        )
    return weights


def _parts(name: str, value: Any, d: int) -> tuple[Any, ...]:
    """Weights as (real,) or (real, imaginary)."""
    if is_traced(value) or not np.iscomplexobj(value):
        parts: tuple[Any, ...] = (real(name, value, advice=f"Pass nodes of length {d}."),)
    else:
        array = np.asarray(value)
        parts = tuple(real(name, part, advice=f"Pass nodes of length {d}.")
                      for part in (np.real(array), np.imag(array)))  # fmt: skip
    if np.ndim(parts[0]) < 1 or parts[0].shape[-1] != d:
        raise argument_error(name, f"have the shape (..., {d})", np.shape(value))
    return parts


def _spread(direction: Any, shape: tuple[int, ...]) -> Any:
    try:
        return np.broadcast_to(direction, shape)
    except ValueError:
        raise argument_error(
            "direction", f"have a shape that broadcasts to {shape}, that of `weights`",
            np.shape(direction),
        ) from None  # fmt: skip


def _padded(parts: tuple[Any, ...], size: int) -> tuple[Any, ...]:
    return parts if len(parts) == size else (parts[0], np.zeros_like(parts[0]))


def _joined(parts: Any) -> Any:
    return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
