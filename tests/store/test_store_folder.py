"""A folder of results."""

import os
import shutil

import numpy as np
import pytest
import xarray

from lazyrich.core import ArgumentError, StoreError
from lazyrich.store import Store

ONE = xarray.Dataset({"x": ("i", np.arange(3.0))}, attrs={"n": 1})
TWO = xarray.Dataset({"x": ("i", np.arange(4.0))}, attrs={"n": 2})

BAD_KEYS = [
    "",
    ".",
    "..",
    ".hidden",
    "a/b",
    "../up",
    "/root",
    "a\\b",
    "A",
    "é",
    "a b",
    "a\n",
    "a\0",
]


def test_write_read_overwrite_delete(tmp_path):
    store = Store(tmp_path / "new" / "folder")
    assert store.keys() == []
    assert "one" not in store
    assert not store.folder.exists()  # reading creates nothing
    store.write("one", ONE, metadata={"seed": 3})
    store.write("two", TWO)
    assert store.keys() == ["one", "two"]
    assert "one" in store
    assert store.read("one").identical(ONE)
    assert store.get("two").identical(TWO)
    assert store.header("one")["metadata"] == {"seed": 3}
    assert store.header("two")["metadata"] is None
    store.write("one", TWO)
    assert store.read("one").identical(TWO)
    store.delete("one")
    store.delete("one")
    assert store.keys() == ["two"]


def test_file_names(tmp_path):
    store = Store(str(tmp_path))
    longest = "x" * 200
    for key in ("a", "0", "_", "-", "a.b", "a..b", longest, "fig1-quick.0_3"):
        store.write(key, ONE)
        assert store.path(key) == tmp_path / f"{key}.lazyrich"
        assert store.path(key).is_file()
        assert store.get(key).identical(ONE)
    assert len(store.keys()) == 8


@pytest.mark.parametrize("key", [*BAD_KEYS, "x" * 201, None, 1, b"a", ["a"]])
def test_bad_keys(tmp_path, key):
    store = Store(tmp_path / "folder")
    methods = [store.read, store.get, store.header, store.delete, store.path, store.__contains__]
    for method in [*methods, lambda key: store.write(key, ONE)]:
        with pytest.raises(ArgumentError, match=r"`key` must have 1 to 200 of the characters 0-9"):
            method(key)
    assert list(tmp_path.iterdir()) == []


def test_bad_folder():
    with pytest.raises(ArgumentError, match="`folder` must be a path"):
        Store(None)  # type: ignore[arg-type]


def test_absent(tmp_path):
    reports = []
    store = Store(tmp_path, on_damage=reports.append)
    assert store.get("absent") is None
    assert reports == []
    for method in (store.read, store.header):
        with pytest.raises(StoreError, match=r"absent.lazyrich does not exist. Run the command"):
            method("absent")


def test_damage_is_reported_and_repaired_by_writing(tmp_path):
    reports = []
    store = Store(tmp_path, on_damage=reports.append)
    store.write("one", ONE)
    store.path("one").write_bytes(b"damage")
    assert store.get("one") is None
    assert Store(tmp_path).get("one") is None
    assert len(reports) == 1
    assert isinstance(reports[0], StoreError)
    assert "one" in store
    store.write("one", ONE)
    assert store.get("one").identical(ONE)
    assert len(reports) == 1


def test_a_file_under_a_wrong_name_is_damage(tmp_path):
    reports = []
    store = Store(tmp_path, on_damage=reports.append)
    store.write("one", ONE)
    shutil.copy(store.path("one"), store.path("two"))
    message = r"two.lazyrich is damaged or not a lazyrich result: it holds the result of 'one'"
    for method in (store.read, store.header):
        with pytest.raises(StoreError, match=message):
            method("two")
    assert store.get("two") is None
    assert len(reports) == 1


def test_a_folder_in_place_of_a_result(tmp_path):
    reports = []
    store = Store(tmp_path, on_damage=reports.append)
    store.path("one").mkdir()
    assert store.get("one") is None
    assert "one.lazyrich is a folder" in str(reports[0])
    with pytest.raises(StoreError, match="A folder has this name; delete it"):
        store.write("one", ONE)
    with pytest.raises(StoreError, match=r"one.lazyrich cannot be deleted: .*\. Check"):
        store.delete("one")


def test_other_files_are_no_results(tmp_path):
    for name in ("notes.txt", ".lazyrich", ".x.lazyrich", "Upper.lazyrich", "result.nc"):
        (tmp_path / name).write_bytes(b"")
    assert Store(tmp_path).keys() == []


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    store = Store(tmp_path / "file")
    with pytest.raises(
        StoreError, match=r"file cannot be listed: not a directory. Give the folder"
    ):
        store.keys()
    with pytest.raises(StoreError, match=r"cannot be written: .* Part of this path is a file"):
        store.write("one", ONE)
    assert store.get("one") is None


def test_a_failed_write_keeps_the_old_result(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.write("one", ONE)

    def full(descriptor, data):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreError, match=r"one.lazyrich cannot be written: no space left"):
            store.write("one", TWO)
    assert store.read("one").identical(ONE)
    assert [path.name for path in tmp_path.iterdir()] == ["one.lazyrich"]
