"""Files that appear whole or not at all."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from lazyrich.core import StoreError, argument_error
from lazyrich.store._path import StrPath, as_path, reason
from lazyrich.store._temporary import temporary_file

_WINDOWS = os.name == "nt"
_CHUNK = 1 << 24  # bytes in one system call: Ctrl-C is heard between calls
_SPACE = "Free some space or choose another folder, then run the command again."
_FOLDER = "Choose a folder you may write to, then run the command again."
_ADVICE = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: "Raise the limit on file sizes (`ulimit -f`) or choose another folder.",
    errno.EACCES: _FOLDER,
    errno.EPERM: _FOLDER,
    errno.EROFS: _FOLDER,
    errno.ENOTDIR: "Part of this path is a file; choose another folder.",
    errno.EEXIST: "Part of this path is a file; choose another folder.",
    errno.EISDIR: "A folder has this name; delete it or choose another name.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}


def write_atomically(path: StrPath, data: bytes) -> None:
    """Write a file so that a kill at any moment leaves the old one, if any, or the whole new one.

    The bytes go to a temporary file in the same folder and are forced to disk; then the file is
    renamed. Folders on the way are created. After an error or Ctrl-C the temporary file is gone;
    after a kill `remove_leftovers` deletes it.

    Args:
        path: the file; it is replaced if it exists.
        data: its whole content.

    Raises:
        StoreError: the file could not be written; the message says why and what to do.

    Example:
        >>> import pathlib, tempfile
        >>> from lazyrich.store import write_atomically
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "new", "result.json")
        ...     write_atomically(path, b"{}")
        ...     path.read_text()
        '{}'
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise argument_error("data", "be bytes", data, "Encode text with `.encode()`.")
    write_parts(as_path("path", path), [data])


def write_parts(path: Path, parts: Iterable[bytes | bytearray | memoryview]) -> None:
    """`write_atomically` for content in several parts, which need not be joined in memory."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_file(path.parent) as (temporary, file):
            for part in parts:
                _write_all(file.fileno(), part)
            os.fsync(file.fileno())
            if _WINDOWS:
                file.close()  # Windows renames only closed files; elsewhere the lock is kept
            os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> StoreError:
    """The error that says which file could not be written, why, and what to do."""
    advice = _ADVICE.get(error.errno or 0, "Check the disk, then run the command again.")
    return StoreError(f"{path} cannot be written: {reason(error)}. {advice}")


def _write_all(descriptor: int, part: bytes | bytearray | memoryview) -> None:
    rest = memoryview(part).cast("B")
    while rest:
        rest = rest[os.write(descriptor, rest[:_CHUNK]) :]


def _sync_folder(folder: Path) -> None:
    """Force the new name to disk, so that it survives a power cut too."""
    if _WINDOWS:  # cannot open folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems that cannot do it
            raise
    finally:
        os.close(descriptor)
