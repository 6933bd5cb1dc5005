"""Benchmarks and examples use names that exist: nothing else runs them all."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("examples/*.py")])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_names_exist(script):
    tree = ast.parse(script.read_text())
    modules, missing = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lazyrich":
            source = importlib.import_module(node.module)
            for name in node.names:
                found = getattr(source, name.name, None) or _submodule(node.module, name.name)
                if found is None:
                    missing.append(f"{node.module}.{name.name}")
                elif type(found).__name__ == "module":
                    modules[name.asname or name.name] = found
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module is not None and not hasattr(module, node.attr):
                missing.append(f"{module.__name__}.{node.attr}")
    assert not missing


def _submodule(package, name):
    try:
        return importlib.import_module(f"{package}.{name}")
    except ImportError:
        return None


@pytest.mark.torch
@pytest.mark.parametrize(
    "arguments",
    [
        "saddles.py --rounds 1 --seeds 2 --panels fig1b fig4f-nodes",
        "layerwise.py --grids fig6a --cells 1 --coarse 20 --size 6 --times 20",
    ],
)
def test_benchmarks_run(arguments):
    pytest.importorskip("torch", reason="needs the `bench` extra")
    script, *options = arguments.split()
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
