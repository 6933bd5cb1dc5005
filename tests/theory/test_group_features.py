"""Local maxima of the energy for groups: against the definition, ascents and Hessians by differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.checks.li2._energy_instances import dense, plain_ascent, plain_energy, plain_gradient
from lazyrich.core import ArgumentError
from lazyrich.theory import GroupFeatures

GROUPS = {
    "Z2": groups.cyclic(2),
    "Z9": groups.cyclic(9),
    "Z6": groups.cyclic(6),
    "Z2xZ2": groups.product(groups.cyclic(2), groups.cyclic(2)),
    "D4": groups.dihedral(4),
    "Q8": groups.quaternion(),
    "Dic3": groups.dicyclic(3),
    "A4": groups.alternating(4),
    "S4": groups.symmetric(4),
}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("complex_weights", [False, True])
def test_families_are_critical_and_have_the_predicted_energy(name, complex_weights):
    group = GROUPS[name]
    X, Y = dense(group)
    features = GroupFeatures(group, complex_weights=complex_weights)
    for family in features.families:
        w = features.sample(family.index, 3, seed=5)
        np.testing.assert_allclose(np.linalg.norm(w, axis=1), 1)
        np.testing.assert_allclose(plain_energy(X, Y, w, np.square), family.energy, rtol=1e-12)
        if not complex_weights:
            g = plain_gradient(X, Y, w)
            np.testing.assert_allclose(g, 4 * family.energy * w, atol=1e-12 * group.order)


@pytest.mark.parametrize("name", ["Z9", "Z6", "Z2xZ2", "D4", "Q8", "A4"])
def test_curvature_against_differences_of_the_plain_energy(name):
    """Along great circles the energy of a maximum falls, or stays in as many directions as predicted."""
    group = GROUPS[name]
    X, Y = dense(group)
    features = GroupFeatures(group)
    for family in features.families:
        w = features.sample(family.index, seed=2)[0]
        basis = np.linalg.svd(w[None])[2][1:]
        h = 1e-3
        gradient = [
            basis @ (plain_gradient(X, Y, np.cos(h) * w + np.sin(h) * t)
                     - plain_gradient(X, Y, np.cos(h) * w - np.sin(h) * t)) / (2 * h)
            for t in basis
        ]  # fmt: skip
        H = np.array(gradient) - 4 * family.energy * np.eye(len(basis))
        levels = np.linalg.eigvalsh((H + H.T) / 2) / (4 * family.energy)
        assert levels.max() < 1e-4
        assert np.sum(np.abs(levels) < 1e-4) == family.flat_directions
        found = features.curvature(w)
        np.testing.assert_allclose(found.eigenvalues / (4 * family.energy), levels, atol=1e-4)
        assert found.num_flat == family.flat_directions
        assert found.num_positive == 0
        assert found.num_negative + found.num_flat == 2 * group.order - 1


def test_curvature_of_complex_nodes_and_of_saddles():
    features = GroupFeatures(GROUPS["Z6"], complex_weights=True)
    for family in features.families[1:3]:
        found = features.curvature(features.sample(family.index, 2, seed=3))
        np.testing.assert_array_equal(found.num_flat, family.flat_directions)
        assert not found.num_positive.any()
    real = GroupFeatures(GROUPS["Z9"])
    mixed = real.sample(0)[0] + real.sample(1)[0]  # two frequencies: a saddle
    assert real.curvature(mixed).num_positive > 0
    assert not real.classify(mixed).is_maximum


@pytest.mark.parametrize("name", ["Z9", "Z6", "Dic3", "S4"])
def test_every_ascent_ends_in_a_family(name):
    features = GroupFeatures(GROUPS[name])
    found = features.classify(plain_ascent(GROUPS[name], 60, seed=1))
    assert found.is_maximum.all()
    np.testing.assert_allclose(found.share, 1, atol=1e-12)
    np.testing.assert_allclose(found.relative_energy, 1, atol=1e-12)
    assert set(found.family.tolist()) == set(range(len(features.families)))


def test_rank_two_is_no_maximum():
    """The printed u in the irrep is not enough: of rank two, [u; Pu] has half the energy, and is a saddle."""
    group = GROUPS["S4"]
    features = GroupFeatures(group)
    family = next(f for f in features.families if f.dimension == 2)
    e = np.eye(2)
    nodes = [features.maximum(family.index, e[i], e[i], e[i]) for i in (0, 1)]
    both = (nodes[0] + nodes[1]) / np.sqrt(2)
    found = features.classify(both)
    assert found.share == pytest.approx(1)
    assert found.slope < 1e-10
    assert found.relative_energy == pytest.approx(0.5)
    assert features.curvature(both).num_positive > 0
    assert not found.is_maximum


def test_quaternionic_irrep_of_dimension_four():
    features = GroupFeatures(groups.product(GROUPS["Q8"], groups.symmetric(3)))
    family = features.families[-1]
    assert (family.kind, family.dimension, family.energy, family.flat_directions) == (
        "quaternionic",
        4,
        3,
        18,
    )
    found = features.curvature(features.sample(family.index, seed=1))
    assert found.num_flat == 18
    assert found.num_positive == 0
    np.testing.assert_allclose(found.eigenvalues.min(), -8 * family.energy)


def test_irreps_of_cyclic_groups_are_those_of_quotients():
    features = GroupFeatures(groups.cyclic(15))
    found = {f.members[0]: (f.kernel, f.quotient_order) for f in features.families}
    assert found[5] == ((0, 3, 6, 9, 12), 3)
    assert found[3] == ((0, 5, 10), 5)
    assert found[1] == ((0,), 15)
    assert [f.num_components for f in GroupFeatures(GROUPS["Z6"]).families] == [1, 1, 4]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(list(GROUPS)), scale=st.floats(0.01, 100))
def test_properties_of_the_classification(seed, name, scale):
    group, rng = GROUPS[name], np.random.default_rng(seed)
    features, M = GroupFeatures(group), group.order
    w = rng.standard_normal((3, 2 * M))
    shares = features.power(w)
    np.testing.assert_allclose(shares.sum(-1), 1)
    assert shares.min() >= 0
    found, scaled = features.classify(w), features.classify(scale * w)
    np.testing.assert_allclose(scaled.energy, found.energy, rtol=1e-9)
    np.testing.assert_allclose(scaled.slope, found.slope, rtol=1e-6, atol=1e-12)
    # no node exceeds the best family, nor a maximum the bound of its own power
    best = max(f.energy for f in features.families)
    assert np.all(found.energy <= best * (1 + 1e-12))
    # multiplying elements from outside keeps the family
    g, d = rng.integers(0, M, 2)
    moved = np.concatenate([w[:, :M][:, group.table[g]], w[:, M:][:, group.table[:, d]]], axis=1)
    np.testing.assert_allclose(features.power(moved), shares, atol=1e-10)
    # maxima stay maxima when signs of halves change
    k = int(rng.integers(len(features.families)))
    top = features.sample(k, 2, seed)
    top[:, M:] *= -1
    again = features.classify(top)
    assert again.is_maximum.all()
    assert (again.family == k).all()


def test_activation_scales_the_energy():
    plain, other = (GroupFeatures(GROUPS["D4"], *ab) for ab in ((0.0, 1.0), (5.0, -0.5)))
    for a, b in zip(plain.families, other.families, strict=True):
        assert b.energy == pytest.approx(a.energy / 4)


def test_zeros_have_no_family():
    found = GroupFeatures(GROUPS["Z6"]).classify(np.zeros((2, 12)))
    assert found.family.tolist() == found.irrep.tolist() == [-1, -1]
    assert not found.is_maximum.any()
    assert found.energy.tolist() == [0, 0]


Z5 = GroupFeatures(groups.cyclic(5))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: GroupFeatures(groups.cyclic(1)), r"`group` must have at least two elements"),
        (lambda: GroupFeatures(groups.cyclic(5), np.nan), r"`linear` must be a finite real"),
        (lambda: GroupFeatures(groups.cyclic(5), 1.0, 0.0), r"`quadratic` must not be 0"),
        (lambda: Z5.sample(2), r"`family` must be a whole number from 0 to 1"),
        (lambda: Z5.sample(True), r"`family` must be a whole number"),
        (lambda: Z5.sample(0, num=0), r"`num` must be .* ≥ 1"),
        (lambda: Z5.classify(np.ones(9)), r"`weights` must have the shape \(..., 10\)"),
        (lambda: Z5.classify(np.ones(10) * 1j), r"`weights` must be real"),
        (lambda: Z5.classify([np.nan] * 10), r"`weights\[0\]` must be a finite real"),
        (lambda: Z5.curvature(np.zeros(10)), r"`weights` must not be zero"),
        (lambda: Z5.maximum(0, [1, 1], [1], [1]), r"`x` must have the shape \(..., 1\)"),
        (lambda: Z5.maximum(0, [1], [0], [1]), r"`y` must be finite and not zero"),
        (
            lambda: GroupFeatures(GROUPS["D4"]).maximum(3, [1j, 0], [1, 0], [1, 0]),
            r"`x` must be real",
        ),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ArgumentError, match=match):
        call()
