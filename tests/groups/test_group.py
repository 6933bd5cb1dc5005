"""The table of a group: what it must satisfy, and what follows from it."""

import copy
import functools
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.core import ArgumentError
from tests.groups.samples import relabelled, small

GROUPS = small()
Z3 = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]


def test_order_of_multiplication_first_b_then_a():
    permutations = list(itertools.permutations(range(3)))
    group = groups.symmetric(3)
    for (a, f), (b, g) in itertools.product(enumerate(permutations), repeat=2):
        composed = tuple(f[g[x]] for x in range(3))
        assert permutations[group.table[a, b]] == composed
        assert group.multiply(a, b) == permutations.index(composed)
    assert group.multiply(1, 2) != group.multiply(2, 1)


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_group_axioms(group):
    every = np.arange(group.order)
    T, e = group.table, group.identity
    assert np.array_equal(T[e], every)
    assert np.array_equal(T[every, group.inverses], np.full(group.order, e))
    assert np.array_equal(T[T], T[:, T])  # (ab)c and a(bc), all triples


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_orders_by_repeated_multiplication(group):
    for g in range(group.order):
        power, n = g, 1
        while power != group.identity:
            power, n = group.multiply(power, g), n + 1
        assert group.element_orders[g] == n


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_conjugacy_classes_by_brute_force(group):
    T, inverses = group.table, group.inverses
    for number, members in enumerate(group.conjugacy_classes):
        g = members[0]
        orbit = sorted({int(T[T[h, g], inverses[h]]) for h in range(group.order)})
        assert list(members) == orbit
        assert set(group.class_of[list(members)]) == {number}
    assert sorted(itertools.chain(*group.conjugacy_classes)) == list(range(group.order))


def test_commutative_or_not():
    assert groups.cyclic(6).is_abelian
    assert groups.product(groups.cyclic(2), groups.cyclic(2)).is_abelian
    assert not groups.symmetric(3).is_abelian


def test_equality_and_hash_by_content():
    first, second = groups.cyclic(5), groups.Group(groups.cyclic(5).table.tolist(), name="other")
    assert first == second
    assert hash(first) == hash(second)
    assert first != groups.cyclic(6)
    assert first != "Z5"
    assert groups.quaternion() != groups.dihedral(4)

    @functools.lru_cache
    def order(group):
        return group.order

    assert (order(first), order(second)) == (5, 5)
    assert order.cache_info().hits == 1


def test_static_argument_of_jit():
    import jax

    @functools.partial(jax.jit, static_argnums=0)
    def products(group, a):
        return jax.numpy.asarray(group.table)[a, a]

    assert int(products(groups.cyclic(7), 5)) == 3
    assert int(products(groups.cyclic(9), 5)) == 1


def test_frozen():
    group = groups.cyclic(4)
    with pytest.raises(AttributeError):
        group.table = group.table
    for array in (group.table, group.inverses, group.element_orders, group.class_of):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_table_is_a_copy():
    table = np.array(Z3)
    group = groups.Group(table)
    table[0, 0] = 2
    assert group.table[0, 0] == 0


def test_pickled_and_copied():
    group = groups.symmetric(3)
    hash(group)
    for other in (pickle.loads(pickle.dumps(group)), copy.deepcopy(group)):
        assert other == group
        assert other.name == "S3"
        assert not other.table.flags.writeable


def test_identity_may_have_any_number():
    group = relabelled(groups.cyclic(5), [3, 1, 4, 0, 2])
    assert group.identity == 3
    assert group.multiply(3, 2) == 2


def test_whole_numbers_written_as_floats():
    assert groups.Group(np.array(Z3, float)) == groups.cyclic(3)


def test_multiplies_arrays():
    assert groups.cyclic(7).multiply([1, 2], [[3], [6]]).tolist() == [[4, 5], [0, 1]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0, 1], [1, 2]], r"`table\[1, 1\]` must be an element, 0 to 1 \(closure\), got 2\. Pass a table"),
        ([[0, -1], [1, 0]], r"`table\[0, 1\]` must be an element"),
        ([[0, 1], [1, 0.5]], r"`table\[1, 1\]` must be a whole number, got 0\.5"),
        ([[0, np.nan], [1, 0]], r"`table\[0, 1\]` must be a whole number, got nan"),
        ([[1, 1], [1, 1]], r"`table` must have an identity, .* got none among 2"),
        ([[0, 1, 2], [1, 2, 1], [2, 1, 1]], r"`table` must have an inverse b of every .* element 1\."),
        (
            [[0, 1, 2], [1, 0, 0], [2, 0, 0]],
            r"`table` must be associative, got \(ab\)c = 2 and a\(bc\) = 1 for \(a, b, c\) = \(1, 1, 2\)",
        ),
        ([[0, 1, 2], [1, 2, 0]], r"`table` must have the shape \(M, M\), got \(2, 3\)"),
        ([], r"`table` must have the shape \(M, M\), got \(0,\)"),
        (np.zeros((0, 0)), r"`table` must have the shape \(M, M\), got \(0, 0\)"),
        ("Z7", r"`table` must have the shape"),
        (None, r"`table` must have the shape"),
        ([["a"]], r"`table` must consist of whole numbers"),
        ([[True]], r"`table` must consist of whole numbers"),
        ([[1j]], r"`table` must consist of whole numbers"),
        ([[0, 1], [1]], r"`table` must be a square array of whole numbers"),
    ],
)  # fmt: skip
def test_tables_that_are_no_groups(table, message):
    with pytest.raises(ArgumentError, match=message):
        groups.Group(table)


def test_smallest_loop_that_is_no_group():
    """Every element of this Latin square with identity is its own inverse; only associativity fails."""
    table = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]]
    first = next(
        (a, b, c)
        for a, b, c in itertools.product(range(5), repeat=3)
        if table[table[a][b]][c] != table[a][table[b][c]]
    )
    with pytest.raises(ArgumentError) as caught:
        groups.Group(table)
    assert f"for (a, b, c) = {first}" in str(caught.value)


@given(st.integers(0, 13), st.data())
def test_one_wrong_product_is_found(number, data):
    group = GROUPS[number]
    if group.order < 3:
        return
    a, b = (data.draw(st.integers(1, group.order - 1)) for _ in range(2))
    table = group.table.copy()
    table[a, b] = (table[a, b] + data.draw(st.integers(1, group.order - 1))) % group.order
    with pytest.raises(ArgumentError, match="must"):
        groups.Group(table)


@pytest.mark.parametrize(
    ("value", "message"),
    [(7, "`b` must be ≥ 0 and < 7, got 7"), (-1, "`b` must be ≥ 0"), (1.5, "`b` must be a number of an")],
)  # fmt: skip
def test_elements_that_do_not_exist(value, message):
    with pytest.raises(ArgumentError, match=message):
        groups.cyclic(7).multiply(0, value)


def test_names():
    assert repr(groups.dihedral(4)) == "Group D4 of order 8"
    assert repr(groups.Group(Z3)) == "Group of order 3"
    with pytest.raises(ArgumentError, match="`name` must be a string, got 3"):
        groups.Group(Z3, name=3)
