"""Errors, all of one shape: what must hold, what was found, what to do."""

from typing import Any


class LazyrichError(Exception):
    """Base of every error this library raises on purpose."""


class ArgumentError(LazyrichError, ValueError):
    """An argument has the wrong type, shape or value."""


class AssumptionError(LazyrichError, ValueError):
    """A formula was asked for outside the assumptions under which it holds."""


class UnknownIdError(LazyrichError, KeyError):
    """No experiment, check or reference has this id."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show the message in quotes


class StoreError(LazyrichError, OSError):
    """A stored result cannot be read or written; the message names the file."""


class DataError(LazyrichError, OSError):
    """A data set is missing or damaged; the message names the file and how to get it."""


class Cancelled(LazyrichError):
    """Whoever started the run asked it to stop."""


def argument_error(name: str, requirement: str, value: Any, advice: str = "") -> ArgumentError:
    """The one shape of argument errors: "`name` must <requirement>, got <value>. <What to do.>"."""
    return ArgumentError(f"`{name}` must {requirement}, got {shortened(value)}. {advice}".rstrip())


def shortened(value: Any) -> str:
    """A value on one line of at most 80 characters."""
    try:
        shown = " ".join(repr(value).split())
    except Exception:  # whole numbers of more than 4300 digits, and whatever objects do
        shown = f"a value of type {type(value).__name__} that cannot be shown"
    return shown if len(shown) <= 80 else shown[:77] + "..."
