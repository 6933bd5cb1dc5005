"""The gallery: every experiment on one page that needs nothing but itself."""

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lazyrich.core import UnknownIdError, argument_error, reference
from lazyrich.report._badge import classes
from lazyrich.report._contents import Papers, contents, legend
from lazyrich.report._experiment_article import experiment_article
from lazyrich.report._mark import marks_of
from lazyrich.report._records import checked_records
from lazyrich.report._summary import summary
from lazyrich.report._text import escape


def gallery(
    records: Iterable[dict[str, Any]],
    folder: str | os.PathLike[str],
    *,
    title: str = "Figures and tables, reproduced",
) -> str:
    """One HTML page with the figures, claims and verdicts of these experiments.

    The page asks for nothing from elsewhere: pictures, styles and script are inside it, and a
    content security policy keeps it so. Links to data and PDF files are relative to `folder`.

    Args:
        records: records of experiments, as in `result.json`, in the order to show them; those of
            one paper are put together.
        folder: the output folder that the records' file paths start from, and in which the page
            is meant to be saved, as `index.html`.
        title: heading of the page.

    Returns:
        The text of the page.
    """
    records, folder = checked_records(records), _folder(folder)
    if not isinstance(title, str):
        raise argument_error("title", "be text", title)
    papers = _by_paper(records)
    sections = "\n".join(_section(paper, items, folder) for paper, items in papers.items())
    verdicts = sum((marks_of(record) for record in records), Counter())
    style, script = (_part(name) for name in ("gallery.css", "gallery.js"))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#all_experiments">Skip to the experiments</a>
<header class="top">
<h1>{escape(title)}</h1>
<p class="summary">{escape(summary(records))}</p>
{legend(verdicts)}
</header>
{contents(papers)}
<main id="all_experiments">
{sections or "<p>There are no experiments yet.</p>"}
</main>
<script>{script}</script>
</body>
</html>
"""


def _folder(folder: Any) -> Path:
    try:
        return Path(folder)
    except TypeError as error:
        raise argument_error("folder", "be a path", folder, "Pass a string.") from error


def _by_paper(records: list[dict[str, Any]]) -> Papers:
    papers: dict[str, dict[str, dict[str, Any]]] = {}
    taken: Counter[str] = Counter()
    for record in records:
        name = re.sub(r"[^a-z0-9]+", "-", str(record.get("id")).lower()).strip("-") or "experiment"
        taken[name] += 1
        anchor = name if taken[name] == 1 else f"{name}--{taken[name]}"  # no name has two dashes
        papers.setdefault(_paper(record), {})[anchor] = record
    return papers


def _paper(record: dict[str, Any]) -> str:
    return str(record.get("paper") or str(record.get("id")).partition("/")[0])


def _section(paper: str, records: Mapping[str, dict[str, Any]], folder: Path) -> str:
    total = sum((marks_of(record) for record in records.values()), Counter())
    articles = "\n".join(experiment_article(r, folder, anchor) for anchor, r in records.items())
    return f"""<section class="{classes(total)}">
{_heading(paper)}
{articles}
</section>"""


def _heading(paper: str) -> str:
    try:
        known = reference(paper)
    except UnknownIdError:
        return f"<h2>{escape(paper)}</h2>"
    return f'<h2>{escape(known.title)}</h2>\n<p class="citation">{escape(known.text)}</p>'


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Lets the browser load embedded pictures and run exactly this style sheet and script."""
    return (
        f"default-src 'none'; img-src data:; style-src {_digest(style)}; "
        f"script-src {_digest(script)}; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
