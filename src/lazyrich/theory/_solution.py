"""What solutions have in common."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from lazyrich.core import ArgumentError, AssumptionError, argument_error, is_traced, number, real
from lazyrich.theory._frozen import described


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

    def __repr__(self) -> str:
        return described(self)


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


def steps_times_rate(value: Any, solution: Any) -> Any:
    """ηt, where the rate is the only parameter that times are combined with."""
    rate = solution.learning_rate
    return rate * fitting("time", times(value), solution, np.shape(rate))


def mode_times(value: Any, num_axes: int) -> Any:
    """The argument `time` of sets of modes, with so many further axes for the modes."""
    checked = times(value)
    return checked.reshape((*checked.shape, *(1,) * num_axes))


def single(name: str, value: Any, *, advice: str, **bounds: Any) -> Any:
    """One real number, which may be traced."""
    checked = real(name, value, advice=advice, **bounds)
    if checked.ndim:
        raise argument_error(name, "be a single number", value, "Make one solution for each.")
    return checked


def learning_rate_of(value: Any, *, is_single: bool = False) -> Any:
    """The argument `learning_rate` of every solution."""
    check = single if is_single else real
    return check("learning_rate", value, above=0, advice="Use 1 to count rate × step.")


def shape_of(solution: Solution) -> tuple[int, ...]:
    """The shape that the parameters have together."""
    return np.broadcast_shapes(*(np.shape(leaf) for leaf in jax.tree.leaves(solution)))


def fitting(name: str, value: Any, solution: Solution, shape: tuple[int, ...] | None = None) -> Any:
    """The argument, if it broadcasts against the solution's parameters, or against a shape of theirs."""
    shape = shape_of(solution) if shape is None else shape
    try:
        np.broadcast_shapes(shape, np.shape(value))
    except ValueError:
        raise argument_error(
            name, f"have a shape that broadcasts against {shape}, that of the parameters",
            np.shape(value), "For all values of both add an axis of length 1 to one, as in `time[:, None]`.",
        ) from None  # fmt: skip
    return value


def accuracy_level(value: Any, solution: Solution) -> Any:
    """The argument `accuracy` of every crossing time: a share strictly between 0 and 1."""
    level = real("accuracy", value, at_least=1e-12, below=1, advice="Pass a share such as 0.95.")
    return fitting("accuracy", level, solution)


def target_share(value: Any, target: Any) -> np.float64:
    """The argument `share` of `saturation_time`: a share of targets that do not vanish."""
    require_targets(target)
    return np.float64(number("share", value, above=0, below=1, advice="Use e.g. 0.9."))


def require_targets(target: Any) -> None:
    """No target is 0."""
    if not is_traced(target) and np.any(target == 0):
        raise AssumptionError(
            "A share of the target needs targets other than 0; "
            f"{np.sum(target == 0)} of {np.size(target)} are 0. Leave these modes out."
        )
