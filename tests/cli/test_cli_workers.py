"""Several experiments at once: the same results, and nothing that one does can stop the others."""

import json
import signal

import pytest
from cli_lab import until

from lazyrich import store

IDS = ["lab/holds", "lab/honest", "lab/fails", "lab/other", "lab/no-claims"]


def digests(out):
    results = store.Store(out / "store")
    keys = results.keys()
    return {key: store.content_digest(results.read(key)) for key in keys}


def num_pieces(out):
    return len(list((out / "checkpoints").glob("*.lazyrich")))


def test_as_one_after_the_other(lab, out):
    found = {}
    for workers in (1, 2, 3):
        place = out / str(workers)
        found[workers] = lab.run(
            "reproduce", *IDS, "--out", place, "--json", "--workers", workers
        ).json
        assert [r["id"] for r in found[workers]["experiments"]] == IDS
        assert digests(place) == digests(out / "1")
    for one, other in zip(found[1]["experiments"], found[3]["experiments"], strict=True):
        assert one["claims"] == other["claims"]
    assert {f["exit_code"] for f in found.values()} == {1}, "one claim fails"


def test_what_crashes_or_dies_stops_nobody(lab, out):
    ids = ["lab/dies", "lab/crash-run", "lab/holds", "lab/leaves", "lab/other"]
    found = lab.run("reproduce", *ids, "--out", out, "--json", "--workers", 2)
    assert found.code == 3
    records = {r["id"]: r for r in found.json["experiments"]}
    assert [records[id]["status"] for id in ids] == ["failed", "failed", "done", "failed", "done"]
    assert "the process that ran it was ended by signal 9" in records["lab/dies"]["error"]
    assert "the λ of this run is λ" in found.err
    assert json.loads((out / "quick/lab/dies/result.json").read_text())["status"] == "failed"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(lab, out, number):
    ids = ["lab/long", "lab/long-too"]
    job = lab.start("reproduce", *ids, "--out", out, "--json", "--workers", 2)
    until(lambda: num_pieces(out) >= 6)
    job.signal(number)
    found = job.wait()
    assert found.code == found.json["exit_code"] == 130
    assert "Traceback" not in found.err
    before = num_pieces(out)
    assert 6 <= before < 120
    assert not list(out.rglob(".lazyrich-*"))
    assert lab.run("reproduce", *ids, "--out", out, "--workers", 2).code == 0
    assert num_pieces(out) == 0


def test_who_is_killed_leaves_no_workers(lab, out):
    job = lab.start("reproduce", "lab/long", "lab/long-too", "--out", out, "--workers", 2)
    until(lambda: num_pieces(out) >= 4)
    children = _children(job.pid)
    assert len(children) >= 2, "they were at work"
    job.signal(signal.SIGKILL)
    job.wait()
    until(lambda: not any(_alive(child) for child in children))


def test_a_full_disk(lab, out):
    found = lab.run("reproduce", *IDS, "--out", out, "--json", "--workers", 2, full_after=4000)
    assert found.code == 2
    assert "no space left" in found.json["error"]


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "many"])
def test_bad_numbers(lab, out, number):
    found = lab.run("reproduce", "lab/holds", "--out", out, "--workers", number)
    assert found.code == 2
    assert "`workers` must be a" in found.err


def test_checks(lab):
    forms = lab.run("verify", "--accuracy", "lab.third", "lab.wrong", "--json", "--workers", 2)
    assert [f["verdict"] for f in forms.json["accuracy"]] == ["holds", "fails"]
    found = lab.run("verify", "lab/eq1", "lab/eq2", "lab/thm-crashes", "--json", "--workers", 2)
    assert [c["verdict"] for c in found.json["checks"]] == ["holds", "corrected", "crashed"]
    assert found.code == 3


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
