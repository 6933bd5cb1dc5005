"""Random draws at the precision that the design promises."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core._errors import argument_error
from lazyrich.core._precision import is_traced


def standard_normal(key: Any, shape: tuple[int, ...]) -> Any:
    """Standard normal numbers: float64 NumPy, or in a trace an array of the user's default dtype."""
    if not hasattr(key, "dtype") or not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        raise argument_error("key", "be a random key", key, "Pass `jax.random.key(0)`.")
    if is_traced(key):
        return jax.random.normal(key, shape)
    size = math.prod(shape)
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        # element i does not depend on how many are drawn: few sizes are compiled, not one for each shape
        drawn = jax.random.normal(key, (_rounded_up(size),), dtype=float)
    return np.asarray(drawn)[:size].reshape(shape)


def _rounded_up(size: int) -> int:
    """The next number of the form 2ᵏ or 3·2ᵏ."""
    power = 2 ** max(size - 1, 1).bit_length()
    return power * 3 // 4 if size <= power * 3 // 4 else power
