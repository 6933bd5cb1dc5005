"""Validity of arguments: concrete values are checked and raise, traced ones turn to NaN."""

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from lazyrich.core._errors import argument_error
from lazyrich.core._precision import is_traced

F = TypeVar("F", bound=Callable[..., Any])
_BOUNDS = {
    "above": (np.greater, "> {}"),
    "at_least": (np.greater_equal, "≥ {}"),
    "below": (np.less, "< {}"),
    "at_most": (np.less_equal, "≤ {}"),
}
LARGE = 1e75
"""The size up to which numbers are moderate: products of four, and sums of many such, are finite."""
MAX_NUMBERS = 2**29
"""How many numbers an array may have that is made on request: 4 GiB."""


def as_array(value: Any) -> np.ndarray:
    """What NumPy makes of a value; of PyTorch tensors, or lists of them, also where they carry gradients.

    Everything outside a JAX trace returns plain numbers, so that gradients end here in any case.

    Example:
        >>> from lazyrich.core import as_array
        >>> as_array([1, 2])
        array([1, 2])
    """
    try:
        return np.asarray(value)
    except Exception:  # tensors that carry gradients, or lie on another device, refuse
        return np.asarray(_detached(value))


def real(name: str, value: Any, *, advice: str = "", finite: bool = True, **bounds: float) -> Any:
    """A real number or array of any shape as float64, checked.

    Args:
        name: the argument's name, for the message.
        value: what the caller passed.
        advice: one sentence that tells the user what to do.
        finite: refuse infinities; NaN is always refused.
        **bounds: any of `above`, `at_least` (lower), `below`, `at_most` (upper).

    Returns:
        A float64 NumPy array; or, inside a trace, the traced value with NaN where a bound is broken.
    """
    kind = "a finite real number" if finite else "a real number"
    return _checked(name, value, kind, advice, finite, bounds)


def _checked(
    name: str, value: Any, kind: str, advice: str, finite: bool, bounds: Mapping[str, float]
) -> Any:
    requirement = _requirement(kind, bounds)
    if is_traced(value):
        return _nan_where_invalid(_to_floating(name, value, requirement, advice), bounds)
    array = _to_float64(name, value, requirement, advice)
    valid = np.isfinite(array) if finite else ~np.isnan(array)
    for bound, limit in bounds.items():
        valid &= _BOUNDS[bound][0](array, limit)
    _raise_first(name, array, valid, requirement, advice)
    array.flags.writeable = False  # what a frozen object holds stays as it was checked
    return array


def moderate(name: str, value: Any, *, advice: str = "", size: float = LARGE, **bounds: Any) -> Any:
    """`real`, of at most 1e75 in size unless told: then float64 holds products of four."""
    array = real(name, value, advice=advice, **bounds)
    if not is_traced(array):
        small = np.abs(array) <= size
        _raise_first(name, array, small, f"be at most {size:g} in size", "Rescale it.")
    return array


def whole(
    name: str, value: Any, *, at_least: int = 1, at_most: int | None = None, advice: str = ""
) -> Any:
    """A whole number or array of them as float64, checked; in a trace as `real`."""
    bounds: dict[str, Any] = {"at_least": at_least}
    if at_most is not None:
        bounds["at_most"] = at_most
    array = _checked(name, value, "a whole number", advice, True, bounds)
    if not is_traced(array):
        requirement = _requirement("a whole number", bounds)
        _raise_first(name, array, array == np.floor(array), requirement, advice)
    return array


def number(name: str, value: Any, *, advice: str = "", **bounds: Any) -> float:
    """A single real number, known now: not an array, not traced."""
    return float(_single(name, value, real(name, value, advice=advice, **bounds)))


def count(
    name: str, value: Any, *, at_least: int = 1, at_most: int | None = None, advice: str = ""
) -> int:
    """A single whole number, known now: not an array, not traced."""
    found = int(_single(name, value, whole(name, value, at_least=at_least, advice=advice)))
    if at_most is not None and found > at_most:
        raise argument_error(name, f"be at most {at_most}", value, advice)
    return found


def flag(name: str, value: Any) -> bool:
    """True or False; words and numbers that Python would take for one of them are refused."""
    if not isinstance(value, bool | np.bool_):
        raise argument_error(name, "be True or False", value)
    return bool(value)


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """One of these words."""
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise argument_error(name, f"be one of {', '.join(words)}", value)
    return value


def items(name: str, value: Any, *, advice: str = "Pass a list.") -> tuple[Any, ...]:
    """The items of a list, tuple, array or iterator; text, mappings and single things are refused."""
    try:
        if isinstance(value, str | bytes | Mapping):
            raise TypeError
        return tuple(value)
    except TypeError:  # arrays without axes have no items either
        raise argument_error(name, "be a list", value, advice) from None


def shape(name: str, value: Any, *, advice: str = "Pass e.g. (2, 3).") -> tuple[int, ...]:
    """The shape of an array that is to be made; more numbers than fit into memory are refused."""
    lengths = items(name, value, advice=advice)
    sizes = tuple(count(f"{name}[{k}]", n, at_least=0) for k, n in enumerate(lengths))
    if math.prod(sizes) > MAX_NUMBERS:
        raise argument_error(name, f"stand for at most {MAX_NUMBERS} numbers", sizes, advice)
    return sizes


