"""First and second derivatives of a JAX loss as functions of flat NumPy arrays."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lazyrich.core import argument_error, known, real


@dataclasses.dataclass(frozen=True)
class Derivatives:
    """Derivatives of a loss, in float64 whatever the JAX setting. Unpacks to the first three.

    Attributes:
        gradient: function of flat weights.
        hessian_product: function of flat weights and a direction, the Hessian times the direction.
        weights: the weights at which it was made, flat, shape (weights,).
        unflatten: function from flat weights, or a direction, to a tree like the loss's argument.
    """

    gradient: Callable[[Any], np.ndarray]
    hessian_product: Callable[[Any, Any], np.ndarray]
    weights: np.ndarray
    unflatten: Callable[[Any], Any]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.gradient, self.hessian_product, self.weights))


def derivatives(loss: Callable[[Any], Any], weights: Any) -> Derivatives:
    """Gradient and Hessian products of a JAX loss, for `measures.saddle_certificate` and others.

    The Hessian is never built: a product is the derivative of the gradient along a direction and costs
    about two gradients.

    Args:
        loss: JAX function of a tree of weights that returns a number. Its data stay as they are; where
            they meet the weights, float64 wins.
        weights: arrays of real numbers, or a tree of them: nested tuples, lists, dictionaries, modules.

    Returns:
        The functions, the flat weights and the way back to trees.

    Example:
        >>> import numpy as np
        >>> from lazyrich.adapters import derivatives
        >>> weights = {"a": np.array([1.0, 2.0]), "b": 3.0}
        >>> made = derivatives(lambda w: (w["a"] ** 2).sum() * w["b"], weights)
        >>> made.weights, made.gradient(made.weights)
        (array([1., 2., 3.]), array([ 6., 12.,  5.]))
        >>> made.hessian_product(made.weights, [0.0, 0.0, 1.0])
        array([2., 4., 0.])
    """
    import jax

    if not callable(loss):
        raise argument_error("loss", "be a function of the weights", loss, "Pass a JAX function.")
    flat, unflatten = _flatten(weights)

    def flat_loss(w: Any) -> Any:
        return loss(unflatten(w))

    gradient = jax.grad(flat_loss)

    def product(w: Any, direction: Any) -> Any:
        return jax.jvp(gradient, (w,), (direction,))[1]

    _check_loss(flat_loss, flat)
    return Derivatives(_evaluated(gradient), _evaluated(product), flat, unflatten)


def _flatten(weights: Any, name: str = "weights") -> tuple[np.ndarray, Callable[[Any], Any]]:
    import jax

    known(name, weights, "Call it outside `jit` and `grad`.")
    paths, tree = jax.tree_util.tree_flatten_with_path(weights)
    advice = "Put what is no weight into the loss."
    leaves = [
        real(f"{name}{jax.tree_util.keystr(path)}", leaf, advice=advice) for path, leaf in paths
    ]
    shapes = [leaf.shape for leaf in leaves]
    ends = np.cumsum([leaf.size for leaf in leaves])
    if not leaves or ends[-1] == 0:
        raise argument_error(name, "hold at least one number", weights)
    flat = np.concatenate([leaf.ravel() for leaf in leaves])

    def unflatten(vector: Any) -> Any:
        """A tree of the weights' structure and shapes from a flat array."""
        if np.shape(vector) != flat.shape:
            raise argument_error("vector", f"have the shape {flat.shape}", np.shape(vector))
        pieces = [
            vector[end - int(np.prod(shape)) : end].reshape(shape)
            for end, shape in zip(ends, shapes, strict=True)
        ]
        return jax.tree.unflatten(tree, pieces)

    return flat, unflatten


def _check_loss(flat_loss: Callable[[Any], Any], flat: np.ndarray) -> None:
    import jax

    with jax.enable_x64(True):
        value = jax.eval_shape(flat_loss, jax.ShapeDtypeStruct(flat.shape, np.float64))
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape != () or dtype != np.float64:
        raise argument_error(
            "loss",
            "return one float64 number for float64 weights",
            f"{dtype} of shape {shape}",
            "Sum over samples and outputs, and cast nothing to a shorter dtype.",
        )


def _evaluated(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """The function, compiled once, of NumPy arrays in float64."""
    import jax

    compiled = jax.jit(function)

    def evaluate(*arguments: Any) -> np.ndarray:
        with jax.ensure_compile_time_eval(), jax.enable_x64(True):
            return np.asarray(compiled(*(np.asarray(a, np.float64) for a in arguments)))

    return evaluate
