"""The Jacobian of a JAX function's outputs, as functions of flat NumPy arrays."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.adapters._derivatives import _evaluated, _flatten
from lazyrich.core import argument_error, real
from lazyrich.measures import JacobianProducts, tangent_kernel


@dataclasses.dataclass(frozen=True)
class Tangents:
    """A network on a probe batch and its Jacobian, in float64 whatever the JAX setting.

    Attributes:
        outputs: function from flat weights to the outputs, shape (n, c).
        product: function of flat weights and a direction: the Jacobian times the direction, shape (n, c).
        transposed: function of flat weights and a cotangent, shape (n, c): the transposed Jacobian times it.
        rows: function of flat weights and row numbers `i * c + o`, shape (b,): rows of the Jacobian,
            shape (b, weights).
        weights: the weights at which it was made, flat.
        unflatten: function from flat weights, or a direction, to a tree like the function's argument.
        num_points: n.
        num_outputs: c.
    """

    outputs: Callable[[Any], np.ndarray]
    product: Callable[[Any, Any], np.ndarray]
    transposed: Callable[[Any, Any], np.ndarray]
    rows: Callable[[Any, Any], np.ndarray]
    weights: np.ndarray
    unflatten: Callable[[Any], Any]
    num_points: int
    num_outputs: int

    def at(self, weights: Any) -> JacobianProducts:
        """The Jacobian at these weights, flat or a tree, for `measures.tangent_kernel`."""
        w = self.flat(weights)
        return JacobianProducts(
            self.num_points, self.num_outputs, w.size,
            rows=lambda numbers: self.rows(w, numbers),
            product=lambda direction: self.product(w, direction),
            transposed=lambda cotangent: self.transposed(w, cotangent),
        )  # fmt: skip

    def evidence(self, start: Any, end: Any, **kernel_options: Any) -> dict[str, Any]:
        """The arguments of `measures.lazy_or_rich` for training from the weights `start` to `end`."""
        w0, w = self._flat("start", start), self._flat("end", end)
        return {
            "start_kernel": tangent_kernel(self.at(w0), **kernel_options),
            "end_kernel": tangent_kernel(self.at(w), **kernel_options),
            "start_outputs": self.outputs(w0),
            "end_outputs": self.outputs(w),
            "linear_change": self.product(w0, w - w0),
            "start_weights": w0,
            "end_weights": w,
        }

    def flat(self, weights: Any) -> np.ndarray:
        """Weights as one flat array, from a tree or from such an array."""
        return self._flat("weights", weights)

    def _flat(self, name: str, weights: Any) -> np.ndarray:
        if isinstance(weights, np.ndarray) and weights.shape == self.weights.shape:
            return real(name, weights, advice="Pass weights without NaN.")
        flat = _flatten(weights, name)[0]
        if flat.shape != self.weights.shape:
            raise argument_error(name, f"hold {self.weights.size} numbers", flat.size)
        return flat


def tangents(function: Callable[[Any, Any], Any], weights: Any, inputs: Any) -> Tangents:
    """The Jacobian of a JAX network on a probe batch, for `measures.tangent_kernel` and `lazy_or_rich`.

    Nothing as large as the Jacobian is built unless rows are asked for.

    Args:
        function: JAX function of a tree of weights and inputs, shape (n, …), that returns outputs (n, c) or
            (n,). It must treat each input by itself: no batch normalisation over the batch.
        weights: arrays of real numbers, or a tree of them.
        inputs: the probe batch, an array whose first axis are the points; dtypes stay as they are.

    Returns:
        Functions of flat weights.

    Example:
        >>> import numpy as np
        >>> from lazyrich import adapters, measures
        >>> x = np.array([[1.0, 0.0], [0.0, 2.0]])
        >>> net = adapters.tangents(lambda w, x: x @ w["u"] @ w["v"], {"u": np.eye(2), "v": np.ones(2)}, x)
        >>> measures.tangent_kernel(net.at(net.weights)).kernel
        array([[ 3.,  0.],
               [ 0., 12.]])
    """
    import jax
    import jax.numpy as jnp

    if not callable(function):
        raise argument_error("function", "be a function of weights and inputs", function)
    batch = np.asarray(inputs)
    if batch.ndim < 1 or batch.size == 0:
        raise argument_error("inputs", "have the shape (n, …), not empty", batch.shape)
    if batch.dtype.kind not in "biufc" or not np.isfinite(batch).all():
        raise argument_error("inputs", "be finite numbers", inputs)
    flat, unflatten = _flatten(weights)

    def network(w: Any, x: Any) -> Any:
        found = function(unflatten(w), x)
        return found[:, None] if found.ndim == 1 else found

    n, c = _output_shape(network, flat, batch)

    def outputs(w: Any) -> Any:
        return network(w, jnp.asarray(batch))

    def row(w: Any, number: Any) -> Any:
        return jax.grad(lambda w: network(w, jnp.asarray(batch)[number // c][None])[0, number % c])(
            w
        )

    rows = _evaluated(lambda w, numbers: jax.vmap(row, (None, 0))(w, numbers.astype(int)))
    return Tangents(
        outputs=_evaluated(outputs),
        product=_evaluated(lambda w, direction: jax.jvp(outputs, (w,), (direction,))[1]),
        transposed=_evaluated(lambda w, cotangent: jax.vjp(outputs, w)[1](cotangent)[0]),
        rows=rows,
        weights=flat,
        unflatten=unflatten,
        num_points=n,
        num_outputs=c,
    )


def _output_shape(network: Callable[[Any, Any], Any], flat: np.ndarray, batch: np.ndarray) -> Any:
    import jax

    with jax.enable_x64(True):
        value = jax.eval_shape(network, jax.ShapeDtypeStruct(flat.shape, np.float64), batch)
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or len(shape) != 2 or shape[0] != len(batch) or dtype != np.float64:
        raise argument_error(
            "function",
            f"return float64 outputs of shape ({len(batch)}, c) for float64 weights",
            f"{dtype} of shape {shape}",
            "Give each input one row, and cast nothing to a shorter dtype.",
        )
    return shape
