"""Hidden activations of pairs of symbols, in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import argument_error, as_array, compute, whole


def pair_numbers(pairs: Any, num_symbols: int, name: str = "pairs") -> np.ndarray:
    """Pairs of symbols' numbers, shape (n, 2), at least two of them."""
    advice = f"Count the {num_symbols} symbols from 0."
    found = whole(name, pairs, at_least=0, at_most=num_symbols - 1, advice=advice).astype(int)
    if found.ndim != 2 or found.shape[1] != 2 or len(found) < 2:
        raise argument_error(name, "have the shape (samples, 2), at least two", found.shape, advice)
    return found


def numpy_activation(
    activation: "str | Callable[[Any], Any]",
) -> Callable[[np.ndarray], np.ndarray]:
    """The activation as a function of float64 or complex128 arrays."""
    if callable(activation):
        return lambda z: _called(activation, z)
    from lazyrich.models import activation as named

    function = named(activation)
    return lambda z: (
        _called(function, z) if np.iscomplexobj(z) else np.asarray(compute(function, z))
    )


def _called(function: Callable[[Any], Any], z: np.ndarray) -> np.ndarray:
    import jax

    with jax.enable_x64(
        True
    ):  # a JAX function would cut float64 down otherwise; NumPy's do not mind
        try:
            values = as_array(function(z))
        except TypeError as error:  # what torch's functions say to arrays
            raise argument_error(
                "activation", "be a function of NumPy arrays", function,
                "Wrap torch's: `lambda z: torch.relu(torch.from_numpy(z))`.",
            ) from error  # fmt: skip
    if values.shape != z.shape or values.dtype.kind not in "fc":
        raise argument_error(
            "activation", f"give real or complex numbers of the shape {z.shape}",
            f"{values.dtype} of the shape {values.shape}", "It acts on each entry.",
        )  # fmt: skip
    return values


def pair_features(
    first: np.ndarray, pairs: np.ndarray, function: Callable[[Any], Any]
) -> np.ndarray:
    """σ(XW), shape (pairs, nodes), for one first layer (2M, nodes)."""
    half = first.shape[0] // 2
    return function(first[pairs[:, 0]] + first[half + pairs[:, 1]])
