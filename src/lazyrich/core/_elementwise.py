"""Large arrays, a block at a time."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core._precision import compute, is_traced

BLOCK = 2**20
"""Results at a time: enough to keep every processor busy, few enough to need little memory."""


def compute_elementwise(function: Callable[..., Any], *arguments: Any) -> Any:
    """`compute` for a function that works element by element on broadcast arguments.

    Large results are computed block by block, so that they need no more memory than themselves. Traced
    and small arguments are as in `compute`.

    Args:
        function: of pytrees of arrays that broadcast against each other, to arrays of one shape.
        *arguments: the pytrees.

    Example:
        >>> import jax.numpy as jnp
        >>> import numpy as np
        >>> from lazyrich.core import compute_elementwise
        >>> compute_elementwise(jnp.add, np.arange(1000)[:, None], np.arange(500)).shape
        (1000, 500)
    """
    shape = () if is_traced(arguments) else _shape_of_result(function, arguments)
    return _by_blocks(function, arguments, shape)


def _by_blocks(function: Callable[..., Any], arguments: Any, shape: tuple[int, ...]) -> Any:
    """Cuts the first axis longer than 1; blocks that are still too large are cut again."""
    import jax

    if math.prod(shape) <= BLOCK:
        return compute(function, *arguments)
    first = next(i for i, length in enumerate(shape) if length > 1)
    axis, length = first - len(shape), shape[first]  # counted from the end, as broadcasting does
    num_blocks = min(length, math.ceil(math.prod(shape) / BLOCK))
    width = math.ceil(length / num_blocks)
    results = None
    for start in range(0, length, width):
        begin = min(start, length - width)  # the last block overlaps: one shape, compiled once
        cut = _cut(axis, length, slice(begin, begin + width))
        smaller = (*shape[:first], width, *shape[first + 1 :])
        block = _by_blocks(function, jax.tree.map(cut, arguments), smaller)
        if results is None:
            results = jax.tree.map(lambda part: np.empty(shape, part.dtype), block)
        jax.tree.map(lambda whole, part, cut=cut: np.copyto(cut(whole), part), results, block)
    return results


def _shape_of_result(function: Callable[..., Any], arguments: Any) -> tuple[int, ...]:
    import jax

    shape = np.broadcast_shapes(*(np.shape(leaf) for leaf in jax.tree.leaves(arguments)))
    if math.prod(shape) <= BLOCK:  # so is the result; asking the function takes longer
        return shape
    with jax.enable_x64(True):  # it need not depend on all of its arguments
        return jax.tree.leaves(jax.eval_shape(function, *arguments))[0].shape


def _cut(axis: int, length: int, block: slice) -> Callable[[Any], Any]:
    """Takes a block of an axis from arrays that have it in full."""

    def cut(array: Any) -> Any:
        array = np.asarray(array)
        if array.ndim < -axis or array.shape[axis] != length:
            return array
        return array[(..., block, *(slice(None),) * (-axis - 1))]

    return cut
