"""Sec. 6.2: networks of which one layer learns."""

import functools
from typing import Any

import numpy as np

from lazyrich import models, simulate, tasks
from lazyrich.core import CheckResult, check

RATE, STEPS = 0.5, (1, 10, 100)
ARRAYS = {"first": (0, 2), "last": (1, 3)}
"""Matrix and bias of each layer, as numbered among the weights."""


class _OneLayer:
    """A two-layer network on a few digits; `layer` learns, the other is frozen."""

    def __init__(self, activation: str, layer: str):
        other = {"first": "last", "last": "first"}[layer]
        task = tasks.DigitClassification(8, 8, source="packaged")
        self.network = models.MLP((task.input_dimension, 20, 10), activation)
        self.training = simulate.Classification(
            self.network, task, self.network.lecun(), kernel_samples=8, frozen=ARRAYS[other]
        )
        self.learning = ARRAYS[layer]

    def kernel(self, weights: list[np.ndarray], inputs: np.ndarray) -> np.ndarray:
        """K = J Jᵀ for the layer that learns: products of features, or of what is passed back."""
        first, last, bias, _ = weights
        before = inputs @ first + bias
        linear = self.network.activation == "linear"
        slope = np.ones_like(before) if linear else (before > 0).astype(float)
        if self.learning == ARRAYS["last"]:
            features = before * slope
            return np.kron(features @ features.T + 1, np.eye(10))
        back = slope[:, :, None] * last  # (samples, units, classes)
        passed = np.einsum("mhc,nhd->mcnd", back, back)
        both = passed * (inputs @ inputs.T + 1)[:, None, :, None]
        return both.reshape(80, 80)

    def outputs(self, weights: list[np.ndarray], inputs: np.ndarray) -> np.ndarray:
        """The network's outputs, written out."""
        first, last, bias, end = weights
        before = inputs @ first + bias
        return (
            before if self.network.activation == "linear" else np.maximum(before, 0)
        ) @ last + end

    def compare(self) -> tuple[float, float]:
        """Largest relative error of the linear model's loss, and how far the recorded kernel goes."""
        weights, data = self.training.start(0)
        arrays = _arrays(weights)
        values, vectors = np.linalg.eigh(self.kernel(arrays, data.inputs))
        miss = vectors.T @ (self.outputs(arrays, data.inputs) - data.targets).ravel()
        run = simulate.gradient_descent(self.training, STEPS, learning_rate=RATE, seeds=[0])
        shrink = (1 - 2 * RATE / miss.size * values) ** np.array(STEPS)[:, None]
        predicted = np.mean((shrink * miss) ** 2, axis=1)
        found = run.train_loss.values[0]
        return float(np.max(np.abs(found / predicted - 1))), float(run.kernel_distance[0, -1])


def _arrays(weights: Any) -> list[np.ndarray]:
    return [np.asarray(array) for array in (*weights.matrices, *weights.biases)]


@functools.cache
def _compared(activation: str, layer: str) -> tuple[float, float]:
    return _OneLayer(activation, layer).compare()


@check(
    "layerwise/sec6-2",
    "Training one layer: linear dynamics, but for the first layer of a ReLU network",
    against="powers of 1 − 2ηK/(NC) with the kernel written out in NumPy, no differentiation",
    seconds=4,
)
def sec6_2() -> CheckResult:
    """Gradient descent against the linear model of the start, for both layers and both activations.

    Three of the four follow the linear model to rounding and keep their kernel. The fourth, the first
    layer of a ReLU network, must not: its kernel moves, and the linear model misses its loss by more than
    a tenth.
    """
    lazy = [
        _compared(*case) for case in (("linear", "first"), ("linear", "last"), ("relu", "last"))
    ]
    missed, moved = _compared("relu", "first")
    error = max(max(pair) for pair in lazy)
    learns = missed > 0.1 and moved > 1e-3
    return CheckResult(error if learns else 1.0, tolerance=1e-10, num_cases=4 * len(STEPS))
