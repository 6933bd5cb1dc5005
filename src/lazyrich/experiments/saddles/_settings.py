"""The training sets of Appendix I, with what the paper leaves open filled in."""

from typing import Any

import numpy as np

from lazyrich import tasks

CORRELATED = np.array([[1.0, 1.0], [1.0, 4.0]])
"""Covariance of the inputs of Fig. 1B."""
PIXELS = np.diag([1.0, 1.0, 2.0, 1.0])
"""Covariance of the inputs of Fig. 1C."""
FILTER = np.array([1.0, 1.0, -1.0, 1.0]) / np.sqrt(5)
"""The target of Fig. 1C and E."""
SPLIT = np.tile(np.eye(2), (2, 1)) * FILTER[:, None]
"""The target of Fig. 5B and D: the first output reads the pixels under a kernel's first entry."""


def linear_map() -> np.ndarray:
    """W*, which the paper leaves out: the one that gives outputs of covariance 1, as the animations need.

    With a mean over both outputs the loss then starts at 1; see `_animations`.
    """
    return np.linalg.inv(np.linalg.cholesky(CORRELATED))


def linear_task(num_samples: int) -> "tasks.GaussianRegression":
    """Fig. 1B: correlated inputs, a linear map to two outputs."""
    W = linear_map()
    return tasks.GaussianRegression(CORRELATED, lambda x: x @ W.T, num_samples)


def convolution_task(num_samples: int, split: bool = False) -> "tasks.GaussianRegression":
    """Fig. 1C: four pixels; with `split` two outputs, for Fig. 5B."""
    W = SPLIT if split else FILTER[:, None]
    return tasks.GaussianRegression(PIXELS, lambda x: x @ W, num_samples)


def attention_task(num_samples: int) -> "tasks.InContextRegression":
    """Fig. 1F: two dimensions of variance ½, contexts of 32."""
    return tasks.InContextRegression(np.eye(2) / 2, 32, num_samples)


def quadratic_task(num_samples: int, split: bool = False) -> "tasks.GaussianRegression":
    """Fig. 1G: a sum of two squares over √8, so that the loss starts at 1; with `split` two outputs."""

    def target(x: Any) -> Any:
        return x**2 / np.sqrt(8) if split else (x**2).sum(axis=1, keepdims=True) / np.sqrt(8)

    return tasks.GaussianRegression(2, target, num_samples)


def split_patches() -> "tasks.GivenData":
    """Fig. 5D: the inputs of Fig. 1E, with two outputs."""
    inputs = tasks.orthogonal_patches().inputs
    return tasks.GivenData(inputs, inputs @ SPLIT)
