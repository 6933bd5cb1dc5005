"""Targets that a teacher network gives."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import TwoLayer, TwoLayerWeights
from lazyrich.tasks import GaussianRegression, teacher_regression

UNITS = TwoLayerWeights(np.diag([1.0, 2.0]), np.ones((2, 1)))


def test_targets_are_the_teachers_outputs():
    task = teacher_regression(2, TwoLayer(2, 2, activation="sine"), UNITS, num_samples=20)
    data = task.dataset(jax.random.key(0))
    x, y = data.inputs.T
    np.testing.assert_allclose(data.targets[:, 0], np.sin(x) + np.sin(2 * y), rtol=1e-14)


def test_scaled_targets_have_the_power_that_is_asked_for():
    """Of sin x + sin 2y it is the sum of (1 − e^(−2a²))/2, a = 1, 2."""
    task = teacher_regression(2, TwoLayer(2, 2, activation="sine"), UNITS)
    exact = sum((1 - np.exp(-2 * a**2)) / 2 for a in (1, 2))
    assert float(task.moments().output_power) == pytest.approx(exact, rel=1e-8)
    scaled = task.scaled(3.0)
    assert float(scaled.moments().output_power) == pytest.approx(3.0, rel=1e-8)
    inputs = np.array([[0.3, -1.2]])
    np.testing.assert_allclose(
        scaled.target(inputs), task.target(inputs) * np.sqrt(3 / exact), rtol=1e-8
    )


def test_a_target_of_zero_cannot_be_scaled():
    with pytest.raises(ArgumentError, match="`target` must not be zero everywhere"):
        GaussianRegression(2, lambda x: 0 * x).scaled()


def test_a_teacher_that_does_not_fit_is_refused():
    with pytest.raises(ArgumentError, match="`teacher` must have a method"):
        teacher_regression(2, np.tanh, UNITS)
    with pytest.raises(ArgumentError, match="inputs"):
        teacher_regression(3, TwoLayer(2, 2), UNITS)
