"""The tables in the terminal: all there at 80 columns and without colour."""

import io

import pytest
from rich.console import Console

from lazyrich.report import checks_table, claims_table


def _piped(table, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(table)
    return console.file.getvalue()


def _column(text, name, following):
    """The words in the column between these two headings."""
    lines = text.splitlines()
    start, end = lines[0].index(name), lines[0].index(following)
    return " ".join(" ".join(line[start:end] for line in lines[1:]).split())


@pytest.mark.parametrize("width", [80, 120, 200])
def test_claims_are_all_there(record, failed, width):
    text = _piped(claims_table([record(), failed]), width)
    claims = _column(text, "claim", "expected")
    for claim in record()["claims"]:
        assert f"{claim['statement']} — {claim['source']}" in claims
        assert not claim["reason"] or f"↳ {claim['reason']}" in claims
    assert "The data set is missing." in claims
    assert max(len(line) for line in text.splitlines()) <= min(width, 120)


def test_claims_show_symbols_and_values(record, failed):
    text = _piped(claims_table([record(), failed]))
    shown = ("✓ holds", "✎ corrected", "≠ departs", "○ not", "applicable", "✗ fails", "! crashed",
             "0.95 ± 2 %", "0.9497 ± 0.0021", "8 seeds", "printed: 1", "≤ 3", "489.2",
             "linear-grokking/fig1", "saddles/fig2a", "(quick, 12 s)")  # fmt: skip
    assert [words for words in shown if words not in text] == []


def test_claims_of_nothing(record):
    assert "verdict" in _piped(claims_table([]))
    assert "no claims" in _piped(claims_table([record(claims=[])]))


def test_claims_with_infinite_values(record):
    claim = record()["claims"][0] | {"expected": "inf", "measured": "nan", "verdict": "fails"}
    text = _piped(claims_table([record(claims=[claim])]))
    assert "∞ ± 2 %" in text
    assert "nan" in text


def test_claims_do_not_read_markup_or_terminal_codes(record):
    claim = record()["claims"][0] | {"statement": "[bold]no[/bold] \x1b[31mred [/]"}
    text = _piped(claims_table([record(claims=[claim], title="[link=x]t[/link]")]))
    assert "[bold]no[/bold] [31mred [/]" in _column(text, "claim", "expected")
    assert "[link=x]t[/link]" in text
    assert "\x1b" not in text


def test_claims_survive_a_damaged_record():
    text = _piped(claims_table([{"claims": [{}]}, {}]))
    assert "? unknown" in text


@pytest.mark.parametrize("width", [80, 120])
def test_checks_are_all_there(checks, width):
    text = _piped(checks_table(checks), width)
    column = _column(text, "check", "largest")
    for check in checks:
        assert f"{check['id']} {check['title']} against {check['against']}" in column
        reason = check.get("reason", "ValueError: no such rank.")
        assert not reason or f"↳ {reason}" in column
    shown = ("✓ holds", "✎ corrected", "≠ departs", "✗ fails", "! crashed", "1.2e-15", "1e-12",
             "printed: 0.4", "nan", "240")  # fmt: skip
    assert [words for words in shown if words not in text] == []
    assert max(len(line) for line in text.splitlines()) <= width


def test_checks_of_nothing():
    assert "verdict" in _piped(checks_table([]))
