"""The training sets of Fig. 4B to H: a teacher of two units with the student's activation."""

import functools
from typing import Any

import numpy as np

from lazyrich import models, tasks

LONG, SHORT = np.diag([1.0, 2.0]), np.eye(2)
"""The teacher's incoming weights, one unit in each column: panels B to F, and panels G and H."""


def teacher_task(
    activation: str, units: np.ndarray, num_samples: int
) -> "tasks.GaussianRegression":
    """Inputs from N(0, 1) in the plane; the sum of the teacher's two units, scaled so that ⟨y²⟩ = 1."""
    scale = _scale(activation, tuple(units.diagonal()))
    return tasks.GaussianRegression(
        2, lambda x: _teacher(activation, units, x) / scale, num_samples
    )


def _teacher(activation: str, units: np.ndarray, x: Any) -> Any:
    return models.activation(activation)(x @ units).sum(axis=1, keepdims=True)


@functools.lru_cache
def _scale(activation: str, sizes: tuple[float, ...]) -> float:
    task = tasks.GaussianRegression(2, lambda x: _teacher(activation, np.diag(sizes), x))
    data = task.population(80)
    return float(np.sqrt(data.weights @ data.labels[:, 0] ** 2))
