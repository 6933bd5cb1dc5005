"""Fig. 4B to H: a student learns from a teacher of two units with the same activation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich import models, simulate, tasks

LONG, SHORT = np.diag([1.0, 2.0]), np.eye(2)
"""The teacher's incoming weights, one unit in each column: panels B to F, and panels G and H."""


SCALED = (
    "The paper does not say how targets are scaled; they are divided so that the loss starts at 1, as in the "
    "animations. With the cubic teacher as printed a solution with one unit for each of the teacher's would "
    "not be stable at rate 0.02: see the claim of Fig. 4G."
)


def student(
    activation: str, units: np.ndarray, variance: float = 1.0
) -> "Callable[[Any], simulate.Supervised]":
    """A network of `config.width` units that learns the sum of the teacher's units, scaled to ⟨y²⟩ = 1."""

    def training(config: Any) -> "simulate.Supervised":
        teacher, weights = (
            models.TwoLayer(2, 2, activation=activation),
            models.TwoLayerWeights(units, np.ones((2, 1))),
        )
        task = tasks.teacher_regression(variance * np.eye(2), teacher, weights, config.num_samples)
        return simulate.Supervised(
            models.TwoLayer(2, config.width, activation=activation),
            task.scaled(nodes=80),
            config.initial_std,
            config.population and (config.nodes or True),
        )

    return training
