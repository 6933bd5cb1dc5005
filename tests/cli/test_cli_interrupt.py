"""Ctrl-C and SIGTERM: a clean stop, finished work kept, the same command goes on."""

import json
import signal

import pytest
from cli_lab import until

from lazyrich import store


def pieces(out):
    return store.Store(out / "checkpoints").keys()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_stops_cleanly_and_goes_on(lab, out, name):
    ids = ["lab/holds", "lab/interrupted", "lab/long"]
    found = lab.run("reproduce", *ids, "--out", out, "--json", env={"LAB_SIGNAL": name})
    assert found.code == 130
    assert "Traceback" not in found.err
    assert "lazyrich: interrupted\n" in found.err
    assert "1 of 3 experiments are finished and kept" in found.err
    assert "The same command goes on from there." in found.err
    assert (found.json["exit_code"], found.json["error"]) == (130, "interrupted")
    assert [r["id"] for r in found.json["experiments"]] == ["lab/holds"]
    assert "Experiment holds of λ" in (out / "index.html").read_text()
    assert [piece.rpartition(".")[2] for piece in pieces(out)] == ["piece-0", "piece-1"]
    log = out.with_name("log")
    peace = {"LAB_PEACE": "1", "LAB_LOG": str(log)}
    found = lab.run("reproduce", *ids[:2], "--out", out, "--json", env=peace)
    assert found.code == 0
    assert log.read_text().split() == ["piece-2", "piece-3", "piece-4", "run"]
    assert [r["from_store"] for r in found.json["experiments"]] == [True, False]
    assert pieces(out) == []


def test_tells_people_what_is_finished(lab, out):
    found = lab.run("reproduce", "lab/holds", "lab/interrupted", "--out", out)
    assert found.code == 130
    assert "1 claim: 1 holds" in found.out
    assert f"Gallery: {out}/index.html" in found.out
    nothing = lab.run("reproduce", "lab/interrupted", "--out", out.with_name("other"))
    assert "0 of 1 experiments are finished and kept, and so are finished pieces" in nothing.err


@pytest.mark.parametrize("id", ["lab/swallowed", "lab/disguised"])
def test_an_interrupt_that_a_library_loses_still_stops(lab, out, id):
    found = lab.run("reproduce", id, "lab/holds", "--out", out, "--json")
    assert found.code == 130
    assert not (out / "quick" / id / "result.json").exists()
    assert all(r["status"] == "done" for r in found.json["experiments"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_from_outside(lab, out, number):
    job = lab.start("reproduce", "lab/long", "--out", out, "--json")
    until(lambda: len(pieces(out)) >= 3)
    job.signal(number)
    found = job.wait()
    assert found.code == found.json["exit_code"] == 130
    assert 3 <= len(pieces(out)) < 60


def test_twice(lab, out):
    job = lab.start("reproduce", "lab/long", "--out", out, "--json")
    until(lambda: pieces(out))
    job.signal(signal.SIGINT)
    if job.poll() is None:
        job.signal(signal.SIGINT)
    found = job.wait()
    assert found.code == 130
    assert "Traceback" not in found.err
    assert json.loads(found.out)["exit_code"] == 130


def test_signals_that_were_ignored_stay_ignored(lab, out):
    ignore = ["SIGINT", "SIGTERM"]
    job = lab.start("reproduce", "lab/long", "--out", out, "--json", ignore=ignore)
    until(lambda: pieces(out))
    job.signal(signal.SIGINT)
    job.signal(signal.SIGTERM)
    assert job.wait().code == 0


@pytest.mark.parametrize("machine", [["--json"], []])
def test_verify(lab, machine):
    found = lab.run("verify", "lab/eq1", "lab/thm-crashes", "lab/thm-interrupted", *machine)
    assert found.code == 130
    assert "Interrupted after 2 of 3 checks." in found.err
    if machine:
        assert found.json["exit_code"] == 130
        assert [c["verdict"] for c in found.json["checks"]] == ["holds", "crashed"]
    else:
        assert "2 checks: 1 holds, 1 crashed" in found.out
