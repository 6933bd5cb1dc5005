"""Activation functions by name."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from lazyrich.core import argument_error
from lazyrich.models._unit_kind import UnitKind, kind_of


def _linear(z: Any) -> Any:
    return z


def _quadratic(z: Any) -> Any:
    return z * z


def _cubic(z: Any) -> Any:
    return z * z * z


def _z_tanh(z: Any) -> Any:
    return z * jnp.tanh(z)


def _versine(z: Any) -> Any:
    return 2 * jnp.sin(z / 2) ** 2  # 1 − cos z, with all digits near zero


def _z2_tanh(z: Any) -> Any:
    return z * z * jnp.tanh(z)


_NAMED: dict[str, tuple[Callable[[Any], Any], UnitKind]] = {
    "linear": (_linear, UnitKind(1, degree=1, signed=True, linear=True)),
    "relu": (jax.nn.relu, UnitKind(1, degree=1)),
    "quadratic": (_quadratic, UnitKind(2, degree=2, signed=True)),
    "cubic": (_cubic, UnitKind(3, degree=3, signed=True)),
    "silu": (jax.nn.silu, UnitKind(1)),
    "sigmoid": (jax.nn.sigmoid, UnitKind(0)),
    "sine": (jnp.sin, UnitKind(1)),
    "tanh": (jnp.tanh, UnitKind(1)),
    "z-tanh": (_z_tanh, UnitKind(2)),
    "versine": (_versine, UnitKind(2)),
    "z2-tanh": (_z2_tanh, UnitKind(3)),
}


def activation(name: "str | Callable[[Any], Any]") -> Callable[[Any], Any]:
    """The activation function of that name; a function is returned as it is.

    Names: `linear`, `relu`, `quadratic` z², `cubic` z³, `silu` z/(1 + e⁻ᶻ), `sigmoid`, `sine`, `tanh`,
    `z-tanh` z tanh z, `versine` 1 − cos z, `z2-tanh` z² tanh z.

    Example:
        >>> from lazyrich.models import activation
        >>> float(activation("quadratic")(3.0))
        9.0
    """
    return activation_of("activation", name)


def activation_of(argument: str, name: "str | Callable[[Any], Any]") -> Callable[[Any], Any]:
    """`activation`, for an argument of another name."""
    return name if callable(name) else _named(name, argument)[0]


def activation_kind(name: "str | Callable[[Any], Any]") -> UnitKind:
    """What holds for a unit with that activation; for a function of the user's it is found by trying.

    Example:
        >>> from lazyrich.models import activation_kind
        >>> activation_kind("relu").is_homogeneous, activation_kind(lambda z: z**4).order
        (True, 4)
    """
    return kind_of(name) if callable(name) else _named(name)[1]


POWERS = {"linear": 1, "quadratic": 2, "cubic": 3}
"""Activations that are powers."""


def _named(name: str, argument: str = "activation") -> tuple[Callable[[Any], Any], UnitKind]:
    if not isinstance(name, str) or name not in _NAMED:
        raise argument_error(
            argument, f"be a function or one of {', '.join(_NAMED)}", name, "Pass e.g. 'tanh'."
        )
    return _NAMED[name]
