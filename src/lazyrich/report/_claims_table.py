"""The table of claims in the terminal."""

from collections.abc import Iterable
from typing import Any

from rich.table import Table
from rich.text import Text

from lazyrich.report._cell import plain_table, text_cell, value_cell, verdict_cell
from lazyrich.report._comparison import expected, measured, printed, reason, seeds
from lazyrich.report._mark import CRASHED, is_failed, mark
from lazyrich.report._number import duration
from lazyrich.report._records import checked_records
from lazyrich.report._text import one_line

_WIDEST = 120  # on a wider screen the numbers would be far from their claim


def claims_table(records: Iterable[dict[str, Any]]) -> Table:
    """Every claim of these experiments, grouped by experiment.

    A row shows the verdict, the statement with its source, and the expected and measured values;
    whatever does not hold has its reason below the statement. An experiment that failed shows its
    error. Verdicts carry symbols, so the table reads without colour too.

    Args:
        records: records of experiments, as in `result.json`.

    Returns:
        A table for `rich.print`, made for 80 columns and more.
    """
    outer = Table.grid()
    outer.add_column(max_width=_WIDEST)
    outer.add_row(_columns(show_header=True))
    for record in checked_records(records):
        outer.add_row(_heading(record))
        outer.add_row(_experiment(record))
    return outer


def _columns(show_header: bool = False) -> Table:
    """An empty table; all have the same widths, so that experiments line up."""
    table = plain_table("claim", expand=True, show_header=show_header)
    table.add_column("expected", width=13, overflow="fold")
    table.add_column("measured", width=17, overflow="fold")
    return table


def _heading(record: dict[str, Any]) -> Text:
    facts = [one_line(record.get("preset")), duration(record.get("seconds"))]
    if record.get("from_store"):
        facts[1] = "from the store"
    return Text.assemble(
        "\n",
        (one_line(record.get("id")), "bold"),
        f"  {one_line(record.get('title'))}  ",
        (f"({', '.join(filter(None, facts))})", "dim"),
    )


def _experiment(record: dict[str, Any]) -> Table:
    table = _columns()
    if is_failed(record):
        table.add_row(
            verdict_cell(CRASHED), Text(one_line(record.get("error")) or "no reason given")
        )
    for claim in record.get("claims") or []:
        _add_claim(table, claim)
    if not table.row_count:
        table.add_row("", Text("no claims", style="dim"))
    return table


def _add_claim(table: Table, claim: dict[str, Any]) -> None:
    statement = Text(one_line(claim.get("statement")))
    source = Text(f"— {one_line(claim.get('source')) or 'no source given'}", style="dim")
    table.add_row(
        verdict_cell(mark(claim.get("verdict"))),
        text_cell(statement, source, reason=reason(claim)),
        value_cell(expected(claim), printed(claim)),
        value_cell(measured(claim), seeds(claim)),
    )
