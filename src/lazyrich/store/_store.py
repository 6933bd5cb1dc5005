"""A folder of results."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import xarray

from lazyrich.core import StoreError, argument_error
from lazyrich.store._key import check_key, is_key
from lazyrich.store._path import StrPath, as_path, reason
from lazyrich.store._result import damage_error, read_both, read_header, write_result

_EXTENSION = ".lazyrich"


class Store:
    """Results in a folder, one file `<key>.lazyrich` each.

    The files are the state: there is no index that could go stale and no lock that could be left
    behind. Any number of processes may use one folder; if two write the same key, both succeed and
    one whole file remains. `remove_leftovers(store.folder)` deletes what a kill left half written.

    Args:
        folder: where the files lie; it is created by the first `write`.
        on_damage: called with the `StoreError` when `get` meets a file that cannot be read.

    Example:
        >>> import tempfile, xarray
        >>> from lazyrich.store import Store
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = Store(folder)
        ...     store.write("fig1", xarray.Dataset({"loss": ("time", [1.0, 0.5])}))
        ...     print(store.keys(), float(store.read("fig1").loss[-1]), store.get("fig2"))
        ['fig1'] 0.5 None
    """

    def __init__(self, folder: StrPath, on_damage: Callable[[StoreError], Any] | None = None):
        self.folder = as_path("folder", folder)
        if on_damage is not None and not callable(on_damage):
            raise argument_error("on_damage", "be a function or None", on_damage)
        self._on_damage = on_damage

    def path(self, key: str) -> Path:
        """The file of a key, whether it exists or not.

        Args:
            key: 1 to 200 of the characters `0-9 a-z . _ -`, not beginning with a dot.
        """
        return self.folder / f"{check_key(key)}{_EXTENSION}"

    def write(self, key: str, dataset: xarray.Dataset, metadata: Any = None) -> None:
        """Store a result under a key, whole or not at all; see `write_result`."""
        write_result(self.path(key), dataset, key=key, metadata=metadata)

    def read(self, key: str) -> xarray.Dataset:
        """The result of a key; raises `StoreError` if it is absent or damaged."""
        header, dataset = read_both(self.path(key))
        self._check_key(key, header)
        return dataset

    def get(self, key: str) -> xarray.Dataset | None:
        """The result of a key, or None if it has to be computed: it is absent, or damaged.

        A damaged file is reported to `on_damage` and left where it is; writing the key replaces it.
        """
        if key not in self:
            return None
        try:
            return self.read(key)
        except StoreError as error:
            if self._on_damage is not None:
                self._on_damage(error)
            return None

    def header(self, key: str) -> dict[str, Any]:
        """Everything about a result but its arrays; see `read_header`."""
        header = read_header(self.path(key))
        self._check_key(key, header)
        return header

    def keys(self) -> list[str]:
        """The keys of all results, sorted; the files are not opened."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot be listed: {reason(error)}. Give the folder of the results."
            ) from error
        stems = [name.removesuffix(_EXTENSION) for name in names if name.endswith(_EXTENSION)]
        return sorted(filter(is_key, stems))

    def delete(self, key: str) -> None:
        """Delete a result; nothing happens if there is none."""
        path = self.path(key)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be deleted: {reason(error)}. Check that its folder is yours."
            ) from error

    def __contains__(self, key: str) -> bool:
        return self.path(key).exists()

    def _check_key(self, key: str, header: dict[str, Any]) -> None:
        if header["key"] != key:
            raise damage_error(self.path(key), f"it holds the result of {header['key']!r}")
