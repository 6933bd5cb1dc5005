"""Data sets that are given point by point."""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import argument_error, real
from lazyrich.tasks._dataset import DataSet


@dataclasses.dataclass(frozen=True, eq=False)
class GivenData:
    """Inputs and targets as they are.

    Attributes:
        inputs: shape (samples, …).
        targets: shape (samples, outputs), or (samples,) for one output.

    Example:
        >>> from lazyrich.tasks import GivenData
        >>> GivenData([[1, 0.5], [-1, 2]], [1, -1]).dataset().targets.shape
        (2, 1)
    """

    inputs: Any
    targets: Any

    def __post_init__(self) -> None:
        inputs = real("inputs", self.inputs, advice="Pass finite numbers, one sample in each row.")
        targets = real("targets", self.targets, advice="Pass finite numbers, one for each sample.")
        targets = targets[:, None] if targets.ndim == 1 else targets
        if inputs.ndim < 2 or inputs.shape[0] == 0:
            raise argument_error("inputs", "have the shape (samples, …), not empty", inputs.shape)
        if targets.ndim != 2 or targets.shape[0] != inputs.shape[0]:
            raise argument_error(
                "targets", f"have one row for each of the {inputs.shape[0]} samples", targets.shape
            )
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "targets", targets)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return self.inputs.shape[1:]

    @property
    def output_dimension(self) -> int:
        """Number of outputs."""
        return self.targets.shape[1]

    def dataset(self, key: Any = None) -> DataSet:
        """All points, each counting alike. There is nothing random; a key is not used."""
        num = self.inputs.shape[0]
        return DataSet(self.inputs, self.targets, np.full(num, 1 / num))


def orthogonal_pair() -> GivenData:
    """Two orthogonal inputs in the plane with opposite targets.

    Source:
        saddles, App. I (ReLU fully-connected network, Fig. 1D).

    Example:
        >>> from lazyrich.tasks import orthogonal_pair
        >>> x = orthogonal_pair().inputs
        >>> float(x[0] @ x[1])
        0.0
    """
    return GivenData([[1.0, 0.5], [-1.0, 2.0]], [1.0, -1.0])


def orthogonal_patches() -> GivenData:
    """Four orthogonal inputs of length four, one pixel each, with a linear target.

    Source:
        saddles, App. I (ReLU convolutional network, Fig. 1E).

    Example:
        >>> from lazyrich.tasks import orthogonal_patches
        >>> orthogonal_patches().inputs.diagonal().round(3)
        array([2.   , 2.   , 2.828, 2.   ])
    """
    inputs = np.diag([2.0, 2.0, 2 * np.sqrt(2), 2.0])
    return GivenData(inputs, inputs @ np.array([1.0, 1.0, -1.0, 1.0]) / np.sqrt(5))
