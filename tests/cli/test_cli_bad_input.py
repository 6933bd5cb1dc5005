"""Bad input and bad places: one clear screen on stderr, exit code 2, nothing lost."""

import json
import os
import sys

import pytest


def linux(*values):
    return pytest.param(
        *values, marks=pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
    )


def refused(found, *words):
    """Assert the shape of every refusal."""
    assert found.code == 2
    assert "Traceback" not in found.err
    assert 0 < len(found.err.splitlines()) <= 12
    text = " ".join(found.err.replace("│", " ").split())
    for word in words:
        assert word in text


BAD = [
    (["reproduce"], ["`reproduce` must be given at least one id, got none", "lazyrich reproduce all"]),
    (["reproduce", "lab/hold"], ["No experiment is called 'lab/hold'", "Did you mean lab/holds"]),
    (["reproduce", "lab/holds", "lab/nothing-like-it-at-all"], ["called 'lab/nothing-like-it-at-all'"]),
    (["reproduce", "all", "lab/hold"], ["No experiment is called 'lab/hold'"]),
    (["reproduce", "zzz"], ["Known are: lab/holds", "`lazyrich list` shows all"]),
    (["reproduce", "zzz/*"], ["No experiment is called 'zzz/*'"]),
    (["reproduce", ""], ["No experiment is called ''"]),
    (["reproduce", "x" * 5000], ["xxx..."]),
    (["reproduce", "lab/holds", "--preset", "fast"], ['Invalid value "fast" for --preset', "quick", "paper"]),
    (["reproduce", "lab/holds", "--seeds", "0"], ["`seeds` must be a whole number ≥ 1, got '0'"]),
    (["reproduce", "lab/holds", "--seeds", "-1"], ["`seeds` must be a whole number ≥ 1, got '-1'"]),
    (["reproduce", "lab/holds", "--seeds", "abc"], ["`seeds` must be a whole number ≥ 1, got 'abc'"]),
    (["reproduce", "lab/holds", "--seeds", "1.5"], ["`seeds` must be a whole number ≥ 1, got '1.5'"]),
    (["reproduce", "lab/holds", "--seeds", "5000000"], ["`seeds` must be at most 1000000, got 5000000"]),
    (["reproduce", "lab/holds", "--seeds", "1" + "0" * 23], ["must be at most 1000000, got 1" + "0" * 23]),
    (["reproduce", "lab/holds", "--seeds"], ["--seeds"]),
    (["reproduce", "lab/holds", "--colour"], ["Unknown option: --colour"]),
    (["verify", "--accuracy", "lab.thrid"],
     ["No closed form is called 'lab.thrid'", "Did you mean lab.third"]),
    (["verify", "lab/eq9"], ["No check is called 'lab/eq9'", "Did you mean lab/eq"]),
    (["cite"], ["`cite` must be given at least one id, got none"]),
    (["cite", "linear-groking"], ["No experiment, check or paper is called", "linear-grokking"]),
    (["reprodce", "all"], ["reprodce", "reproduce"]),
    (["list", "extra"], ["extra"]),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda value: " ".join(value)[:40])