def known(name: str, value: Any, advice: str = "Leave it out of the trace.") -> Any:
    """The value, an array or several, unless it is being traced: its numbers decide what is to be done."""
    if is_traced(value):
        raise argument_error(name, "be known now", "traced arrays", advice)
    return value


def untraced(function: F) -> F:
    """A function that works on known numbers only: arguments that are being traced are refused by name.

    Example:
        >>> import jax
        >>> from lazyrich.core import untraced
        >>> @untraced
        ... def half(length):
        ...     return length / 2
        >>> half(3.0)
        1.5
        >>> try:
        ...     jax.jit(half)(3.0)
        ... except ValueError as error:
        ...     print(error)
        `length` must be known now, got 'traced arrays'. Call it outside `jit`, `vmap` and `grad`.
    """
    if not callable(function):
        raise argument_error("function", "be a function", function)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if is_traced(arguments, named):
            for name, value in signature.bind(*arguments, **named).arguments.items():
                known(name, value, "Call it outside `jit`, `vmap` and `grad`.")
        return function(*arguments, **named)

    return cast(F, call)


def representable(result: Any, **arguments: Any) -> Any:
    """The result, unless it holds NaN although its arguments are valid: then some are too large.

    Args:
        result: an array, or a tuple of results; traced ones are returned as they are.
        **arguments: the arguments it was computed from, by name; the largest is named in the error.
    """
    if is_traced(result) or not _holds_nan(result):
        return result
    sizes = {name: _largest(value) for name, value in arguments.items() if value is not None}
    name = max(sizes, key=sizes.__getitem__)
    raise argument_error(
        name, "be small enough for the result to be a number in float64",
        f"an entry of size {sizes[name]:.3g}", "Rescale it.",
    )  # fmt: skip


def _single(name: str, value: Any, checked: Any) -> Any:
    if is_traced(checked) or np.ndim(checked) != 0:
        raise argument_error(
            name, "be a single number that is known now", value, "Pass a plain number."
        )
    return checked


def _holds_nan(result: Any) -> bool:
    if isinstance(result, tuple | list):
        return any(_holds_nan(item) for item in result)
    return result is not None and bool(np.any(np.isnan(result)))


def _largest(value: Any) -> float:
    if isinstance(value, tuple | list):
        return max((_largest(item) for item in value), default=0.0)
    return float(np.max(np.abs(value), initial=0.0))


def _requirement(kind: str, bounds: Mapping[str, float]) -> str:
    limits = " and ".join(_BOUNDS[bound][1].format(f"{limit:g}") for bound, limit in bounds.items())
    return f"be {kind} {limits}".rstrip()


def _detached(value: Any) -> Any:
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return value.numpy(force=True)
    return [_detached(one) for one in value] if isinstance(value, (list, tuple)) else value


def _reason(value: Any, error: Exception) -> str:
    """Why NumPy cannot read a tensor, as its framework puts it."""
    if not hasattr(value, "detach"):
        return ""
    convert = ". Pass `.float()` of it" if "BFloat16" in str(error) else ""
    return f" NumPy cannot read it: {str(error).rstrip('.')}{convert}."


def _to_float64(name: str, value: Any, requirement: str, advice: str) -> np.ndarray:
    try:
        array = as_array(value)
    except Exception as error:
        raise argument_error(name, requirement, value, advice + _reason(value, error)) from error
    # bool, complex, str, None and objects are not real numbers; NumPy does not know bfloat16's kind
    if array.dtype.kind not in "iuf" and array.dtype.name != "bfloat16":
        raise argument_error(name, requirement, value, advice)
    with np.errstate(over="ignore"):  # a long double may become infinite, which is checked next
        return array.astype(np.float64)


def _to_floating(name: str, value: Any, requirement: str, advice: str) -> Any:
    import jax.numpy as jnp

    try:
        value = jnp.asarray(value)  # a list may hold traced numbers
    except Exception as error:
        raise argument_error(name, requirement, value, advice) from error
    if jnp.issubdtype(value.dtype, jnp.floating):
        return value
    if not jnp.issubdtype(value.dtype, jnp.integer):
        raise argument_error(name, requirement, value, advice)
    return value.astype(float)


def _raise_first(name: str, array: np.ndarray, valid: Any, requirement: str, advice: str) -> None:
    if np.all(valid):
        return
    position = tuple(int(i) for i in np.argwhere(~np.asarray(valid))[0])
    where = f"`{name}[{', '.join(map(str, position))}]`" if position else f"`{name}`"
    value = float(array[position])
    got = int(value) if "whole" in requirement and value.is_integer() else value
    raise argument_error(where.strip("`"), requirement, got, advice)


def _nan_where_invalid(value: Any, bounds: Mapping[str, float]) -> Any:
    import jax.numpy as jnp

    valid, size = True, float(jnp.finfo(value.dtype).max)
    for bound, given in bounds.items():
        limit = min(max(given, -size), size)  # float32 cannot hold every bound
        valid &= {"above": value > limit, "at_least": value >= limit,
                  "below": value < limit, "at_most": value <= limit}[bound]  # fmt: skip
    return jnp.where(valid, value, jnp.nan) if bounds else value
