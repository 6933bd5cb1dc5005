r"""One result in one file.

    bytes      content
    0–11       magic, "\x89lazyrich\r\n\x1a": not text, and changed by transfers in text mode
    12–15      version of the format, unsigned, little-endian
    16–23      length of the header, unsigned, little-endian
    24–55      SHA-256 of the header
    56–        header: JSON in ASCII, with the SHA-256 of the body
    after it   body: the arrays one after the other, raw, little-endian, in C order

There is no pickle, so reading runs no code, and no compression, so nothing unpacks to more than the
file's own size. Every byte is covered: the first fields by their values, the rest by a digest.
"""

import contextlib
import hashlib
import os
import struct
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from lazyrich.core import ArgumentError, StoreError
from lazyrich.store._atomic import write_parts
from lazyrich.store._header import Damage, check_header, entries, make_header
from lazyrich.store._json import dump, parse, plain
from lazyrich.store._key import check_key
from lazyrich.store._path import StrPath, as_path, reason
from lazyrich.store._variables import plain_variables, raw

_MAGIC = b"\x89lazyrich\r\n\x1a"
_FORMAT_VERSION = 1
_PRELUDE = struct.Struct("<12sIQ32s")
_LARGEST_HEADER = 1 << 24  # bytes
FOREIGN = "it does not begin like one"


def write_result(
    path: StrPath, dataset: xarray.Dataset, *, key: str = "", metadata: Any = None
) -> None:
    """Write a dataset to one file, whole or not at all.

    Args:
        path: the file, by custom with the extension `.lazyrich`; it is replaced if it exists.
        dataset: variables of booleans, integers, floats, complex numbers or fixed-width text.
            Attributes are JSON: numbers, text, booleans, None, lists and dictionaries; tuples and
            arrays become lists. NaN and infinities survive (in the file as `{"$float": "nan"}`).
        key: the name of the result; a `Store` checks it against the file's name.
        metadata: any JSON, readable without the arrays: configuration, versions, seed.

    Raises:
        ArgumentError: something in the dataset cannot be stored; the message names it.
        StoreError: the file could not be written; the message says why and what to do.

    Example:
        >>> import tempfile, xarray
        >>> from lazyrich.store import read_header, read_result, write_result
        >>> run = xarray.Dataset({"loss": ("time", [1.0, 0.5])}, attrs={"rate": 0.1})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_result(f"{folder}/run.lazyrich", run, metadata={"seed": 0})
        ...     print(read_header(f"{folder}/run.lazyrich")["metadata"])
        ...     print(read_result(f"{folder}/run.lazyrich").identical(run))
        {'seed': 0}
        True
    """
    path = as_path("path", path)
    variables = plain_variables(dataset)
    attrs = plain("dataset.attrs", dataset.attrs)
    key = check_key(key) if key != "" else ""
    header = dump("dataset", make_header(variables, attrs, key, plain("metadata", metadata)))
    if len(header) > _LARGEST_HEADER:
        raise ArgumentError(
            f"attributes and metadata must fit into {_LARGEST_HEADER} bytes, got {len(header)}. "
            "Store long lists as variables."
        )
    digest = hashlib.sha256(header).digest()
    prelude = _PRELUDE.pack(_MAGIC, _FORMAT_VERSION, len(header), digest)
    write_parts(path, [prelude, header, *(raw(variable.array) for variable in variables)])


def read_header(path: StrPath) -> dict[str, Any]:
    """Everything in a result file but its arrays.

    The header's own checksum and the size of the file are checked; the arrays are not read.

    Args:
        path: a file made by `write_result`.

    Returns:
        A dictionary with `schema_version`, `key`, `metadata` and `attrs`; `coords` and `data_vars`,
        by name, with `dims`, `dtype`, `shape`, `attrs`, and `offset` and `nbytes` within the body;
        and `body` with `nbytes` and `sha256`.

    Raises:
        StoreError: the file is absent, damaged or not a result; the message names it.
    """
    with _opened(as_path("path", path)) as file:
        return _read_header(file)


def read_result(path: StrPath) -> xarray.Dataset:
    """The dataset that `write_result` wrote, bit for bit.

    Args:
        path: a file made by `write_result`.

    Returns:
        The dataset, in memory. Big-endian arrays come back little-endian.

    Raises:
        StoreError: the file is absent, damaged or not a result; the message names it.
    """
    return read_both(as_path("path", path))[1]


