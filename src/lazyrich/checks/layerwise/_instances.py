"""Random instances that several checks share, and oracles that use no formula of the paper."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.checks._oracles import integrate

TIMES = np.array([0.0, 0.1, 0.4, 1.0, 2.5, 6.0])


def uncorrelated(seed: int, size: int, num_samples: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Inputs without correlations among them over their samples, and their variances."""
    rng = np.random.default_rng(seed)
    white = np.linalg.qr(rng.standard_normal((num_samples, size)))[0] * np.sqrt(num_samples)
    variances = rng.uniform(0.2, 2.0, size)
    return white * np.sqrt(variances), variances


def whitened(seed: int, inputs: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs with covariance 1 over their samples, and outputs that are no linear function of them."""
    rng = np.random.default_rng(seed)
    X = np.linalg.qr(rng.standard_normal((30, inputs)))[0] * np.sqrt(30)
    return X, X @ rng.standard_normal((inputs, outputs)) + rng.standard_normal((30, outputs))


def half_loss(outputs: np.ndarray, labels: np.ndarray) -> float:
    """Eq. 2 over samples: ½ mean squared norm of the error."""
    errors = np.reshape(outputs - labels, (len(labels), -1))
    return float(np.mean(np.sum(errors**2, axis=1)) / 2)


def slope(loss: Callable[[np.ndarray], float], weights: np.ndarray) -> np.ndarray:
    """The gradient by central differences, which are exact: the loss is quadratic in each single weight."""
    found = np.zeros_like(weights)
    for index in np.ndindex(weights.shape):
        step = np.zeros_like(weights)
        step[index] = 0.5
        found[index] = loss(weights + step) - loss(weights - step)
    return found


def integrate_modes(a: Any, b: Any, S: Any, variance: Any, times: Any = TIMES) -> np.ndarray:
    """Layers a and b of Eq. 6 over time, shape (time, 2, modes)."""
    a, b, S, variance = np.broadcast_arrays(np.atleast_1d(a), b, S, variance)

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        a, b = flat.reshape(2, -1)
        rest = variance * (S - a * b)
        return np.concatenate([b * rest, a * rest])

    return integrate(velocity, np.concatenate([a, b]), times).reshape(len(times), 2, -1)


def extrapolated_descent(
    gradient: Callable[[np.ndarray], np.ndarray], start: np.ndarray, time: float, levels: int = 9
) -> np.ndarray:
    """Weights at a time by gradient descent at a vanishing rate, by Richardson's extrapolation."""
    table: list[np.ndarray] = []
    for level in range(levels):
        steps = 16 * 2**level
        weights = start
        for _ in range(steps):
            weights = weights - time / steps * gradient(weights)
        row = [weights]
        for order, previous in enumerate(table):
            row.append(row[-1] + (row[-1] - previous) / (2 ** (order + 1) - 1))
        table = row
    return table[-1]
