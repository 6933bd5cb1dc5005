"""One line that says what came of a whole run."""

import textwrap
from collections.abc import Iterable
from typing import Any

from lazyrich.report._mark import check_verdict, in_words, is_failed, tally
from lazyrich.report._records import checked_records
from lazyrich.report._text import one_line

_MOST_NAMED = 3  # failures beyond these are counted only, so that the line stays a line


def summary(records: Iterable[dict[str, Any]]) -> str:
    """What came of these experiments or checks, in one line.

    Args:
        records: records of experiments (as in `result.json`), of checks, or of both.

    Returns:
        Such as "12 claims: 10 hold, 1 corrected, 1 departs · 1 experiment failed (saddles/fig2a:
        the data set is missing)".

    Example:
        >>> summary([{"id": "a/1", "claims": [{"verdict": "holds"}, {"verdict": "departs"}]}])
        '2 claims: 1 holds, 1 departs'
    """
    records = checked_records(records)
    checks = [record for record in records if "against" in record]
    experiments = [record for record in records if "against" not in record]
    claims = [claim for record in experiments for claim in record.get("claims") or []]
    parts = [
        _counts("claim", [claim.get("verdict") for claim in claims]),
        _experiments_that_failed(experiments),
        _checks(checks),
    ]
    return " · ".join(filter(None, parts)) or ("no claims" if records else "nothing was run")


def _counts(noun: str, verdicts: list[Any]) -> str:
    return f"{_plural(len(verdicts), noun)}: {in_words(tally(verdicts))}" if verdicts else ""


def _experiments_that_failed(experiments: list[dict[str, Any]]) -> str:
    failed = [record for record in experiments if is_failed(record)]
    return f"{_plural(len(failed), 'experiment')} failed{_named(failed, 'error')}" if failed else ""


def _checks(checks: list[dict[str, Any]]) -> str:
    failed = [record for record in checks if is_failed(record)]
    counts = _counts("check", [check_verdict(record) for record in checks])
    return counts + _named(failed, "error_message")


def _named(failed: list[dict[str, Any]], field: str) -> str:
    """Such as " (saddles/fig2a: the data set is missing; and 2 more)"."""
    named = [f"{one_line(r.get('id'))}: {_short(r.get(field))}" for r in failed[:_MOST_NAMED]]
    if len(failed) > _MOST_NAMED:
        named.append(f"and {len(failed) - _MOST_NAMED} more")
    return f" ({'; '.join(named)})" if named else ""


def _short(error: Any) -> str:
    return textwrap.shorten(one_line(error), 80, placeholder=" …").rstrip(".") or "no reason given"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
