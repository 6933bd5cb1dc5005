"""`lazyrich list`."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from lazyrich import report
from lazyrich.cli._choice import KINDS
from lazyrich.cli._output import answers, print_json
from lazyrich.core import select


def show_list(ids: Sequence[str], json: bool) -> int:
    """Print the experiments, checks and closed forms that are asked for; all, if none is."""
    known = {kind: registry.ids() for kind, (registry, _) in KINDS.items()}
    every = [id for part in known.values() for id in part]
    chosen = set(select(ids, every, "experiment, check or closed form"))
    found = {
        kind: [registry.get(id) for id in known[kind] if id in chosen]
        for kind, (registry, _) in KINDS.items()
    }
    if json:
        keys = ("experiments", "checks", "accuracy")
        print_json(
            {key: list(map(_plain, found[kind])) for key, kind in zip(keys, KINDS, strict=True)}
        )
        return 0
    with answers() as console:
        for kind, (_, command) in KINDS.items():
            if found[kind]:
                console.print(_table(kind, command, found[kind]))
    return 0


def _plain(item: Any) -> dict[str, Any]:
    seconds = item.seconds if isinstance(item.seconds, int | float) else dict(item.seconds)
    return {"id": item.id, "title": item.title, "seconds": seconds}


def _table(kind: str, command: str, found: list[Any]) -> Table:
    presets = ("quick", "paper") if kind == "experiment" else ()
    table = Table(kind, "title", *(presets or ("duration",)), title=f"{command} ID")
    for item in found:
        times = [item.seconds[preset] for preset in presets] or [item.seconds]
        table.add_row(item.id, item.title, *map(report.duration, times))
    return table
