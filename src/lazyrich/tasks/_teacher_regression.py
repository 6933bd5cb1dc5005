"""Gaussian inputs whose targets a network gives."""

from typing import Any

import jax

from lazyrich.core import argument_error, real
from lazyrich.tasks._gaussian_regression import GaussianRegression


def teacher_regression(
    covariance: Any, teacher: Any, weights: Any, num_samples: int = 8192
) -> GaussianRegression:
    """A teacher network's outputs on Gaussian inputs, for a student of the same activation or another.

    Source:
        saddles, App. I; Fig. 1G, Fig. 4.

    Args:
        covariance: Σ, shape (inputs, inputs), or the number of inputs for Σ = 1.
        teacher: a network of `models`, or anything with `apply(weights, inputs)`.
        weights: its weights.
        num_samples: size of a training set.

    Example:
        >>> import numpy as np
        >>> from lazyrich.models import TwoLayer, TwoLayerWeights
        >>> from lazyrich.tasks import teacher_regression
        >>> teacher = TwoLayer(2, 2, activation="quadratic")
        >>> task = teacher_regression(2, teacher, TwoLayerWeights(np.eye(2), np.ones((2, 1))))
        >>> round(float(task.moments().output_power), 9)  # of x₁² + x₂²
        8.0
        >>> round(float(task.scaled(1.0).moments().output_power), 9)
        1.0
    """
    if not callable(getattr(teacher, "apply", None)):
        raise argument_error(
            "teacher", "have a method `apply(weights, inputs)`", teacher, "Pass e.g. a `TwoLayer`."
        )
    known = jax.tree.map(lambda array: real("weights", array), weights)
    task = GaussianRegression(covariance, lambda x: teacher.apply(known, x), num_samples)
    _ = task.output_dimension  # a teacher that does not fit its weights or inputs says so here
    return task
