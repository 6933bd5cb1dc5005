"""The accuracy of closed forms: the table in the terminal, the one in the documentation, a line."""

import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.table import Table
from rich.text import Text

from lazyrich.report._cell import plain_table, text_cell, value_cell, verdict_cell
from lazyrich.report._mark import CRASHED, MARKS, Mark, check_verdict, is_failed, mark
from lazyrich.report._number import number
from lazyrich.report._records import checked_records
from lazyrich.report._text import one_line

EXPLAINED = Mark(
    "explained", "≈", "explained", "explained", "yellow",
    "The error exceeds the aim for a reason that is stated, and stays within what it allows.",
)  # fmt: skip


def accuracy_table(records: Iterable[dict[str, Any]]) -> Table:
    """Every closed form with its largest relative error, where that is, and the number of points.

    Errors above the aim have their explanation below. A blank line separates classes.

    Args:
        records: records of entries (`Accuracy.record`), or, for one that crashed, records with `status`
            "failed" and an `error_message`.

    Returns:
        A table for `rich.print`, made for 80 columns and more.
    """
    table = plain_table("closed form", expand=False)
    table.add_column("largest error", width=13, overflow="fold")
    table.add_column("points", justify="right", width=6, overflow="fold")
    for _, owner in itertools.groupby(checked_records(records), key=_owner):
        table.add_row()
        for record in owner:
            _add(table, record)
    return table


def accuracy_markdown(records: Iterable[dict[str, Any]]) -> str:
    """The same as a Markdown table: one row per closed form, explanations as numbered notes below it."""
    rows, notes = [], []
    for record in checked_records(records):
        note = ""
        if why := _why(record):
            notes.append(f"{len(notes) + 1}. `{one_line(record.get('id'))}`: {why}")
            note = f" ({len(notes)})"
        cells = (
            f"`{one_line(record.get('id'))}`", _pipes(_how(record)), number(record.get("num_points")),
            number(record.get("error"), 3) + note, _pipes(where(record)),
        )  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    head = "| closed form | what it is, against what, and on which grid | points | largest error | where |"
    rule = "|---|---|--:|--:|---|"
    return "\n".join([head, rule, *rows, "", *notes])


def accuracy_summary(records: Iterable[dict[str, Any]]) -> str:
    """What came of the comparison, in one line.

    Example:
        >>> accuracy_summary([{"id": "a", "verdict": "holds", "num_points": 7, "error": 1e-15}])
        '1 closed form, 7 points: 1 holds'
    """
    records = checked_records(records)
    points = sum(int(record.get("num_points") or 0) for record in records)
    counts = Counter(_mark(record) for record in records)
    order = [kind for kind in (*MARKS.values(), EXPLAINED) if counts[kind]]
    words = ", ".join(f"{counts[m]} {m.one if counts[m] == 1 else m.many}" for m in order)
    forms = "1 closed form" if len(records) == 1 else f"{len(records)} closed forms"
    return f"{forms}, {points} points: {words}" if records else "nothing was run"


def where(record: dict[str, Any]) -> str:
    """The arguments at which the error is largest, in words."""
    arguments = record.get("where") or {}
    parts = [f"{name} = {number(value, 6)}" for name, value in arguments.items()]
    if record.get("condition") is not None:
        parts.append(f"condition number {number(record['condition'], 3)}")
    return one_line(", ".join(parts))


def _owner(record: dict[str, Any]) -> str:
    return ".".join(str(record.get("id")).split(".")[:2])


def _mark(record: dict[str, Any]) -> Mark:
    if is_failed(record):
        return CRASHED
    return EXPLAINED if record.get("verdict") == EXPLAINED.name else mark(check_verdict(record))


def _how(record: dict[str, Any]) -> str:
    parts = {"": "title", "Against ": "against", "On ": "grid"}
    words = [f"{word}{one_line(record[key])}." for word, key in parts.items() if record.get(key)]
    return " ".join(words)


def _why(record: dict[str, Any]) -> str:
    return one_line(record.get("error_message") if is_failed(record) else record.get("reason"))


def _add(table: Table, record: dict[str, Any]) -> None:
    name = Text.assemble((one_line(record.get("id")), "bold"), f"  {one_line(record.get('title'))}")
    details = [Text(f"against {one_line(record.get('against'))}", style="dim")]
    if record.get("grid"):
        details.append(Text(f"on {one_line(record['grid'])}", style="dim"))
    if record.get("where"):
        details.append(Text(f"worst at {where(record)}", style="dim"))
    table.add_row(
        verdict_cell(_mark(record)),
        text_cell(name, *details, reason=_why(record)),
        value_cell(number(record.get("error"), 3)),
        number(record.get("num_points")),
    )


def _pipes(value: Any) -> str:
    return one_line(value).replace("|", "\\|")
