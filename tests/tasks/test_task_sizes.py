"""The sizes that tasks say are those of their data: networks are refused by them."""

import jax
import numpy as np
import pytest

from lazyrich import groups, tasks

TASKS = [
    tasks.GivenData(np.ones((3, 4, 5)), np.ones((3, 2))),
    tasks.GaussianRegression(3, lambda x: x[:, :2], 4),
    tasks.GaussianRegression(3, lambda x: jax.numpy.sin(x[:, :2]), 4),
    tasks.RandomRegression(5, 3, 2),
    tasks.InContextRegression(2, context=3, num_samples=4),
    tasks.DigitPair(3, 5, source="packaged"),
    tasks.DigitClassification(6, pool=2, source="packaged"),
    tasks.GroupArithmetic(groups.cyclic(3), 0.6),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_sizes_are_those_of_the_data(task):
    key = jax.random.key(0)
    data = task.dataset(key) if hasattr(task, "dataset") else task.split(key)[0]
    inputs = task.input_shape if hasattr(task, "input_shape") else (task.input_dimension,)
    assert data.inputs.shape[1:] == inputs
    assert data.targets.shape[1] == task.output_dimension
