"""Lambert's function."""

from typing import Any

import jax.numpy as jnp


def lambert_of_log(log_z: Any) -> Any:
    """The w > 0 with w·exp(w) = z, for z given by its logarithm, so that it may be of any size.

    Newton's iteration for w + log w = log z in the variable log w, of which the left side is a convex,
    increasing
    function: from a point to the right of the root it falls to it without overshooting.
    """
    u = jnp.where(log_z > 1, jnp.log(jnp.maximum(log_z, 1)), log_z)  # u = log w, from above
    for _ in range(8):
        w = jnp.exp(u)
        u = u - (w + u - log_z) / (1 + w)
    return jnp.exp(u)
