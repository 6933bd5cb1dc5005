"""The real thing at a toy size: killed while it computes, resumed, and against what it really imports."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import fig1_worker
import pytest

from lazyrich import experiments, store
from lazyrich.runner import modules_used

INFRASTRUCTURE = ("lazyrich.cli", "lazyrich.runner", "lazyrich.store", "lazyrich.plotting", "lazyrich.report",
                  "lazyrich.checks", "lazyrich.core._lazy")  # fmt: skip
# what only the registry, the runner and experiments of other papers need of core
AROUND = {"_experiment", "_check", "_accuracy", "_ids", "_bibliography", "_config", "_centring"}


@pytest.fixture
def start(tmp_path):
    """A function that starts the command on a folder below `tmp_path`."""
    processes = []

    def start(name):
        command = [
            sys.executable,
            fig1_worker.__file__,
            str(tmp_path / f"{name}.modules"),
            "reproduce",
        ]
        command += [fig1_worker.ID, "--out", str(tmp_path / name), "--json"]
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


def finish(process):
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def pieces(out):
    place = store.Store(out / "checkpoints")
    return {key: store.content_digest(place.read(key)) for key in place.keys()}  # noqa: SIM118


def wait_for_pieces(process, out, number):
    end = time.monotonic() + 600
    while len(list((out / "checkpoints").glob("*.lazyrich"))) < number:
        assert process.poll() is None, finish(process)
        assert time.monotonic() < end
        time.sleep(0.005)


def test_killed_and_resumed_is_identical_and_the_digest_covers_what_is_imported(tmp_path, start):
    out = tmp_path / "disturbed"
    undisturbed, kept = start("undisturbed"), {}
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        process = start("disturbed")
        wait_for_pieces(process, out, len(kept) + 2)
        process.send_signal(number)
        code, text, err = finish(process)
        assert code == (-9 if number == signal.SIGKILL else 130), err
        assert "Traceback" not in err
        if number != signal.SIGKILL:
            assert json.loads(text)["exit_code"] == 130
        assert store.Store(out / "store").keys() == []
        assert kept.items() <= pieces(out).items()
        kept = pieces(out)
    written = {path: path.stat().st_mtime_ns for path in (out / "checkpoints").iterdir()}
    process = start("disturbed")
    wait_for_pieces(process, out, len(kept) + 1)
    assert all(path.stat().st_mtime_ns == when for path, when in written.items()), (
        "pieces are reused"
    )
    code, text, err = finish(process)
    assert code == 0
    assert all(
        line.endswith("of 1 experiments: linear-grokking/fig1") for line in err.split("\n") if line
    )
    whole = json.loads(finish(undisturbed)[1])["experiments"][0]
    resumed = json.loads(text)["experiments"][0]
    assert resumed["key"] == whole["key"]
    assert resumed["claims"] == whole["claims"]
    results = [
        tmp_path / name / "store" / f"{whole['key']}.lazyrich"
        for name in ("disturbed", "undisturbed")
    ]
    one, two = (store.content_digest(store.read_result(path)) for path in results)
    assert one == two
    check_modules(json.loads((tmp_path / "undisturbed.modules").read_text()))


def check_modules(loaded):
    """Every module of ours that ran is one that the digest covers."""
    used = modules_used("lazyrich.experiments.linear_grokking.fig1")
    ours = {name for name in loaded if name.startswith("lazyrich.")}
    packages = {name for name in ours if Path(sys.modules["lazyrich"].__file__).parent.joinpath(
        *name.split(".")[1:], "__init__.py").exists()}  # fmt: skip
    missed = {name for name in ours - packages - used if not name.startswith(INFRASTRUCTURE)}
    # the registry reads all experiments, and with them what only other papers' experiments share
    others = {name for id in experiments.ids() if not id.startswith("linear-grokking/")
              for name in modules_used(experiments.get(id).module)
              if name.startswith("lazyrich.experiments.") and "linear_grokking" not in name}  # fmt: skip
    missed -= others - {"lazyrich.experiments._over_seeds"}
    missed -= {experiments.get(id).module for id in experiments.ids()}
    assert missed <= {f"lazyrich.core.{name}" for name in AROUND}
    assert len(ours & used) > 10
