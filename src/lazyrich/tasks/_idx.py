"""Files in the idx format, in which MNIST and data sets like it are distributed."""

import gzip
import math
import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np

from lazyrich.core import DataError, argument_error

_KINDS = {0x801: (1, "labels"), 0x803: (3, "images")}
"""The first four bytes: type 8 (unsigned bytes), then the number of dimensions."""
_LARGEST = 2**31
"""Bytes. A header that promises more is damage, and a gzip file may unpack to anything."""


def load_idx(path: str | os.PathLike[str]) -> np.ndarray:
    """The array in an idx file: labels, shape (samples,), or images, shape (samples, rows, columns).

    Args:
        path: the file, gzipped or not; its content decides, not its name.

    Returns:
        Unsigned bytes.

    Raises:
        DataError: the file is missing, damaged or of another kind. The message names it.

    Example:
        >>> import pathlib
        >>> from lazyrich.tasks import load_idx
        >>> file = pathlib.Path("labels-idx1-ubyte")
        >>> _ = file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3]) + bytes([7, 2, 1]))
        >>> load_idx(file)
        array([7, 2, 1], dtype=uint8)
    """
    try:
        file = Path(path)
    except TypeError as error:
        raise argument_error("path", "be the path of a file", path, "Pass a string.") from error
    try:
        with file.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if not is_gzip:
                return _array(raw, file)
            with gzip.open(raw) as unpacked:
                return _array(unpacked, file)  # pyright: ignore[reportArgumentType]
    except FileNotFoundError as error:
        raise _damage(file, "exist", "no such file") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise _damage(file, "be a whole gzip file", str(error)) from error
    except DataError:
        raise
    except (OSError, ValueError) as error:  # a folder, no permission, a name with a zero byte
        raise _damage(file, "be a file that can be read", str(error)) from error


def _array(stream: BinaryIO, file: Path) -> np.ndarray:
    head = stream.read(4)
    magic = int.from_bytes(head, "big")
    if len(head) < 4 or magic not in _KINDS:
        wanted = "start with the number 2049 (labels) or 2051 (images) of an idx file"
        raise _damage(file, wanted, f"the bytes {head.hex(' ') or 'of an empty file'}")
    dimensions, kind = _KINDS[magic]
    sizes = stream.read(4 * dimensions)
    if len(sizes) < 4 * dimensions:
        raise _damage(file, f"give {dimensions} sizes in its header", f"{len(sizes)} bytes of them")
    shape = struct.unpack(f">{dimensions}I", sizes)
    expected = math.prod(shape)
    if not 0 < expected <= _LARGEST:
        raise _damage(file, "hold between 1 byte and 2 GiB", f"the sizes {shape} in its header")
    content = _read(stream, expected + 1)  # one more than there may be, to notice it
    if len(content) != expected:
        found = "more" if len(content) > expected else f"{len(content)}"
        raise _damage(file, f"hold {expected} bytes of {kind}, as its header says", found)
    return np.frombuffer(content, np.uint8).reshape(shape)


def _read(stream: BinaryIO, limit: int) -> bytes:
    """Up to so many bytes, in pieces: a damaged header must not reserve memory for what is not there."""
    pieces, left = [], limit
    while left > 0 and (piece := stream.read(min(left, 1 << 22))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _damage(file: Path, requirement: str, found: str) -> DataError:
    return DataError(f"`{file}` must {requirement}, got {found}. Download the file again.")
