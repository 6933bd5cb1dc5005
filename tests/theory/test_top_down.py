"""The energy that is left when some irreps are learned."""

import jax
import numpy as np
import pytest

from lazyrich import groups, quantities
from lazyrich.core import ArgumentError
from lazyrich.theory import ModulatedEnergy

GROUPS = [
    groups.cyclic(5), groups.cyclic(6), groups.product(groups.cyclic(2), groups.cyclic(2)),
    groups.symmetric(3), groups.dihedral(4), groups.quaternion(),
]  # fmt: skip
NAMES = [group.name for group in GROUPS]


def pair(group, number):
    return tuple(sorted({number, groups.irreps(group)[number].conjugate}))


def by_samples(group, learned, w):
    """Half the squared correlation of the squared pre-activations with the residual of the labels."""
    M = group.order
    f = (w[:M, None] + w[None, M:]) ** 2
    z = np.array([f[group.table == h].sum() for h in range(M)])
    rest = z - z.mean()
    for k in learned:
        rho = groups.irreps(group)[k].matrices.reshape(M, -1)
        rest = rest - (rho @ (rho.conj().T @ z)) * np.sqrt(rho.shape[1]) / M
    return 0.5 * np.sum(np.abs(rest) ** 2)


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_energy_is_that_of_the_residual(group):
    rng = np.random.default_rng(0)
    for learned in ((), pair(group, 1), pair(group, len(groups.irreps(group)) - 1)):
        w = rng.standard_normal((3, 2 * group.order))
        exact = [by_samples(group, learned, one) for one in w]
        np.testing.assert_allclose(ModulatedEnergy(group, learned).value(w), exact, rtol=1e-10)


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_nothing_learned_is_the_energy_of_the_group(group):
    w = np.random.default_rng(6).standard_normal((3, 2 * group.order))
    plain = quantities.GroupEnergy(group)
    np.testing.assert_allclose(ModulatedEnergy(group).value(w), plain.value(w), rtol=1e-10)
    np.testing.assert_allclose(ModulatedEnergy(group).gradient(w), plain.gradient(w), atol=1e-9)


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_gradient_is_the_derivative(group):
    energy = ModulatedEnergy(group, pair(group, 1), remaining=0.3)
    w, h = np.random.default_rng(1).standard_normal(2 * group.order), 1e-6
    steps = h * np.eye(2 * group.order)
    slope = (energy.value(w + steps) - energy.value(w - steps)) / (2 * h)
    np.testing.assert_allclose(energy.gradient(w), slope, rtol=1e-6, atol=1e-6)
    assert w @ energy.gradient(w) == pytest.approx(4 * energy.value(w))  # of degree 4


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_learned_irreps_have_no_energy_and_no_gradient(group):
    learned = pair(group, len(groups.irreps(group)) - 1)
    M = group.order
    rho = np.concatenate([groups.irreps(group)[k].matrices.reshape(M, -1) for k in learned], axis=1)
    u, v = (
        (rho @ (rho.conj().T @ x)).real for x in np.random.default_rng(2).standard_normal((2, M))
    )
    w = np.concatenate([u, v])
    energy = ModulatedEnergy(group, learned)
    assert energy.value(w) == pytest.approx(0, abs=1e-9 * ModulatedEnergy(group).value(w))
    np.testing.assert_allclose(energy.gradient(w), 0, atol=1e-9)
    rest = ModulatedEnergy(group, learned, remaining=0.2)
    assert rest.value(w) == pytest.approx(0.04 * ModulatedEnergy(group).value(w))


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_residuals_add_up_and_have_the_rank_of_all_matrix_coefficients(group):
    every = groups.irreps(group)
    learned = pair(group, 1)
    residual = ModulatedEnergy(group, learned).residual
    np.testing.assert_allclose(residual @ residual, residual, atol=1e-12)
    missing = [k for k in every[1:] if k.number not in learned]
    assert np.trace(residual) == pytest.approx(sum(k.dimension**2 for k in missing))


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_ascent_ends_in_the_listed_maxima_and_finds_all_values(group):
    learned = pair(group, 1)
    energy = ModulatedEnergy(group, learned)
    w = np.random.default_rng(3).standard_normal((60, 2 * group.order))
    for _ in range(400):
        g = energy.gradient(w)
        w = w + g / np.linalg.norm(g, axis=1, keepdims=True)
        w /= np.linalg.norm(w, axis=1, keepdims=True)
    listed = np.unique(energy.maxima.energies)
    distance = np.abs(energy.value(w)[:, None] - listed)
    assert distance.min(axis=1).max() < 1e-6
    assert distance.min(axis=0).max() < 1e-6
    assert all(not set(learned) & set(members) for members in energy.maxima.irreps)


def test_conjugation_of_arguments_and_translations_change_nothing():
    group, rng = groups.symmetric(3), np.random.default_rng(4)
    energy, table = ModulatedEnergy(group, (1,)), group.table
    w = rng.standard_normal(12)
    for x in range(6):  # h → xh on the first factor is a relabelling of the products
        moved = np.concatenate([w[:6][table[x]], w[6:]])
        assert energy.value(moved) == pytest.approx(energy.value(w))


def test_traces():
    energy = ModulatedEnergy(groups.quaternion(), (4,))
    w = np.random.default_rng(5).standard_normal((3, 16))
    traced = jax.jit(energy.gradient)(w.astype(np.float32))
    np.testing.assert_allclose(traced, energy.gradient(w), rtol=1e-3, atol=1e-3)
    automatic = jax.jit(jax.vmap(jax.grad(energy.value)))(w.astype(np.float32))
    np.testing.assert_allclose(automatic, energy.gradient(w), rtol=1e-3, atol=1e-3)


def test_printed_characters_are_the_residual_for_abelian_groups_only():
    for group in GROUPS:
        missing = groups.irreps(group)[1:]
        Phi = np.stack([np.sqrt(k.dimension / group.order) * k.character for k in missing], axis=1)
        same = np.allclose(np.real(Phi @ Phi.conj().T), ModulatedEnergy(group).residual)
        assert same == group.is_abelian


def test_bad_input_is_named():
    with pytest.raises(
        ArgumentError, match=r"`learned` must hold the conjugate of each irrep.*Add 4"
    ):
        ModulatedEnergy(groups.cyclic(5), (1,))
    for learned in ((0,), (5,), (1.5,), ("1",), 1):
        with pytest.raises(
            ArgumentError, match=r"`learned` must hold numbers of irreps from 1 to 4"
        ):
            ModulatedEnergy(groups.cyclic(5), learned)
    with pytest.raises(ArgumentError, match=r"`group` must be a group"):
        ModulatedEnergy(5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match=r"`weights` must have the shape \(..., 10\)"):
        ModulatedEnergy(groups.cyclic(5)).value(np.ones(5))
    with pytest.raises(ArgumentError, match=r"`remaining` must be a finite real number"):
        ModulatedEnergy(groups.cyclic(5), (), 1.5)
