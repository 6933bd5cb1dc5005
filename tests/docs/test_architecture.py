"""The walk on the architecture page is the one that the figures take."""

import re
from pathlib import Path

import pytest
from tests.house.test_layers import ROWS

import lazyrich
from lazyrich import experiments
from lazyrich.core._lazy import facade
from lazyrich.runner import modules_used

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
DRAWN = ("plotting",)
"""Packages that `modules_used` leaves out, because they do not change results."""


def walk():
    """For every figure in the table: the names of its steps, as package and name."""
    text = PAGE.read_text(encoding="utf-8").split("<!-- walk: begin -->")[1]
    rows = [row.strip("| ").split(" | ") for row in text.split("<!-- walk: end -->")[0].split("\n")]
    rows = [row for row in rows if len(row) > 1]
    for column, id in enumerate(rows[0][1:], start=1):
        cells = [re.findall(r"`(\w+)\.(\w+)`", row[column]) for row in rows[1:]]
        yield id.strip("`"), [name for cell in cells for name in cell]


def test_one_figure_of_each_paper():
    papers = {id.split("/")[0] for id, _ in walk()}
    assert papers == {id.split("/")[0] for id in experiments.ids()}


@pytest.mark.parametrize(
    ("id", "steps"), list(walk()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_figure_takes_every_step(id, steps):
    module = experiments.get(id).module
    used = modules_used(module)
    assert {"tasks", "theory", "simulate", "measures", "core"} <= {package for package, _ in steps}
    for package, name in steps:
        assert name in getattr(lazyrich, package).__all__
        if package not in DRAWN:
            assert defining(package, name) in used, f"{id} does not use {package}.{name}"


def defining(package, name):
    return f"lazyrich.{package}.{facade(getattr(lazyrich, package).__file__)[name]}"


def test_layers_are_those_that_the_tests_enforce():
    text = PAGE.read_text(encoding="utf-8").partition("\n## Layers\n")[2].partition("\n## ")[0]
    rows = [row for row in text.splitlines() if row.startswith("| ")][1:]
    assert [set(re.findall(r"`(\w+)`", row)) for row in rows] == ROWS
