"""Irreducible representations: the orthogonality relations, known tables, kinds, order and determinism."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.core import ArgumentError
from lazyrich.groups import _decompose, _irreps
from tests.groups.samples import (
    PSL27,
    central_product,
    frobenius,
    heisenberg,
    relabelled,
    small,
    special_linear,
    worst_violation,
)

cyclic, product, dihedral, dicyclic = (
    groups.cyclic,
    groups.product,
    groups.dihedral,
    groups.dicyclic,
)
D4, Q8 = dihedral(4), groups.quaternion()

GROUPS = small()
SAMPLE = [
    *GROUPS,
    cyclic(97), cyclic(128), cyclic(200),
    product(*[cyclic(2)] * 7), product(*[cyclic(3)] * 4), product(cyclic(6), cyclic(10), cyclic(3)),
    product(groups.symmetric(3), groups.symmetric(4)), product(Q8, Q8), product(cyclic(3), dicyclic(5)),
    dihedral(31), dihedral(100), dicyclic(49),
    groups.alternating(5), groups.symmetric(5), special_linear(5), groups.from_permutations(PSL27, "PSL27"),
    heisenberg(3), heisenberg(5), central_product(D4, D4), central_product(D4, Q8),
    central_product(central_product(D4, Q8), D4),
    frobenius(11, 5), frobenius(13, 12), frobenius(19, 9), frobenius(29, 4),
]  # fmt: skip


@pytest.mark.parametrize("group", SAMPLE, ids=str)
def test_orthogonality_relations(group):
    assert worst_violation(group, groups.irreps(group)) < 1e-12


@pytest.mark.slow
def test_every_built_in_group_up_to_order_200():
    worst, number = 0.0, 0
    for group in built_in(200):
        worst = max(worst, worst_violation(group, groups.irreps(group)))
        number += 1
        for k in groups.real_irreps(group):
            rho = k.matrices
            worst = max(worst, np.abs(rho @ rho.transpose(0, 2, 1) - np.eye(k.dimension)).max())
    assert number > 1900
    assert worst < 1e-10


def built_in(largest):
    """All groups of the families up to an order: products of two, and cyclic groups acting on cyclic ones."""
    single = [cyclic(n) for n in range(1, largest + 1)]
    single += [dihedral(n) for n in range(3, largest // 2 + 1)]
    single += [dicyclic(n) for n in range(2, largest // 4 + 1)]
    single += [groups.symmetric(n) for n in (3, 4, 5)] + [groups.alternating(n) for n in (4, 5)]
    yield from single
    for first, second in itertools.combinations_with_replacement(single, 2):
        cyclics = first.is_abelian and second.is_abelian
        coprime = cyclics and math.gcd(first.order, second.order) == 1  # cyclic again
        if (
            first.order > 1
            and second.order > 1
            and first.order * second.order <= largest
            and not coprime
        ):
            yield product(first, second)
    for exponent in range(3, 8):
        for p in (2, 3, 5):
            if p**exponent <= largest:
                yield product(*[cyclic(p)] * exponent)
    for n in range(3, largest // 2 + 1):
        for m in range(2, largest // n + 1):
            for a in range(2, n):
                if math.gcd(a, n) == 1 and pow(a, m, n) == 1:
                    action = [[k * pow(a, h, n) % n for k in range(n)] for h in range(m)]
                    yield groups.semidirect(cyclic(n), cyclic(m), action)


@pytest.mark.parametrize("order", [1, 2, 3, 8, 15, 36])
def test_cyclic_irreps_are_waves_in_their_order(order):
    k = np.arange(order)
    waves = np.exp(2j * np.pi * (np.outer(k, k) % order) / order)
    found = np.array([irrep.character for irrep in groups.irreps(cyclic(order))])
    assert np.abs(found - waves).max() < 2e-15  # of which half is the rounding of angles here
    assert [irrep.conjugate for irrep in groups.irreps(cyclic(order))] == ((-k) % order).tolist()


@pytest.mark.parametrize("orders", [(2, 3), (4, 2), (2, 2, 2), (3, 1, 3), (5, 6)])
def test_irreps_of_products_are_numbered_as_the_elements(orders):
    group = product(*map(cyclic, orders))
    digits = np.stack(np.unravel_index(np.arange(group.order), orders))
    turns = sum(np.outer(x, x) % n / n for x, n in zip(digits, orders, strict=True))
    found = np.array([irrep.character for irrep in groups.irreps(group)])
    assert np.abs(found - np.exp(2j * np.pi * turns)).max() < 1e-14


def test_dihedral_irreps_are_turns_and_reflections():
    n = 7
    for k, irrep in enumerate(groups.irreps(dihedral(n))[2:], 1):
        angle = 2 * np.pi * k / n
        turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        assert np.abs(irrep.matrices[1] - turn).max() < 1e-14
        assert np.abs(irrep.matrices[n] - np.diag([1, -1])).max() < 1e-14


def test_quaternion_irrep_is_the_usual_one():
    matrices = groups.irreps(Q8)[4].matrices
    assert np.abs(matrices[1] - np.diag([1j, -1j])).max() < 1e-14
    assert np.abs(matrices[4] - np.array([[0, -1], [1, 0]])).max() < 1e-14


def hook_lengths(partition):
    columns = [sum(row > c for row in partition) for c in range(partition[0])]
    return [row - c + columns[c] - r - 1 for r, row in enumerate(partition) for c in range(row)]


def partitions(n, largest=None):
    largest = n if largest is None else largest
    if n == 0:
        yield ()
    for first in range(min(n, largest), 0, -1):
        yield from ((first, *rest) for rest in partitions(n - first, first))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_dimensions_of_symmetric_by_the_hook_formula(n):
    expected = sorted(math.factorial(n) // math.prod(hook_lengths(p)) for p in partitions(n))
    found = groups.irreps(groups.symmetric(n))
    assert [irrep.dimension for irrep in found] == expected
    assert {irrep.kind for irrep in found} == {"real"}  # true of every symmetric group


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (Q8, {(1, "real"): 4, (2, "quaternionic"): 1}),
        (D4, {(1, "real"): 4, (2, "real"): 1}),
        (cyclic(6), {(1, "real"): 2, (1, "complex"): 4}),
        (groups.alternating(4), {(1, "real"): 1, (1, "complex"): 2, (3, "real"): 1}),
        (special_linear(3), {(1, "real"): 1, (1, "complex"): 2, (2, "quaternionic"): 1,
                             (2, "complex"): 2, (3, "real"): 1}),
        (special_linear(5), {(1, "real"): 1, (2, "quaternionic"): 2, (3, "real"): 2, (4, "real"): 1,
                             (4, "quaternionic"): 1, (5, "real"): 1, (6, "quaternionic"): 1}),
        (frobenius(7, 3), {(1, "real"): 1, (1, "complex"): 2, (3, "complex"): 2}),
        (central_product(D4, D4), {(1, "real"): 16, (4, "real"): 1}),
        (central_product(D4, Q8), {(1, "real"): 16, (4, "quaternionic"): 1}),
    ],
    ids=str,
)  # fmt: skip
def test_known_kinds(group, expected):
    found = {}
    for irrep in groups.irreps(group):
        key = irrep.dimension, irrep.kind
        found[key] = found.get(key, 0) + 1
    assert found == expected


@pytest.mark.parametrize("group", SAMPLE, ids=str)
def test_kinds_and_conjugates_agree_with_the_matrices(group):
    every = groups.irreps(group)
    assert np.all(every[0].matrices == 1)
    assert [irrep.dimension for irrep in every] == sorted(irrep.dimension for irrep in every)
    for number, irrep in enumerate(every):
        assert irrep.number == number
        partner = every[irrep.conjugate]
        assert partner.conjugate == number
        assert partner.kind == irrep.kind
        assert (irrep.kind == "complex") == (irrep.conjugate != number)
        if irrep.kind == "complex":
            assert np.array_equal(partner.matrices, irrep.matrices.conj())
        if irrep.kind == "real":
            assert np.all(irrep.matrices.imag == 0)
        if irrep.kind == "quaternionic":  # an invariant form, and it is antisymmetric
            U = _irreps.invariant_form(irrep.matrices)
            assert np.abs(irrep.matrices @ U - U @ irrep.matrices.conj()).max() < 1e-12
            assert np.abs(U + U.T).max() < 1e-12


def test_number_of_real_characters_is_that_of_classes_of_inverses():
    for group in SAMPLE:
        own = sum(
            group.class_of[c[0]] == group.class_of[group.inverses[c[0]]]
            for c in group.conjugacy_classes
        )
        assert sum(irrep.kind != "complex" for irrep in groups.irreps(group)) == own


def test_number_of_square_roots_of_the_identity():
    """Frobenius and Schur: Σ_k ν_k d_k counts the elements whose square is neutral."""
    sign = {"real": 1, "complex": 0, "quaternionic": -1}
    for group in SAMPLE:
        total = sum(sign[irrep.kind] * irrep.dimension for irrep in groups.irreps(group))
        assert total == np.sum(np.diagonal(group.table) == group.identity)


@settings(max_examples=25)
@given(st.integers(0, 13), st.randoms(use_true_random=False))
def test_other_names_for_the_elements_change_nothing(number, random):
    group = GROUPS[number]
    permutation = list(range(group.order))
    random.shuffle(permutation)
    other = relabelled(group, permutation)
    assert worst_violation(other, groups.irreps(other)) < 1e-12
    before = np.array([irrep.character for irrep in groups.irreps(group)])
    after = np.array([irrep.character[permutation] for irrep in groups.irreps(other)])
    overlaps = np.abs(before.conj() @ after.T) / group.order  # a permutation matrix
    assert np.allclose(np.sort(overlaps, axis=1)[:, -1], 1)
    assert np.allclose(overlaps.sum(axis=1), 1)


@pytest.mark.parametrize(
    "group", [groups.symmetric(4), Q8, special_linear(3), frobenius(13, 4)], ids=str
)
def test_matrices_do_not_depend_on_the_random_numbers(group):
    """Another random element leads to another space of the same kind, and to the same matrices."""
    expected = groups.irreps(group)
    for seed in (1, 2):
        found = _irreps._standard_forms(group, _decompose.decompose(group, seed))
        for one, other in zip(expected, found, strict=True):
            assert np.abs(one.matrices - other.matrices).max() < 1e-12


def test_an_unlucky_random_element_is_noticed(monkeypatch):
    """A central element has eigenspaces that hold whole isotypic parts."""
    honest = _decompose._random_function

    def unlucky(group, seed):
        return np.ones(group.order, complex) if seed < 2 else honest(group, seed)

    monkeypatch.setattr(_decompose, "_random_function", unlucky)
    group = groups.symmetric(4)
    assert _decompose.decompose(group, 0) is None
    assert worst_violation(group, _irreps._cached.__wrapped__(group)) < 1e-12
    monkeypatch.setattr(_irreps, "ATTEMPTS", 2)
    with pytest.raises(
        RuntimeError, match=r"no irreducible representations of Group S4 of order 24 in 2"
    ):
        _irreps._cached.__wrapped__(group)


@pytest.mark.parametrize("gap", [0, 1e-14, 1e-11, 1e-9, 1e-7, 1e-5])
def test_nearly_equal_eigenvalues(gap, monkeypatch):
    """Random elements with two eigenvalues that differ by little: found out, or harmless."""
    group = product(cyclic(2), cyclic(2), cyclic(2))
    values = np.array([1, 1 + gap, 2, 3, 4, 5, 6, 7.0])
    waves = np.array([irrep.character for irrep in groups.irreps(group)])
    honest = _decompose._random_function
    monkeypatch.setattr(
        _decompose,
        "_random_function",
        lambda g, seed: (values @ waves / 8).astype(complex) if seed == 0 else honest(g, seed),
    )
    assert worst_violation(group, _irreps._cached.__wrapped__(group)) < 1e-12


def test_cached_by_content_and_frozen():
    first = groups.irreps(groups.symmetric(3))
    assert groups.irreps(groups.symmetric(3)) is first
    for array in (first[2].matrices, first[2].character, first[2].kernel):
        with pytest.raises(ValueError, match=r"read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    "call", [groups.irreps, groups.real_irreps, groups.summary, groups.regular]
)
@pytest.mark.parametrize("value", [7, [[0]], None, "Z7"])
def test_what_is_no_group(call, value):
    with pytest.raises(
        ArgumentError, match=r"`group` must be a Group, got .* Build one, e.g. groups.cyclic"
    ):
        call(value)


# over the real numbers


@pytest.mark.parametrize("group", SAMPLE, ids=str)
def test_real_irreps(group):
    every, complex_ones = groups.real_irreps(group), groups.irreps(group)
    assert sorted(itertools.chain(*(k.members for k in every))) == list(range(len(complex_ones)))
    for k in every:
        rho = k.matrices
        assert rho.dtype == np.float64
        assert np.abs(rho @ rho.transpose(0, 2, 1) - np.eye(k.dimension)).max() < 1e-12
        for s in group.generators:
            assert np.abs(rho @ rho[s] - rho[group.table[:, s]]).max() < 1e-12
        twice = 2 if k.kind == "quaternionic" else 1
        parts = twice * sum(complex_ones[m].character for m in k.members)
        assert np.abs(k.character - parts).max() < 1e-12
        # the mean of χ² counts the dimension of the commutant: 1, 2 or 4 over the real numbers
        commutant = {"real": 1, "complex": 2, "quaternionic": 4}[k.kind]
        assert math.isclose(np.mean(k.character**2), commutant, abs_tol=1e-10)


def test_waves_become_rotations():
    k = groups.real_irreps(cyclic(9))[2]
    angle = 2 * np.pi * 2 * np.arange(9) / 9
    expected = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert k.members == (2, 7)
    assert np.abs(k.matrices - expected.transpose(2, 0, 1)).max() < 1e-14


def test_largest_dimension_is_kept_within_the_bound():
    for group in SAMPLE:  # d² divides no more than the index of the centre
        bound = group.order // len(groups.centre(group))
        assert max(irrep.dimension for irrep in groups.irreps(group)) ** 2 <= bound
