"""Damaged, foreign and hostile files in the folder: named, computed again or left out, never fatal."""

import json
import os
import struct

import numpy as np
import pytest

from lazyrich import store


@pytest.fixture
def reproduce(lazyrich, out):
    return lambda *options: lazyrich("reproduce", "lab/holds", "--out", out, "--json", *options)


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGE = {
    "flipped-in-the-body": lambda data: data[:-9] + bytes([data[-9] ^ 128]) + data[-8:],
    "flipped-in-the-middle": flip,
    "flipped-at-the-start": lambda data: b"\x00" + data[1:],
    "cut": lambda data: data[:-1],
    "cut-in-half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "longer": lambda data: data + b"x",
    "foreign": lambda data: b"PK\x03\x04 this is a zip file",
    "pickle": lambda data: b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93.",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_result_is_named_and_computed_again(reproduce, out, computed, damage):
    good = reproduce().json["experiments"][0]
    computed()
    [path] = (out / "store").iterdir()
    content, digest = path.read_bytes(), store.content_digest(store.read_result(path))
    path.write_bytes(damage(content))
    found = reproduce()
    assert found.code == 0
    assert f"warning: {path} is damaged or not a lazyrich result: " in found.err
    assert found.err.count("warning:") == 1
    assert "Traceback" not in found.err
    assert len(computed()) == 4
    record = found.json["experiments"][0]
    assert not record["from_store"]
    assert record["claims"] == good["claims"]
    assert store.content_digest(store.read_result(path)) == digest
    assert "warning" not in reproduce().err
    assert computed() == []


def test_any_flipped_bit_is_noticed_and_the_result_computed_again(reproduce, out, computed):
    reproduce()
    computed()
    [path] = (out / "store").iterdir()
    content, digest = path.read_bytes(), store.content_digest(store.read_result(path))
    for place, bit in np.random.default_rng(0).integers((len(content), 8), size=(20, 2)):
        path.write_bytes(
            content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
        )
        found = reproduce()
        assert (found.code, found.err.count("warning:")) == (0, 1), f"bit {bit} of byte {place}"
        assert len(computed()) == 4
        assert store.content_digest(store.read_result(path)) == digest


def test_the_result_of_something_else_under_this_name(reproduce, out, computed):
    good = reproduce().json["experiments"][0]
    other = reproduce("--seeds", 3).json["experiments"][0]
    computed()
    results = store.Store(out / "store")
    results.path(good["key"]).write_bytes(results.path(other["key"]).read_bytes())
    found = reproduce()
    assert f"it holds the result of '{other['key']}'" in found.err
    assert found.json["experiments"][0]["claims"] == good["claims"]
    assert len(computed()) == 4


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_piece_is_named_and_computed_again(lazyrich, out, computed, damage, monkeypatch):
    reference = lazyrich("reproduce", "lab/interrupted", "--out", out.with_name("peace"), "--json")
    assert reference.code == 130  # the run interrupts itself after two pieces
    monkeypatch.setenv("LAB_PEACE", "1")
    reference = lazyrich(
        "reproduce", "lab/interrupted", "--out", out.with_name("peace"), "--json"
    ).json
    monkeypatch.delenv("LAB_PEACE")
    assert lazyrich("reproduce", "lab/interrupted", "--out", out, "--json").code == 130
    one, two = sorted((out / "checkpoints").iterdir())
    one.write_bytes(damage(one.read_bytes()))
    computed()
    monkeypatch.setenv("LAB_PEACE", "1")
    found = lazyrich("reproduce", "lab/interrupted", "--out", out, "--json")
    assert found.code == 0
    assert f"warning: {one} is damaged or not a lazyrich result: " in found.err
    assert str(two) not in found.err
    assert computed() == ["piece-0", "piece-2", "piece-3", "piece-4", "run"]
    assert found.json["experiments"][0]["claims"] == reference["experiments"][0]["claims"]
    digests = {
        store.content_digest(store.read_result(next((place / "store").iterdir())))
        for place in (out, out.with_name("peace"))
    }
    assert len(digests) == 1


def test_foreign_files_are_left_alone(reproduce, out, computed):
    reproduce()
    computed()
    foreign = [
        "store/notes.txt", "store/other-result.lazyrich", "store/.hidden", "checkpoints/x.lazyrich",
        "checkpoints/UPPER.lazyrich", "quick/lab/holds/notes.txt", "quick/readme", "mine/result.json",
    ]  # fmt: skip
    for name in foreign:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("mine")
    (out / "store/folder.lazyrich").mkdir()
    found = reproduce()
    assert (found.code, found.err.strip()) == (0, "")
    assert computed() == []
    assert reproduce("--again").code == 0
    assert all((out / name).read_text() == "mine" for name in foreign)


def test_a_folder_in_the_place_of_a_result(reproduce, out, computed):
    [path] = (key for key in [reproduce().json["experiments"][0]["key"]])
    place = out / "store" / f"{path}.lazyrich"
    place.unlink()
    (place / "inside").mkdir(parents=True)
    computed()
    found = reproduce()
    assert found.code == 2
    assert "A folder has this name; delete it" in found.json["error"]
    assert (place / "inside").exists()
    (place / "inside").rmdir()
    place.rmdir()
    computed()
    assert reproduce().code == 0
    assert computed() == ["run"]  # the pieces were kept


def test_pieces_of_a_run_that_was_killed_after_its_result_are_swept(reproduce, out):
    key = reproduce().json["experiments"][0]["key"]
    [result] = (out / "store").iterdir()
    late = out / "checkpoints" / f"{key}.piece-0.lazyrich"
    late.write_bytes(result.read_bytes())
    other = out / "checkpoints" / "another-run.piece-0.lazyrich"
    other.write_bytes(result.read_bytes())
    assert reproduce().err.strip() == ""
    assert not late.exists()
    assert other.exists()


def good_record(**changes):
    return {
        "schema_version": 1, "id": "lab/other", "paper": "lab", "title": "Other", "preset": "quick",
        "status": "done", "claims": [], "files": {}, **changes,
    }  # fmt: skip


CLAIM = {
    "statement": "s",
    "verdict": "holds",
    "expected": 1,
    "measured": 1,
    "comparison": "relative",
}
LEFT_OUT = {
    "empty": "",
    "not-json": "{'id': 1}",
    "cut": '{"schema_version": 1, "id": "lab/oth',
    "not-text": b"\xff\xfe\x00",
    "binary": os.urandom(1000),
    "list": "[]",
    "null": "null",
    "number": "1e999",
    "empty-object": "{}",
    "deep": "[" * 100_000,
    "deep-inside": '{"schema_version": 1, "id": ' + "[" * 100_000,
    "many-digits": '{"schema_version": 1, "id": "a/b", "preset": "quick", "seconds": ' + "9" * 5000 + "}",
    "future": json.dumps(good_record(schema_version=2)),
    "past": json.dumps(good_record(schema_version=0)),
    "true-is-not-one": json.dumps(good_record(schema_version=True)),
    "half-version": json.dumps(good_record(schema_version=1.0)),
    "id-missing": json.dumps({"schema_version": 1, "preset": "quick"}),
    "id-a-list": json.dumps(good_record(id=["lab/other"])),
    "id-a-number": json.dumps(good_record(id=7)),
    "preset-missing": json.dumps({"schema_version": 1, "id": "a/b"}),
    "preset-a-dict": json.dumps(good_record(preset={})),
    "claims-a-number": json.dumps(good_record(claims=5)),
    "claims-of-words": json.dumps(good_record(claims=["holds"])),
    "claims-a-dict": json.dumps(good_record(claims={"a": 1})),
    "files-words": json.dumps(good_record(files="figure.png")),
    "files-a-list": json.dumps(good_record(files=["figure.png"])),
    "convention-words": json.dumps(good_record(convention="mean")),
    "versions-a-list": json.dumps(good_record(versions=["jax"])),
    "citation-words": json.dumps(good_record(citation="Levi")),
}  # fmt: skip
SHOWN = {
    "traversal": json.dumps(good_record(files={"figure": "../../../../etc/passwd", "data": "/etc/passwd"})),
    "missing-figure": json.dumps(good_record(files={"figure": "quick/lab/other/none.png"})),
    "huge-number": json.dumps(good_record(seconds=1e308, claims=[CLAIM | {"measured": 1e308}])),
    "nan": json.dumps(good_record(seconds=float("nan"), claims=[CLAIM | {"measured": float("nan")}])),
    "surrogates": '{"schema_version": 1, "id": "lab/other", "preset": "quick", "title": "\\ud800Other"}',
    "escape-codes": json.dumps(good_record(title="Other \x1b[31m<script>alert(1)</script>")),
    "unknown-verdict": json.dumps(good_record(claims=[CLAIM | {"verdict": "perhaps"}])),
    "wrong-types": json.dumps(good_record(claims=[{k: [1] for k in CLAIM}], title=3, paper={}, status=0)),
}  # fmt: skip
EITHER = {  # shown or left out: what the page can bear is its own affair
    "deep-config": '{"schema_version": 1, "id": "lab/other", "preset": "quick", "config": '
    + '{"a":' * 900
    + "1"
    + "}" * 900
    + "}",
    "huge-integer": json.dumps(good_record(claims=[CLAIM | {"measured": 10**400}])),
    "long-path": json.dumps(good_record(files={"figure": "x" * 5000})),
    "odd-path": json.dumps(good_record(files={"figure": "quick/lab/other/\u0000.png"})),
}


def plant(out, content):
    place = out / "quick/lab/other/result.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def rebuilt(reproduce, out):
    """The gallery's text, after the good experiment went through as if nothing had happened."""
    found = reproduce()
    assert found.code == 0
    assert "Traceback" not in found.err
    assert [r["id"] for r in found.json["experiments"]] == ["lab/holds"]
    page = (out / "index.html").read_text()
    assert "Experiment holds of λ" in page
    assert "root:" not in page
    assert "<script>alert" not in page
    return found, page


@pytest.mark.parametrize("content", LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_bad_record_is_left_out_and_named(reproduce, out, content):
    place = plant(out, content)
    found, page = rebuilt(reproduce, out)
    assert f"warning: {place} is left out of the gallery: " in found.err
    assert found.err.strip().endswith("Run its experiment again.")
    assert len(found.err.strip()) < 1000
    assert "lab/other" not in page
    assert place.exists()


@pytest.mark.parametrize("content", SHOWN.values(), ids=SHOWN)
def test_an_odd_record_is_shown_harmlessly(reproduce, out, content):
    plant(out, content)
    found, page = rebuilt(reproduce, out)
    assert "lab/other" in page
    assert found.err.strip() == ""


@pytest.mark.parametrize("content", EITHER.values(), ids=EITHER)
def test_a_strange_record_does_no_harm(reproduce, out, content):
    place = plant(out, content)
    found, page = rebuilt(reproduce, out)
    assert ("lab/other" in page) != (f"{place} is left out" in found.err)


def test_says_which_version_a_record_of_the_future_has(reproduce, out):
    plant(out, LEFT_OUT["future"])
    assert "it has schema version 2, this lazyrich reads 1." in reproduce().err


def test_records_that_are_no_files(reproduce, out):
    (out / "quick/lab/folder/result.json").mkdir(parents=True)
    (out / "quick/lab/loop").mkdir()
    (out / "quick/lab/loop/result.json").symlink_to("result.json")
    (out / "quick/lab/pipe").mkdir()
    os.mkfifo(out / "quick/lab/pipe/result.json")
    found, _ = rebuilt(reproduce, out)
    assert found.err.count("is left out of the gallery") >= 2


@pytest.mark.parametrize(
    "picture",
    [
        b"",
        b"\x89PNG\r\n\x1a\nIEND\xaeB`\x82",
        b"GIF89a",
        b"\x89PNG\r\n\x1a\n" + struct.pack(">II", 9, 9),
    ],
)
def test_a_figure_that_is_none(reproduce, out, picture):
    other = {"figure": "quick/lab/other/figure.png"}
    place = plant(out, json.dumps(good_record(files=other)))
    place.with_name("figure.png").write_bytes(picture)
    rebuilt(reproduce, out)


def test_many_bad_records_at_once(reproduce, out):
    for number, content in enumerate([*LEFT_OUT.values(), *SHOWN.values(), *EITHER.values()]):
        place = out / f"quick/lab/bad-{number}/result.json"
        place.parent.mkdir(parents=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, _ = rebuilt(reproduce, out)
    assert found.err.count("is left out of the gallery") >= len(LEFT_OUT)
