"""Subgroups, quotients, and what isomorphic groups share."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.core import ArgumentError
from tests.groups.samples import (
    central_product,
    frobenius,
    heisenberg,
    relabelled,
    small,
    special_linear,
)

GROUPS = small()


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_kernels_are_normal_and_irreps_live_on_the_quotient(group):
    for irrep in groups.irreps(group):
        direct = [
            g for g in range(group.order) if np.allclose(irrep.matrices[g], np.eye(irrep.dimension))
        ]
        assert irrep.kernel.tolist() == direct
        factor = groups.quotient(group, irrep.kernel)
        first = np.unique(factor.coset_of, return_index=True)[1]
        assert np.allclose(irrep.matrices, irrep.matrices[first][factor.coset_of])
        a, b = np.indices((group.order, group.order))
        products = factor.group.table[factor.coset_of[a], factor.coset_of[b]]
        assert np.array_equal(products, factor.coset_of[group.table])


def test_irreps_of_order_15_behave_like_those_of_3_and_5():
    group = groups.cyclic(15)
    orders = [groups.quotient(group, irrep.kernel).group.order for irrep in groups.irreps(group)]
    assert orders == [15 // math.gcd(15, k) for k in range(15)]
    waves = groups.irreps(group)[
        3
    ].character  # the first wave of order 5, read off the rest modulo 5
    assert np.allclose(waves, groups.irreps(groups.cyclic(5))[1].character[np.arange(15) % 5])


def test_centre_commutators_and_generated_subgroups():
    assert groups.centre(groups.symmetric(4)).tolist() == [0]
    assert groups.centre(groups.quaternion()).tolist() == [0, 2]
    assert groups.commutator_subgroup(groups.quaternion()).tolist() == [0, 2]
    assert len(groups.commutator_subgroup(special_linear(3))) == 8
    assert len(groups.commutator_subgroup(groups.alternating(5))) == 60
    assert groups.commutator_subgroup(groups.cyclic(6)).tolist() == [0]
    assert groups.subgroup(groups.cyclic(12), [8, 6]).tolist() == [0, 2, 4, 6, 8, 10]
    assert groups.subgroup(groups.dihedral(5), 7).tolist() == [0, 7]


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_dimension_one_counts_the_index_of_the_commutators(group):
    ones = sum(irrep.dimension == 1 for irrep in groups.irreps(group))
    assert ones * len(groups.commutator_subgroup(group)) == group.order


@pytest.mark.parametrize("orders", [(2,), (2, 4), (3, 9, 5), (2, 2, 8), (4, 4, 3)])
def test_invariants_of_products_of_cyclic_groups(orders):
    group = groups.product(*map(groups.cyclic, orders))
    assert groups.summary(group).abelian_invariants == tuple(sorted(orders))
    assert groups.summary(group).exponent == math.lcm(*orders)


def test_invariants_split_into_prime_powers():
    assert groups.summary(groups.cyclic(60)).abelian_invariants == (3, 4, 5)
    assert groups.summary(groups.cyclic(1)).abelian_invariants == ()
    assert groups.summary(groups.alternating(5)).abelian_invariants == ()
    assert groups.summary(groups.symmetric(5)).abelian_invariants == (2,)


@settings(max_examples=20)
@given(st.sampled_from(GROUPS), st.randoms(use_true_random=False))
def test_summary_does_not_depend_on_names_of_elements(group, random):
    permutation = list(range(group.order))
    random.shuffle(permutation)
    assert groups.summary(relabelled(group, permutation)) == groups.summary(group)


def test_summary_tells_groups_apart():
    different = [
        *GROUPS, groups.product(groups.cyclic(2), groups.cyclic(4)), groups.cyclic(8), heisenberg(3),
        frobenius(5, 4),
        central_product(groups.dihedral(4), groups.dihedral(4)), groups.dihedral(6), groups.dihedral(12),
        central_product(groups.dihedral(4), groups.quaternion()),
    ]  # fmt: skip
    different.remove(groups.product(groups.cyclic(3), groups.cyclic(4)))  # is cyclic of order 12
    for one, other in itertools.combinations(different, 2):
        assert groups.summary(one) != groups.summary(other)
    same = groups.product(groups.cyclic(3), groups.cyclic(4)), groups.cyclic(12)
    assert groups.summary(same[0]) == groups.summary(same[1])


def test_summary_of_the_symmetric_group():
    assert groups.summary(groups.symmetric(4)) == groups.GroupSummary(
        order=24,
        is_abelian=False,
        exponent=12,
        element_orders=((1, 1), (2, 9), (3, 8), (4, 6)),
        class_sizes=((1, 1), (3, 1), (6, 2), (8, 1)),
        irreps=((1, "real", 2), (2, "real", 1), (3, "real", 2)),
        centre_order=1,
        commutator_order=12,
        abelian_invariants=(2,),
    )


def test_character_table_of_the_icosahedron():
    table = groups.character_table(groups.alternating(5))
    sizes = [len(members) for members in groups.alternating(5).conjugacy_classes]
    golden = (1 + math.sqrt(5)) / 2
    expected = {
        tuple(sorted(zip(sizes, row, strict=True)))
        for row in ([1] * 5, [4, 0, 1, -1, -1], [5, 1, -1, 0, 0],
                    [3, -1, 0, golden, 1 - golden], [3, -1, 0, 1 - golden, golden])
        for sizes in [[1, 15, 20, 12, 12]]
    }  # fmt: skip
    found = {tuple(sorted(zip(sizes, row.real.round(12).tolist(), strict=True))) for row in table}
    assert len(table) == 5
    assert {tuple((n, round(x, 9) + 0.0) for n, x in row) for row in found} == {
        tuple((n, round(x, 9) + 0.0) for n, x in row) for row in expected
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: groups.quotient(g, [0, 1, 2]), "`normal` must be a subgroup, got 3 .* generate 6"),
        (lambda g: groups.quotient(g, [0, 1]), "`normal` must be a normal subgroup, .* g = 2"),
        (lambda g: groups.quotient(g, [0, 9]), "`normal` must be ≥ 0 and < 6, got 9"),
        (lambda g: groups.quotient(g, [0.5]), "`normal` must be a number of an element or an array of them"),
        (lambda g: groups.subgroup(g, [-1]), "`generators` must be ≥ 0 and < 6, got -1. The elements"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(groups.symmetric(3))
