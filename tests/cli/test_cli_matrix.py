"""Every command and every option of it, with values that it cannot use.

Each is refused with the usage code and a message that names the option; nothing is computed and nothing is
written. The commands run in this process, on the experiments of the lab.
"""

import inspect
import json
import os
import runpy
import sys
from pathlib import Path

import pytest

from lazyrich import __version__
from lazyrich.cli import _app

VALID = {
    "cite": ["linear-grokking"],
    "list": [],
    "reproduce": ["lab/holds"],
    "verify": ["lab/eq1"],
}
"""Commands with arguments that they accept."""

NUMBERS = ["", "abc", "1.5", "nan", "inf", "-1", "0", "1e3", "True", "1;2", "9" * 5000]
FLAGS = ["", "maybe", "2", "None"]
IDS = ["", " ", "nope", "lab", "LAB/HOLDS", "lab/[", "\0", "é" * 3000, "nope/*"]
FOLDERS = ["", " ", "a-file", "a-file/below", "/dev/null", "x" * 300, "\0"]

VALUES = {
    "ids": IDS,
    "preset": ["", "fast", "QUICK", "quick,paper", "0"],
    "out": FOLDERS,
    "seeds": NUMBERS,
    "workers": NUMBERS,
    **dict.fromkeys(["again", "pdf", "animate", "accuracy", "markdown", "json"], FLAGS),
}
"""Bad values by option."""


def options(command):
    """The names of what a command takes."""
    return list(inspect.signature(_app.app[command].default_command).parameters)


PAIRS = [(command, option) for command in VALID for option in options(command)]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """An empty folder but for a file of somebody's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("mine")


def refusal(found, name, given):
    """What is wrong with the answer to a bad value. On stdout only JSON may stand, and only if asked for."""
    text = " ".join(found.err.replace("│", " ").split())
    faults = {
        f"exit code {found.code}": found.code != 2,
        "a traceback": "Traceback" in found.err,
        f"{len(found.err.splitlines())} lines": not 0 < len(found.err.splitlines()) <= 12,
        f"stdout: {found.out}": found.out and not json.loads(found.out)["error"],
        f"does not name {name}: {text[:200]}": name not in text,
        "null characters": "\0" in text,
        f"wrote {os.listdir()}": os.listdir() != ["a-file"],
        "changed a file": Path("a-file").read_text() != "mine",
    }
    return [f"{given!r:.40}: {fault}" for fault, is_so in faults.items() if is_so]


def test_no_command_and_no_option_is_missing():
    commands = {name for name in _app.app if not name.startswith("-")}
    assert commands == set(VALID)
    assert {option for _, option in PAIRS} == set(VALUES)


@pytest.mark.parametrize(("command", "option"), [pair for pair in PAIRS if "ids" not in pair])
def test_bad_values_of_options(lazyrich, computed, command, option):
    faults = []
    for value in VALUES[option]:
        faults += refusal(lazyrich(command, *VALID[command], f"--{option}={value}"), option, value)
    assert not faults, "\n" + "\n".join(faults)
    assert computed() == []


@pytest.mark.parametrize("command", VALID)
@pytest.mark.parametrize("before", [[], ["valid"]])
def test_bad_ids(lazyrich, computed, command, before):
    faults = []
    for value in IDS:
        name = f"is called {value[:60]!r}"[:-1]
        faults += refusal(lazyrich(command, *(before and VALID[command]), "--", value), name, value)
    assert not faults, "\n" + "\n".join(faults)
    assert computed() == []


@pytest.mark.parametrize(("command", "option"), [pair for pair in PAIRS if "ids" not in pair])
def test_options_twice_without_value_or_misspelled(lazyrich, computed, command, option):
    begin, name = [command, *VALID[command]], f"--{option}"
    value = {"preset": "quick", "out": "there", "seeds": "2", "workers": "1"}.get(option)
    once = [name] if value is None else [name, value]
    faults = refusal(lazyrich(*begin, *once, *once), name, "twice")
    faults += refusal(lazyrich(*begin, f"{name}x"), f"{name}x", "misspelled")
    faults += refusal(lazyrich(*begin, f"--no-{option}"), f"--no-{option}", "negated")
    if value is not None:
        faults += refusal(lazyrich(*begin, name), name, "without value")
    assert not faults, "\n" + "\n".join(faults)
    assert computed() == []


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["list", "extra"], "extra"),
        (["verify", "--markdown"], "markdown"),
        (["verify", "--accuracy", "--markdown", "--json"], "markdown"),
        (["explode"], "explode"),
        (["--explode"], "explode"),
        (["reproduce"], "at least one id"),
        (["cite"], "at least one id"),
        (["reproduce", "lab/eq1"], "use `lazyrich verify lab/eq1`"),
        (["verify", "lab/holds"], "use `lazyrich reproduce lab/holds`"),
        (["reproduce", "holds"], "Did you mean lab/holds?"),
        (["reproduce", "lab/lon"], "Did you mean lab/long?"),
        (["verify", "lab.third"], "use `lazyrich verify --accuracy lab.third`"),
        (["reproduce", "lab"], "Did you mean 'lab/*'?"),
        (["verify", "--accuracy", "LAB"], "Did you mean 'lab.*'?"),
        (["reproduce", "LAB/Holds"], "Did you mean lab/holds"),
    ],
)
def test_what_does_not_go_together(lazyrich, computed, words, name):
    faults = refusal(lazyrich(*words), name, words)
    assert not faults, "\n" + "\n".join(faults)
    assert computed() == []


def test_a_class_without_its_option(real):
    faults = refusal(
        real("verify", "theory.Emergence"), "--accuracy 'theory.Emergence.*'`", "a class"
    )
    assert not faults


def test_what_is_listed_can_be_chosen(lazyrich):
    found = lazyrich("list", "lab/eq*", "lab/holds", "--json").json
    assert [e["id"] for e in found["experiments"]] == ["lab/holds"]
    assert [c["id"] for c in found["checks"]] == ["lab/eq1", "lab/eq2", "lab/eq3"]
    assert found["accuracy"] == []
    shown = lazyrich("list", "lab.third").out
    assert "lab.third" in shown
    assert "lab/" not in shown


@pytest.mark.parametrize("module", ["lazyrich", "lazyrich.cli"])
def test_modules_that_run(module, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lazyrich", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.strip() == __version__


def test_home_is_known(lazyrich, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert lazyrich("reproduce", "lab/holds", "--out=~/there").code == 0
    assert (tmp_path / "there/index.html").exists()
    assert lazyrich("reproduce", "lab/holds", "--out=~no-such-user/there").code == 0
    assert (tmp_path / "~no-such-user/there/index.html").exists()  # a name like any other
