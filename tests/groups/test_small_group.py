"""GAP's library of small groups, and GAP's character tables as an oracle."""

import itertools
import json
import subprocess

import numpy as np
import pytest

from lazyrich import groups
from lazyrich.core import ArgumentError, DataError
from lazyrich.groups import _gap
from tests.groups.samples import worst_violation

needs_gap = pytest.mark.skipif(
    not groups.has_gap(),
    reason="the program `gap` is not installed (Debian: gap-core gap-libs gap-smallgrp)",
)
# dihedral, quaternion, extraspecial (8, 27, 32 twice, 128), Frobenius, SL(2,3), binary octahedral, S4, A5,
# SL(2,5), S5, PSL(2,7), and some without a name
LIBRARY = [
    (8, 3), (8, 4), (16, 6), (20, 3), (21, 1), (24, 3), (24, 12), (27, 3), (27, 4), (32, 49), (32, 50),
    (48, 28), (60, 5), (64, 138), (96, 64), (120, 5), (120, 34), (128, 2327), (168, 42),
]  # fmt: skip
QUESTIONS = """
for id in %s do
  G := SmallGroup(id);; elements := AsSSortedList(G);; table := CharacterTable(G);; n := Exponent(G);;
  classes := List(ConjugacyClasses(table), c -> List(AsSSortedList(c), x -> Position(elements, x) - 1));;
  values := List(Irr(table), chi -> List(chi, x -> CoeffsCyc(x, n)));;
  Print("[", MultiplicationTable(elements), ",", classes, ",", values, ",", n, ",",
    Indicator(table, 2), ",", AbelianInvariants(G), ",", [Size(Centre(G)), Size(DerivedSubgroup(G))], "]\\n");
od;
"""


@pytest.fixture(scope="module")
def library():
    """What GAP says of the groups: one process for all of them."""
    ids = [list(pair) for pair in LIBRARY]
    lines = _gap.run_gap(QUESTIONS % ids).strip().splitlines()
    return dict(zip(LIBRARY, map(json.loads, lines), strict=True))


@needs_gap
@pytest.mark.parametrize("id", LIBRARY, ids=str)
def test_character_tables_agree_with_gap(id, library):
    table, classes, values, exponent, indicators, invariants, orders = library[id]
    group = groups.Group(np.array(table) - 1)
    assert sorted(map(tuple, classes)) == sorted(group.conjugacy_classes)
    roots = np.exp(2j * np.pi * np.arange(exponent) / exponent)
    expected = np.array(values) @ roots  # (irreps, classes), in GAP's order of both
    found = groups.character_table(group)[:, [group.class_of[members[0]] for members in classes]]
    distances = np.abs(found[:, None] - expected[None]).max(axis=-1)
    partner = np.argmin(distances, axis=1)
    assert sorted(partner) == list(range(len(expected)))
    assert distances.min(axis=1).max() < 1e-10
    sign = {"real": 1, "complex": 0, "quaternionic": -1}
    kinds = [sign[irrep.kind] for irrep in groups.irreps(group)]
    assert kinds == [indicators[k] for k in partner]
    facts = groups.summary(group)
    assert facts.abelian_invariants == tuple(sorted(invariants))
    assert [facts.centre_order, facts.commutator_order] == orders
    assert worst_violation(group, groups.irreps(group)) < 1e-12


@needs_gap
def test_small_group_reads_the_library():
    group = groups.small_group(8, 4)
    assert groups.summary(group) == groups.summary(groups.quaternion())
    assert group.identity == 0
    assert group.name == "SmallGroup(8, 4)"
    assert groups.small_group(8, 4) == group
    assert groups.small_groups(8) == 5


@needs_gap
def test_what_the_library_does_not_hold():
    """GAP knows how many groups of order 1024 there are, and has none of them."""
    with pytest.raises(
        ArgumentError, match=r"`order` must be an order that GAP's library holds, got 1024\."
    ):
        groups.small_group(1024, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "`order` must be a whole number ≥ 1, got 0"),
        ((8, 0), "`index` must be a whole number ≥ 1, got 0. GAP counts from 1."),
        ((8, 1.5), "`index` must be a whole number ≥ 1, got 1.5"),
        (("8; Exec();", 1), "`order` must be a whole number ≥ 1, got '8; Exec"),
        (([8], 1), "`order` must be a single number"),
        ((10**6, 1), "`order` must give a group of order at most 5040, got order 1000000"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        groups.small_group(*arguments)


class FakeGap:
    """Stands for the program: found or not, answers or not."""

    def __init__(self, monkeypatch, found=True, code=0, output="", complaint="", late=False):
        monkeypatch.setattr(_gap.shutil, "which", lambda name: "/nowhere/gap" if found else None)
        monkeypatch.setattr(_gap.subprocess, "run", self.run)
        self.code, self.output, self.complaint, self.late = code, output, complaint, late

    def run(self, command, **options):
        if self.late:
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return subprocess.CompletedProcess(command, self.code, self.output, self.complaint)


FRESH = itertools.count(4001)  # orders that nothing has asked for yet, since answers are kept


def test_without_gap_the_message_says_what_to_install(monkeypatch):
    FakeGap(monkeypatch, found=False)
    assert not groups.has_gap()
    expected = (
        r"The program `gap` is not on the path\. Install GAP .* gap-core gap-libs gap-smallgrp\."
    )
    with pytest.raises(DataError, match=expected):
        groups.small_group(next(FRESH), 1)
    with pytest.raises(DataError, match=expected):
        groups.small_groups(next(FRESH))


def test_without_the_library_the_message_says_what_to_install(monkeypatch):
    FakeGap(monkeypatch, code=3, output="no library\n")
    with pytest.raises(
        DataError, match=r"GAP does not find its library of small groups. Install .* gap-smallgrp"
    ):
        groups.small_group(next(FRESH), 1)


def test_gap_that_does_not_answer(monkeypatch):
    FakeGap(monkeypatch, late=True)
    with pytest.raises(DataError, match=r"GAP gave no answer within 60 s. Choose a smaller group."):
        groups.small_group(next(FRESH), 1)


def test_gap_that_stops_half_way(monkeypatch):
    FakeGap(monkeypatch, output="3\n[ 1, 2")
    with pytest.raises(DataError, match=r"GAP stopped with code 0: 3 .* Try `gap` by hand."):
        groups.small_group(next(FRESH), 1)


def test_what_gap_complains_about_is_passed_on(monkeypatch):
    FakeGap(monkeypatch, code=1, complaint="Error, <divisor>\nmust not be zero")
    with pytest.raises(
        DataError, match=r"GAP stopped with code 1: Error, <divisor> must not be zero\."
    ):
        groups.small_groups(next(FRESH))


def test_an_index_that_does_not_exist(monkeypatch):
    FakeGap(monkeypatch, output="5\ndone\n")
    with pytest.raises(
        ArgumentError, match=r"`index` must be ≤ 5, the number of groups .*, got 6\. Choose"
    ):
        groups.small_group(next(FRESH), 6)


def test_answers_are_kept(monkeypatch):
    order = next(FRESH)
    FakeGap(monkeypatch, output="7\ndone\n")
    assert groups.small_groups(order) == 7
    FakeGap(monkeypatch, found=False)
    assert groups.small_groups(order) == 7
