"""What commands load: as little as they need."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import io, json, sys
from contextlib import redirect_stdout
from lazyrich.cli import main
with redirect_stdout(io.StringIO()):
    code = main({arguments})
print(json.dumps([code, sorted(sys.modules)]))
"""
HEAVY = ["jax", "numpy", "matplotlib", "xarray", "scipy", "mpmath"]


def loaded(arguments):
    program = PROGRAM.format(arguments=arguments)
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(found.stdout)
    assert found.stderr == ""
    return code, {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], []),
        (["reproduce", "--help"], []),
        (["--version"], []),
        (["list"], ["numpy"]),
        (["list", "--json"], ["numpy"]),
        (["cite", "linear-grokking/fig1"], ["numpy"]),
    ],
)
def test_loads_nothing_heavy(arguments, allowed):
    code, modules = loaded(arguments)
    assert code == 0
    assert "lazyrich" in modules
    assert modules & set(HEAVY) <= set(allowed)


@pytest.mark.parametrize("arguments", [["reproduce", "nothing"], ["verify", "nothing"]])
def test_a_misspelled_id_does_not_wait_for_jax(arguments):
    program = PROGRAM.format(arguments=arguments)
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(found.stdout)
    assert code == 2
    assert "jax" not in modules


def test_importing_the_package_imports_and_changes_nothing():
    program = (
        "import json, sys, lazyrich\n"
        "early = sorted(sys.modules)\n"
        "import jax\n"
        "before = {name: str(value) for name, value in jax.config.values.items()}\n"
        "from lazyrich import cli, core, runner, store, theory\n"
        "[getattr(p, name) for p in (core, runner, store, theory) for name in p.__all__]\n"
        "after = {name: str(value) for name, value in jax.config.values.items()}\n"
        "print(json.dumps([early, before == after]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    early, same = json.loads(found.stdout)
    assert not {name.partition(".")[0] for name in early} & {*HEAVY, "rich", "cyclopts"}
    assert same
