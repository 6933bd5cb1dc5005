"""The accuracy report covers every closed form, and what it says holds."""

import functools
import inspect
import re
from pathlib import Path

import pytest

from lazyrich import groups, quantities, theory
from lazyrich.checks import accuracy

PAGES = Path(__file__).parents[2] / "docs"
TABLE = (PAGES / "_tables" / "accuracy.md").read_text(encoding="utf-8")

MAKES = "alternating cyclic dicyclic dihedral from_permutations product quaternion semidirect small_group "
MAKES += "small_groups symmetric"
WHOLE = (
    "Group.class_of Group.conjugacy_classes Group.element_orders Group.generators Group.identity "
)
WHOLE += "Group.inverses Group.multiply Group.order Irrep.dimension Irrep.kernel RealIrrep.dimension centre "
WHOLE += "commutator_subgroup quotient regular subgroup summary"
OF_GROUPS = {
    **{f"groups.{name}": "makes groups" for name in MAKES.split()},
    **{f"groups.{name}": "whole numbers and words" for name in WHOLE.split()},
    "groups.Group.is_abelian": "a truth value",
    "groups.has_gap": "a truth value",
}
EXEMPT = OF_GROUPS | {
    "quantities.FeatureEnergy.num_samples": "a count",
    "quantities.GroupEnergy.plan": "arrays that the other methods work with",
    "theory.BalancedModes.shape": "a shape",
    "theory.DependentManifold.embedding": "makes a construction",
    "theory.DependentManifold.is_invariant": "a truth value",
    "theory.DependentManifold.lacks": "a sentence",
    "theory.DependentUnit.lacks": "a sentence",
    "theory.DiagonalNetwork.shape": "a shape",
    "theory.Emergence.shape": "a shape",
    "theory.EqualManifold.embedding": "makes a construction",
    "theory.EqualManifold.is_invariant": "a truth value",
    "theory.EqualManifold.lacks": "a sentence",
    "theory.GroupFeatures.sample": "random",
    "theory.LinearModes.shape": "a shape",
    "theory.MarchenkoPastur.sample": "random",
    "theory.ProportionalManifold.embedding": "makes a construction",
    "theory.ProportionalManifold.is_invariant": "a truth value",
    "theory.ProportionalManifold.lacks": "a sentence",
    "theory.ProportionalUnit.lacks": "a sentence",
    "theory.SplitUnit.lacks": "a sentence",
    "theory.Staircase.is_visible": "truth values",
    "theory.UnconstrainedFeatures.small": "a random start",
    "theory.ZeroManifold.embedding": "makes a construction",
    "theory.ZeroManifold.is_invariant": "a truth value",
    "theory.ZeroManifold.lacks": "a sentence",
    "theory.ZeroUnit.lacks": "a sentence",
    "theory.calibrate_emergence": "a fit",
}
"""Public names without a closed form whose digits could be counted, and why."""


def closed_forms():
    """Public functions of these packages, and public methods and properties of their classes."""
    for package in (theory, quantities, groups):
        short = package.__name__.removeprefix("lazyrich.")
        for name in package.__all__:
            value = getattr(package, name)
            if not inspect.isclass(value):
                yield f"{short}.{name}"
            elif not issubclass(value, tuple):  # records of numbers are covered by who returns them
                yield from (f"{short}.{name}.{member}" for member in members(value))


def members(kind):
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        kinds = property | classmethod | functools.cached_property
        own = inspect.isfunction(member) or isinstance(member, kinds)
        if own and not name.startswith("_"):
            yield name


def covered():
    return [name for id in accuracy.ids() for name in accuracy.get(id).names]


def test_every_closed_form_has_an_entry_or_a_reason():
    assert sorted(set(closed_forms()) - set(covered()) - set(EXEMPT)) == []


def test_entries_and_exemptions_name_what_exists_once():
    names = covered()
    assert len(names) == len(set(names))
    assert set(EXEMPT) <= set(closed_forms())
    assert not set(EXEMPT) & set(names)
    for name in names:
        package, *path = name.split(".")
        value = {"theory": theory, "quantities": quantities, "groups": groups}[package]
        for part in path:
            value = getattr(value, part)


def test_bounds_come_with_explanations():
    for id in accuracy.ids():
        form = accuracy.get(id)
        assert form.aim <= 1e-12
        assert form.explanation or not form.bound
        assert 0 <= form.bound < 1


@pytest.mark.parametrize(
    "id", ["quantities.imbalance", "theory.Staircase.drop_times", "theory.fastest_direction"]
)
def test_entries_that_take_no_time(id):
    assert accuracy.get(id).run().verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize("id", accuracy.ids())
def test_every_entry(id):
    result = accuracy.get(id).run()
    assert result.verdict in ("holds", "explained"), result


def rows():
    lines = [line for line in TABLE.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def test_the_documentation_shows_the_same_entries():
    assert [row[0].strip("| `") for row in rows()] == accuracy.ids()
    for row, id in zip(rows(), accuracy.ids(), strict=True):
        entry = accuracy.get(id)
        how = f"{entry.title}. Against {entry.against}. On {entry.grid}."
        assert row[1] == how.replace("|", "\\|"), "run the command on the page"


def test_the_documented_errors_are_within_the_aim_or_explained():
    assert sum(int(float(row[2])) for row in rows()) >= 100_000
    for row, id in zip(rows(), accuracy.ids(), strict=True):
        error, note = re.fullmatch(r"([\d.e-]+)(?: \((\d+)\))?", row[3]).groups()
        assert (float(error) <= 1e-12) == (note is None)
        if note:
            assert f"\n{note}. `{id}`: {accuracy.get(id).explanation}" in TABLE


def test_the_page_says_what_is_not_in_the_table():
    page = (PAGES / "accuracy.md").read_text(encoding="utf-8")
    assert [name for name in EXEMPT if f"`{name}`" not in page] == []
