"""When a curve reaches a level, and why not where it does not."""

import enum
from typing import Any, NamedTuple


class Status(enum.IntEnum):
    """Why a time is what it is. Arrays and traces carry it as integers; `Status(code).reason` explains."""

    REACHED = 0
    AT_START = 1
    NEVER = 2
    TOO_SHORT = 3
    INVALID = 4

    @property
    def reason(self) -> str:
        """The status in words."""
        return _REASONS[self]


_REASONS = {
    Status.REACHED: "the level is reached at the returned time",
    Status.AT_START: "the level is reached from the start, or from the first record, on",
    Status.NEVER: "the curve's limit lies beyond the level: it is never reached (time is inf)",
    Status.TOO_SHORT: "the record ends before the level is reached for good (time is inf)",
    Status.INVALID: "an argument is out of range (time is nan); outside a trace this raises",
}


class Crossing(NamedTuple):
    """Times at which curves reach a level, with a `Status` code for each."""

    time: Any
    status: Any
