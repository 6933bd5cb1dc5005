"""Samples with their targets and their weights."""

from typing import Any, NamedTuple


class DataSet(NamedTuple):
    """A training set as arrays. A mean over it is a sum with these weights.

    Attributes:
        inputs: shape (samples, …).
        labels: the targets, shape (samples, outputs).
        weights: how much a sample counts, shape (samples,); they sum to 1.

    Example:
        >>> import numpy as np
        >>> from lazyrich.tasks import DataSet
        >>> data = DataSet(np.eye(2), np.array([[1.0], [-1.0]]), np.array([0.75, 0.25]))
        >>> data.weights @ data.labels
        array([0.5])
    """

    inputs: Any
    labels: Any
    weights: Any
