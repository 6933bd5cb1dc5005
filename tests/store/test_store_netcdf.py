"""Export to netCDF."""

import importlib.util
import os
import sys

import numpy as np
import pytest
import xarray

from lazyrich.core import ArgumentError, StoreError
from lazyrich.store import export_netcdf

HAS_EXTRA = importlib.util.find_spec("h5netcdf") and importlib.util.find_spec("h5py")
needs_extra = pytest.mark.skipif(not HAS_EXTRA, reason="needs the extra `netcdf`")

DATASET = xarray.Dataset(
    {
        "loss": (("seed", "time"), np.array([[1.0, np.nan], [np.inf, -0.0]]), {"unit": "1"}),
        "single": ("seed", np.array([1, 2], np.float32)),
        "count": ("seed", np.array([0, 2**64 - 1], np.uint64)),
        "flag": ("seed", np.array([True, False])),
        "word": ("seed", np.array(["a", "éß"])),
        "empty": ("nothing", np.zeros(0)),
        "scalar": np.int16(3),
    },
    {"time": [0.1, 10.0], "rate": 0.5},
)


@needs_extra
def test_round_trip(tmp_path):
    export_netcdf(DATASET, tmp_path / "new" / "run.nc")
    found = xarray.load_dataset(tmp_path / "new" / "run.nc", engine="h5netcdf")
    xarray.testing.assert_identical(found, DATASET)
    for name in DATASET.variables:
        assert found[name].values.tobytes() == DATASET[name].values.tobytes()
    assert found.flag.dtype == bool
    assert os.listdir(tmp_path / "new") == ["run.nc"]


@needs_extra
def test_attributes_that_netcdf_lacks_become_json_text(tmp_path):
    attrs = {
        "number": 0.5,
        "whole": 3,
        "text": "é",
        "numbers": [1.0, np.inf],
        "words": ["a", "b"],
        "flag": True,
        "none": None,
        "nested": {"a": [1, None]},
        "mixed": [1, "a"],
        "nothing": [],
        "large": 2**70,
        "null": "a\0b",
        "not a number": np.nan,
    }
    export_netcdf(xarray.Dataset(attrs=attrs), tmp_path / "run.nc")
    found = xarray.load_dataset(tmp_path / "run.nc", engine="h5netcdf").attrs
    assert found["number"] == 0.5
    assert found["whole"] == 3
    assert found["text"] == "é"
    assert found["numbers"].tolist() == [1.0, np.inf]
    assert list(found["words"]) == ["a", "b"]
    assert np.isnan(found["not a number"])
    assert found["flag"] == "true"
    assert found["none"] == "null"
    assert found["nested"] == '{"a":[1,null]}'
    assert found["mixed"] == '[1,"a"]'
    assert found["nothing"] == "[]"
    assert found["large"] == str(2**70)
    assert found["null"] == r'"a\u0000b"'


@pytest.mark.parametrize(
    ("dtype", "advice"),
    [("c8", "Split it into two"), ("c16", "Split it into two"), ("f2", "Convert it with")],
)
def test_what_netcdf_lacks_is_refused(tmp_path, dtype, advice):
    dataset = xarray.Dataset({"x": ("i", np.zeros(2, dtype))})
    with pytest.raises(ArgumentError, match=rf"`dataset\['x'\]` must be neither complex.*{advice}"):
        export_netcdf(dataset, tmp_path / "run.nc")
    with pytest.raises(ArgumentError, match="must have a dtype of booleans"):
        export_netcdf(xarray.Dataset({"x": ("i", [None])}), tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


@needs_extra
def test_what_the_libraries_refuse_is_named(tmp_path):
    with pytest.raises(
        StoreError, match=r"run.nc cannot be written as netCDF: .*Rename or convert"
    ):
        export_netcdf(xarray.Dataset({"a/b": 1.0}), tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


@needs_extra
def test_a_failed_export_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.nc"
    path.write_bytes(b"old")

    def full(descriptor, data):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreError, match=r"run.nc cannot be written: no space left"):
            export_netcdf(DATASET, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["run.nc"]


@pytest.mark.parametrize("module", ["h5netcdf", "h5py"])
def test_without_the_extra(tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StoreError, match=r"run.nc cannot.*pip install 'lazyrich\[netcdf\]'"):
        export_netcdf(DATASET, tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []
