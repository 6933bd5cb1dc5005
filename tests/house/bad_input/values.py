"""Bad values for an argument, made from a valid one."""

import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

HUGE = 1e300
MANY = 10**9
"""Huge for a count: nothing that is counted here fits into memory this often."""


class Thing:
    """An object that is nothing the library knows; all of them print alike."""

    def __repr__(self):
        return "Thing()"


class Also(NamedTuple):
    """A valid value, with bad values that only its argument has, such as an asymmetric covariance."""

    valid: Any
    bad: dict[str, Any]


def bad_values(valid: Any) -> dict[str, Any]:
    """Kind of fault → bad value. What kinds there are follows from the type of the valid value."""
    if isinstance(valid, Also):
        return bad_values(valid.valid) | valid.bad
    anything = {"text": "no such thing", "object": Thing(), "none": None}
    return anything | _by_type(valid)


def _by_type(valid: Any) -> dict[str, Any]:
    if isinstance(valid, bool | np.bool_):
        return {"number": 0.5, "array": np.array([True, False])}
    if isinstance(valid, str):
        return {"empty": "", "number": 3.0, "list": [valid]}
    if isinstance(valid, numbers.Integral):
        return _count(int(valid))
    if isinstance(valid, numbers.Real):
        return _real(float(valid))
    if isinstance(valid, range):
        return _numbers(np.array(valid)) | {"number": 3.0}
    is_array = isinstance(valid, np.ndarray) or type(valid).__name__ == "ArrayImpl"
    if is_array and not _is_key(valid):
        return _numbers(np.asarray(valid))
    if isinstance(valid, list | tuple):
        return _sequence(valid)
    return {"number": 3.0, "empty": {} if isinstance(valid, Mapping) else []}


def _is_key(valid: Any) -> bool:
    return "key" in str(getattr(valid, "dtype", ""))


def _real(valid: float) -> dict[str, Any]:
    return {
        "flag": True, "complex": valid + 1j, "nan": np.nan, "infinite": np.inf, "zero": 0.0,
        "negative": -abs(valid) or -1.0, "huge": HUGE, "empty": [], "extra_axis": np.array([valid]),
    }  # fmt: skip


def _count(valid: int) -> dict[str, Any]:
    odd = {"zero": 0, "negative": -1 - abs(valid), "huge": MANY, "enormous": HUGE}
    return _real(valid) | odd | {"fraction": valid + 0.5}


def _numbers(valid: np.ndarray) -> dict[str, Any]:
    """Arrays: faults of the whole, faults of the first entry, faults of the shape."""
    bad: dict[str, Any] = {"number": 3.0} if valid.ndim else {}
    if valid.dtype == bool:
        bad |= {"numbers": np.full(valid.shape, 0.5)}
    else:
        bad |= _entries(valid)
    bad |= {"empty": valid[:0] if valid.ndim else [], "extra_axis": valid[None]}
    if valid.ndim:
        bad["longer"] = np.concatenate([valid, valid[-1:]])
    if valid.ndim > 1:
        bad |= {"wider": np.concatenate([valid, valid[..., -1:]], -1), "fewer_axes": valid[0]}
    return bad


def _entries(valid: np.ndarray) -> dict[str, Any]:
    is_whole = np.issubdtype(valid.dtype, np.integer)
    largest = np.abs(valid).max(initial=0) or 1
    bad = {
        "nan": _with_first(valid, np.nan), "infinite": _with_first(valid, np.inf),
        "zero": np.zeros_like(valid), "negative": -np.abs(valid) - is_whole,
        "huge": valid + MANY if is_whole else valid * (HUGE / largest),
    }  # fmt: skip
    if is_whole:
        bad["fraction"] = valid + 0.5
    if not np.iscomplexobj(valid):
        bad["complex"] = valid + 1j
    return bad


def _with_first(valid: np.ndarray, entry: float) -> np.ndarray:
    changed = valid.astype(np.result_type(valid.dtype, np.float64))
    changed[(0,) * valid.ndim] = entry
    return changed


def _sequence(valid: Any) -> dict[str, Any]:
    """Lists, tuples and named tuples: faults of the list, and of its first item."""
    bad: dict[str, Any] = {"number": 3.0, "empty": ()}
    if not valid:
        return bad
    make = getattr(type(valid), "_make", type(valid))
    first = {f"first_{kind}": item for kind, item in bad_values(valid[0]).items()}
    bad |= {kind: make([item, *valid[1:]]) for kind, item in first.items()}
    return bad if hasattr(valid, "_make") else bad | {"longer": make([*valid, valid[-1]])}


def has_nan(value: Any, known: set[int] | None = None) -> bool:
    """Whether a NaN is anywhere in a result: in arrays, records, solutions, trees of them."""
    known = set() if known is None else known
    if value is None or isinstance(value, str | bytes | type) or id(value) in known:
        return False
    if isinstance(value, numbers.Number):
        return bool(value != value)
    known.add(id(value))
    if hasattr(value, "dtype") and hasattr(value, "__array__"):
        if _is_key(value):
            return False
        array = np.asarray(value)
        return array.dtype.kind in "fc" and bool(np.isnan(array).any())
    if isinstance(value, Mapping) or hasattr(value, "data_vars"):
        return any(has_nan(value[name], known) for name in value)
    if isinstance(value, list | tuple | set | frozenset):
        return any(has_nan(item, known) for item in value)
    if type(value).__module__.startswith("lazyrich") and hasattr(value, "__dict__"):
        return any(has_nan(item, known) for item in vars(value).values())
    return False
