"""Features and targets of a readout: checked, centred."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, is_traced, real


def checked_pair(features: Any, targets: Any, centred: Any = True) -> tuple[Any, Any]:
    """Features (n, K) and targets (n, M), without their means over samples if `centred`."""
    F = real("features", features, advice="Pass the activations of the hidden layer.")
    Y = real("targets", targets, advice="Pass one row of targets for each sample.")
    if F.ndim != 2 or 0 in F.shape:
        raise argument_error("features", "have the shape (samples, nodes), not empty", F.shape)
    if Y.ndim != 2 or Y.shape[0] != F.shape[0] or Y.shape[1] < 1:
        raise argument_error(
            "targets", f"have the shape ({F.shape[0]}, outputs) to fit `features`", Y.shape
        )
    if not isinstance(centred, bool):
        raise argument_error("centred", "be True or False", centred)
    return (centre(F), centre(Y)) if centred else (F, Y)


def centre(array: Any) -> Any:
    """Without the mean over samples, the first axis."""
    xp = jnp if is_traced(array) else np
    return array - xp.mean(array, axis=0)


def single(name: str, value: Any, *, advice: str, **bounds: Any) -> Any:
    """One real number, which may be traced."""
    checked = real(name, value, advice=advice, **bounds)
    if checked.ndim:
        raise argument_error(name, "be a single number", value, "Make one solution for each.")
    return checked
