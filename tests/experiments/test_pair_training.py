"""Minibatches of digits, against plain stepping."""

import numpy as np
import pytest

from lazyrich import models, simulate, tasks
from lazyrich.experiments.saddles._pair_training import PairTraining

TASK = tasks.DigitPair(3, 5, source="packaged")
RATE = 0.02


def training(activation, width=6, recorded=100):
    network = models.TwoLayer(TASK.input_dimension, width, 2, activation)
    return PairTraining(network, TASK, 0.1, TASK.digits.white, recorded)


def plain_step(U, V, data, activation):
    """One step of descent on ‖y − f‖², with the gradient written out."""
    X, Y, _ = data
    z = X @ U
    h, slope = (z, 1.0) if activation == "linear" else (np.maximum(z, 0), z > 0)
    error = 2 * (h @ V - Y) / len(X)
    return U - RATE * X.T @ (slope * (error @ V.T)), V - RATE * h.T @ error


@pytest.mark.parametrize("activation", ["linear", "relu"])
@pytest.mark.parametrize("width", [6, 80])
def test_batches_of_all_samples_are_plain_descent(activation, width):
    data = TASK.dataset()
    some = training(activation, width)
    run = simulate.gradient_descent(
        some, [0, 3], learning_rate=RATE, seeds=[1], batch_size=TASK.num_samples
    )
    U, V = some.start(1)[0]
    for _ in range(3):
        U, V = plain_step(U, V, data, activation)
    h = data.inputs @ U if activation == "linear" else np.maximum(data.inputs @ U, 0)
    errors = np.sum((h @ V - data.targets) ** 2, axis=1)
    np.testing.assert_allclose(run.loss[0, 1], errors[:100].mean(), rtol=1e-10)
    singular_values = np.linalg.svd(U, compute_uv=False)[:3]
    np.testing.assert_allclose(run.singular_value[0, 1], singular_values, rtol=1e-8)


def test_a_batch_is_some_of_the_samples():
    """With small batches the loss falls too, and another way for every seed."""
    run = simulate.gradient_descent(
        training("relu"), [0, 200], learning_rate=RATE, seeds=[0, 1], batch_size=32
    )
    assert np.all(run.loss[:, 1] < 0.5 * run.loss[:, 0])
    assert float(run.loss[0, 1]) != float(run.loss[1, 1])
