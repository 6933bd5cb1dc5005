"""Nodes that write the targets: against least squares on explicit matrices."""

import numpy as np
import pytest

from lazyrich import groups
from lazyrich.core import ArgumentError
from lazyrich.theory import GroupFeatures, TargetReconstruction

GROUPS = {
    "Z5": groups.cyclic(5),
    "Z6": groups.cyclic(6),
    "Z2xZ2": groups.product(groups.cyclic(2), groups.cyclic(2)),
    "D3": groups.dihedral(3),
    "D4": groups.dihedral(4),
    "Q8": groups.quaternion(),
    "Dic3": groups.dicyclic(3),
    "A4": groups.alternating(4),
}
SMALL = ["Z5", "Z6", "Z2xZ2", "D3", "D4", "Q8"]


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("complex_weights", [True, False])
def test_economical_nodes_suffice_and_are_maxima(name, complex_weights):
    target = TargetReconstruction(GROUPS[name], complex_weights=complex_weights)
    nodes = target.nodes("economical")
    assert nodes.shape[1] == target.num_economical
    assert target.error(nodes) < 1e-25
    assert np.iscomplexobj(nodes) == complex_weights
    features = GroupFeatures(GROUPS[name], complex_weights=complex_weights)
    assert features.classify(nodes.T).is_maximum.all()


@pytest.mark.parametrize("name", SMALL)
def test_conjugate_nodes_do_and_printed_ones_do_not(name):
    group = GROUPS[name]
    target = TargetReconstruction(group)
    nodes = target.nodes("conjugate", seed=1)
    assert nodes.shape[1] == target.num_nodes <= target.bound
    assert target.error(nodes) < 1e-20
    missed = target.error(target.nodes("printed", seed=1))
    # with characters of order two only, u is real and every matrix symmetric
    assert (missed > 0.1) == (name != "Z2xZ2")


def test_complex_nodes_of_odd_cyclic_groups_see_nothing():
    target = TargetReconstruction(groups.cyclic(7))
    assert target.error(target.nodes("printed")) == pytest.approx(1)


def test_real_equal_halves_predict_the_element_and_its_inverse():
    target = TargetReconstruction(groups.cyclic(5), complex_weights=False)
    outputs = target.outputs(target.nodes("printed", seed=2)).reshape(5, 5, 5)
    a, b = np.indices((5, 5))
    h = (a + b) % 5
    expected = (np.eye(5)[h] + np.eye(5)[(-h) % 5]) / 2 - 0.2
    np.testing.assert_allclose(outputs, expected, atol=1e-10)


@pytest.mark.parametrize("complex_weights", [True, False])
def test_one_pair_less_does_not_suffice(complex_weights):
    target = TargetReconstruction(groups.cyclic(5), complex_weights=complex_weights)
    nodes = target.nodes("economical")
    half = nodes.shape[1] // 2
    assert target.error(np.delete(nodes, [0, half], axis=1)) > 1e-2


def test_numbers_of_nodes():
    assert TargetReconstruction(groups.cyclic(7)).num_nodes == 12
    assert TargetReconstruction(groups.cyclic(7), complex_weights=False).num_economical == 18
    A4 = TargetReconstruction(GROUPS["A4"])
    assert (A4.num_nontrivial, A4.num_nodes, A4.bound, A4.num_economical) == (3, 166, 166, 58)
    for group in GROUPS.values():
        target = TargetReconstruction(group)
        assert target.num_economical <= target.num_nodes <= target.bound


def test_gram_matrix_of_pairs_is_block_diagonal():
    target = TargetReconstruction(GROUPS["D3"])
    nodes = target.nodes("conjugate", seed=3)
    half = nodes.shape[1] // 2
    mixing = np.concatenate([np.eye(half), -np.eye(half)]) / 2
    gram = mixing.T @ target.gram(nodes) @ mixing
    family = GroupFeatures(GROUPS["D3"], complex_weights=True).classify(nodes.T).family[:half]
    different = family[:, None] != family[None, :]
    assert different.any()
    assert np.abs(gram[different]).max() < 1e-13
    U = nodes[:6, :half]
    np.testing.assert_allclose(gram, 4 * np.abs(U.conj().T @ U) ** 2, atol=1e-13)


def test_outputs_do_not_depend_on_the_seed_where_the_targets_are_reached():
    target = TargetReconstruction(GROUPS["Z6"])
    for seed in range(3):
        outputs = target.outputs(target.nodes("conjugate", seed=seed))
        np.testing.assert_allclose(outputs, target.targets, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda t: t.nodes("best"), r"`form` must be one of printed, conjugate, economical"),
        (lambda t: t.error(np.ones((9, 2))), r"`first` must have the shape \(10, K\)"),
        (lambda t: t.error(np.full((10, 2), np.nan)), r"`first\[0, 0\]` must be a finite real"),
        (lambda t: t.error(np.ones(10)), r"`first` must have the shape"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ArgumentError, match=match):
        call(TargetReconstruction(GROUPS["Z5"]))
