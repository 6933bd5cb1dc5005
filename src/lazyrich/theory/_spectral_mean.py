"""Means over the bulk of the Marchenko–Pastur law of functions that vary on any scale."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.theory._laplace import edges

STEP, FIRST, LAST = 0.12, -375, 105
"""The rule's step in y, and the numbers of its first and last node."""


def bulk_nodes(ratio: Any) -> tuple[Any, Any]:
    """Eigenvalues ν_k and weights w_k, last axis, with E_bulk[ν f(ν)] = Σ w_k f(ν_k).

    With ν = λ₋ + 4√λ sin²φ and tan φ = exp(y) the mean is an integral over the whole line, of a function
    that is analytic for |Im y| < π/4 whenever f is analytic for Re ν > 0: there the trapezoidal rule in y
    errs by exp(−π²/2h), below rounding. Scales of ν from 1e-39 to 1 get equally many nodes, so decay
    rates, times and distances to λ = 1 may differ by any factor. The nodes depend on nothing but λ.
    """
    sin_squared, weight = _angles(ratio.dtype)
    return _eigenvalue(ratio[..., None], sin_squared), weight


def bulk_sums(ratio: Any, functions: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    """E_bulk[ν f(ν)] for several f at once, node after node: no array is larger than the results."""

    def add(sums: tuple[Any, ...], node: tuple[Any, Any]) -> tuple[tuple[Any, ...], None]:
        sin_squared, weight = node
        terms = functions(_eigenvalue(ratio, sin_squared))
        return tuple(a + weight * f for a, f in zip(sums, terms, strict=True)), None

    shapes = jax.eval_shape(functions, ratio)
    start = tuple(jnp.zeros(f.shape, f.dtype) for f in shapes)
    return jax.lax.scan(add, start, _angles(ratio.dtype))[0]


def _eigenvalue(ratio: Any, sin_squared: Any) -> Any:
    return edges(ratio)[0] + 4 * jnp.sqrt(ratio) * sin_squared


def _angles(dtype: Any) -> tuple[Any, Any]:
    sin_squared, weight = _angles_float64()
    return jnp.asarray(sin_squared.astype(dtype)), jnp.asarray(weight.astype(dtype))


@functools.cache
def _angles_float64() -> tuple[np.ndarray, np.ndarray]:
    tangent = np.exp(STEP * np.arange(FIRST, LAST + 1))
    cos_squared = 1 / (1 + tangent**2)
    sin_squared = tangent**2 * cos_squared
    # (4/π) sin²(2φ) dφ with dφ = tan φ cos²φ dy
    return sin_squared, STEP * (16 / np.pi) * sin_squared * cos_squared * tangent * cos_squared
