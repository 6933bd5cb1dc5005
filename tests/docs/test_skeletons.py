"""What `docs/skeletons` has to copy works as it stands there."""

import doctest
import importlib.util
import sys
from pathlib import Path

import pytest
from tests.house.bad_input import engine

from lazyrich import core, measures, theory

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "skeletons"


def skeleton(name, monkeypatch):
    """The module that a skeleton is, registered under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"skeleton_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def assert_examples_hold(module):
    failed, attempted = doctest.testmod(module)
    assert attempted > 0
    assert failed == 0


def assert_bad_input_is_refused(package, rows, monkeypatch):
    """The matrix of `tests/house/bad_input`, with the skeleton's own rows in its tables."""
    public = engine.public_callables(package)
    for name, entry in rows.CALLS.items():
        owner, _, method = name.partition(".")
        kind = getattr(sys.modules[f"lazyrich.{package}"], owner)
        monkeypatch.setitem(public, name, getattr(kind, method) if method else kind)
        monkeypatch.setitem(engine.table(package).CALLS, name, entry)
        assert set(engine.parameters(public[name])) == set(entry)
    for key, meaning in rows.MEANING.items():
        monkeypatch.setitem(engine.table(package).MEANING, key, meaning)
    found = [
        (case, engine.verdict(package, case))
        for name, entry in rows.CALLS.items()
        for argument in entry
        for case in engine.cases(package, name, argument)
    ]
    assert found
    wrong = [
        f"{case.callable}({case.argument}: {case.kind}) {what}" for case, what in found if what
    ]
    assert not wrong, "\n" + "\n".join(wrong)
    used = {engine.rule(package, case) for case, _ in found}
    assert set(rows.MEANING) <= used


def test_skeleton_of_a_solution(monkeypatch):
    module = skeleton("solution", monkeypatch)
    monkeypatch.setattr(theory, "QuadraticValley", module.QuadraticValley, raising=False)
    assert_examples_hold(module)
    for section in (
        "$$",
        "Symbols:",
        "Source:",
        "Holds when:",
        "Computed as:",
        "Checked by:",
        "Example:",
    ):
        assert section in module.QuadraticValley.__doc__
    with pytest.raises(core.ArgumentError, match=r"`learning_rate` must be .* > 0, got 0\.0\. Use"):
        module.QuadraticValley(1.0, 0.0)
    assert_bad_input_is_refused("theory", skeleton("solution_rows", monkeypatch), monkeypatch)


def test_skeleton_of_a_measure(monkeypatch):
    module = skeleton("measure", monkeypatch)
    monkeypatch.setattr(measures, "decay_rate", module.decay_rate, raising=False)
    assert_examples_hold(module)
    for section in ("Args:", "Returns:", "Example:"):
        assert section in module.decay_rate.__doc__
    with pytest.raises(
        core.ArgumentError, match=r"`curve` must have the shape \(3,\) of `time`, got"
    ):
        module.decay_rate([0, 1, 2], [1.0, 1.0])
    assert_bad_input_is_refused("measures", skeleton("measure_rows", monkeypatch), monkeypatch)


def test_skeleton_of_an_experiment(monkeypatch):
    experiment = core.Experiment.of(skeleton("experiment", monkeypatch))
    assert set(experiment.presets) == set(experiment.seconds) == {"quick", "paper"}
    config = experiment.config("quick")
    assert core.config_from_json(type(config), core.config_to_json(config)) == config
    result = experiment.run(config, core.Context())
    assert [str(claim.verdict) for claim in experiment.claims(result, config)] == ["holds"]
    assert experiment.figure(result, config).axes
    assert all(core.reference(key) for key in experiment.references)


def test_skeleton_of_a_check(monkeypatch):
    check = skeleton("check", monkeypatch).eq0
    assert isinstance(check, core.Check)
    assert check.run().verdict == core.Verdict.HOLDS


def test_skeleton_of_an_accuracy_entry(monkeypatch):
    entry = skeleton("accuracy", monkeypatch).decay
    assert isinstance(entry, core.Accuracy)
    result = entry.run()
    assert (result.verdict, result.num_points) == ("holds", 51)


def test_every_skeleton_is_shown():
    page = (FOLDER / "index.md").read_text(encoding="utf-8")
    files = {path.name for path in FOLDER.glob("*.py")}
    assert {file for file in files if f"{{literalinclude}} {file}\n" not in page} == set()
    links = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {file for file in files if f"](docs/skeletons/{file})" not in links} == set()
