"""Whether a network reads what a task gives, and answers what it asks."""

import functools
from collections.abc import Callable
from typing import Any

import jax

from lazyrich.core import ArgumentError, argument_error

ADVICE = "Change the network or the task."


def check_fit(network: Any, task: Any) -> None:
    """Refuse a network of other sizes than the task's; a task that does not say them is seen at the start.

    Tasks say them by `input_shape`, or `input_dimension` for vectors, and `output_dimension`.
    """
    inputs = _input_shape(task)
    if inputs is not None:
        check_shapes(
            network, inputs, getattr(task, "output_dimension", None), hasattr(task, "pairs")
        )


def check_shapes(
    network: Any, inputs: tuple[int, ...], outputs: int | None, are_numbers: bool = False
) -> None:
    """Refuse a network for inputs of another shape, or with another number of outputs.

    Args:
        network: what has `apply`, and `shapes` or `init`.
        inputs: the shape of one input.
        outputs: how many there must be; without it any number.
        are_numbers: whether inputs are whole numbers, such as those of symbols.
    """
    reads = _reads(network)
    try:
        found = _output_shape(network, (2, *inputs), int if are_numbers else float)
    except ArgumentError:  # weights too large to be made, which `start` says
        return
    fits = reads is None or (
        len(reads) == len(inputs)
        and all(want in (None, size) for want, size in zip(reads, inputs, strict=True))
    )
    if not fits or found is None or len(found) != 2 or found[0] != 2:
        shown = "one that cannot read them" if reads is None else f"one that reads {_shown(reads)}"
        raise argument_error(
            "network", f"read inputs of the shape {_shown(inputs)}, as the task gives them",
            shown, ADVICE,
        )  # fmt: skip
    if outputs is not None and found[1] != outputs:
        raise argument_error(
            "network", f"have {outputs} outputs, as the task has", found[1], ADVICE
        )


def _shown(shape: tuple[int | None, ...]) -> str:
    return str(tuple("any" if size is None else size for size in shape)).replace("'any'", "any")


def _input_shape(task: Any) -> "tuple[int, ...] | None":
    if hasattr(task, "input_shape"):
        return tuple(task.input_shape)
    return (task.input_dimension,) if hasattr(task, "input_dimension") else None


def _reads(network: Any) -> "tuple[int | None, ...] | None":
    """The shape of one input, None where the network leaves it to a feature map."""
    try:
        return network.input_shape
    except (ArgumentError, AttributeError):
        return None


@functools.lru_cache  # asked for every seed, with the same answer
def _output_shape(network: Any, inputs: tuple[int, ...], kind: type) -> "tuple[int, ...] | None":
    weights = jax.eval_shape(lambda: network.init(jax.random.key(0), 0.0))
    return shape_of(network.apply, weights, jax.ShapeDtypeStruct(inputs, kind))


def shape_of(function: Callable[..., Any], *arguments: Any) -> "tuple[int, ...] | None":
    """The shape of what a function gives, or None if the arguments do not fit it."""
    try:
        return jax.eval_shape(function, *arguments).shape
    except (TypeError, ValueError, IndexError, AttributeError):
        return None
