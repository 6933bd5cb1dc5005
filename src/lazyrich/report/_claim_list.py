"""The claims of one experiment in HTML."""

from typing import Any

from lazyrich.report._badge import badge
from lazyrich.report._comparison import expected, measured, printed, reason, seeds
from lazyrich.report._mark import CRASHED, is_failed, mark
from lazyrich.report._text import escape


def claim_list(record: dict[str, Any]) -> str:
    """The error of an experiment that failed, then every claim."""
    claims = [_claim(claim) for claim in record.get("claims") or []]
    if is_failed(record):
        claims.insert(0, _error(record))
    items = "\n".join(claims)
    return f'<ul class="claims">\n{items}\n</ul>' if claims else '<p class="small">No claims.</p>'


def _claim(claim: dict[str, Any]) -> str:
    return f"""<li>
{badge(mark(claim.get("verdict")))}
<div class="statement"><p>{escape(claim.get("statement"))}</p>
<p class="source">{escape(claim.get("source"))}</p>{_reason(reason(claim))}</div>
<dl class="values">{_value("expected", expected(claim), printed(claim))}
{_value("measured", measured(claim), seeds(claim))}</dl>
</li>"""


def _error(record: dict[str, Any]) -> str:
    error = escape(record.get("error")) or "no reason given"
    return f"""<li>
{badge(CRASHED)}
<div class="statement"><p>This experiment did not finish.</p><p class="reason">{error}</p></div>
</li>"""


def _reason(text: str) -> str:
    return f'<p class="reason">{escape(text)}</p>' if text else ""


def _value(name: str, value: str, remark: str) -> str:
    small = f" <small>{escape(remark)}</small>" if remark else ""
    return f"<div><dt>{name}</dt><dd>{escape(value)}{small}</dd></div>"
