"""Attributes and metadata as strict JSON.

Strict JSON has no infinities and no NaN. They are written as `{"$float": "inf"}`,
`{"$float": "-inf"}` and `{"$float": "nan"}`. So that no dictionary of the caller can be mistaken
for one of these, a key that begins with `$` gets a second `$`.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lazyrich.core import ArgumentError, argument_error

_DEPTH = 64  # far more than anyone writes by hand, far less than Python's recursion limit
_KINDS = "be numbers, text, booleans, None, or lists and dictionaries of them"
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def plain(name: str, value: Any, depth: int = 0) -> Any:
    """`value` in JSON's own types: tuples and arrays become lists, NumPy's numbers Python's.

    Args:
        name: what the value is called in error messages.
        value: what the caller gave.
        depth: how many lists and dictionaries it lies in.
    """
    if depth > _DEPTH:
        raise ArgumentError(f"`{name}` must be nested at most {_DEPTH} deep. Flatten it.")
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufU":
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, list | tuple):
        return [plain(f"{name}[{i}]", item, depth + 1) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(name, k): plain(f"{name}[{k!r}]", v, depth + 1) for k, v in value.items()}
    raise argument_error(name, _KINDS, value, "Convert it, or store it as a variable.")


def escape(key: str) -> str:
    """A dictionary's key as it is written; `parse` undoes it."""
    return f"${key}" if key.startswith("$") else key


def dump(name: str, value: Any, *, sort_keys: bool = False) -> bytes:
    """The JSON text of something made by `plain`."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys)
    except ValueError as error:  # whole numbers of more than 4300 digits
        raise ArgumentError(f"`{name}` must be writable as JSON, but {error}.") from error
    return text.encode("ascii")


def parse(text: bytes) -> Any:
    """The value that `dump` wrote; anything else raises ValueError or RecursionError."""
    return json.loads(text.decode("ascii"), object_pairs_hook=_object, parse_constant=_refuse)


def _key(name: str, key: Any) -> str:
    if not isinstance(key, str):
        raise argument_error(f"keys of {name}", "be text", key, "Convert them with `str`.")
    return escape(key)


def _object(pairs: list[tuple[str, Any]]) -> Any:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("it has two entries of the same name")
    word = record.get("$float")
    if len(record) == 1 and isinstance(word, str) and word in _FLOATS:
        return _FLOATS[word]
    if any(key.startswith("$") and not key.startswith("$$") for key in record):
        raise ValueError("it has an unknown `$` entry")
    return {key[1:] if key.startswith("$") else key: value for key, value in record.items()}


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
