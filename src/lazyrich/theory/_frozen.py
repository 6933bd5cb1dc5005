"""Objects that stay as they were made, and how they print."""

import dataclasses
import functools
import inspect
from typing import Any

import numpy as np

from lazyrich.core import is_traced

MOST = 6
"""Arrays with more entries print as their shape."""


class Frozen:
    """Holds what it was made from and what follows; nothing can be changed once it is made."""

    def __init_subclass__(cls) -> None:
        """Objects are closed when their own class's `__init__` is done."""
        make = cls.__dict__.get("__init__")
        if make is None:
            return

        @functools.wraps(make)
        def made(self: Any, *arguments: Any, **named: Any) -> None:
            make(self, *arguments, **named)
            if type(self) is cls:
                self.__dict__["_is_made"] = True

        cls.__init__ = made

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get("_is_made"):
            raise dataclasses.FrozenInstanceError(
                f"cannot assign to field '{name}'. Make a new {type(self).__name__}."
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return described(self)


def described(value: Any) -> str:
    """The call that makes an object, with those arguments that it keeps and that are not the default."""
    arguments = []
    for name, parameter in inspect.signature(type(value).__init__).parameters.items():
        held = getattr(value, name, None) if name != "self" else None
        is_method = inspect.ismethod(held) or hasattr(held, "__self__")
        if held is not None and not is_method and not _same(held, parameter.default):
            arguments.append(f"{name}={_written(held)}")
    return f"{type(value).__name__}({', '.join(arguments)})"


def _same(held: Any, default: Any) -> bool:
    if default is inspect.Parameter.empty or is_traced(held) or np.ndim(held):
        return False
    return bool(held == default)


def _written(value: Any) -> str:
    if is_traced(value):
        return f"traced array of shape {np.shape(value)}"
    if isinstance(value, int | float | np.number | np.ndarray) or hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.size > MOST:
            return f"array of shape {array.shape}"
        return str(_rounded(array.tolist()))
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return repr(value)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
