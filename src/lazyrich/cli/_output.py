"""Where output goes: answers to stdout, everything about the way there to stderr."""

import functools
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console

from lazyrich.core import LazyrichError, jsonable

SCHEMA_VERSION = 1


class _Console(Console):
    """Rich's console, but a reader that goes away does not end the program."""

    def on_broken_pipe(self) -> None:
        if not self.stderr:
            raise  # the BrokenPipeError that Rich is handling
        self.quiet = True  # nobody reads remarks any more; the work goes on


@contextmanager
def answers() -> Iterator[Console]:
    """The console for answers. Piped, it is wide enough that nothing is cut.

    That the reader of a pipe goes away, as `head` does, is no error; that the disk is full is one.
    """
    try:
        yield _Console(width=None if sys.stdout and sys.stdout.isatty() else 100)
        if sys.stdout:  # None where it was closed from the start
            sys.stdout.flush()
    except OSError as error:
        # Python flushes once more at its end, and would complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            reason = error.strerror or str(error)
            raise LazyrichError(f"The output cannot be written: {reason.lower()}.") from error


@functools.cache
def remarks() -> Console:
    """The console for progress and remarks; one, so that remarks appear above the progress bar."""
    return _Console(stderr=True)


def remark(text: str) -> None:
    """A line for people, broken only where the terminal breaks it, so that file names stay whole."""
    with suppress(OSError):  # nowhere to write it: no reason to stop
        remarks().print(text, markup=False, highlight=False, soft_wrap=True)


def print_json(content: dict[str, Any]) -> None:
    """One JSON document on stdout; inf and nan as strings."""
    text = json.dumps(jsonable({"schema_version": SCHEMA_VERSION} | content), indent=1)
    with suppress(KeyboardInterrupt), answers():  # too late: another document would spoil this one
        print(text)
