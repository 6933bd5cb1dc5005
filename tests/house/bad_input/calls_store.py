"""Valid calls of `lazyrich.store`, and what odd values mean there."""

import contextlib
import importlib.util
import tempfile

import xarray

from lazyrich import store

from .engine import Call

DATA = xarray.Dataset({"loss": ("time", [1.0, 0.5])})


def _in_folder(method):
    """A method of a store that holds one result, in a folder that is gone afterwards."""

    def call(**arguments):
        with tempfile.TemporaryDirectory() as folder:
            kept = store.Store(folder)
            kept.write("fig1", DATA)
            return getattr(kept, method)(**arguments)

    return call


def _at_path(function):
    """A function of a file, in such a folder."""

    def call(**arguments):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            store.write_result("fig1", DATA)
            return function(**arguments)

    return call


CALLS = {
    "Store": {"folder": "no-such-folder", "on_damage": None},
    "Store.path": {"key": "fig1"},
    "Store.write": Call(
        _in_folder("write"), {"key": "fig1", "dataset": DATA, "metadata": {"a": 1}}
    ),
    "Store.read": Call(_in_folder("read"), {"key": "fig1"}),
    "Store.get": Call(_in_folder("get"), {"key": "fig1"}),
    "Store.header": Call(_in_folder("header"), {"key": "fig1"}),
    "Store.delete": Call(_in_folder("delete"), {"key": "fig1"}),
    "content_digest": {"dataset": DATA},
    "read_header": Call(_at_path(store.read_header), {"path": "fig1"}),
    "read_result": Call(_at_path(store.read_result), {"path": "fig1"}),
    "remove_leftovers": {"folder": "no-such-folder"},
    "write_atomically": Call(
        _at_path(store.write_atomically), {"path": "fig1", "data": b"content"}
    ),
    "write_result": Call(
        _at_path(store.write_result),
        {"path": "fig1", "dataset": DATA, "key": "fig1", "metadata": {"a": 1}},
    ),
}

MEANING = {
    ("Store remove_leftovers", "folder", "text empty"): "any path, or here; it need not exist",
    ("*.write write_result", "metadata", "text number empty"): "any JSON",
    ("write_*", "path", "text"): "any name",
    ("write_result", "key", "empty"): "no key",
}

if importlib.util.find_spec("h5netcdf"):  # comes with an extra
    CALLS["export_netcdf"] = Call(_at_path(store.export_netcdf), {"dataset": DATA, "path": "fig1"})
    MEANING["export_netcdf", "path", "text"] = "any name"
else:
    EXEMPT = {("export_netcdf", "*"): "needs the extra `netcdf`"}
