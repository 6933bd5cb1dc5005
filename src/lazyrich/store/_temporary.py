"""Temporary files that show whether their writer is alive.

A writer holds an advisory lock on its temporary file. The kernel drops the lock when the process
ends, however it ends, so a temporary file that can be locked is a leftover of a writer that was
killed. The lock keeps nobody from writing: it is a sign of life and nothing else.
"""

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from lazyrich.core import StoreError
from lazyrich.store._path import StrPath, as_path, reason

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# The pattern is narrow, because every file that fits it may be deleted.
_PATTERN = re.compile(r"\.lazyrich-[0-9a-f]{16}\.tmp")
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_INSPECT = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
_OLD = 3600.0  # seconds; no writer is silent for an hour


@contextlib.contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[Path, FileIO]]:
    """A new, locked, unbuffered file in `folder`; it is gone afterwards unless it was renamed."""
    while True:
        path = folder / f".lazyrich-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(path, _CREATE, 0o666)
        try:
            with FileIO(descriptor, "w") as file:
                _lock(descriptor)
                if os.fstat(descriptor).st_nlink == 0:
                    continue  # swept before it was locked: take another
                yield path, file
                return
        finally:
            with contextlib.suppress(OSError):
                path.unlink()


def remove_leftovers(folder: StrPath) -> list[Path]:
    """Delete the temporary files in `folder` whose writer is dead.

    Files of living writers stay, in this process and in others, and so does every file that this
    package did not name. Where the system or the file system has no locks, a file counts as left
    over when it has not changed for an hour.

    Args:
        folder: where results are written; it need not exist.

    Returns:
        The files that were deleted.

    Example:
        >>> from lazyrich.store import remove_leftovers
        >>> remove_leftovers("no/such/folder")
        []
    """
    folder = as_path("folder", folder)
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be searched for leftovers: {reason(error)}. "
            "Give the folder in which results are stored."
        ) from error
    paths = [folder / name for name in names if _PATTERN.fullmatch(name)]
    return [path for path in paths if _remove_if_dead(path)]


def _remove_if_dead(path: Path) -> bool:
    try:
        with FileIO(os.open(path, _INSPECT), "r") as file:
            if not _is_dead(file.fileno()):
                return False
            if fcntl is None:
                file.close()  # Windows deletes only closed files
            path.unlink()  # still locked: a writer that waits for the lock then sees the file gone
            return True
    except OSError:  # renamed or deleted by now, or not ours to delete
        return False


def _is_dead(descriptor: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: age must do
        pass
    return time.time() - os.fstat(descriptor).st_mtime > _OLD


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
