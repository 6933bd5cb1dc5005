"""Figures embedded in the page, so that one file is the whole gallery."""

import base64
import struct
from pathlib import Path
from typing import Any

from lazyrich.report._link import inside
from lazyrich.report._text import escape

_PNG_START, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


def picture(folder: Path, path: Any, description: str) -> str:
    """The figure, which a click or tap enlarges; a note where there is none to show.

    A tick box inside a label does the enlarging: it needs no script, works from the keyboard, and
    holds the picture only once.
    """
    file = inside(folder, path)
    if file is None or not file.is_file():
        return _note("No figure was drawn." if path is None else "The figure is missing.")
    data = file.read_bytes()
    if not (data.startswith(_PNG_START) and data.endswith(_PNG_END)):
        return _note("The figure's file is damaged; it is not a whole PNG picture.")
    width, height = struct.unpack(">II", data[16:24])
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return (
        '<label class="zoom"><input type="checkbox" aria-label="Enlarge the figure">'
        f'<span><img alt="{escape(description)}" width="{width}" height="{height}" '
        f'src="{source}"></span></label>'
    )


def _note(text: str) -> str:
    return f'<p class="no-figure">{escape(text)}</p>'
