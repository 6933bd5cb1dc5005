"""What checks of all papers compare with, and how they compare: nothing here uses a formula of a paper."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np


def relative_gap(found: Any, exact: Any) -> float:
    """Largest difference over the largest exact value."""
    exact = np.asarray(exact)
    return float(np.max(np.abs(np.asarray(found) - exact)) / max(np.max(np.abs(exact)), 1e-300))


def integrate(
    velocity: Callable[..., Any],
    start: Any,
    times: Any,
    *,
    rtol: float = 1e-12,
    atol: float | None = None,
    interpolated: bool = True,
) -> np.ndarray:
    """A flow from time 0 at given times, shape (time, weights), by Runge–Kutta of order 8.

    For a single number the weights at that time, shape (weights,). Without `interpolated` steps end at the
    times. By default `atol` is 1e-14 times the largest weight at the start.
    """
    from scipy.integrate import solve_ivp

    start = np.ravel(np.asarray(start, float))
    atol = 1e-14 * max(np.abs(start).max(), 1e-3) if atol is None else atol
    how: dict[str, Any] = {"method": "DOP853", "rtol": rtol, "atol": atol}

    def states(span: tuple[Any, Any], begin: np.ndarray, at: Any = None) -> np.ndarray:
        found = solve_ivp(velocity, span, begin, t_eval=at, **how)
        if not found.success:
            raise ArithmeticError(f"The integration of a check stopped early: {found.message}")
        return found.y.T

    if np.ndim(times) == 0:
        return states((0, float(times)), start)[-1]
    if interpolated:
        return states((0, float(np.max(times))), start, times)
    reached = [start]
    for span in itertools.pairwise(times):
        reached.append(states(span, reached[-1])[-1])
    return np.array(reached)


def two_layer_flow(
    correlation: Any,
    first: np.ndarray,
    second: np.ndarray,
    times: Any,
    *,
    covariance: Any = None,
    **accuracy: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """W₁ and W₂ of a linear network over time, each with a leading axis for time.

    They follow the gradient of ½⟨‖y − xW₁W₂‖²⟩; `correlation` is E[xᵀy], and inputs are whitened without a
    `covariance`. `accuracy` are arguments of `integrate`.
    """
    cut = first.size

    def layers(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lead = flat.shape[:-1]
        W1 = flat[..., :cut].reshape(*lead, *first.shape)
        return W1, flat[..., cut:].reshape(*lead, *second.shape)

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        W1, W2 = layers(flat)
        rest = correlation - (W1 if covariance is None else covariance @ W1) @ W2
        return np.concatenate([(rest @ W2.T).ravel(), (W1.T @ rest).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    return layers(integrate(velocity, start, times, **accuracy))
