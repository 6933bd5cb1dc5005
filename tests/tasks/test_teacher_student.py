"""Sizes, scales and bad input of the teacher–student task."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import TeacherStudent


def test_scales():
    task = TeacherStudent(200, 300, 3)
    X = task.inputs(jax.random.key(0))
    W = task.weights(jax.random.key(1))
    assert X.shape == (300, 200)
    assert W.shape == (200, 3)
    assert np.std(X) == pytest.approx(1, rel=0.02)
    assert np.sum(np.asarray(W) ** 2) == pytest.approx(0.5, rel=0.2)  # so that E‖S − T‖² = 1


@pytest.mark.parametrize("value", [0, -3, 2.5, "many", None, True, np.nan])
@pytest.mark.parametrize("name", ["input_dimension", "num_samples", "output_dimension"])
def test_sizes_are_whole_numbers(name, value):
    sizes = {"input_dimension": 4, "num_samples": 8, "output_dimension": 1} | {name: value}
    with pytest.raises(ArgumentError, match=f"`{name}` must be"):
        TeacherStudent(**sizes)
