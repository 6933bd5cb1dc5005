"""What solutions have in common."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from lazyrich.core import ArgumentError, argument_error, is_traced, real


class Solution(eqx.Module):
    """A solvable model: holds its parameters, evaluates at any array of times.

    Parameters and times broadcast against each other as in NumPy. A solution is a frozen pytree, so it
    passes through `jit`, `vmap` and `grad`, and so do its methods: `jax.jit(solution.train_loss)`.
    """

    def __hash__(self) -> int:
        # by content, as equality is; `jit` of a method looks the solution up in its cache
        if is_traced(self):
            return id(self)
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(self)]
        return hash((type(self), *((leaf.shape, leaf.tobytes()) for leaf in leaves)))


def check_broadcast(solution: Solution) -> None:
    """The parameters' shapes broadcast against each other."""
    arrays = {name: value for name, value in vars(solution).items() if hasattr(value, "shape")}
    try:
        np.broadcast_shapes(*(value.shape for value in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in arrays.items())
        raise ArgumentError(
            f"The parameters must have shapes that broadcast, got {shapes}. Add axes of length 1, as in "
            "`aspect_ratio[:, None]`, to combine all values of one with all of another."
        ) from None


def times(value: Any, solution: Solution | None = None) -> Any:
    """The argument `time` of every solution: real, finite, ≥ 0, of a shape that fits its parameters."""
    checked = real("time", value, at_least=0, advice="Solutions start at time 0 and go forward.")
    return checked if solution is None else fitting("time", checked, solution)


def fitting(name: str, value: Any, solution: Solution) -> Any:
    """The argument, if it broadcasts against the solution's parameters."""
    shape = np.broadcast_shapes(*(np.shape(leaf) for leaf in jax.tree.leaves(solution)))
    try:
        np.broadcast_shapes(shape, np.shape(value))
    except ValueError:
        raise argument_error(
            name, f"have a shape that broadcasts against {shape}, that of the parameters",
            np.shape(value), "Give the parameters a last axis of length 1, as in `aspect_ratio[:, None]`.",
        ) from None  # fmt: skip
    return value


def accuracy_level(value: Any, solution: Solution) -> Any:
    """The argument `accuracy` of every crossing time: a share strictly between 0 and 1."""
    level = real("accuracy", value, at_least=1e-12, below=1, advice="Pass a share such as 0.95.")
    return fitting("accuracy", level, solution)
