"""The table of theorems and formulas in the terminal."""

import itertools
from collections.abc import Iterable
from typing import Any

from rich.table import Table
from rich.text import Text

from lazyrich.report._cell import plain_table, text_cell, value_cell, verdict_cell
from lazyrich.report._comparison import reason
from lazyrich.report._mark import check_verdict, is_failed, mark
from lazyrich.report._number import number
from lazyrich.report._records import checked_records
from lazyrich.report._text import one_line


def checks_table(records: Iterable[dict[str, Any]]) -> Table:
    """Every check with its verdict, largest error, tolerance, number of cases and oracle.

    Whatever does not hold has its reason below its title. A blank line separates papers.

    Args:
        records: records of checks (`Check.record`), or, for a check that crashed, records with
            `status` "failed" and an `error_message`.

    Returns:
        A table for `rich.print`, made for 80 columns and more.
    """
    table = _columns()
    for _, paper in itertools.groupby(checked_records(records), key=_paper):
        table.add_row()
        for record in paper:
            _add_check(table, record)
    return table


def _columns() -> Table:
    table = plain_table("check", expand=False)
    table.add_column("largest error", width=13, overflow="fold")
    table.add_column("tolerance", width=9, overflow="fold")
    table.add_column("cases", justify="right", width=6, overflow="fold")
    return table


def _paper(record: dict[str, Any]) -> str:
    return str(record.get("id")).partition("/")[0]


def _add_check(table: Table, record: dict[str, Any]) -> None:
    name = Text.assemble((one_line(record.get("id")), "bold"), f"  {one_line(record.get('title'))}")
    oracle = Text(f"against {one_line(record.get('against'))}", style="dim")
    why = one_line(record.get("error_message")) if is_failed(record) else reason(record)
    table.add_row(
        verdict_cell(mark(check_verdict(record))),
        text_cell(name, oracle, reason=why),
        value_cell(number(record.get("error"), 3), _printed_error(record)),
        number(record.get("tolerance"), 3),
        number(record.get("num_cases")),
    )


def _printed_error(record: dict[str, Any]) -> str:
    error = record.get("printed_error")
    return "" if error is None else f"printed: {number(error, 3)}"
