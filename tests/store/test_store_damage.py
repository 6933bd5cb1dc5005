"""Damaged, truncated, foreign and hostile files: one error that names the file, and no more."""

import copy
import hashlib
import io
import json
import re
import struct
import tracemalloc

import numpy as np
import pytest
import xarray

from lazyrich.core import StoreError
from lazyrich.store import Store, read_header, read_result, write_result

DATASET = xarray.Dataset(
    {
        "loss": (("seed", "time"), np.arange(6.0).reshape(2, 3), {"unit": "1"}),
        "word": ("seed", np.array(["a", "é"])),
        "flag": True,
    },
    {"time": [0.1, 1.0, 10.0]},
    {"rate": 0.1},
)


@pytest.fixture
def file(tmp_path):
    write_result(tmp_path / "key.lazyrich", DATASET, key="key", metadata={"seed": 0})
    return tmp_path / "key.lazyrich"


def split(content: bytes) -> tuple[dict, bytes]:
    """Header and body, read by the description of the format and not by our code."""
    length = struct.unpack_from("<Q", content, 16)[0]
    return json.loads(content[56 : 56 + length]), content[56 + length :]


def forge(header: object, body: bytes, **fields) -> bytes:
    """A file whose checksums are right, whatever else is wrong."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    values = {"magic": b"\x89lazyrich\r\n\x1a", "version": 1, "length": len(text)}
    values |= {"digest": hashlib.sha256(text).digest()} | fields
    return struct.pack("<12sIQ32s", *values.values()) + text + body


def assert_refused(path, what: str) -> None:
    """Readers refuse the file with one error that names it; `Store.get` reports it."""
    message = rf"{re.escape(str(path))} is damaged or not a lazyrich result: .*{what}.*"
    advice = r"\. Delete it or run the command again: it will be computed again\.$"
    with pytest.raises(StoreError, match=message + advice):
        read_result(path)
    reports: list[StoreError] = []
    assert Store(path.parent, on_damage=reports.append).get(path.stem) is None
    assert re.match(message, str(reports[0]))


def test_a_forged_file_that_is_right_is_read(file):
    file.write_bytes(forge(*split(file.read_bytes())))
    assert read_result(file).identical(DATASET)


def test_every_flipped_bit_is_found(file):
    content, rng, reports = file.read_bytes(), np.random.default_rng(0), []
    store = Store(file.parent, on_damage=reports.append)
    positions = [*range(56), *rng.integers(0, len(content), 600)]
    for position in positions:
        changed = bytearray(content)
        changed[position] ^= 1 << int(rng.integers(8))
        file.write_bytes(changed)
        with pytest.raises(StoreError, match=r"key.lazyrich is damaged or not a lazyrich result"):
            read_result(file)
        assert store.get("key") is None
    assert len(reports) == len(positions)
    file.write_bytes(content)
    assert store.read("key").identical(DATASET)


def test_every_changed_byte_of_a_header_is_found_without_the_arrays(file):
    content, rng = file.read_bytes(), np.random.default_rng(1)
    _, body = split(content)
    for position in range(len(content) - len(body)):
        changed = bytearray(content)
        changed[position] = (changed[position] + rng.integers(1, 256)) % 256
        file.write_bytes(changed)
        with pytest.raises(StoreError, match="is damaged or not a lazyrich result"):
            read_header(file)


def test_truncated_anywhere(file):
    content = file.read_bytes()
    for size in range(len(content)):
        file.write_bytes(content[:size])
        for read in (read_result, read_header):
            with pytest.raises(StoreError, match="is damaged or not a lazyrich result"):
                read(file)
    file.write_bytes(content[:40])
    assert_refused(file, "it was cut short before its header")
    file.write_bytes(content[: 56 + 100])
    assert_refused(file, "it was cut short in its header")
    file.write_bytes(content[:-1])
    assert_refused(file, "its size is not the one in its header: it was cut short")


def test_something_added(file):
    file.write_bytes(file.read_bytes() + b"\0")
    assert_refused(file, "something was added")


def test_changed_while_it_is_read(file, monkeypatch):
    header, body = split(file.read_bytes())
    file.write_bytes(forge(header, body[:-5]))
    monkeypatch.setattr("lazyrich.store._result.check_header", lambda header, nbytes: None)
    assert_refused(file, "it was cut short in its body")


def npz() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros(3))
    return buffer.getvalue()


def npy_with_pickle() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89",
        b"\x89lazyrich",
        b"\x89lazyrich\n\x1a" + bytes(100),  # after a transfer in text mode
        b"some text\n" * 100,
        b'{"schema_version": 1}',
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"\x89HDF\r\n\x1a\n" + bytes(100),
        npz(),
        npy_with_pickle(),
        bytes(10_000),
    ],
)
def test_foreign_files(file, content):
    file.write_bytes(content)
    assert_refused(file, "it does not begin like one")


def test_no_file(tmp_path):
    for read in (read_result, read_header):
        with pytest.raises(StoreError, match=r"absent does not exist. Run the command"):
            read(tmp_path / "absent")


def test_a_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(
        StoreError, match=r" is a folder\. Give a file in it, such as .*data\.lazyrich"
    ):
        read_result(tmp_path)


def test_nobody_is_told_to_delete_what_is_not_ours(tmp_path):
    record = tmp_path / "result.json"
    record.write_text("{}")
    with pytest.raises(StoreError, match="Give a file that `write_result` made") as caught:
        read_result(record)
    assert "Delete" not in str(caught.value)


def test_another_version(file):
    file.write_bytes(forge(*split(file.read_bytes()), version=2))
    assert_refused(file, "it has format version 2, and this lazyrich reads 1")


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, (1 << 24) + 1])
def test_headers_that_claim_to_be_huge(file, length):
    file.write_bytes(forge(*split(file.read_bytes()), length=length))
    assert_refused(file, f"its header claims {length} bytes, more than any header has")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", r"its header is not valid JSON"),
        (b"nonsense", r"its header is not valid JSON"),
        (b"\xff\xfe", r"its header is not valid JSON"),
        (b"[" * 1_000_000, r"its header is not valid JSON"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, r"its header is not valid JSON"),
        (b'{"a": NaN}', r"NaN is not JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", r"its header is not valid JSON"),
        (b'{"a": 1, "a": 2}', r"it has two entries of the same name"),
        (b'{"a": {"$float": "2.0"}}', r"it has an unknown `\$` entry"),
        (b'{"a": {"$float": []}}', r"it has an unknown `\$` entry"),
        (b'{"a": {"$pickle": ""}}', r"it has an unknown `\$` entry"),
        (b'{"$float": "nan"}', r"its header is not a dictionary"),
        (b"[]", r"its header is not a dictionary"),
        (b"{}", r"its header has schema version None, and this lazyrich reads 1"),
        (b'{"schema_version": 2}', r"its header has schema version 2"),
        (b'{"schema_version": true}', r"its header has schema version True"),
        (b'{"schema_version": "%s"}' % (b"x" * 1000), r"x\.\.\."),
        (b'{"schema_version": 1}', r"its header lacks fields or has unknown ones"),
    ],
)
def test_headers_that_are_none(file, text, what):
    file.write_bytes(forge(text, b""))
    assert_refused(file, what)


HOSTILE = [
    # where in the header, what is put there, what is said about it
    ("key", "../../etc/passwd", "the key in its header is not a key"),
    ("key", None, "the key in its header is not a key"),
    ("extra", 1, "its header lacks fields or has unknown ones"),
    ("attrs", [], "`attrs` in its header is not a dictionary"),
    ("coords", [], "`coords` in its header is not a dictionary"),
    ("data_vars", None, "`data_vars` in its header is not a dictionary"),
    ("body", 3, "`body` in its header is not a dictionary"),
    ("body", {}, "its header does not describe the body"),
    ("body.nbytes", -1, "its size is not the one in its header"),
    ("body.nbytes", 10**12, "its size is not the one in its header"),
    ("body.nbytes", "89", "its size is not the one in its header"),
    ("body.sha256", "0" * 64, "the checksum of its body is wrong"),
    ("body.sha256", None, "the checksum of its body is wrong"),
    ("data_vars.loss", None, "the entry of 'loss' in its header lacks fields"),
    ("data_vars.loss.extra", 1, "the entry of 'loss' in its header lacks fields"),
    ("data_vars.loss.attrs", [], "the entry of 'loss' in its header lacks fields"),
    ("data_vars.loss.dims", "ab", "the dimensions of 'loss' are not a list of names"),
    ("data_vars.loss.dims", ["seed", 1], "the dimensions of 'loss' are not a list of names"),
    ("data_vars.loss.dims", ["seed", ["time"]], "the dimensions of 'loss' are not a list of names"),
    ("data_vars.loss.dims", ["seed", "seed"], "'loss' has repeated or too many dimensions"),
    (
        "data_vars.loss.dims",
        list(map(str, range(99))),
        "'loss' has repeated or too many dimensions",
    ),
    ("data_vars.loss.dims", ["seed"], "the shape of 'loss' does not fit its dimensions"),
    ("data_vars.loss.shape", [2], "the shape of 'loss' does not fit its dimensions"),
    ("data_vars.loss.shape", [-2, -3], "the shape of 'loss' does not fit its dimensions"),
    ("data_vars.loss.shape", [2, 3.0], "the shape of 'loss' does not fit its dimensions"),
    ("data_vars.loss.shape", [2, True], "the shape of 'loss' does not fit its dimensions"),
    ("data_vars.loss.shape", [2, 2**63], "the shape of 'loss' does not fit its dimensions"),
    ("data_vars.loss.shape", None, "the shape of 'loss' does not fit its dimensions"),
    ("data_vars.loss.shape", [10**6, 10**6], "the size of 'loss' is not that of its shape"),
    ("data_vars.loss.shape", [2**40, 2**40], "the shape of 'loss' is larger than any array"),
    ("data_vars.loss.shape", [0, 2**62], "the shape of 'loss' is larger than any array"),
    ("data_vars.loss.shape", [3, 2], "dimension 'time' has two sizes"),
    ("data_vars.loss.nbytes", -48, "the size of 'loss' is not that of its shape"),
    ("data_vars.loss.nbytes", 47, "the size of 'loss' is not that of its shape"),
    ("data_vars.loss.nbytes", 48.0, "the size of 'loss' is not that of its shape"),
    ("data_vars.loss.offset", 0, "the array of 'loss' does not follow the last one"),
    ("data_vars.loss.offset", 25, "the array of 'loss' does not follow the last one"),
    ("data_vars.loss.offset", -24, "the offset of 'loss' is not a size"),
    ("data_vars.loss.offset", 2**70, "the offset of 'loss' is not a size"),
    ("data_vars.loss.dtype", "|O", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", "O", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", ">f8", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", "<f8,<f8", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", "<M8[ns]", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", "<U0", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", "<U9999999", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", "<f16", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", "<f8\n", "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", ["<f8"], "the dtype of 'loss' is not allowed"),
    ("data_vars.loss.dtype", None, "the dtype of 'loss' is not allowed"),
]


@pytest.mark.parametrize(("place", "value", "what"), HOSTILE)
def test_hostile_headers(file, place, value, what):
    header, body = split(file.read_bytes())
    *folders, last = place.split(".")
    target = header
    for folder in folders:
        target = target[folder]
    target[last] = value
    file.write_bytes(forge(header, body))
    tracemalloc.start()
    try:
        assert_refused(file, what)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def consistent(header: dict, body: bytes) -> bytes:
    """Offsets, sizes and checksums made to fit, as a clever forger would."""
    header, offset = copy.deepcopy(header), 0
    for entry in [*header["coords"].values(), *header["data_vars"].values()]:
        entry["offset"] = offset
        offset += entry["nbytes"]
    header["body"] = {"nbytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    return forge(header, body)


def entry(shape: list[int], dtype: str = "<f8", **changes) -> dict:
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    dims = [f"i{axis}" for axis in range(len(shape))]
    return {"dims": dims, "dtype": dtype, "shape": shape, "nbytes": nbytes, "attrs": {}} | changes


EMPTY = {"schema_version": 1, "key": "key", "metadata": None, "attrs": {}, "coords": {}}


def test_two_variables_of_one_name(file):
    header = EMPTY | {"coords": {"x": entry([1])}, "data_vars": {"x": entry([1])}}
    file.write_bytes(consistent(header, bytes(16)))
    assert_refused(file, "it has two variables named 'x'")


def test_arrays_that_do_not_fill_the_body(file):
    file.write_bytes(consistent(EMPTY | {"data_vars": {"x": entry([1])}}, bytes(16)))
    assert_refused(file, "its arrays do not fill its body")


def test_variables_that_make_no_dataset(file):
    header = EMPTY | {"coords": {"i0": entry([])}, "data_vars": {"x": entry([1])}}
    file.write_bytes(consistent(header, bytes(16)))
    assert_refused(file, "its variables do not make a dataset")


def test_bytes_that_are_no_booleans(file):
    file.write_bytes(consistent(EMPTY | {"data_vars": {"x": entry([3], "|b1")}}, b"\0\1\2"))
    assert_refused(file, "'x' holds bytes that are not booleans")


def test_numbers_that_are_no_characters(file):
    body = np.array([0x10FFFF, 0x110000], "<u4").tobytes()
    file.write_bytes(consistent(EMPTY | {"data_vars": {"x": entry([2], "<U1")}}, body))
    assert_refused(file, "'x' holds numbers that are not characters")


def test_huge_but_empty_arrays_take_no_memory(file):
    header = EMPTY | {"data_vars": {"x": entry([0, 10**17]), "y": entry([10**12, 0], "<U9")}}
    header["data_vars"]["y"]["dims"] = ["i2", "i3"]
    file.write_bytes(consistent(header, b""))
    assert read_result(file).sizes == {"i0": 0, "i1": 10**17, "i2": 10**12, "i3": 0}


def test_results_larger_than_memory_are_named(file, monkeypatch):
    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr(np, "empty", fail)
    with pytest.raises(StoreError, match=r"key.lazyrich does not fit into memory. Use a larger"):
        read_result(file)
