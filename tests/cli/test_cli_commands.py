"""`list`, `verify` and `cite`, for people and for machines."""

import re

import pytest
from cli_lab import CHECKS, EXPERIMENTS, FORMS

from lazyrich import checks, experiments


def test_list_shows_everything(lazyrich):
    shown = lazyrich("list")
    assert (shown.code, shown.err) == (0, "")
    for item in [*EXPERIMENTS.values(), *CHECKS.values(), *FORMS.values()]:
        assert item.id in shown.out
        assert item.title in shown.out
    found = lazyrich("list", "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json["schema_version"] == 1
    assert [e["id"] for e in found.json["experiments"]] == list(EXPERIMENTS)
    assert [c["id"] for c in found.json["checks"]] == list(CHECKS)
    assert [f["id"] for f in found.json["accuracy"]] == list(FORMS)
    assert found.json["experiments"][0] == {
        "id": "lab/holds", "title": "Experiment holds of λ", "seconds": {"quick": 1, "paper": 2},
    }  # fmt: skip


def test_the_real_registries(real):
    found = real("list", "--json").json
    assert [e["id"] for e in found["experiments"]] == experiments.ids()
    assert [c["id"] for c in found["checks"]] == checks.ids()
    assert "linear-grokking/fig1" in experiments.ids()
    assert {f"linear-grokking/eq{n}" for n in range(3, 12)} <= set(checks.ids())
    for registry in (experiments, checks):
        for id in registry.ids():
            assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", id)
            assert registry.get(id).id == id


@pytest.mark.parametrize(
    ("ids", "code"),
    [
        (["lab/eq1"], 0),
        (["lab/eq*"], 0),
        (["lab/eq*", "lab/thm-fails"], 1),
        (["lab/thm-crashes", "lab/eq1"], 3),
        (["lab/thm-leaves", "lab/thm-fails", "lab/eq1"], 3),
    ],
)
def test_exit_codes_of_verify(lazyrich, ids, code):
    assert lazyrich("verify", *ids).code == code
    found = lazyrich("verify", *ids, "--json")
    assert found.code == found.json["exit_code"] == code
    assert found.json["schema_version"] == 1


def test_verify_shows_errors_and_verdicts(lazyrich):
    ids = ["lab/eq*", "lab/thm-fails", "lab/thm-crashes"]
    shown = lazyrich("verify", *ids)
    for words in (
        "✓ holds", "✎ corrected", "≠ departs", "✗ fails", "! crashed", "1e-12", "∞", "nan", "brute force",
        "a factor 2", "not so", "5 checks: 1 holds", "RuntimeError: the λ of",
    ):  # fmt: skip
        assert words in shown.out
    records = lazyrich("verify", *ids, "--json").json["checks"]
    assert [r["verdict"] for r in records] == ["holds", "corrected", "departs", "fails", "crashed"]
    assert records[0]["num_cases"] == 3
    assert records[2]["printed_error"] == "inf"
    assert records[3]["error"] == "nan"
    assert records[4]["error_message"].startswith("RuntimeError: the λ of this run is λ")


def test_verify_does_all_by_default(lazyrich, monkeypatch):
    monkeypatch.setattr(
        checks, "_registry", lambda: {id: CHECKS[id] for id in ("lab/eq1", "lab/eq2")}
    )
    assert [c["id"] for c in lazyrich("verify", "--json").json["checks"]] == ["lab/eq1", "lab/eq2"]
    assert lazyrich("verify", "all").code == 0


def test_verify_really(real):
    found = real("verify", "linear-grokking/eq4", "--json")
    assert found.code == 0
    assert found.json["checks"][0]["verdict"] == "holds"


@pytest.mark.parametrize(
    ("ids", "code"),
    [
        (["lab.third"], 0),
        (["lab.third", "lab.exp*"], 0),
        (["lab.third", "lab.wrong"], 1),
        (["lab.wrong", "lab.crashes"], 3),
    ],
)
def test_exit_codes_of_verify_accuracy(lazyrich, ids, code):
    assert lazyrich("verify", "--accuracy", *ids).code == code
    found = lazyrich("verify", "--accuracy", *ids, "--json")
    assert found.code == found.json["exit_code"] == code
    assert found.json["schema_version"] == 1


def test_verify_accuracy_shows_errors_and_explanations(lazyrich):
    ids = ["lab.third", "lab.explained", "lab.wrong", "lab.crashes"]
    shown = lazyrich("verify", "--accuracy", *ids)
    for words in (
        "✓ holds", "≈ explained", "✗ fails", "! crashed", "1e-9", "long division", "three values of λ",
        "worst at x = ", "ill-conditioned", "error 1e-09 exceeds 1e-12, and nothing says why",
        "4 closed forms, 9 points: 1 holds, 1 fails, 1 crashed, 1 explained", "RuntimeError: the λ of",
    ):  # fmt: skip
        assert words in shown.out
    records = lazyrich("verify", "--accuracy", *ids, "--json").json["accuracy"]
    assert [r["verdict"] for r in records] == ["holds", "explained", "fails", "crashed"]
    assert records[0]["num_points"] == 3
    assert records[1]["error"] == pytest.approx(1e-9, rel=1e-4)


def test_verify_accuracy_in_markdown(lazyrich):
    found = lazyrich("verify", "--accuracy", "--markdown", "lab.third", "lab.explained")
    lines = found.out.splitlines()
    row = "| `lab.third` | Form third of λ. Against long division. On three values of λ. | 3 | "
    assert lines[2].startswith(row)
    assert lines[-1] == "1. `lab.explained`: ill-conditioned"
    for wrong in (["--markdown"], ["--accuracy", "--markdown", "--json"]):
        refused = lazyrich("verify", *wrong)
        assert refused.code == 2
        assert "`markdown` must come with --accuracy and without --json" in refused.err


def test_cite(lazyrich):
    shown = lazyrich("cite", "lab/holds", "lab/honest")
    assert (shown.code, shown.err) == (0, "")
    assert re.findall(r"@\w+\{(.+),", shown.out) == ["linear-grokking", "omnigrok"]
    found = lazyrich("cite", "lab/holds", "--json").json
    assert found["schema_version"] == 1
    assert found["ids"] == ["lab/holds"]
    assert [r["key"] for r in found["references"]] == ["linear-grokking", "omnigrok"]
    assert found["references"][0]["bibtex"] in shown.out


@pytest.mark.parametrize(
    "id", ["linear-grokking/fig1", "linear-grokking/eq8", "linear-grokking", "*/fig1"]
)
def test_cite_really(real, id):
    assert real("cite", id).out.startswith("@inproceedings{linear-grokking,\n")


@pytest.mark.parametrize(
    "command", [[], ["--help"], ["reproduce", "--help"], ["verify", "-h"], ["--version"]]
)
def test_help(lazyrich, command):
    shown = lazyrich(*command)
    assert (shown.code, shown.err) == (0, "")
    assert "lazyrich" in shown.out or shown.out == "0.1.0\n"
