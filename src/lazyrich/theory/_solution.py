"""What solutions have in common."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from lazyrich.core import real


class Solution(eqx.Module):
    """A solvable model: holds its parameters, evaluates at any array of times.

    Parameters and times broadcast against each other as in NumPy. A solution is a frozen pytree, so it
    passes through `jit`, `vmap` and `grad`, and so do its methods: `jax.jit(solution.train_loss)`.
    """

    def __hash__(self) -> int:
        # by content, as equality is; `jit` of a method looks the solution up in its cache
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(self)]
        return hash((type(self), *((leaf.shape, leaf.tobytes()) for leaf in leaves)))


def times(value: Any) -> Any:
    """The argument `time` of every solution: real, finite, ≥ 0, any shape."""
    return real("time", value, at_least=0, advice="Solutions start at time 0 and go forward.")
