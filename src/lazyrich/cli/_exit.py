"""Exit codes."""

import enum


class Exit(enum.IntEnum):
    """How a command ended."""

    FINE = 0
    FAILS = 1  # a claim or a check
    USAGE = 2  # also folders and data that cannot be used
    CRASHED = 3
    INTERRUPTED = 130
