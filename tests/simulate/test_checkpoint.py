"""A run that is stopped or killed goes on, and ends as one that was not."""

import dataclasses
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from lazyrich import groups, models, simulate, store, tasks
from lazyrich.core import ArgumentError, Cancelled, Context
from lazyrich.simulate import _checkpoint, _gradient_descent


@dataclasses.dataclass(frozen=True)
class Alone(simulate.FeatureLearning):
    """One run after another, as large networks have it, so that there are several checkpoints."""

    runs_together = 1


TRAINING = Alone(
    models.PairNetwork(5, 12),
    tasks.GroupArithmetic(groups.cyclic(5), 0.6),
    records=("weights", "change"),
)
STEPS = [0, 3, 10, 11, 40]
RUNS = {
    "seeds": [0, 7], "optimizer": "adam", "learning_rate": [0.01, 0.05], "weight_decay": 1e-3,
}  # fmt: skip
DIGITS = simulate.Classification(
    models.MLP((64, 8, 10), "tanh"), tasks.DigitClassification(20, 30, source="packaged"), 0.1
)


def probe_of(name, levels):
    """Records the first row of weights beyond some levels, an array that the function holds."""
    return lambda training, weights, data: {name: weights.first[0] - np.asarray(levels)}


PROBED = dataclasses.replace(TRAINING, probe=probe_of("row", np.arange(12.0)))


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(_checkpoint, "SECONDS", 0.0)


def context_of(folder, **more):
    kept = store.Store(folder)
    return Context(load=kept.get, save=kept.write, **more)


def descent(training=TRAINING, steps=STEPS, **more):
    return simulate.gradient_descent(training, steps, **(RUNS | more))


def assert_same(run, other):
    assert run.attrs == other.attrs
    assert set(run) == set(other)
    for name in run:
        np.testing.assert_array_equal(run[name], other[name])


def stop_after(reports):
    """Asks to stop when so many reports of progress were made."""
    seen = []
    return {
        "report": lambda label, done, total: seen.append(done),
        "should_stop": lambda: len(seen) > reports,
    }


def test_stopped_anywhere_it_ends_the_same(tmp_path):
    whole = descent()
    for reports in range(1, 14, 3):
        folder = tmp_path / str(reports)
        with pytest.raises(Cancelled):
            descent(context=context_of(folder, **stop_after(reports)), checkpoint="a")
        seen = []
        again = context_of(folder, report=lambda label, done, total, seen=seen: seen.append(done))
        assert_same(descent(context=again, checkpoint="a"), whole)
        assert seen[-1] == 160
        if reports > 5:
            assert seen[0] > 0  # it went on, and did not begin again


def test_a_finished_run_is_not_run_again(tmp_path):
    whole = descent(context=context_of(tmp_path), checkpoint="a")
    kept = store.Store(tmp_path)
    assert kept.keys() == ["a-0", "a-1", "a-2", "a-3"]
    assert not any(str(name).startswith("moving") for name in kept.read("a-0"))
    reads = {"load": kept.get, "save": kept.write, **stop_after(100)}
    assert_same(descent(context=Context(**reads), checkpoint="a"), whole)


def test_minibatches_and_batches_of_runs(tmp_path):
    arguments = {
        "training": DIGITS, "batch_size": 8, "weight_decay": None, "learning_rate": 0.01,
        "steps": [1, 5, 30],
    }  # fmt: skip
    whole = descent(**arguments)
    with pytest.raises(Cancelled):
        descent(**arguments, context=context_of(tmp_path, **stop_after(2)), checkpoint="b")
    assert store.Store(tmp_path).keys() == ["b-0"]
    assert_same(descent(**arguments, context=context_of(tmp_path), checkpoint="b"), whole)


def test_where_the_loop_is_cut_changes_nothing(monkeypatch):
    whole = descent(seeds=[0], learning_rate=0.01)
    monkeypatch.setattr(_gradient_descent, "SPAN", 0.0)  # one step at a time
    assert_same(descent(seeds=[0], learning_rate=0.01), whole)


@pytest.mark.parametrize(
    "change",
    [
        {"learning_rate": [0.02, 0.05]},
        {"weight_decay": 2e-3},
        {"optimizer": "adamw"},
        {"seeds": [1, 7]},
        {"steps": [0, 3, 12]},
        {"dtype": "float64"},
        {"training": dataclasses.replace(TRAINING, centring="samples")},
        {"training": dataclasses.replace(TRAINING, initial_scale=2.0)},
        {"training": dataclasses.replace(TRAINING, network=models.PairNetwork(5, 12, activation="relu"))},
        {"training": dataclasses.replace(TRAINING, task=tasks.GroupArithmetic(groups.cyclic(5), 0.5))},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_another_configuration_is_refused_and_nothing_lost(change, tmp_path):
    kept = store.Store(tmp_path)
    with pytest.raises(Cancelled):
        descent(context=context_of(tmp_path, **stop_after(3)), checkpoint="a")
    before = kept.path("a-0").read_bytes()
    with pytest.raises(
        ArgumentError, match="`checkpoint` must be a name that no other configuration"
    ):
        descent(**change, context=context_of(tmp_path), checkpoint="a")
    assert kept.path("a-0").read_bytes() == before


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(PROBED, records=("change",)),
        dataclasses.replace(PROBED, records=("weights",)),
        dataclasses.replace(PROBED, probe=None),
        dataclasses.replace(PROBED, probe=probe_of("line", np.arange(12.0))),
        dataclasses.replace(PROBED, probe=probe_of("row", np.arange(12.0) + 1)),
    ],
    ids=["no weights", "no change", "no probe", "name", "array"],
)
def test_a_run_that_records_something_else_is_refused(other, tmp_path):
    """Also when it was finished: its records would be those of the other."""
    descent(PROBED, context=context_of(tmp_path), checkpoint="a")
    again = dataclasses.replace(PROBED, probe=probe_of("row", np.arange(12.0)))
    descent(again, context=context_of(tmp_path), checkpoint="a")
    with pytest.raises(
        ArgumentError, match="`checkpoint` must be a name that no other configuration"
    ):
        descent(other, context=context_of(tmp_path), checkpoint="a")


CHILD = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import test_checkpoint as t
from lazyrich.simulate import _checkpoint
_checkpoint.SECONDS = 0.0
def report(label, done, total):
    if done > 50:  # of 4 × 40
        os.kill(os.getpid(), signal.SIGKILL)
t.descent(context=t.context_of({folder!r}, report=report), checkpoint="a")
"""


def test_killed_in_another_process_it_ends_the_same(tmp_path):
    code = CHILD.format(tests=os.path.dirname(__file__), folder=str(tmp_path))
    child = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    kept = store.Store(tmp_path)
    assert "a-1" in kept
    assert not kept.read("a-1").attrs["finished"]  # the kill came half-way through the second run
    assert_same(descent(context=context_of(tmp_path), checkpoint="a"), descent())
