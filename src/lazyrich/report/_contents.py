"""The top of the gallery: what the verdicts mean, which to show, and where everything is."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lazyrich.report._badge import badge, classes, dots
from lazyrich.report._mark import CRASHED, MARKS, Mark, marks_of
from lazyrich.report._text import escape

Papers = Mapping[str, Mapping[str, dict[str, Any]]]
"""Paper → anchor in the page → record."""


def legend(counts: Counter[Mark]) -> str:
    """The verdicts with counts and meanings; choosing one shows only experiments that have it.

    The choice works without a script: the style sheet reads which box is ticked.
    """
    shown = [mark for mark in MARKS.values() if mark is not CRASHED or counts[CRASHED]]
    rows = "\n".join(_legend_row(mark, counts[mark]) for mark in shown)
    return f"""<fieldset class="legend">
<legend>Verdicts, and which to show</legend>
<label><input type="radio" name="show" value="all" checked>
<span class="all">all experiments</span></label>
{rows}
</fieldset>"""


def contents(papers: Papers) -> str:
    """Links to every experiment, by paper, with its verdicts."""
    groups = "\n".join(_group(paper, records) for paper, records in papers.items())
    number = sum(len(records) for records in papers.values())
    noun = "experiment" if number == 1 else "experiments"
    return f"""<nav aria-label="Contents"><details class="contents" open>
<summary>Contents <small>{number} {noun}</small></summary>
{groups}
</details></nav>"""


def _legend_row(mark: Mark, count: int) -> str:
    disabled = "" if count else " disabled"
    return (
        f'<label><input type="radio" name="show" value="{mark.name}"{disabled}> {badge(mark)} '
        f'<b>{count}</b> <span class="meaning">{escape(mark.meaning)}</span></label>'
    )


def _group(paper: str, records: Mapping[str, dict[str, Any]]) -> str:
    total = sum((marks_of(record) for record in records.values()), Counter())
    mixed = len({str(record.get("preset")) for record in records.values()}) > 1
    items = "\n".join(_entry(anchor, record, mixed) for anchor, record in records.items())
    return f'<div class="{classes(total)}"><p>{escape(paper)}</p>\n<ol>\n{items}\n</ol></div>'


def _entry(anchor: str, record: dict[str, Any], mixed: bool) -> str:
    counts = marks_of(record)
    item = escape(str(record.get("id")).partition("/")[2] or record.get("id"))
    preset = f" <small>{escape(record.get('preset'))}</small>" if mixed else ""
    title = escape(record.get("title"))
    return (
        f'<li class="{classes(counts)}"><a href="#{anchor}" title="{title}">'
        f"<b>{item}</b>{preset} {title}</a> {dots(counts)}</li>"
    )
