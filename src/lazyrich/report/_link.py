"""Files next to the gallery: only what lies in its own folder is read or linked."""

import urllib.parse
from pathlib import Path
from typing import Any

from lazyrich.report._text import escape


def inside(folder: Path, path: Any) -> Path | None:
    """The file at this relative path, or nothing where the path leads out of the folder.

    Addresses (`javascript:…`, `https://…`), absolute paths, `..` and backslashes are refused, and
    so are symbolic links that point elsewhere.
    """
    if not isinstance(path, str) or not path or not path.isprintable():
        return None
    if set(path) & set(":\\") or path.startswith("/") or ".." in path.split("/"):
        return None
    root = folder.resolve()
    file = (root / path).resolve()
    return file if file.is_relative_to(root) else None


def link(folder: Path, path: Any, words: str) -> str:
    """A relative link to a file that exists; otherwise nothing."""
    file = inside(folder, path)
    if file is None or not file.exists():
        return ""
    return f'<a href="{escape(urllib.parse.quote(path))}">{escape(words)}</a>'
