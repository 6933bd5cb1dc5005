"""Running one experiment: key, store, pieces, record."""

import dataclasses
import json
import math

import numpy as np
import pytest
import xarray

from lazyrich import plotting, store
from lazyrich.core import (
    ArgumentError,
    Cancelled,
    Claim,
    Context,
    Convention,
    Experiment,
    StoreError,
)
from lazyrich.runner import Folder, failure, reproduce, result_key


@dataclasses.dataclass(frozen=True)
class Config:
    num_seeds: int = 3
    horizon: float = 10.0
    sizes: tuple[int, ...] = (1, 2)


def run(config, context):
    parts = [
        context.keep(f"part-{size}", lambda size=size: xarray.Dataset({"x": ("time", np.arange(4.0) * size)}))
        for size in context.track(config.sizes, "sizes")
    ]  # fmt: skip
    return xarray.concat(parts, "size").assign_attrs(loss_convention="mean")


def claims(result, config):
    return [Claim("the sum", "Eq. 1", 18, result.x.sum(), num_seeds=config.num_seeds)]


def figure(result, config):
    picture, axes = plotting.new_figure(panel=(1, 1))
    axes[0, 0].plot(result.x.T)
    return picture


TRIAL = Experiment(
    paper="linear-grokking", item="trial", title="A trial", caption="Lines.",
    seconds={"quick": 1}, convention=Convention("mean", "t", "steps"), references=("linear-grokking",),
    presets={"quick": Config()}, run=run, claims=claims, figure=figure, module="lazyrich.core._seeds",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    warnings = []
    folder = Folder(tmp_path / "out", warn=warnings.append)
    object.__setattr__(folder, "warnings", warnings)
    return folder


def test_the_record(folder):
    record = reproduce(TRIAL, Config(), folder)
    home = folder.path / "quick/linear-grokking/trial"
    assert json.loads((home / "result.json").read_text()) == record
    assert record["schema_version"] == 1
    assert record["id"] == "linear-grokking/trial"
    assert record["config"] == {"num_seeds": 3, "horizon": 10.0, "sizes": [1, 2]}
    assert record["status"] == "done"
    assert record["claims"][0]["verdict"] == "holds"
    assert record["claims"][0]["measured"] == 18
    assert record["citation"]["bibtex"].startswith("@inproceedings{linear-grokking,")
    assert record["convention"]["time_unit"] == "steps"
    assert sorted(path.name for path in home.iterdir()) == [
        "data.lazyrich",
        "figure.png",
        "result.json",
    ]


def test_what_is_drawn_and_judged_is_what_is_stored(folder):
    seen = []
    watched = dataclasses.replace(
        TRIAL,
        claims=lambda result, config: seen.append(result) or claims(result, config),
        figure=lambda result, config: seen.append(result) or figure(result, config),
    )
    key = reproduce(watched, Config(), folder)["key"]
    reproduce(watched, Config(), folder)
    assert len(seen) == 4
    assert {store.content_digest(result) for result in seen} == {
        store.content_digest(folder.results.read(key))
    }


def test_an_experiment_is_shown_in_a_line():
    assert repr(TRIAL) == "<Experiment linear-grokking/trial: A trial; presets quick>"


def test_the_key_depends_on_id_configuration_and_code():
    keys = {
        result_key(TRIAL, Config()),
        result_key(TRIAL, Config(num_seeds=4)),
        result_key(TRIAL, Config(sizes=(1,))),
        result_key(TRIAL, Config(horizon=math.inf)),
        result_key(dataclasses.replace(TRIAL, item="other"), Config()),
        result_key(dataclasses.replace(TRIAL, module="lazyrich.core._ids"), Config()),
    }
    assert len(keys) == 6
    assert result_key(TRIAL, Config()) in keys
    assert result_key(dataclasses.replace(TRIAL, title="Renamed", seconds={}), Config()) in keys
    assert all(key.startswith("linear-grokking-") and len(key) < 80 for key in keys)


def test_is_computed_once(folder):
    calls = []
    counted = dataclasses.replace(TRIAL, run=lambda c, context: calls.append(c) or run(c, context))
    first = reproduce(counted, Config(), folder)
    second = reproduce(counted, Config(), folder)
    assert (len(calls), first["from_store"], second["from_store"]) == (1, False, True)
    reproduce(counted, Config(), folder, again=True)
    assert len(calls) == 2
    reproduce(counted, Config(num_seeds=9), folder)
    assert len(calls) == 3


def test_another_name_for_the_same_configuration_shares_its_result(folder):
    assert not reproduce(TRIAL, Config(), folder, preset="quick")["from_store"]
    assert reproduce(TRIAL, Config(), folder, preset="mine")["from_store"]
    assert (folder.path / "mine/linear-grokking/trial/figure.png").exists()


@pytest.mark.parametrize(
    ("config", "preset", "command"),
    [
        (Config(), "quick", "lazyrich reproduce linear-grokking/trial --preset quick"),
        (
            Config(num_seeds=5),
            "quick",
            "lazyrich reproduce linear-grokking/trial --preset quick --seeds 5",
        ),
        (Config(sizes=(1, 3)), "quick", ""),
        (Config(), "mine", ""),
    ],
)
def test_the_command_in_the_record_is_one_that_gives_the_same(folder, config, preset, command):
    assert reproduce(TRIAL, config, folder, preset=preset)["command"] == command


def test_goes_on_from_the_pieces_of_a_run_that_was_stopped(folder):
    reports, asked = [], iter([False, True])
    context = Context(should_stop=lambda: next(asked))
    with pytest.raises(Cancelled):
        reproduce(TRIAL, Config(), folder, context=context)
    [piece] = folder.checkpoints.keys()
    assert piece == f"{result_key(TRIAL, Config())}.part-1"
    computed = []

    def watched(config, context):
        save = lambda name, part: computed.append(name) or context.save(name, part)  # noqa: E731
        return run(config, dataclasses.replace(context, save=save))

    context = Context(report=lambda *what: reports.append(what))
    reproduce(dataclasses.replace(TRIAL, run=watched), Config(), folder, context=context)
    assert computed == ["part-2"]
    assert reports[-1] == ("sizes", 2, 2)
    assert folder.checkpoints.keys() == []


def test_pieces_of_other_configurations_are_not_taken(folder):
    other = result_key(TRIAL, Config(num_seeds=9))
    folder.checkpoints.write(f"{other}.part-1", xarray.Dataset({"x": ("time", np.full(4, 99.0))}))
    assert reproduce(TRIAL, Config(), folder)["claims"][0]["measured"] == 18
    assert folder.checkpoints.keys() == [f"{other}.part-1"]


def test_numbers_that_json_lacks(folder):
    record = reproduce(TRIAL, Config(horizon=math.inf), folder)
    text = (folder.path / "quick/linear-grokking/trial/result.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["config"]["horizon"] == "inf"
    assert record["status"] == "done"
    failed = failure(TRIAL, Config(horizon=math.nan), folder, "quick", ValueError("no"))
    assert failed["status"] == "failed"


def test_errors_of_the_experiment_reach_the_caller(folder):
    for broken, kind in [
        ({"run": lambda config, context: 1 / 0}, ZeroDivisionError),
        ({"run": lambda config, context: [1, 2]}, ArgumentError),
        ({"claims": lambda result, config: 1 / 0}, ZeroDivisionError),
        ({"figure": lambda result, config: 1 / 0}, ZeroDivisionError),
    ]:
        with pytest.raises(kind):
            reproduce(dataclasses.replace(TRIAL, **broken), Config(), folder)
        assert not (folder.path / "quick/linear-grokking/trial/result.json").exists()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("one\ntwo"), "ValueError: one"),
        (ValueError(), "ValueError: "),
        (KeyError("a"), "KeyError: 'a'"),
        (MemoryError(), "MemoryError: "),
        (OSError(2, "No such file", "\udcff"), "OSError"),
    ],
)
def test_the_record_of_a_failure(folder, error, text):
    record = failure(TRIAL, Config(), folder, "quick", error)
    path = folder.path / "quick/linear-grokking/trial/result.json"
    assert json.loads(path.read_text()) == record
    assert record["error"].startswith(text) or "FileNotFoundError" in record["error"]
    assert list(folder.records().values()) == [record]


