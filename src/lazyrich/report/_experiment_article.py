"""One experiment in HTML: figure, caption, claims and facts."""

from pathlib import Path
from typing import Any

from lazyrich.report._badge import classes
from lazyrich.report._claim_list import claim_list
from lazyrich.report._facts import facts
from lazyrich.report._mark import marks_of
from lazyrich.report._picture import picture
from lazyrich.report._text import escape


def experiment_article(record: dict[str, Any], folder: Path, anchor: str) -> str:
    """The article of one experiment, which `anchor` names within the page."""
    preset = escape(record.get("preset"))
    return f"""<article id="{anchor}" class="{classes(marks_of(record))}">
<header>
<h3><a href="#{anchor}">{escape(record.get("title")) or "Untitled"}</a></h3>
<p class="id"><code>{escape(record.get("id"))}</code>{f" · {preset} preset" if preset else ""}</p>
</header>
{_figure(record, folder)}
{claim_list(record)}
{facts(record, folder)}
</article>"""


def _figure(record: dict[str, Any], folder: Path) -> str:
    caption, path = record.get("caption"), (record.get("files") or {}).get("figure")
    shown = picture(folder, path, str(caption or record.get("title") or "Figure"))
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{shown}{below}</figure>"
