"""What solutions have in common."""

from typing import Any

import equinox as eqx

from lazyrich.core import real


class Solution(eqx.Module):
    """A solvable model: holds its parameters, evaluates at any array of times.

    Parameters and times broadcast against each other as in NumPy. A solution is a frozen pytree, so it
    passes through `jit`, `vmap` and `grad`.
    """


def times(value: Any) -> Any:
    """The argument `time` of every solution: real, finite, ≥ 0, any shape."""
    return real("time", value, at_least=0, advice="Solutions start at time 0 and go forward.")
