"""The header of a result file: what is in it, and whether to believe it.

A header is believed only after everything in it agrees with the size of the file, so nothing is
ever allocated on the word of a header alone.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lazyrich.store._json import escape
from lazyrich.store._key import is_key
from lazyrich.store._variables import PlainVariable, is_dtype, raw

SCHEMA_VERSION = 1
_FIELDS = {"schema_version", "key", "metadata", "attrs", "coords", "data_vars", "body"}
_ENTRY_FIELDS = {"dims", "dtype", "shape", "offset", "nbytes", "attrs"}
_LARGEST = 2**63 - 1  # what NumPy can index
_MOST_DIMS = 64  # what NumPy can hold


class Damage(Exception):
    """What is wrong with a file, without its name; whoever opened the file adds that."""


def make_header(
    variables: Sequence[PlainVariable], attrs: Any, key: str, metadata: Any
) -> dict[str, Any]:
    """The header, in JSON's types, of a file that holds `variables` one after the other."""
    header: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "key": key, "metadata": metadata}
    header |= {"attrs": attrs, "coords": {}, "data_vars": {}}
    offset, digest = 0, hashlib.sha256()
    for variable in variables:
        place = {"offset": offset, "nbytes": variable.array.nbytes}
        header[variable.role][escape(variable.name)] = variable.describe() | place
        offset += variable.array.nbytes
        digest.update(raw(variable.array))
    return header | {"body": {"nbytes": offset, "sha256": digest.hexdigest()}}


def entries(header: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Name and entry of every variable, in the order in which their bytes lie in the file."""
    return [*header["coords"].items(), *header["data_vars"].items()]


def check_header(header: Any, body_nbytes: int) -> None:
    """Raise `Damage` unless the header describes exactly `body_nbytes` bytes of plain arrays."""
    _require(isinstance(header, dict), "its header is not a dictionary")
    version = header.get("schema_version")
    _require(
        _is_size(version) and version == SCHEMA_VERSION,
        f"its header has schema version {version!r}, and this lazyrich reads {SCHEMA_VERSION}",
    )
    _require(set(header) == _FIELDS, "its header lacks fields or has unknown ones")
    _require(header["key"] == "" or is_key(header["key"]), "the key in its header is not a key")
    for field in ("attrs", "coords", "data_vars", "body"):
        _require(isinstance(header[field], dict), f"`{field}` in its header is not a dictionary")
    for name in header["coords"]:
        _require(name not in header["data_vars"], f"it has two variables named {name!r}")
    _check_body(header["body"], body_nbytes)
    _check_entries(header, body_nbytes)


def _check_body(body: dict[str, Any], body_nbytes: int) -> None:
    _require(set(body) == {"nbytes", "sha256"}, "its header does not describe the body")
    _require(
        _is_size(body["nbytes"]) and body["nbytes"] == body_nbytes,
        "its size is not the one in its header: it was cut short or something was added",
    )


def _check_entries(header: dict[str, Any], body_nbytes: int) -> None:
    position, sizes = 0, {}
    for name, entry in entries(header):
        _check_entry(name, entry)
        _require(entry["offset"] == position, f"the array of {name!r} does not follow the last one")
        position += entry["nbytes"]
        for dim, size in zip(entry["dims"], entry["shape"], strict=True):
            _require(sizes.setdefault(dim, size) == size, f"dimension {dim!r} has two sizes")
    _require(position == body_nbytes, "its arrays do not fill its body")


def _check_entry(name: str, entry: Any) -> None:
    _require(
        isinstance(entry, dict)
        and set(entry) == _ENTRY_FIELDS
        and isinstance(entry["attrs"], dict),
        f"the entry of {name!r} in its header lacks fields or has unknown ones",
    )
    dims, shape = entry["dims"], entry["shape"]
    _require(
        isinstance(dims, list) and all(isinstance(dim, str) for dim in dims),
        f"the dimensions of {name!r} are not a list of names",
    )
    _require(
        len(set(dims)) == len(dims) <= _MOST_DIMS, f"{name!r} has repeated or too many dimensions"
    )
    _require(
        isinstance(shape, list) and len(shape) == len(dims) and all(map(_is_size, shape)),
        f"the shape of {name!r} does not fit its dimensions",
    )
    _require(is_dtype(entry["dtype"]), f"the dtype of {name!r} is not allowed")
    _check_size(name, entry)


def _check_size(name: str, entry: dict[str, Any]) -> None:
    itemsize, shape = np.dtype(entry["dtype"]).itemsize, entry["shape"]
    _require(
        itemsize * math.prod(max(size, 1) for size in shape) <= _LARGEST,
        f"the shape of {name!r} is larger than any array",
    )
    _require(
        _is_size(entry["nbytes"]) and entry["nbytes"] == itemsize * math.prod(shape),
        f"the size of {name!r} is not that of its shape",
    )
    _require(_is_size(entry["offset"]), f"the offset of {name!r} is not a size")


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise Damage(what)
