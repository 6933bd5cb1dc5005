"""What entries share: mpmath, which loads on use, and grids."""

from typing import Any

import numpy as np


class _OnUse:
    """The module mpmath, imported when the first of its names is asked for."""

    def __getattr__(self, name: str) -> Any:
        import mpmath

        value = getattr(mpmath, name)
        if callable(value):
            object.__setattr__(self, name, value)
        return value


mp: Any = _OnUse()


def mesh(*axes: Any) -> list[np.ndarray]:
    """All combinations of the values of several axes, each as one flat array."""
    return [axis.ravel() for axis in np.meshgrid(*map(np.asarray, axes), indexing="ij")]


def decades(low: float, high: float, number: int, *, zero: bool = False) -> np.ndarray:
    """So many values evenly spaced on a logarithmic axis; with `zero`, 0 comes first."""
    values = np.geomspace(low, high, number)
    return np.concatenate([[0.0], values]) if zero else values