def read_both(path: Path) -> tuple[dict[str, Any], xarray.Dataset]:
    """Header and dataset of one and the same file, even if it is replaced meanwhile."""
    with _opened(path) as file:
        header = _read_header(file)
        arrays = _read_body(file, header)
        return header, _assemble(header, arrays)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """The open file; whatever goes wrong inside is raised as one error that names it."""
    try:
        with open(path, "rb") as file:
            yield file
    except FileNotFoundError as error:
        raise StoreError(f"{path} does not exist. Run the command that computes it.") from error
    except IsADirectoryError as error:
        raise StoreError(
            f"{path} is a folder. Give a file in it, such as {path / 'data.lazyrich'}."
        ) from error
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {reason(error)}. Check its permissions and the disk."
        ) from error
    except MemoryError as error:
        raise StoreError(f"{path} does not fit into memory. Use a larger machine.") from error
    except Damage as damage:
        raise damage_error(path, str(damage)) from damage


def damage_error(path: Path, what: str) -> StoreError:
    """The error for a file that is not what it should be."""
    what = what if len(what) <= 200 else what[:197] + "..."
    advice = "Delete it or run the command again: it will be computed again."
    if what == FOREIGN and path.suffix not in (
        "",
        ".lazyrich",
    ):  # somebody's file, nothing to delete
        advice = (
            "Give a file that `write_result` made; those of `lazyrich reproduce` end in .lazyrich."
        )
    return StoreError(f"{path} is damaged or not a lazyrich result: {what}. {advice}")


def _read_header(file: BufferedReader) -> dict[str, Any]:
    size = os.fstat(file.fileno()).st_size
    prelude = file.read(_PRELUDE.size)
    if prelude[: len(_MAGIC)] != _MAGIC:
        raise Damage(FOREIGN)
    if len(prelude) < _PRELUDE.size:
        raise Damage("it was cut short before its header")
    _, version, length, digest = _PRELUDE.unpack(prelude)
    if version != _FORMAT_VERSION:
        raise Damage(f"it has format version {version}, and this lazyrich reads {_FORMAT_VERSION}")
    if length > _LARGEST_HEADER:
        raise Damage(f"its header claims {length} bytes, more than any header has")
    text = file.read(length)
    if len(text) < length:
        raise Damage("it was cut short in its header")
    if hashlib.sha256(text).digest() != digest:
        raise Damage("the checksum of its header is wrong")
    header = _parse(text)
    check_header(header, size - _PRELUDE.size - length)
    return header


def _parse(text: bytes) -> Any:
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:
        raise Damage(f"its header is not valid JSON ({error})") from error


def _read_body(file: BufferedReader, header: dict[str, Any]) -> dict[str, np.ndarray]:
    arrays, digest = {}, hashlib.sha256()
    for name, entry in entries(header):
        arrays[name] = np.empty(entry["shape"], entry["dtype"])
        if file.readinto(raw(arrays[name])) < entry["nbytes"]:
            raise Damage("it was cut short in its body")
        digest.update(raw(arrays[name]))
    if digest.hexdigest() != header["body"]["sha256"]:
        raise Damage("the checksum of its body is wrong")
    for name, array in arrays.items():
        _check_values(name, array)
    return arrays


def _check_values(name: str, array: np.ndarray) -> None:
    """Refuse what would make NumPy fail later, far from the file."""
    if array.dtype.kind == "b" and np.any(array.view(np.uint8) > 1):
        raise Damage(f"{name!r} holds bytes that are not booleans")
    if array.dtype.kind == "U" and np.any(array.reshape(-1).view("<u4") > 0x10FFFF):
        raise Damage(f"{name!r} holds numbers that are not characters")


def _assemble(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> xarray.Dataset:
    def variables(role: str) -> dict[str, Any]:
        return {
            name: (entry["dims"], arrays[name], entry["attrs"])
            for name, entry in header[role].items()
        }

    try:
        return xarray.Dataset(variables("data_vars"), variables("coords"), header["attrs"])
    except Exception as error:  # xarray promises no particular one
        raise Damage(f"its variables do not make a dataset ({error})") from error