def test_bad_arguments(lazyrich, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    found = lazyrich(*arguments)
    refused(found, *words)
    assert found.out == ""
    machine = lazyrich(*arguments, "--json")
    refused(machine)
    if "--seeds" not in arguments[-1:]:  # there --json is taken for the number
        assert machine.json["schema_version"] == 1
        assert machine.json["exit_code"] == 2
        assert machine.json["error"]
    assert not list(tmp_path.iterdir()), "nothing may be created"


def test_a_data_folder_that_is_not_there(lazyrich, out, monkeypatch):
    monkeypatch.setenv("LAZYRICH_DATA", "/no/such/place")
    found = lazyrich("reproduce", "lab/holds", "lab/no-data", "--out", out)
    refused(found, "`LAZYRICH_DATA` must name a folder, got '/no/such/place'", "Unset it")
    assert not out.exists()
    assert lazyrich("reproduce", "lab/holds", "--out", out).code == 0, "it needs no data"


def test_data_that_cannot_be_used_stop_only_those_who_need_them(lazyrich, out, monkeypatch):
    monkeypatch.setenv("LAZYRICH_DATA", str(out.parent))
    found = lazyrich("reproduce", "lab/no-data", "lab/holds", "--out", out)
    refused(found)
    assert "DataError: " in found.out
    assert "must hold digits, got none. Put them there." in " ".join(found.out.split())
    assert "✓ holds" in found.out
    worse = lazyrich("reproduce", "lab/no-data", "lab/crash-run", "--out", out)
    assert worse.code == 3


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("a-file", ["a-file", "cannot be written: not a directory", "choose another folder"]),
        ("a-file/below", ["a-file/below", "not a directory", "choose another folder"]),
        linux(
            "/proc/nonexistent",
            ["/proc/nonexistent", "cannot be written: no such file or directory"],
        ),
        linux("/dev/full", ["/dev/full", "not a directory"]),
        ("/dev/null/x", ["/dev/null/x", "not a directory"]),
        ("x" * 300, ["cannot be written: file name too long", "Choose a shorter name"]),
    ],
    ids=lambda value: str(value)[:20],
)
def test_folders_that_cannot_be_written(lazyrich, tmp_path, monkeypatch, computed, place, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("mine")
    refused(lazyrich("reproduce", "lab/holds", "--out", place), *words)
    machine = lazyrich("reproduce", "lab/holds", "--out", place, "--json")
    assert (machine.code, machine.json["exit_code"]) == (2, 2)
    assert (tmp_path / "a-file").read_text() == "mine"
    assert computed() == []


@pytest.mark.parametrize("blocked", ["store", "checkpoints"])
def test_parts_of_the_folder_that_are_files(lazyrich, out, computed, blocked):
    out.mkdir()
    (out / blocked).write_text("mine")
    refused(
        lazyrich("reproduce", "lab/holds", "--out", out), f"out/{blocked}", "choose another folder"
    )
    assert computed() == []


def test_a_place_for_figures_that_is_a_file(lazyrich, out, computed):
    out.mkdir()
    (out / "quick").write_text("mine")
    found = lazyrich("reproduce", "lab/holds", "--out", out, "--json")
    refused(
        found, "quick/lab/holds/figure.png cannot be written", "The same command goes on from there"
    )
    assert found.json["experiments"] == []
    assert len(computed()) == 4
    (out / "quick").unlink()
    assert lazyrich("reproduce", "lab/holds", "--out", out).code == 0
    assert computed() == []


def test_a_gallery_that_cannot_be_written(lazyrich, out):
    (out / "index.html").mkdir(parents=True)
    found = lazyrich("reproduce", "lab/holds", "--out", out, "--json")
    refused(found, "index.html cannot be written: is a directory")
    assert found.json["gallery"] is None
    assert found.json["experiments"][0]["status"] == "done"


def test_folders_of_somebody_else_are_left_alone(lazyrich, out, monkeypatch):
    other = out / "a/b/c"
    other.mkdir(parents=True)
    (other / "mine.tmp").write_text("mine")
    listdir = os.listdir

    def unwilling(path):
        if str(path) == str(other):
            raise PermissionError(13, "Permission denied")
        return listdir(path)

    monkeypatch.setattr(os, "listdir", unwilling)
    assert lazyrich("reproduce", "lab/holds", "--out", out).code == 0
    assert (other / "mine.tmp").read_text() == "mine"


def test_paths_that_are_not_unicode(lazyrich, tmp_path):
    out = tmp_path / os.fsdecode(b"out-\xff")
    found = lazyrich("reproduce", "lab/holds", "--out", out, "--json")
    assert found.code == 0
    assert json.loads(found.out)["gallery"] == str(out / "index.html")
    assert lazyrich("reproduce", "lab/holds", "--out", out).code == 0
    assert (out / "index.html").exists()
