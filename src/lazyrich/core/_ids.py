"""Ids, globs, and the nearest known ones to a misspelled one."""

import difflib
import fnmatch
import re
from collections.abc import Iterable, Sequence

from lazyrich.core._errors import UnknownIdError, shortened


def select(patterns: Sequence[str], known: Iterable[str], kind: str) -> list[str]:
    """The known ids that the patterns name, in the known order; `all` and no pattern mean every one.

    Args:
        patterns: ids, globs such as `saddles/*`, or `all`.
        known: every id there is.
        kind: what an id stands for, for the message.
    """
    known = list(known)
    if not patterns:
        return known
    chosen: set[str] = set()
    for pattern in patterns:
        matches = [id for id in known if pattern == "all" or fnmatch.fnmatchcase(id, pattern)]
        if not matches:
            raise UnknownIdError(_unknown(pattern, known, kind))
        chosen.update(matches)
    return [id for id in known if id in chosen]


def natural_order(id: str) -> list[tuple[int, int, str]]:
    """A key that sorts eq9 before eq10."""
    parts = re.split(r"(\d+)", id)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _unknown(pattern: str, known: list[str], kind: str) -> str:
    near = difflib.get_close_matches(pattern, known, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Known are: {', '.join(known[:8])}."
    return f"No {kind} is called {shortened(pattern)}. {hint} `lazyrich list` shows all."
