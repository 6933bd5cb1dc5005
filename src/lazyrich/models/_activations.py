"""Activation functions by name."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from lazyrich.core import argument_error


def _linear(z: Any) -> Any:
    return z


def _quadratic(z: Any) -> Any:
    return z * z


_NAMED: dict[str, Callable[[Any], Any]] = {
    "linear": _linear,
    "relu": jax.nn.relu,
    "quadratic": _quadratic,
    "sigmoid": jax.nn.sigmoid,
    "sine": jnp.sin,
    "tanh": jnp.tanh,
}


def activation(name: "str | Callable[[Any], Any]") -> Callable[[Any], Any]:
    """The activation function of that name; a function is returned as it is.

    Example:
        >>> from lazyrich.models import activation
        >>> float(activation("quadratic")(3.0))
        9.0
    """
    if callable(name):
        return name
    if name not in _NAMED:
        raise argument_error(
            "activation", f"be a function or one of {', '.join(_NAMED)}", name, "Pass e.g. 'tanh'."
        )
    return _NAMED[name]
