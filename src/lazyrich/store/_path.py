"""Paths as callers give them, and what systems say about them."""

import os
from pathlib import Path

from lazyrich.core import argument_error

StrPath = str | os.PathLike[str]

_REQUIREMENT = "be a path: a string or a `pathlib.Path` without null characters"


def as_path(name: str, value: StrPath) -> Path:
    """`value` as a `Path`, or an error that says what a path is."""
    try:
        if isinstance(value, bytes) or b"\0" in os.fsencode(value):
            raise ValueError
    except (TypeError, ValueError) as error:
        raise argument_error(name, _REQUIREMENT, value) from error
    return Path(value)


def reason(error: OSError) -> str:
    """What the operating system says, as part of a sentence."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
