"""The folder in which reproductions are kept."""

import contextlib
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lazyrich import store
from lazyrich.core import StoreError, argument_error
from lazyrich.store._path import as_path

SCHEMA_VERSION = 1
"""Of the records, `result.json`."""
_LARGEST_RECORD = 1 << 24  # bytes


@dataclasses.dataclass(frozen=True)
class Folder:
    """Where reproductions go: `store/`, `checkpoints/`, and a folder for each preset and experiment.

    Attributes:
        path: the folder.
        warn: called with a sentence when something stored is damaged: it will be computed again, or is
            left out.
    """

    path: Path
    warn: Callable[[str], None] = lambda message: None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", as_path("path", self.path))  # a string will do
        if not callable(self.warn):
            raise argument_error("warn", "be a function of a sentence", self.warn)

    def prepare(self) -> None:
        """Make sure that results can be written here, and sweep what killed processes left."""
        for place in (self.path / "store", self.path / "checkpoints"):
            store.write_atomically(place / ".writable", b"")
            (place / ".writable").unlink(missing_ok=True)
            store.remove_leftovers(place)
        for place in [self.path, *self.path.glob("*/*/*/")]:
            with contextlib.suppress(StoreError):  # a folder of somebody else's
                store.remove_leftovers(place)

    @property
    def results(self) -> store.Store:
        """Finished results by key."""
        return store.Store(self.path / "store", on_damage=self._damaged)

    @property
    def checkpoints(self) -> store.Store:
        """Finished pieces of unfinished results."""
        return store.Store(self.path / "checkpoints", on_damage=self._damaged)

    def discard_checkpoints(self, prefix: str) -> None:
        """Delete the pieces whose names begin like this; all of them where it is empty."""
        if not isinstance(prefix, str):
            raise argument_error("prefix", "be a text", prefix)
        names = self.checkpoints.keys()
        for name in names:
            if name.startswith(prefix):
                self.checkpoints.delete(name)

    def records(self) -> dict[Path, dict[str, Any]]:
        """The records of everything reproduced here so far, by file; what is no record is left out."""
        found = {}
        for path in sorted(self.path.glob("*/*/*/result.json")):
            try:
                found[path] = _read_record(path)
            except (OSError, ValueError, RecursionError) as error:
                self.leave_out(path, str(error))
        return found

    def leave_out(self, path: Path, why: str) -> None:
        """Warn that the record in this file is not used."""
        path = as_path("path", path)
        if not isinstance(why, str):
            raise argument_error("why", "be a text", why)
        why = why if len(why) <= 200 else why[:197] + "..."
        self.warn(f"{path} is left out of the gallery: {why}. Run its experiment again.")

    def _damaged(self, error: Exception) -> None:
        self.warn(f"{error}")


def _read_record(path: Path) -> dict[str, Any]:
    if not path.is_file() or path.stat().st_size > _LARGEST_RECORD:
        raise ValueError("it is not a file of a record's size")
    record = json.loads(path.read_text(encoding="utf-8"))
    version = record.get("schema_version") if isinstance(record, dict) else None
    if type(version) is not int:
        raise ValueError("it is not a record")
    if version != SCHEMA_VERSION:
        raise ValueError(f"it has schema version {version}, this lazyrich reads {SCHEMA_VERSION}")
    if not isinstance(record.get("id"), str) or not isinstance(record.get("preset"), str):
        raise ValueError("it does not say which experiment and preset it is of")
    return record
