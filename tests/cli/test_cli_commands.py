"""`list`, `verify` and `cite`, for people and for machines."""

import re

import pytest
from cli_lab import CHECKS, EXPERIMENTS

from lazyrich import checks, experiments


def test_list_shows_everything(lazyrich):
    shown = lazyrich("list")
    assert (shown.code, shown.err) == (0, "")
    for item in [*EXPERIMENTS.values(), *CHECKS.values()]:
        assert item.id in shown.out
        assert item.title in shown.out
    found = lazyrich("list", "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json["schema_version"] == 1
    assert [e["id"] for e in found.json["experiments"]] == list(EXPERIMENTS)
    assert [c["id"] for c in found.json["checks"]] == list(CHECKS)
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
