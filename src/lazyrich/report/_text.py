"""Text from records, made safe to show: records come from files, and files can hold anything."""

import html
from typing import Any


def one_line(value: Any) -> str:
    """As one line of printable characters: no line breaks, terminal codes or direction marks."""
    words = str("" if value is None else value).split()
    return "".join(c for c in " ".join(words) if c.isprintable())


def escape(value: Any) -> str:
    """As one line that is plain text in HTML, inside attributes too."""
    return html.escape(one_line(value), quote=True)


def escape_lines(value: Any) -> str:
    """As `escape`, with line breaks and indentation kept, for `<pre>`."""
    lines = str("" if value is None else value).splitlines()
    return "\n".join(html.escape("".join(c for c in line if c.isprintable())) for line in lines)
