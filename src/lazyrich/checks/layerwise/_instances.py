"""Random instances that several checks share, and oracles that use no formula of the paper."""

from collections.abc import Callable
from typing import Any

import numpy as np

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


def integrate(velocity: Callable[..., Any], start: Any, times: Any = TIMES) -> np.ndarray:
    """A flow at given times, shape (time, weights), by Runge–Kutta of order 8."""
    from scipy.integrate import solve_ivp

    start = np.ravel(np.asarray(start, float))
    solution = solve_ivp(velocity, (0, times[-1]), start, method="DOP853", t_eval=times,
                         rtol=1e-12, atol=1e-14 * max(np.abs(start).max(), 1e-3))  # fmt: skip
    return solution.y.T


def integrate_modes(a: Any, b: Any, S: Any, variance: Any, times: Any = TIMES) -> np.ndarray:
    """Layers a and b of Eq. 6 over time, shape (time, 2, modes)."""
    a, b, S, variance = np.broadcast_arrays(np.atleast_1d(a), b, S, variance)

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        a, b = flat.reshape(2, -1)
        rest = variance * (S - a * b)
        return np.concatenate([b * rest, a * rest])

    return integrate(velocity, np.concatenate([a, b]), times).reshape(len(times), 2, -1)


def integrate_layers(C: np.ndarray, W1: np.ndarray, W2: np.ndarray, times: Any = TIMES) -> Any:
    """Two layers on whitened inputs over time: W₁ and W₂, each with a leading axis for time."""
    cut = W1.size

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        U, V = flat[:cut].reshape(W1.shape), flat[cut:].reshape(W2.shape)
        rest = C - U @ V
        return np.concatenate([(rest @ V.T).ravel(), (U.T @ rest).ravel()])

    flat = integrate(velocity, np.concatenate([W1.ravel(), W2.ravel()]), times)
    return flat[:, :cut].reshape(-1, *W1.shape), flat[:, cut:].reshape(-1, *W2.shape)


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


def gap(found: Any, exact: Any) -> float:
    """Largest difference over the largest size."""
    exact = np.asarray(exact)
    return float(np.max(np.abs(found - exact)) / max(np.max(np.abs(exact)), 1e-300))
