"""Ids, globs, and the nearest known ones to a misspelled one."""

import difflib
import fnmatch
import re
from collections.abc import Iterable, Sequence
from typing import Any

from lazyrich.core._arguments import items as checked_items
from lazyrich.core._errors import UnknownIdError, argument_error, shortened


def select(patterns: Sequence[str], known: Iterable[str], kind: str) -> list[str]:
    """The known ids that the patterns name, in the known order; `all` and no pattern mean every one.

    Args:
        patterns: ids, globs such as `saddles/*`, or `all`.
        known: every id there is.
        kind: what an id stands for, for the message.
    """
    known, patterns = list(known), checked_items("patterns", patterns, advice="Pass a list of ids.")
    if not patterns:
        return known
    chosen: set[str] = set()
    for pattern in patterns:
        matches = [id for id in known if pattern == "all" or _fits(id, pattern)]
        if not matches:
            raise UnknownIdError(_unknown(pattern, known, kind))
        chosen.update(matches)
    return [id for id in known if id in chosen]


def known_id(id: str, known: Iterable[str], kind: str) -> str:
    """The id, if there is one like it; globs and `all` name several, so they are refused.

    Args:
        id: one id.
        known: every id there is.
        kind: what an id stands for, for the message.
    """
    known = list(known)
    if not isinstance(id, str) or id not in known:
        raise UnknownIdError(_unknown(id, known, kind, globs=False))
    return id


def natural_order(id: str) -> list[tuple[int, int, str]]:
    """A key that sorts eq9 before eq10."""
    if not isinstance(id, str):
        raise argument_error("id", "be a text", id)
    parts = re.split(r"(\d+)", id)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _fits(id: str, pattern: Any) -> bool:
    return isinstance(pattern, str) and fnmatch.fnmatchcase(id, pattern)


def _unknown(pattern: Any, known: list[str], kind: str, *, globs: bool = True) -> str:
    near = _near(str(pattern).lower(), {id.lower(): id for id in known}, globs)
    some = _overview(known) if globs else known[:8]
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Known are: {', '.join(some)}."
    return f"No {kind} is called {shortened(pattern)}. {hint} `lazyrich list` shows all."


def _overview(known: list[str]) -> list[str]:
    """All ids as globs, one for each paper or package; or the first ones where that says nothing."""
    heads = list(dict.fromkeys(re.split(r"(?<=[/.])", id)[0] for id in known))
    says_much = 1 < len(heads) <= 8 and all(head[-1] in "/." for head in heads)
    return [f"{head}*" for head in heads] if says_much else known[:8]


def _near(word: str, known: dict[str, str], globs: bool) -> list[str]:
    """What may be meant by a word, whatever its capitals: what it begins or ends, or similar ids."""
    word = word.rstrip("/.")
    for tail in (r"[/.].+", r"[a-z]"):  # all of a paper or class; all panels of a figure
        parts = [id for name, id in known.items() if re.fullmatch(re.escape(word) + tail, name)]
        if len(parts) == 1 or (parts and not globs):
            return parts[:3]
        if parts:
            end = "*" if tail == "[a-z]" else f"{parts[0][len(word)]}*"
            return [f"'{parts[0][: len(word)]}{end}'"]
    items = [id for name, id in known.items() if name.endswith((f"/{word}", f".{word}"))]
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return items[:3] if word and items else [known[name] for name in near]
