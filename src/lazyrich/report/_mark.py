"""How a verdict looks: a symbol that reads without colour, a colour, and what it means in words."""

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

from lazyrich.core import Verdict


@dataclasses.dataclass(frozen=True)
class Mark:
    """The look of one verdict.

    Attributes:
        name: the verdict, also the name of its style class in the gallery.
        symbol: one character, different for each verdict.
        one: what one claim does: "1 holds".
        many: what several do: "2 hold".
        color: colour in the terminal.
        meaning: the verdict in a sentence.
    """

    name: str
    symbol: str
    one: str
    many: str
    color: str
    meaning: str

    @property
    def label(self) -> str:
        """Symbol and word."""
        return f"{self.symbol} {self.one}"


CRASHED = Mark(
    "crashed", "!", "crashed", "crashed", "bold magenta",
    "Stopped with an error before there was anything to judge.",
)  # fmt: skip

MARKS = {
    mark.name: mark
    for mark in (
        Mark(Verdict.HOLDS, "✓", "holds", "hold", "green",
             "The value found agrees with the printed one, within the stated tolerance."),
        Mark(Verdict.CORRECTED, "✎", "corrected", "corrected", "cyan",
             "What is printed is wrong; the corrected form, given with the reason, holds."),
        Mark(Verdict.DEPARTS, "≠", "departs", "depart", "yellow",
             "A sound reproduction does not show what is printed; the reason is recorded and "
             "the value found is pinned."),
        Mark(Verdict.NOT_APPLICABLE, "○", "not applicable", "not applicable", "dim",
             "This preset or machine lacks what the claim needs."),
        Mark(Verdict.FAILS, "✗", "fails", "fail", "bold red",
             "The value found disagrees, and we do not understand why."),
        CRASHED,
    )
}  # fmt: skip

_UNKNOWN = Mark(
    "unknown", "?", "unknown", "unknown", "bold red", "This record has no known verdict."
)


def mark(verdict: Any) -> Mark:
    """The look of this verdict; never fails, so that a damaged record is shown and not hidden."""
    return MARKS.get(str(verdict), _UNKNOWN)


def marks_of(record: dict[str, Any]) -> Counter[Mark]:
    """How often each verdict occurs in an experiment's record, the failure to finish included."""
    counts = tally(claim.get("verdict") for claim in record.get("claims") or [])
    return Counter([CRASHED]) + counts if is_failed(record) else counts


def tally(verdicts: Iterable[Any]) -> Counter[Mark]:
    """How often each verdict occurs."""
    return Counter(mark(verdict) for verdict in verdicts)


def in_words(counts: Counter[Mark]) -> str:
    """Such as "10 hold, 1 corrected, 1 departs", in the order of `MARKS`."""
    order = [m for m in (*MARKS.values(), _UNKNOWN) if counts[m]]
    return ", ".join(f"{counts[m]} {m.one if counts[m] == 1 else m.many}" for m in order)


def is_failed(record: dict[str, Any]) -> bool:
    """Whether an experiment or check stopped with an error."""
    return record.get("status") == "failed"


def check_verdict(record: dict[str, Any]) -> str:
    """The verdict of a check's record, `crashed` included."""
    return "crashed" if is_failed(record) else str(record.get("verdict"))
