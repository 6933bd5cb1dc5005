"""What the tables in the terminal share: their plain look, and cells."""

import textwrap

from rich.table import Table
from rich.text import Text

from lazyrich.report._mark import Mark

_VERDICT_WIDTH = 12


def plain_table(what: str, *, expand: bool, show_header: bool = True) -> Table:
    """A table without lines, with a column for the verdict and a wide one for what is judged."""
    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        header_style="dim",
        expand=expand,
        show_header=show_header,
    )
    table.add_column("verdict", width=_VERDICT_WIDTH)
    table.add_column(what, ratio=1 if expand else None, overflow="fold")
    return table


def verdict_cell(mark: Mark) -> Text:
    """Symbol and word in the verdict's colour."""
    label = textwrap.fill(mark.label, _VERDICT_WIDTH, subsequent_indent="  ")
    return Text(label, style=mark.color)


def value_cell(value: str, remark: str = "") -> Text:
    """A value, and below it a remark."""
    return Text.assemble(value, (f"\n{remark}" if remark else "", "dim"))


def text_cell(*lines: Text, reason: str = "") -> Text:
    """Lines of text, and below them the reason, set off by an arrow."""
    arrow = [Text(f"↳ {reason}", style="italic")] if reason else []
    return Text("\n").join([*lines, *arrow])
