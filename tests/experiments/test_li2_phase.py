"""The phase boundary of li2: how it is read off and fitted, and which groups are trained on."""

import numpy as np
import pytest
import xarray
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import groups, quantities, tasks, theory
from lazyrich.core import ArgumentError
from lazyrich.experiments.li2 import _phase, fig7

ORDERS = np.array([7.0, 11.0, 23.0, 71.0])


def _result(constants, multiples=(2.0, 2.3, 2.6, 2.9, 3.2)):
    """Accuracies that rise in a straight line and pass ½ at the given constants, (group, seed)."""
    orders = ORDERS[: len(constants)].astype(int)
    samples = np.array([[_phase.num_samples(M, m) for m in multiples] for M in orders])
    place = samples / (orders * np.log(orders))[:, None]
    rise = np.clip(0.5 + place[:, :, None] - np.asarray(constants)[:, None, :], 0, 1)
    return xarray.Dataset(
        {
            "test_accuracy": (("group", "multiple", "seed", "time"), rise[..., None]),
            "num_samples": (("group", "multiple"), samples),
            "order": ("group", orders),
        }
    )


def test_boundaries_are_found_where_the_accuracy_passes_one_half():
    constants = np.array([[2.5, 2.7], [2.4, 3.0], [2.55, 2.65]])
    # interpolated in the logarithm of the share: off by less than a thousandth of it between grid points
    np.testing.assert_allclose(_phase.boundaries(_result(constants)), constants, rtol=5e-3)


def test_a_seed_that_never_generalises_has_no_boundary():
    found = _phase.boundaries(_result(np.array([[2.5, 9.0]])))
    assert np.isfinite(found[0, 0])
    assert np.isinf(found[0, 1])


@given(st.floats(0.5, 5), st.floats(0.3, 1.5))
def test_fits_return_what_was_put_in(constant, gamma):
    shares = constant * np.log(ORDERS) / ORDERS**gamma
    law = _phase.law(ORDERS, shares, np.log(ORDERS) / ORDERS**gamma)
    assert law.constant == pytest.approx(constant)
    assert law.scatter < 1e-10


def test_another_law_leaves_more_scatter():
    shares = 2.6 * _phase.unit(ORDERS)
    assert _phase.law(ORDERS, shares, 1 / ORDERS).scatter > 0.2
    assert _phase.law(ORDERS, shares, ORDERS**-0.5).scatter > 0.1


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("Z23", lambda: groups.cyclic(23)),
        ("Z4 × Z7", lambda: groups.product(groups.cyclic(4), groups.cyclic(7))),
        ("D5", lambda: groups.dihedral(5)),
        ("Z3 × D4", lambda: groups.product(groups.cyclic(3), groups.dihedral(4))),
        ("Z5 ⋊ Z4", lambda: groups.dicyclic(5)),
        ("F6", lambda: groups.symmetric(3)),
    ],
)
def test_groups_by_name(name, same):
    found, expected = _phase.named_group(name), same()
    assert found.order == expected.order
    assert sorted(found.element_orders) == sorted(expected.element_orders)
    assert found.is_abelian == expected.is_abelian


def test_affine_groups_have_one_large_irrep():
    found = _phase.named_group("F20")
    assert sorted(irrep.dimension for irrep in groups.irreps(found)) == [1, 1, 1, 1, 4]
    with pytest.raises(
        ArgumentError, match=r"`name` must have the order q\(q − 1\) of a prime q > 2, got"
    ):
        _phase.named_group("F12")


@pytest.mark.parametrize("name", ["Q8", "D4 ⋊ Z2", "Z4xZ7", ""])
def test_other_names_are_refused(name):
    with pytest.raises(ArgumentError, match=r"`name` must be made of words such as Z4, D5"):
        _phase.named_group(name)


@pytest.mark.parametrize(("order", "samples"), [(11, 66), (23, 180), (71, 2016), (127, 3225)])
def test_tasks_have_as_many_samples_as_asked(order, samples):
    assert _phase.training(groups.cyclic(order), samples, samples, 8).task.num_samples == samples


@pytest.mark.parametrize("samples", [60, 121, 169])
def test_energy_of_features_on_random_pairs(samples):
    """Against features of GroupFeatures on random choices of pairs; on all pairs it is Theorem 2's."""
    group = groups.cyclic(13)
    features = theory.GroupFeatures(group)
    nodes = np.concatenate([features.sample(family.index, 4) for family in features.families])
    task = tasks.GroupArithmetic(group, 0.5)
    pairs, labels = task.pairs, task.labels
    rng, found = np.random.default_rng(0), []
    for _ in range(60):
        chosen = rng.permutation(len(pairs))[:samples]
        weights = np.isin(np.arange(len(pairs)), chosen).astype(float)
        energy = quantities.FeatureEnergy(pairs, labels, sample_weights=weights)
        found.append(np.mean(energy.value(nodes)))
    error = np.std(found) / np.sqrt(len(found))
    # what the formula leaves out is of the order 1/M of its second term
    assert abs(np.mean(found) - fig7.sampled_energy(group, samples)) < 4 * error + 0.01
    if samples == 169:
        assert fig7.sampled_energy(group, samples) == pytest.approx(13 / 4)


def test_one_pair_memorised_has_the_energy_of_its_class_row_and_column():
    """By hand for all pairs of Z_M: the node sees 2 at its pair and ½ along row and column."""
    M = 5
    group = groups.cyclic(M)
    pairs = _phase.training(group, 24, 24, 8).train_pairs(0)
    kept = {tuple(pair) for pair in pairs.tolist()}
    energies = []
    for g, h in pairs[: 4 * M]:
        sums, counts, total = np.zeros(M), np.zeros(M), 0.0
        for a, b in kept:
            f = (int(a == g) + int(b == h)) ** 2 / 2
            sums[(a + b) % M] += f
            counts[(a + b) % M] += 1
            total += f
        energies.append(0.5 * np.sum((sums - counts / len(kept) * total) ** 2))
    assert fig7._memorised_energy(pairs, group) == pytest.approx(np.mean(energies))
