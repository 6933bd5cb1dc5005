"""Samples with their targets and their weights."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error


class RegressionMoments(NamedTuple):
    """All that the squared loss of a linear map depends on, in the order in which `theory` takes it."""

    correlation: Any  # Σ_yx, mean of yxᵀ, (outputs, inputs)
    covariance: Any  # Σ_xx, mean of xxᵀ, (inputs, inputs)
    output_power: Any  # Tr Σ_yy, mean of ‖y‖²


class DataSet(NamedTuple):
    """A training set as arrays. A mean over it is a sum with these weights.

    Attributes:
        inputs: shape (samples, …).
        targets: shape (samples, outputs); for classes one-hot rows.
        weights: how much a sample counts, shape (samples,); they sum to 1.

    Example:
        >>> import numpy as np
        >>> from lazyrich.tasks import DataSet
        >>> data = DataSet(np.eye(2), np.array([[1.0], [-1.0]]), np.array([0.75, 0.25]))
        >>> data.weights @ data.targets
        array([0.5])
        >>> data.moments().correlation  # Σ_yx, for `theory.Staircase` and others
        array([[ 0.75, -0.25]])
    """

    inputs: Any
    targets: Any
    weights: Any

    def moments(self) -> RegressionMoments:
        """The exact second moments of inputs, shape (samples, inputs), and targets."""
        X, Y, share = (np.asarray(part) for part in self)
        if X.ndim != 2:
            raise argument_error(
                "inputs", "have the shape (samples, inputs)", X.shape,
                "Flatten them, or give moments of a network's features.",
            )  # fmt: skip
        weighted = share[:, None] * X
        return RegressionMoments(Y.T @ weighted, weighted.T @ X, share @ np.sum(Y**2, axis=1))