def test_leaves_nothing_behind_when_it_cannot_write(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(StoreError, match="cannot be written"):
        reproduce(TRIAL, Config(), Folder(tmp_path / "out"))
    with pytest.raises(StoreError, match="cannot be written"):
        Folder(tmp_path / "out").prepare()
    assert (tmp_path / "out").read_text() == "mine"


def test_prepare_sweeps_what_killed_processes_left(folder):
    reproduce(TRIAL, Config(), folder)
    places = [".", "store", "checkpoints", "quick/linear-grokking/trial"]
    left = [folder.path / place / ".lazyrich-0123456789abcdef.tmp" for place in places]
    mine = [folder.path / place / ".lazyrich-mine.tmp" for place in places]
    for path in left + mine:
        path.write_bytes(b"half")
    folder.prepare()
    assert not [path for path in left if path.exists()]
    assert all(path.exists() for path in mine)
    assert folder.results.keys() == [result_key(TRIAL, Config())]


def test_records_by_file(folder):
    assert folder.records() == {}
    quick = reproduce(TRIAL, Config(), folder)
    other = reproduce(TRIAL, Config(), folder, preset="mine")
    home = "linear-grokking/trial/result.json"
    assert folder.records() == {
        folder.path / "quick" / home: quick,
        folder.path / "mine" / home: other,
    }
    (folder.path / "mine" / home).write_text("{}")
    assert list(folder.records().values()) == [quick]
    assert folder.warnings == [
        f"{folder.path / 'mine' / home} is left out of the gallery: it is not a record. "
        "Run its experiment again."
    ]


def test_warnings_are_optional(tmp_path):
    folder = Folder(tmp_path)
    key = reproduce(TRIAL, Config(), folder)["key"]
    folder.results.path(key).write_bytes(b"damaged")
    assert not reproduce(TRIAL, Config(), folder)["from_store"]
