"""Full disks, and two processes on one folder."""

import json

import pytest

from lazyrich import store


def digests(out):
    results = store.Store(out / "store")
    return {key: store.content_digest(results.read(key)) for key in results.keys()}  # noqa: SIM118


def numbers(out):
    records = sorted(out.glob("*/*/*/result.json"))
    return [(r["id"], r["claims"]) for r in map(json.loads, (path.read_text() for path in records))]


@pytest.fixture(scope="module")
def undisturbed(session_lab, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    assert session_lab.run("reproduce", "lab/holds", "lab/honest", "--out", out).code == 0
    return digests(out), numbers(out)


@pytest.mark.parametrize("room", range(0, 30_000, 2500))
def test_a_disk_that_fills_up(lab, out, undisturbed, room):
    command = ["reproduce", "lab/holds", "lab/honest", "--out", out, "--json"]
    found = lab.run(*command, full_after=room)
    if found.code:
        assert found.code == found.json["exit_code"] == 2
        assert "no space left on device" in found.json["error"]
        assert "Free some space or choose another folder" in found.err
        assert "Traceback" not in found.err
    else:
        assert room > 10_000
    assert not list(out.rglob(".lazyrich-*"))
    before, kept = digests(out), len(store.Store(out / "checkpoints").keys())
    assert before.items() <= undisturbed[0].items()
    log = out.with_name("log")
    assert lab.run(*command, env={"LAB_LOG": str(log)}).code == 0
    assert (digests(out), numbers(out)) == undisturbed
    words = log.read_text().split() if log.exists() else []
    assert len(words) == 4 * (2 - len(before)) - kept, "what was there is not computed again"


def test_a_limit_on_the_size_of_files(lab, out, undisturbed):
    command = ["reproduce", "lab/holds", "lab/honest", "--out", out, "--json"]
    found = lab.run(*command, file_limit=3000)
    assert found.code == found.json["exit_code"] == 2
    assert "cannot be written: file too large. Raise the limit on file sizes" in found.json["error"]
    assert not list(out.rglob(".lazyrich-*"))
    assert lab.run(*command).code == 0
    assert (digests(out), numbers(out)) == undisturbed


@pytest.mark.parametrize("again", [[], ["--again"]])
def test_two_processes_on_one_folder(lab, out, again):
    command = ["reproduce", "lab/long", "lab/holds", "--out", out, "--json", *again]
    jobs = [lab.start(*command) for _ in range(2)]
    found = [job.wait() for job in jobs]
    assert [f.code for f in found] == [0, 0]
    assert all("Traceback" not in f.err for f in found)
    one, two = ([(r["key"], r["claims"]) for r in f.json["experiments"]] for f in found)
    assert one == two
    alone = lab.run("reproduce", "lab/long", "lab/holds", "--out", out.with_name("alone"), "--json")
    assert [(r["key"], r["claims"]) for r in alone.json["experiments"]] == one
    assert digests(out) == digests(out.with_name("alone"))
    assert store.Store(out / "checkpoints").keys() == []
    assert not list(out.rglob(".lazyrich-*"))
    page = (out / "index.html").read_text()
    assert "Experiment long of λ" in page
    assert "Experiment holds of λ" in page
