"""Groups with names, against matrices, permutations and defining relations."""

import itertools
import math

import numpy as np
import pytest

from lazyrich import groups
from lazyrich.core import ArgumentError
from tests.groups.samples import PSL27, frobenius

generate = groups.from_permutations


def assert_represents(group, matrices):
    """Matrices, one for each element, multiply as the table says, and are all different."""
    products = np.einsum("aij,bjk->abik", matrices, matrices)
    assert np.allclose(products, matrices[group.table], atol=1e-12)
    assert len(np.unique(matrices.round(6).reshape(group.order, -1) + 0.0, axis=0)) == group.order


@pytest.mark.parametrize("n", [3, 4, 7])
def test_dihedral_is_turns_and_reflections(n):
    angle = 2 * np.pi * np.arange(n) / n
    turns = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turns = turns.transpose(2, 0, 1)
    assert_represents(groups.dihedral(n), np.concatenate([turns, turns @ np.diag([1.0, -1.0])]))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_dicyclic_is_unit_quaternions(n):
    a = np.exp(1j * np.pi * np.arange(2 * n) / n)
    powers = np.einsum("ki,ij->kij", np.stack([a, a.conj()], 1), np.eye(2))
    x = np.array([[0, -1], [1, 0]])
    assert_represents(groups.dicyclic(n), np.concatenate([powers, powers @ x]))


def test_dicyclic_of_one_is_cyclic():
    assert groups.summary(groups.dicyclic(1)) == groups.summary(groups.cyclic(4))


def test_quaternion_by_its_relations():
    one, i, minus, _, j, k, *_ = range(8)
    times = groups.quaternion().multiply
    assert times(i, i) == times(j, j) == times(k, k) == times(times(i, j), k) == minus
    assert times(minus, minus) == one


def test_product_multiplies_entry_by_entry():
    factors = [groups.symmetric(3), groups.cyclic(2), groups.dihedral(2)]
    group = groups.product(*factors)
    shape = [factor.order for factor in factors]
    digits = np.stack(np.unravel_index(np.arange(group.order), shape))
    expected = [f.table[x[:, None], x] for f, x in zip(factors, digits, strict=True)]
    assert np.array_equal(group.table, np.ravel_multi_index(expected, shape))
    assert group.name == "S3 × Z2 × D2"


def test_product_of_one_is_itself():
    assert groups.product(groups.cyclic(5)) == groups.cyclic(5)


def test_semidirect_by_its_formula():
    N, H = groups.cyclic(7), groups.cyclic(3)
    group = groups.semidirect(N, H, lambda h, n: n * 2**h % 7)
    for (n, h), (m, k) in itertools.product(itertools.product(range(7), range(3)), repeat=2):
        expected = (n + 2**h * m) % 7 * 3 + (h + k) % 3
        assert group.multiply(n * 3 + h, m * 3 + k) == expected
    assert group.name == "Z7 ⋊ Z3"


def test_semidirect_with_an_acting_group_that_does_not_commute():
    """S3 permutes the letters of Z2 × Z2 \\ {0}: the symmetric group of four letters."""
    klein = groups.product(groups.cyclic(2), groups.cyclic(2))
    images = list(itertools.permutations([1, 2, 3]))
    action = [[0, *image] for image in images]
    group = groups.semidirect(klein, groups.symmetric(3), action)
    assert groups.summary(group) == groups.summary(groups.symmetric(4))


def test_trivial_action_gives_the_product():
    N, H = groups.dihedral(3), groups.cyclic(4)
    action = np.tile(np.arange(6), (4, 1))
    assert groups.semidirect(N, H, action) == groups.product(N, H)


def test_inversion_gives_the_dihedral_group():
    group = groups.semidirect(groups.cyclic(9), groups.cyclic(2), lambda h, n: n * (-1) ** h % 9)
    assert groups.summary(group) == groups.summary(groups.dihedral(9))


