"""Below an experiment: how to run it, what its axes mean, how it came about, whom to cite."""

import json
from pathlib import Path
from typing import Any

from lazyrich.report._link import link
from lazyrich.report._number import duration
from lazyrich.report._text import escape, escape_lines


def facts(record: dict[str, Any], folder: Path) -> str:
    """A list of facts, then what opens on a click: configuration and BibTeX."""
    rows = {
        "run": _command(record),
        **_convention(record),
        "made": _provenance(record),
        "files": _files(record, folder),
    }
    items = "\n".join(f"<dt>{name}</dt><dd>{html}</dd>" for name, html in rows.items() if html)
    return f'<dl class="facts">\n{items}\n</dl>\n{_configuration(record)}\n{_citation(record)}'


def _command(record: dict[str, Any]) -> str:
    command = escape(record.get("command"))
    return f'<code class="command">{command}</code>' if command else ""


def _convention(record: dict[str, Any]) -> dict[str, str]:
    convention = record.get("convention") or {}
    time, unit = (escape(convention.get(name)) for name in ("time_convention", "time_unit"))
    return {
        "loss": escape(convention.get("loss_convention")),
        "time": "; ".join(filter(None, [time, unit and f"axes in {unit}"])),
    }


def _provenance(record: dict[str, Any]) -> str:
    versions = (record.get("versions") or {}).items()
    parts = [
        duration(record.get("seconds")) + (", from the store" if record.get("from_store") else ""),
        record.get("machine"),
        ", ".join(f"{name} {version}" for name, version in versions),
        str(record.get("created") or "").replace("T", " ").replace("Z", " UTC"),
        f"key {str(record['key'])[-12:]}" if record.get("key") else "",
    ]
    return " · ".join(escape(part) for part in parts if part)


def _files(record: dict[str, Any], folder: Path) -> str:
    files = record.get("files") or {}
    names = {
        "figure": "figure (PNG)",
        "pdf": "figure (PDF)",
        "animation": "animation (GIF)",
        "data": "data",
    }
    links = (link(folder, files.get(name), words) for name, words in names.items())
    return " · ".join(filter(None, links))


def _configuration(record: dict[str, Any]) -> str:
    config = record.get("config")
    return (
        _details("Configuration", json.dumps(config, indent=2, ensure_ascii=False))
        if config
        else ""
    )


def _citation(record: dict[str, Any]) -> str:
    citation = record.get("citation") or {}
    if not citation.get("bibtex"):
        return ""
    return _details("Cite", citation["bibtex"], f"<p>{escape(citation.get('text'))}</p>")


def _details(name: str, text: str, before: str = "") -> str:
    pre = f"<pre><code>{escape_lines(text)}</code></pre>"
    return f"<details><summary>{name}</summary>{before}{pre}</details>"
