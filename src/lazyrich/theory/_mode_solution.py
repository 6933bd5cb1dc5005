"""Solutions that are sets of modes which do not see each other."""

import abc
from typing import Any

import jax.numpy as jnp

from lazyrich.core import Crossing
from lazyrich.theory._solution import Solution, mode_times, shape_of
from lazyrich.theory._stages import ModeStages, stages_of


class ModeSolution(Solution):
    """A solution whose parameters broadcast to the shape of its modes; results have axes of time first."""

    @abc.abstractmethod
    def saturation_time(self, share: Any = 0.9) -> Crossing:
        """When each mode first reaches a share of its target."""

    def stages(self, lower: float = 0.1, upper: float = 0.9) -> ModeStages:
        """When the modes are learned, and whether one after the other; modes are numbered flat."""
        return stages_of(self.saturation_time, lower, upper)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the modes."""
        return shape_of(self)

    def _times(self, time: Any) -> Any:
        return mode_times(time, len(self.shape))


def loss_of(m: Any, residual: Any) -> Any:
    """Half the squared residuals times the variances of the features, of all modes together."""
    return jnp.sum(m.variance * residual**2 / 2, axis=tuple(range(-len(m.shape), 0)))
