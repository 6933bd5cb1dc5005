"""Where output goes: answers to stdout, everything about the way there to stderr."""

import json
import math
import sys
from typing import Any

from rich.console import Console

SCHEMA_VERSION = 1


def answers() -> Console:
    """The console for answers. Piped, it is wide enough that nothing is cut."""
    return Console(width=None if sys.stdout.isatty() else 100)


def remarks() -> Console:
    """The console for progress and remarks."""
    return Console(stderr=True)


def print_json(content: dict[str, Any]) -> None:
    """One JSON document on stdout; inf and nan as strings."""
    print(
        json.dumps(
            _plain({"schema_version": SCHEMA_VERSION} | content), indent=1, ensure_ascii=False
        )
    )


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def duration(seconds: float) -> str:
    """A duration for people."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
