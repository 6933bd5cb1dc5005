"""Fourier transforms on groups: conventions, Plancherel, convolution, projectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.core import ArgumentError
from tests.groups.samples import small

GROUPS = small()
cases = st.tuples(st.sampled_from(GROUPS), st.integers(0, 2**32 - 1))


def draw(group, seed, *shape):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((*shape, group.order, 2)) @ [1, 1j]


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_regular_representation(group):
    R, every = groups.regular(group), np.eye(group.order)
    for h in range(group.order):
        assert np.array_equal(R[h] @ every, every[:, group.table[h]].T.T)
        for g in (0, group.order - 1):
            assert np.array_equal(R[h] @ every[g], every[group.table[h, g]])
            assert np.array_equal(R[h] @ R[g], R[group.table[h, g]])


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_projectors_from_their_definition(group):
    R, P = groups.regular(group), groups.projectors(group)
    for irrep, projector in zip(groups.irreps(group), P, strict=True):
        d = irrep.dimension
        direct = np.tensordot(irrep.character.conj(), R, axes=1) * d / group.order
        assert np.abs(projector - direct).max() < 1e-13
        assert np.isclose(projector.trace(), d**2)
        assert np.abs(projector - projector.conj().T).max() < 1e-13
    assert (
        np.abs(
            np.einsum("kxy,lyz->klxz", P, P) - np.einsum("kl,kxz->klxz", np.eye(len(P)), P)
        ).max()
        < 1e-12
    )
    assert np.abs(P.sum(axis=0) - np.eye(group.order)).max() < 1e-12


@given(cases)
def test_transform_from_its_definition_and_back(case):
    group, seed = case
    f = draw(group, seed, 2, 3)
    transforms = groups.fourier(group, f)
    for irrep, block in zip(groups.irreps(group), transforms, strict=True):
        direct = sum(f[..., g, None, None] * irrep.matrices[g] for g in range(group.order))
        assert np.abs(block - direct).max() < 1e-11
    assert np.abs(groups.inverse_fourier(group, transforms) - f).max() < 1e-12


@given(cases)
def test_convolution_becomes_a_product_in_the_same_order(case):
    group, seed = case
    f, h = draw(group, seed, 2)
    both = np.zeros(group.order, complex)
    np.add.at(both, group.table, np.outer(f, h))  # Σ over ab = g of f(a) h(b)
    for product, first, second in zip(
        *(groups.fourier(group, x) for x in (both, f, h)), strict=True
    ):
        assert np.abs(product - first @ second).max() < 1e-10


@given(cases, st.integers(0, 1000))
def test_translation(case, element):
    group, seed = case
    f, h = draw(group, seed), element % group.order
    moved = groups.regular(group)[h] @ f
    for irrep, before, after in zip(
        groups.irreps(group), groups.fourier(group, f), groups.fourier(group, moved), strict=True
    ):
        assert np.abs(after - irrep.matrices[h] @ before).max() < 1e-11
    assert np.abs(groups.power(group, moved) - groups.power(group, f)).max() < 1e-10
    right = f[group.table[:, h]]
    assert np.abs(groups.power(group, right) - groups.power(group, f)).max() < 1e-10


@given(cases)
def test_power_is_that_of_the_projections_and_sums_to_the_length(case):
    group, seed = case
    f = draw(group, seed, 4)
    powers = groups.power(group, f)
    parts = np.einsum("kxy,by->bkx", groups.projectors(group), f)
    assert np.abs(powers - (np.abs(parts) ** 2).sum(axis=-1)).max() < 1e-11
    assert np.abs(powers.sum(axis=-1) - (np.abs(f) ** 2).sum(axis=-1)).max() < 1e-11


@given(cases)
def test_real_functions_have_equal_power_in_conjugates(case):
    group, seed = case
    f = draw(group, seed).real
    powers = groups.power(group, f)
    conjugates = [irrep.conjugate for irrep in groups.irreps(group)]
    assert np.abs(powers - powers[conjugates]).max() < 1e-11
    real = groups.real_power(group, f)
    assert real.shape == (len(groups.real_irreps(group)),)
    assert np.isclose(real.sum(), f @ f)
    for k, value in zip(groups.real_irreps(group), real, strict=True):
        assert np.isclose(value, sum(powers[m] for m in k.members))


def test_cyclic_is_the_fast_fourier_transform():
    f = draw(groups.cyclic(12), 0, 5)
    found = np.concatenate(groups.fourier(groups.cyclic(12), f), axis=-1)[:, 0]
    assert np.abs(found - 12 * np.fft.ifft(f)).max() < 1e-12


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_matrix_entries_are_pure(group):
    for irrep in groups.irreps(group):
        share = groups.power(group, irrep.matrices[:, 0, -1].conj())
        expected = np.zeros(len(groups.irreps(group)))
        expected[irrep.number] = group.order / irrep.dimension
        # f̂_k sums f(g) ρ_k(g), so it is the conjugate of an entry that belongs to ρ_k
        assert np.abs(share - expected).max() < 1e-11


@given(cases)
def test_pairs_read_the_second_half_backwards(case):
    group, seed = case
    u, v = draw(group, seed, 2)
    P = np.zeros((group.order, group.order))
    P[group.inverses, np.arange(group.order)] = 1  # P e_h = e_{h⁻¹}
    found = groups.pair_power(group, np.concatenate([u, P @ v])[None])
    assert found.shape == (1, 2, len(groups.irreps(group)))
    assert np.abs(found[0] - [groups.power(group, u), groups.power(group, v)]).max() < 1e-11
    real = groups.real_pair_power(group, np.concatenate([u, P @ v]))
    assert np.abs(real - [groups.real_power(group, u), groups.real_power(group, v)]).max() < 1e-11


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: groups.fourier(g, [1, 2]), r"`function` must have the shape \(…, 6\), got \(2,\)\. Pass"),
        (lambda g: groups.power(g, 1.0), r"`function` must have the shape \(…, 6\), got \(\)"),
        (lambda g: groups.power(g, [np.nan] * 6), "`function` must be finite, got nan. Remove or repair"),
        (lambda g: groups.power(g, [np.inf * 1j] * 6), "`function` must be finite, got"),
        (lambda g: groups.power(g, ["a"] * 6), "`function` must be an array of real or complex numbers"),
        (lambda g: groups.power(g, [True] * 6), "`function` must be an array of real or complex numbers"),
        (lambda g: groups.power(g, [[1], [1, 2]]), "`function` must be an array of numbers"),
        (lambda g: groups.pair_power(g, np.ones((12, 3))), r"`weights` must have the shape \(…, 12\), got"),
        (lambda g: groups.inverse_fourier(g, [np.eye(1)]), "`transforms` must have 3 entries, got 1. Pass"),
        (lambda g: groups.inverse_fourier(g, [[[1]]] * 3), r"`transforms\[2\]` must have the shape \(…, 2"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(groups.symmetric(3))


@pytest.mark.parametrize("call", [groups.regular, groups.projectors])
def test_matrices_that_would_not_fit_into_memory(call):
    with pytest.raises(
        ArgumentError, match="`group` must have order at most 500, got Group Z501 of order 501"
    ):
        call(groups.cyclic(501))


def test_empty_batch():
    assert groups.power(groups.cyclic(3), np.ones((0, 3))).shape == (0, 3)
