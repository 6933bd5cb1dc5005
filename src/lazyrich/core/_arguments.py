"""Validity of arguments: concrete values are checked and raise, traced ones turn to NaN."""

from typing import Any

import numpy as np

from lazyrich.core._errors import argument_error
from lazyrich.core._precision import is_traced

_BOUNDS = {
    "above": (np.greater, "> {}"),
    "at_least": (np.greater_equal, "≥ {}"),
    "below": (np.less, "< {}"),
    "at_most": (np.less_equal, "≤ {}"),
}


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
    requirement = _requirement("a finite real number" if finite else "a real number", bounds)
    if is_traced(value):
        return _nan_where_invalid(_to_floating(name, value, requirement, advice), bounds)
    array = _to_float64(name, value, requirement, advice)
    valid = np.isfinite(array) if finite else ~np.isnan(array)
    for bound, limit in bounds.items():
        valid &= _BOUNDS[bound][0](array, limit)
    _raise_first(name, array, valid, requirement, advice)
    array.flags.writeable = False  # what a frozen object holds stays as it was checked
    return array


def whole(
    name: str, value: Any, *, at_least: int = 1, at_most: int | None = None, advice: str = ""
) -> Any:
    """A whole number or array of them as float64, checked; in a trace as `real`."""
    bounds: dict[str, Any] = {"at_least": at_least}
    if at_most is not None:
        bounds["at_most"] = at_most
    array = real(name, value, advice=advice, **bounds)
    if not is_traced(array):
        requirement = f"be a whole number ≥ {at_least}"
        _raise_first(name, array, array == np.floor(array), requirement, advice)
    return array


def number(name: str, value: Any, *, advice: str = "", **bounds: Any) -> float:
    """A single real number, known now: not an array, not traced."""
    return float(_single(name, value, real(name, value, advice=advice, **bounds)))


def count(name: str, value: Any, *, at_least: int = 1, advice: str = "") -> int:
    """A single whole number, known now: not an array, not traced."""
    return int(_single(name, value, whole(name, value, at_least=at_least, advice=advice)))


def _single(name: str, value: Any, checked: Any) -> Any:
    if is_traced(checked) or np.ndim(checked) != 0:
        raise argument_error(
            name, "be a single number that is known now", value, "Pass a plain number."
        )
    return checked


def _requirement(kind: str, bounds: dict[str, float]) -> str:
    limits = " and ".join(_BOUNDS[bound][1].format(f"{limit:g}") for bound, limit in bounds.items())
    return f"be {kind} {limits}".rstrip()


def _to_float64(name: str, value: Any, requirement: str, advice: str) -> np.ndarray:
    try:
        array = np.asarray(value)
    except Exception as error:
        raise argument_error(name, requirement, value, advice) from error
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
    raise argument_error(where.strip("`"), requirement, float(array[position]), advice)


def _nan_where_invalid(value: Any, bounds: dict[str, float]) -> Any:
    import jax.numpy as jnp

    valid = True
    for bound, limit in bounds.items():
        valid &= {"above": value > limit, "at_least": value >= limit,
                  "below": value < limit, "at_most": value <= limit}[bound]  # fmt: skip
    return jnp.where(valid, value, jnp.nan) if bounds else value
