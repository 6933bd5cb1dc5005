"""Kills at any moment: every finished piece is intact, and the same command ends as if undisturbed."""

import itertools
import json
import random
import signal

import numpy as np
import pytest
from cli_lab import EXPERIMENTS, until

from lazyrich import store

LONG = EXPERIMENTS["lab/long"].presets["quick"]
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT]


def ending(out, id):
    """What a reader of the folder sees in the end."""
    results = store.Store(out / "store")
    record = json.loads((out / "quick" / id / "result.json").read_text())
    digest = store.content_digest(results.read(record["key"]))
    data = store.content_digest(store.read_result(out / record["files"]["data"]))
    picture = (out / record["files"]["figure"]).read_bytes()
    return results.keys(), digest, data, picture, record["claims"], record["status"]


@pytest.fixture(scope="module")
def undisturbed(session_lab, tmp_path_factory):
    def run(id):
        out = tmp_path_factory.mktemp("undisturbed")
        assert session_lab.run("reproduce", id, "--out", out).code == 0
        return ending(out, id)

    return run


def check_pieces(out, config):
    """Assert that every piece is whole and right; return their names."""
    pieces = store.Store(out / "checkpoints")
    names = pieces.keys()
    for name in names:
        index = int(name.rpartition("-")[2])
        found = pieces.read(name)
        rng = np.random.default_rng(index)
        assert np.array_equal(found["values"], rng.standard_normal((config.num_seeds, 50)))
    return set(names)


def wait_for_pieces(job, out, goal):
    """Until there are so many pieces, or the job has ended."""
    place = out / "checkpoints"
    until(lambda: job.poll() is not None or len(list(place.glob("*.lazyrich"))) >= goal)


def test_killed_again_and_again(lab, out, undisturbed):
    rng, signals, log = random.Random(1), itertools.cycle(SIGNALS), out.with_name("log")
    command = ["reproduce", "lab/long", "--out", out, "--json"]
    num_kills, num_reused, before = 0, 0, set()
    while len(before) < LONG.num_pieces - 12:
        job, number = lab.start(*command, env={"LAB_LOG": str(log)}), next(signals)
        wait_for_pieces(job, out, goal=len(before) + rng.randint(1, 5))
        job.signal(number)
        assert job.wait().code == (-number if number == signal.SIGKILL else 130), "it was computing"
        assert store.Store(out / "store").keys() == []
        after = check_pieces(out, LONG)
        assert before < after, "nothing is lost, and it went on"
        num_kills, num_reused, before = num_kills + 1, num_reused + bool(before), after
    assert lab.run(*command, env={"LAB_LOG": str(log)}).code == 0
    assert num_kills >= 8
    assert num_reused >= 5
    computed = [word for word in log.read_text().split() if word != "run"]
    assert len(set(computed)) == LONG.num_pieces
    assert len(computed) <= LONG.num_pieces + num_kills, (
        "at most the piece at hand is computed twice"
    )
    assert ending(out, "lab/long") == undisturbed("lab/long")
    assert list((out / "checkpoints").iterdir()) == []
    assert not list(out.rglob(".lazyrich-*"))


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_struck_before_every_call_that_makes_a_file_last(lab, out, undisturbed, name):
    reference, log, strikes = undisturbed("lab/holds"), out.with_name("log"), 0
    for number in itertools.count(1):
        place = out / str(number)
        command = ["reproduce", "lab/holds", "--out", place, "--json"]
        log.unlink(missing_ok=True)
        struck = lab.run(*command, strike=[number, name], env={"LAB_LOG": str(log)})
        if f"struck-{name}" not in log.read_text():
            assert struck.code == 0
            break
        strikes += 1
        if name == "SIGKILL":
            assert struck.code == -signal.SIGKILL
        else:
            assert struck.code == struck.json["exit_code"] == 130
            assert not list(place.rglob(".lazyrich-*"))
            started = "experiments" in struck.json
            assert (place / "index.html").exists() == started
            assert started or number <= 6, "while the folder is tried there is nothing to show"
        check_pieces(place, EXPERIMENTS["lab/holds"].presets["quick"])
        assert lab.run(*command).code == 0
        assert ending(place, "lab/holds") == reference
        assert not list(place.rglob(".lazyrich-*"))
    assert strikes >= 25, (
        "two probes, three pieces, a result, a figure, data, a record and a gallery"
    )
