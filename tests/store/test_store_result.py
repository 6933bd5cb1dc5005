"""Results come back bit for bit."""

import json
import subprocess
import sys

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import xarray

from lazyrich.core import ArgumentError
from lazyrich.store import content_digest, read_header, read_result, write_result

NUMBERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
DTYPES = [f"{order}{code}" for code in NUMBERS for order in "<>"] + ["<U1", "<U7", ">U3"]

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text()
attributes = st.dictionaries(
    st.text() | st.sampled_from(["$", "$float", "$$float"]),
    st.recursive(scalars, lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=8),
    max_size=4,
)


@st.composite
def arrays(draw):
    """Any bits in any shape, so infinities, signed zeros and NaN of every kind."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    if dtype.kind in "bU":
        return draw(hnp.arrays(dtype, shape))
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype).reshape(shape)


@st.composite
def datasets(draw):
    names = draw(st.lists(st.text() | st.just("$float"), max_size=4, unique=True))
    variables = {}
    for name in names:
        array = draw(arrays())
        dims = [f"{name} dimension {i}" for i in range(array.ndim)]
        variables[name] = (dims, array, draw(attributes))
    coords = [name for name in names if draw(st.booleans())]
    return xarray.Dataset(variables, attrs=draw(attributes)).set_coords(coords)


def assert_same(found: xarray.Dataset, wanted: xarray.Dataset) -> None:
    """Equal down to the bits, the dtype and the order of everything."""
    assert list(found.coords) == list(wanted.coords)
    assert list(found.data_vars) == list(wanted.data_vars)
    assert repr(found.attrs) == repr(wanted.attrs)  # NaN equals itself here, and -0.0 not 0.0
    for name, variable in wanted.variables.items():
        assert found[name].dims == variable.dims
        assert found[name].shape == variable.shape
        assert found[name].dtype == variable.dtype.newbyteorder("<")
        little = np.asarray(variable.values, variable.dtype.newbyteorder("<"))
        assert found[name].values.tobytes() == little.tobytes()
        assert repr(found[name].attrs) == repr(variable.attrs)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("results") / "result.lazyrich"


@hypothesis.settings(max_examples=300, deadline=None)
@hypothesis.given(dataset=datasets(), metadata=attributes)
def test_round_trip(file, dataset, metadata):
    write_result(file, dataset, key="some-key", metadata=metadata)
    found = read_result(file)
    assert_same(found, dataset)
    assert content_digest(found) == content_digest(dataset)
    header = read_header(file)
    assert repr(header["metadata"]) == repr(metadata)
    assert repr(header["attrs"]) == repr(dataset.attrs)
    assert header["key"] == "some-key"


@pytest.mark.parametrize("dtype", [code for code in DTYPES if code[1:] != "f2"])
def test_coordinates_of_dimensions(file, dtype):
    values = np.array([3, 1, 0]).astype(dtype)  # pandas has no half precision
    dataset = xarray.Dataset({"y": ("x", np.ones(3))}, coords={"x": values, "scalar": 2.0})
    write_result(file, dataset)
    assert_same(read_result(file), dataset)
    assert list(read_result(file).indexes) == ["x"]


def test_coordinates_without_index(file):
    coords = {"x": (("x", "y"), np.zeros((2, 3))), "z": ("y", np.arange(3))}
    write_result(file, xarray.Dataset(coords=coords))
    assert_same(read_result(file), xarray.Dataset(coords=coords))


def test_non_contiguous_and_broadcast_arrays(file):
    grid = np.arange(24.0).reshape(4, 6)
    dataset = xarray.Dataset(
        {
            "transposed": (("a", "b"), grid.T),
            "strided": (("c", "d"), grid[::-2, ::3]),
            "broadcast": (("e", "f"), np.broadcast_to(1.5, (3, 2))),
            "fortran": (("g", "h"), np.asfortranarray(grid)),
        }
    )
    write_result(file, dataset)
    assert_same(read_result(file), dataset)


def test_booleans_made_of_other_bytes_become_booleans(file):
    dataset = xarray.Dataset({"x": ("i", np.array([0, 1, 2, 255], np.uint8).view(bool))})
    write_result(file, dataset)
    assert read_result(file).x.values.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_empty_dataset(file):
    write_result(file, xarray.Dataset())
    assert_same(read_result(file), xarray.Dataset())


def test_arrays_can_be_changed_and_do_not_share_memory(file):
    write_result(file, xarray.Dataset({"x": ("i", np.zeros(3)), "y": ("i", np.zeros(3))}))
    found = read_result(file)
    found.x[:] = 1.0
    assert found.y.values.tolist() == [0.0, 0.0, 0.0]


def test_attributes_become_plain(file):
    attrs = {
        "scalar": np.float32(0.1),
        "whole": np.int16(3),
        "flag": np.bool_(True),
        "word": np.str_("é"),
        "array": np.array([[1.0, np.inf], [np.nan, -np.inf]]),
        "zero-dimensional": np.array(2),
        "tuple": (1, (2, "three")),
        "surrogate": "\ud800",
        "minus zero": -0.0,
    }
    write_result(file, xarray.Dataset(attrs=attrs))
    assert repr(read_result(file).attrs) == repr(
        {
            "scalar": 0.10000000149011612,
            "whole": 3,
            "flag": True,
            "word": "é",
            "array": [[1.0, np.inf], [np.nan, -np.inf]],
            "zero-dimensional": 2,
            "tuple": [1, [2, "three"]],
            "surrogate": "\ud800",
            "minus zero": -0.0,
        }
    )


def test_header_is_strict_json_readable_by_anyone(file):
    values = np.arange(6, dtype=np.int32).reshape(2, 3)
    dataset = xarray.Dataset(
        {"x": (("a", "b"), values, {"unit": "1"})}, {"a": [0.5, 1.5]}, {"limit": np.inf}
    )
    write_result(file, dataset, key="k", metadata=[1, None])
    content = file.read_bytes()
    length = int.from_bytes(content[16:24], "little")
    header = json.loads(content[56 : 56 + length], parse_constant=pytest.fail)
    assert header["attrs"] == {"limit": {"$float": "inf"}}
    assert header["schema_version"] == 1
    entry = header["data_vars"]["x"]
    assert entry["shape"] == [2, 3]
    start = 56 + length + entry["offset"]
    found = np.frombuffer(content[start : start + entry["nbytes"]], entry["dtype"])
    assert found.tolist() == [0, 1, 2, 3, 4, 5]
    assert read_header(file) == header | {"attrs": {"limit": np.inf}}


def test_the_same_dataset_gives_the_same_file(tmp_path):
    dataset = xarray.Dataset({"x": ("i", np.arange(5.0))}, attrs={"a": 1})
    for name in ("one", "two"):
        write_result(tmp_path / name, dataset.copy(deep=True), metadata={"m": 1})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


BASE = xarray.Dataset({"x": ("i", np.zeros(2)), "y": ("i", np.ones(2))}, attrs={"a": 1, "b": 2})


def test_digest_ignores_order_and_byte_order():
    other = xarray.Dataset({"y": ("i", np.ones(2, ">f8")), "x": ("i", np.zeros(2))})
    assert content_digest(other.assign_attrs(b=2, a=1)) == content_digest(BASE)


@pytest.mark.parametrize(
    "other",
    [
        BASE.assign_attrs(a=2),
        BASE.rename(x="z"),
        BASE.rename(i="j"),
        BASE.set_coords("x"),
        BASE.astype("float32"),
        BASE.assign(x=-BASE.x),
        BASE.assign(x=BASE.x.assign_attrs(unit="s")),
        BASE.assign(z=0.0),
        BASE.drop_vars("y"),
        xarray.Dataset(),
    ],
)
def test_digest_sees_every_difference(other):
    assert content_digest(other) != content_digest(BASE)


def test_digest_is_pinned():
    pinned = "c236fc5c62f7a0fe716e483dd62daf09b91db30f92e3783ab07de55293ad69e2"
    assert content_digest(BASE) == pinned


class Unknown:
    pass


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array(["a", None], object), "object"),
        (np.array(["2020-01-01"], "M8[ns]"), r"datetime64\[ns\]"),
        (np.array([1], "m8[ns]"), r"timedelta64\[ns\]"),
        (np.array([b"bytes"]), r"\|S5"),
        (np.array([1.0], np.longdouble), "float128|longdouble"),
        (np.array([1.0], np.clongdouble), "complex256|clongdouble"),
        (np.array([(1, 2.0)], "i4,f8"), r"\[\('f0'"),
        (np.zeros(1, "V3"), r"\|V3"),
        (np.zeros(1, "U1000000"), "<U1000000"),
    ],
)
def test_other_dtypes_are_refused(file, values, dtype):
    if values.dtype in (np.float64, np.complex128):
        pytest.skip("long double is double on this system")
    dataset = xarray.Dataset({"good": 1.0, "bad one": ("i", values)})
    message = rf"`dataset\['bad one'\]` must have a dtype of booleans.* got .*({dtype})"
    for function in (content_digest, lambda dataset: write_result(file, dataset)):
        with pytest.raises(ArgumentError, match=message):
            function(dataset)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (Unknown(), r"\['a'\]"),
        ([1, {"b": 1j}], r"\['a'\]\[1\]\['b'\]"),
        (b"bytes", r"\['a'\]"),
        ({1, 2}, r"\['a'\]"),
        (np.array([1j]), r"\['a'\]"),
        (np.array(["2020"], "M8[Y]"), r"\['a'\]"),
        (np.array([None]), r"\['a'\]"),
        (xarray.DataArray(1.0), r"\['a'\]"),
    ],
)
def test_other_attributes_are_refused(file, value, label):
    message = "must be numbers, text, booleans, None, or lists and dictionaries of them, got"
    with pytest.raises(ArgumentError, match=rf"`dataset.attrs{label}` {message}"):
        write_result(file, xarray.Dataset(attrs={"a": value}))
    with pytest.raises(ArgumentError, match=rf"`dataset\['x'\].attrs{label}` {message}"):
        write_result(file, xarray.Dataset({"x": ((), 1.0, {"a": value})}))
    with pytest.raises(ArgumentError, match=rf"`metadata{label}` {message}"):
        write_result(file, xarray.Dataset(), metadata={"a": value})


def test_keys_of_attributes_are_text(file):
    with pytest.raises(ArgumentError, match=r"`keys of dataset.attrs` must be text, got 1"):
        write_result(file, xarray.Dataset(attrs={1: 2}))


def test_endless_and_enormous_attributes_are_refused(file):
    endless: list = []
    endless.append(endless)
    with pytest.raises(ArgumentError, match=r"must be nested at most 64 deep. Flatten it"):
        write_result(file, xarray.Dataset(attrs={"a": endless}))
    with pytest.raises(ArgumentError, match="must be writable as JSON"):
        write_result(file, xarray.Dataset(attrs={"a": 10**5000}))
    with pytest.raises(ArgumentError, match=r"must fit into 16777216 bytes.*as variables"):
        write_result(file, xarray.Dataset(attrs={"a": "x" * (1 << 24)}))


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (None, r"`dataset` must be an xarray.Dataset, got None"),
        (xarray.DataArray(1.0), r"`dataset` must be an xarray.Dataset"),
        (xarray.Dataset({1: 2.0}), r"`dataset\[1\]` must have text as its name"),
        (xarray.Dataset({"x": ((3,), [2.0])}), r"`dataset\['x'\]` must have text as its name"),
    ],
)
def test_other_datasets_are_refused(file, dataset, message):
    for function in (content_digest, lambda dataset: write_result(file, dataset)):
        with pytest.raises(ArgumentError, match=message):
            function(dataset)


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_repeated_dimensions_are_refused(file):
    with pytest.raises(ArgumentError, match=r"`dataset\['x'\]` must have each dimension once"):
        write_result(file, xarray.Dataset({"x": (("i", "i"), np.zeros((2, 2)))}))


def test_several_levels_in_one_index_are_refused(file):
    stacked = xarray.Dataset(coords={"a": [1, 2], "b": [3.0]}).stack(point=["a", "b"])
    with pytest.raises(ArgumentError, match=r"`dataset\['point'\]` must have a dtype"):
        write_result(file, stacked)


@pytest.mark.parametrize("key", ["../up", ".hidden", "a/b", "A", None, 3, "x" * 201])
def test_keys_are_checked(file, key):
    with pytest.raises(ArgumentError, match="`key` must have 1 to 200 of the characters"):
        write_result(file, xarray.Dataset(), key=key)


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, lazyrich.store; print({'numpy', 'xarray', 'jax'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert output.stdout == "set()\n"
