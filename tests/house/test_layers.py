"""A row may import rows below it; names in one row never import each other."""

import ast
from pathlib import Path

import pytest

import lazyrich
from lazyrich.runner._code_digest import _imported_paths

ROWS = [
    {"cli"},
    {"explorer", "diagnose"},
    {"experiments", "checks"},
    {"sweeps"},
    {"runner"},
    {"plotting", "report", "adapters"},
    {"theory", "simulate", "measures", "store"},
    {"quantities"},
    {"tasks", "models"},
    {"groups"},
    {"core"},
]
ROW_OF = {name: index for index, row in enumerate(ROWS) for name in row}
ROOT = Path(lazyrich.__file__).parent
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.parent != ROOT]


def imports(path):
    module = ".".join(["lazyrich", *path.relative_to(ROOT).with_suffix("").parts])
    package = (
        module.removesuffix(".__init__") if path.stem == "__init__" else module.rpartition(".")[0]
    )
    tree = ast.parse(path.read_text())
    return {
        target.split(".")[1] for target in _imported_paths(tree, package).values() if "." in target
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path):
    own = path.relative_to(ROOT).parts[0]
    for other in imports(path) & set(ROW_OF) - {own}:
        assert ROW_OF[other] > ROW_OF[own], f"{own} must not import {other}"


def test_every_package_has_a_row():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= set(ROW_OF)


def test_the_test_sees_imports():
    seen = set().union(*(imports(path) for path in FILES))
    assert {"core", "theory", "store", "simulate", "measures"} <= seen


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_small(path):
    assert len(path.read_text().splitlines()) <= 500


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_jax(path):
    source = path.read_text()
    assert "jax._src" not in source
    assert "import torch" not in source