def test_affine_maps():
    group = frobenius(5, 4)
    assert [len(c) for c in group.conjugacy_classes] == [1, 5, 5, 5, 4]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_alternating_is_the_commutator_subgroup_of_symmetric(n):
    symmetric, alternating = groups.symmetric(n), groups.alternating(n)
    assert symmetric.order == math.factorial(n)
    elements = groups.commutator_subgroup(symmetric) if n > 1 else [0]
    sub = np.searchsorted(elements, symmetric.table[np.ix_(elements, elements)])
    assert np.array_equal(sub, alternating.table)


def test_permutations_that_generate_symmetric():
    assert groups.from_permutations([[1, 2, 3, 0], [1, 0, 2, 3]]) == groups.symmetric(4)
    assert groups.from_permutations([[1, 2, 0, 3], [0, 2, 3, 1]]) == groups.alternating(4)


def test_permutations_that_generate_other_groups():
    simple = groups.from_permutations(PSL27, name="PSL(2,7)")
    assert simple.order == 168
    assert len(groups.commutator_subgroup(simple)) == 168
    shift = np.roll(np.arange(40), 1)
    assert groups.summary(groups.from_permutations([shift])) == groups.summary(groups.cyclic(40))
    assert groups.from_permutations([[0, 1]]).order == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: groups.cyclic(0), "`order` must be a whole number ≥ 1, got 0. Pass"),
        (lambda: groups.cyclic(2.5), "`order` must be a whole number ≥ 1, got 2.5"),
        (lambda: groups.cyclic("7"), "`order` must be a whole number ≥ 1, got '7'"),
        (lambda: groups.cyclic(6000), "`order` must give a group of order at most 5040, got order 6000. Use"),
        (lambda: groups.symmetric(8), "`letters` must give a group of order at most 5040, got order 40320"),
        (lambda: groups.symmetric(10**9), "`letters` must give a group of order at most 5040"),
        (lambda: groups.dihedral(-1), "`sides` must be a whole number ≥ 1"),
        (lambda: groups.dicyclic(True), "`half` must be"),
        (lambda: groups.product(), r"`factors` must be at least one group, got \(\)"),
        (lambda: groups.product(groups.cyclic(2), 3), r"`factors\[1\]` must be a Group, got 3\. Build one"),
        (lambda: groups.product(*[groups.cyclic(10)] * 4), "`factors` must give a group of order at most"),
        (lambda: generate([[0, 0]]), r"`generators\[0\]` must be a permutation of 0 to 1, got \[0, 0"),
        (lambda: generate([[0, 1], [1]]), "`generators` must be permutations of equally many"),
        (lambda: generate([1, 0]), r"`generators` must have the shape \(generators, letters\), got"),
        (
            lambda: generate([np.roll(np.arange(8), 1), [1, 0, *range(2, 8)]]),
            "`generators` must generate a group of order at most 5040, got a larger one",
        ),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([[0, 1, 2]], r"`action` must have the shape \(2, 3\), got \(1, 3\)"),
        ([[0, 1, 2], [0, 2, 3]], "`action` must consist of elements 0 to 2"),
        ([[0, 1, 2], [0, 2, 1.0]], "`action` must consist of elements 0 to 2"),
        ([[0, 1, 2], [0, 0, 0]], r"`action\[1\]` must be an automorphism of .*, got \[0, 0, 0\]"),
        ([[0, 1, 2], [1, 0, 2]], r"`action\[1\]` must be an auto.* φ\(ab\) ≠ φ\(a\)φ\(b\) at \(0, 0\)"),
        ([[0, 2, 1], [0, 2, 1]], r"`action` must satisfy φ_.gh. = φ_g ∘ φ_h, .* \(g, h, n\) = \(0, 0, 1\)"),
    ],
)  # fmt: skip
def test_maps_that_are_no_action(action, message):
    with pytest.raises(ArgumentError, match=message):
        groups.semidirect(groups.cyclic(3), groups.cyclic(2), action)
