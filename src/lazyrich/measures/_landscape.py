"""Gradient and Hessian products from any framework, checked at every call."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import argument_error, as_array, real

PERTURBATIONS = 3
"""Changes of the weights in their last digit, from which the gradient's rounding noise is judged."""
PAIRS = 4
"""Pairs of directions on which the Hessian's symmetry is tested."""
ASYMMETRY = 1e-3
"""Above this share of what a matrix of random entries shows, a product is wrong and not only rounded."""


class Landscape:
    """A loss as its derivatives show it: float64 arrays in and out, and the rounding that they carry."""

    def __init__(self, gradient: Any, hessian_product: Any, dimension: int):
        for name, value, of in (
            ("gradient", gradient, "the weights"),
            ("hessian_product", hessian_product, "weights and a direction"),
        ):
            if not callable(value):
                raise argument_error(name, f"be a function of {of}", value, "Pass a callable.")
        self._gradient, self._product = gradient, hessian_product
        self.dimension = dimension
        self.epsilon = np.finfo(np.float64).eps
        """Relative rounding error of the coarsest dtype that came back."""

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """The gradient; a copy is handed out, since some functions write into what they get."""
        return self._checked("gradient(weights)", self._gradient(weights.copy()))

    def gradient_norm(self, weights: np.ndarray) -> float:
        """The gradient's norm at a trial point; inf where it is not finite there."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = as_array(self._gradient(weights.copy())).astype(np.float64)
            norm = float(np.linalg.norm(found))
        return norm if np.isfinite(norm) else np.inf

    def product(self, weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The Hessian at these weights, as a function of a direction."""

        def apply(direction: np.ndarray) -> np.ndarray:
            value = self._product(weights.copy(), np.array(direction, np.float64))
            return self._checked("hessian_product(weights, direction)", value)

        return apply

    def gradient_noise(self, weights: np.ndarray, gradient: np.ndarray) -> float:
        """How much the gradient changes when the weights change in their last digit.

        Below this no gradient can be told from zero: neither the weights nor the arithmetic allow it.
        """
        rng = np.random.default_rng(1)
        signs = rng.choice([-1.0, 1.0], (PERTURBATIONS, self.dimension))
        moved = [self.gradient(weights * (1 + 2 * self.epsilon * sign)) for sign in signs]
        return max(float(np.linalg.norm(other - gradient)) for other in moved)

    def require_repeatable(self, weights: np.ndarray, gradient: np.ndarray, scale: float) -> None:
        """Refuses gradients of random batches: their zero is no fixed point.

        Rounding may differ from call to call, as it does on graphics cards.
        """
        change = float(np.linalg.norm(self.gradient(weights) - gradient))
        rounding = 1e4 * self.epsilon * scale * np.linalg.norm(weights)
        if change > max(1e-3 * float(np.linalg.norm(gradient)), rounding):
            raise argument_error(
                "gradient",
                "return the same for the same weights",
                f"a difference of {change:.2g}",
                "Use the whole training set and no dropout.",
            )

    def require_symmetric(self, product: Callable[[np.ndarray], np.ndarray]) -> float:
        """The Hessian's asymmetry, as the norm of a matrix of random entries; refuses a large one."""
        rng = np.random.default_rng(2)
        largest = 0.0
        for _ in range(PAIRS):
            p, q = (unit(rng.standard_normal(self.dimension)) for _ in range(2))
            Hp, Hq = product(p), product(q)
            difference = abs(float(p @ Hq - q @ Hp)) * np.sqrt(self.dimension)
            size = float(np.linalg.norm(Hp) + np.linalg.norm(Hq))
            if difference > ASYMMETRY * size and difference > 1e3 * self.epsilon * size:
                raise argument_error(
                    "hessian_product",
                    "be symmetric: p·Hq = q·Hp",
                    f"{p @ Hq:.6g} and {q @ Hp:.6g}",
                    "Return the second derivative of a loss, linear in the direction.",
                )
            largest = max(largest, difference)
        return np.sqrt(2) * largest

    def _checked(self, name: str, value: Any) -> np.ndarray:
        advice = "Return finite numbers, as an array that NumPy can read."
        array = real(name, value, advice=advice)
        self.epsilon = max(self.epsilon, _epsilon(as_array(value).dtype))
        if array.shape != (self.dimension,):
            raise argument_error(
                name, f"have the shape {(self.dimension,)} of `weights`", array.shape
            )
        return array


def unit(vector: np.ndarray) -> np.ndarray:
    """The vector divided by its norm."""
    return vector / np.linalg.norm(vector)


def _epsilon(dtype: np.dtype) -> float:
    if dtype.name == "bfloat16":  # NumPy does not know its digits
        return 2.0**-7
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
