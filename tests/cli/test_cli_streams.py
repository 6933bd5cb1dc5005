"""Readers that go away, full disks behind `>`, terminals without Greek letters."""

import json
import os
import subprocess
import sys

import pytest

LAZYRICH = [sys.executable, "-m", "lazyrich"]
needs_dev_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


def run(*arguments, **options):
    options = {"capture_output": True, "text": True} | options
    return subprocess.run([*LAZYRICH, *arguments], timeout=120, check=False, **options)


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["--help"], ["cite", "all"]])
def test_a_reader_that_goes_away_is_no_error(arguments):
    process = subprocess.Popen(
        [*LAZYRICH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=120) == 0


def test_head():
    shell = f'set -o pipefail; "{sys.executable}" -m lazyrich list --json | head -n 1'
    found = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, timeout=120, check=True
    )
    assert (found.stdout, found.stderr) == ("{\n", "")


@needs_dev_full
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["cite", "all"]])
def test_a_full_disk_behind_stdout_is_told(arguments):
    with open("/dev/full", "w") as full:
        found = run(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert found.returncode == 2
    assert found.stderr == "lazyrich: The output cannot be written: no space left on device.\n"


def shell(line, **options):
    line = line.replace("lazyrich", f'"{sys.executable}" -m lazyrich', 1)
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, timeout=120, check=False, **options
    )


def test_closed_streams():
    assert shell("lazyrich list >&-").returncode == 0
    found = shell("lazyrich cite nobody --json 2>&-")
    assert found.returncode == 2
    assert json.loads(found.stdout)["exit_code"] == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_terminals_without_greek_letters(encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    shown = run("list", env=environment, encoding=encoding)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "linear-grokking/fig1" in shown.stdout
    machine = run("list", "--json", env=environment, encoding=encoding)
    titles = {e["id"]: e["title"] for e in json.loads(machine.stdout)["experiments"]}
    assert titles["linear-grokking/fig1"].endswith("λ")
