"""Nodes whose features are known: single irreps, random weights, memorised pairs."""

import numpy as np
import pytest
from group_runs import pairs_of, waves
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.core import ArgumentError
from lazyrich.measures import node_features
from lazyrich.measures._irrep_chance import purity_chance
from lazyrich.quantities import feature_energy
from lazyrich.theory import GroupFeatures

GROUPS = {
    "Z23": groups.cyclic(23),
    "Z12": groups.cyclic(12),
    "Z3×Z5": groups.product(groups.cyclic(3), groups.cyclic(5)),
    "S4": groups.symmetric(4),
    "Q8": groups.quaternion(),
    "D9": groups.dihedral(9),
    "A4": groups.alternating(4),
}


def pure(group, irrep, rng):
    """A random node [u; Pv] with u and v in one real irrep."""
    projectors = groups.projectors(group)
    onto = sum(projectors[k] for k in groups.real_irreps(group)[irrep].members).real
    u, v = (onto @ rng.standard_normal(group.order) for _ in range(2))
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    return np.concatenate([u, v[group.inverses]])


@pytest.mark.parametrize("name", GROUPS)
def test_single_irreps(name):
    group, rng = GROUPS[name], np.random.default_rng(0)
    numbers = range(1, len(groups.real_irreps(group)))
    first = np.stack([pure(group, k, rng) for k in numbers], axis=1)
    found = node_features(first + 0.3, group)  # a constant is the trivial irrep
    np.testing.assert_array_equal(found.irrep, numbers)
    np.testing.assert_allclose(found.purity, 1, atol=1e-10)
    np.testing.assert_allclose(found.inverse_participation, 1, atol=1e-10)
    assert found.agree.all()
    np.testing.assert_allclose(found.power.sum(axis=-1), found.norm**2, rtol=1e-12)
    np.testing.assert_allclose(found.trivial * found.norm**2, 2 * group.order * 0.09, rtol=1e-9)
    known = found.chance <= 0.01 / len(numbers)
    np.testing.assert_array_equal(found.kind[known], "generalising")
    assert found.num_features == known.sum()


@given(st.integers(0, 10**6), st.sampled_from(sorted(GROUPS)))
@settings(max_examples=25)
def test_multiplication_from_the_left_changes_nothing(seed, name):
    """Irreps are the same for the functions u(hg): the names of elements do not matter."""
    group, rng = GROUPS[name], np.random.default_rng(seed)
    M, first = group.order, rng.standard_normal((2 * group.order, 3))
    h = rng.integers(M)
    moved = np.concatenate([first[:M][group.table[h]], first[M:][group.table[h]]])
    one, two = node_features(first, group), node_features(-2 * moved, group)
    np.testing.assert_allclose(two.purity, one.purity, atol=1e-10)
    np.testing.assert_array_equal(two.irrep, one.irrep)
    assert np.all((one.purity <= 1 + 1e-12) & (one.inverse_participation <= one.purity + 1e-12))
    assert np.all(one.inverse_participation >= one.purity**2 - 1e-12)


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("is_complex", [False, True])
def test_chance_of_random_weights(name, is_complex):
    """The formula against many draws: exact from ½ on, a bound below."""
    group, rng, N = GROUPS[name], np.random.default_rng(1), 5000
    first = rng.standard_normal((2 * group.order, N))
    if is_complex:
        first = first + 1j * rng.standard_normal(first.shape)
    purity = node_features(first, group, smallest=0).purity
    for level in (0.4, 0.5, 0.6, 0.75):
        said = float(purity_chance(group, level, is_complex=is_complex))
        error = 4 * np.sqrt(max(said, 1 / N) / N)
        seen = np.mean(purity >= level)
        assert seen <= said + error
        if level >= 0.5:
            assert seen >= said - error


def test_layers_of_random_weights_are_not_taken_for_learned():
    """At most one layer in a hundred for each kind of mistake; here 400 layers of several groups."""
    rng = np.random.default_rng(2)
    wrong = {"generalising": 0, "memorising": 0}
    for name in ("Z23", "Z12", "S4", "D9"):
        group = GROUPS[name]
        found = node_features(rng.standard_normal((100, 2 * group.order, 24)), group, smallest=0)
        for kind in wrong:
            wrong[kind] += int(np.sum(np.any(found.kind == kind, axis=-1)))
    assert all(number <= 12 for number in wrong.values()), wrong  # 4 expected at most


def test_frequencies_and_phases():
    rng, M = np.random.default_rng(3), 23
    k, phases = rng.integers(1, 12, 40), rng.uniform(-np.pi, np.pi, (2, 40))
    found = node_features(waves(M, k, *phases), groups.cyclic(M))
    np.testing.assert_array_equal(found.cyclic.frequency, k)
    np.testing.assert_allclose(np.exp(1j * found.cyclic.phases.T), np.exp(1j * phases), atol=1e-10)
    assert (
        node_features(np.ones((8, 1)), groups.product(groups.cyclic(2), groups.cyclic(2))).cyclic
        is None
    )
    # an e^{ikg} of either sign of k
    g = np.arange(M)[:, None]
    spin = np.exp(2j * np.pi * np.array([4, -4]) * g / M + 0.5j)
    turned = node_features(np.concatenate([spin, spin]), groups.cyclic(M))
    np.testing.assert_array_equal(turned.cyclic.frequency, 4)
    np.testing.assert_allclose(turned.cyclic.phases, 0.5, atol=1e-10)


def test_phase_gaps():
    M = 23
    angles = np.array([0.0, np.pi / 2, np.pi, 1.5 * np.pi, 1.0])
    first = waves(M, [2, 2, 2, 2, 5], angles, np.zeros(5))
    gaps = node_features(first, groups.cyclic(M)).phase_gaps()
    assert gaps[2] == pytest.approx(np.pi / 2)
    assert gaps[5] == gaps[1] == pytest.approx(2 * np.pi)
    with pytest.raises(ArgumentError, match="`group` must be cyclic"):
        node_features(np.eye(48)[:, :2], GROUPS["S4"]).phase_gaps()


def test_halves_that_disagree_do_not_generalise():
    M = 23
    mixed = np.concatenate([waves(M, [3], 0.0)[:M], waves(M, [4], 0.0)[M:]])
    alone = np.concatenate([waves(M, [3], 0.0)[:M], np.zeros((M, 1))])
    found = node_features(np.hstack([mixed, alone]), groups.cyclic(M))
    assert not found.agree.any()
    assert not np.any(found.kind == "generalising")


def annihilating(group):
    """A node of S4 in an irrep of dimension 3 with ŵ₁ŵ₂ = 0: the halves do not share their inner vector."""
    k = max(groups.irreps(group), key=lambda irrep: irrep.dimension)
    x, y, z = np.eye(3)
    halves = [
        np.einsum("gij,ij->g", k.matrices.conj(), np.outer(*pair)) for pair in ((x, y), (z, x))
    ]
    return np.concatenate(halves).real


def test_nodes_without_energy_do_not_generalise():
    group = GROUPS["S4"]
    every = np.argwhere(np.ones((24, 24)))
    found = node_features(annihilating(group)[:, None], group, pairs=every)
    assert found.purity[0] == pytest.approx(1)
    assert found.agree[0]
    assert found.energy[0] < 1e-20
    assert found.energy_ratio[0] < 1e-20
    assert found.kind[0] == "random"
    assert found.num_features == 0
    M = 23
    short = waves(M, [3, 3, 3], np.zeros(3))
    short[M:] *= [1.0, 0.5, 1e-6]
    for pairs in (None, pairs_of(M, 0.5)[0]):
        kinds = node_features(short, groups.cyclic(M), pairs=pairs).kind
        assert (kinds == "generalising").tolist() == [True, True, False]


def test_complex_nodes_have_complex_irreps():
    """A maximum has both halves in one irrep; rotating against each other they have no energy."""
    M, g = 23, np.arange(23)
    spin = np.exp(2j * np.pi * 4 * g / M)
    first = np.stack([[*spin, *spin], [*spin, *spin.conj()], [*spin.conj(), *spin.conj()]], axis=1)
    group, every = groups.cyclic(M), np.argwhere(np.ones((M, M)))
    found = node_features(first, group, pairs=every)
    known = GroupFeatures(group, complex_weights=True).classify(first.T)
    np.testing.assert_array_equal(found.kind == "generalising", known.is_maximum)
    np.testing.assert_allclose(found.purity, known.share, atol=1e-12)
    np.testing.assert_allclose(found.energy, known.energy, atol=1e-12)
    assert found.kind.tolist()[1] == "undecided"
    np.testing.assert_array_equal(found.irrep[[0, 2]], known.irrep[[0, 2]])
    assert found.num_features == 2  # a rotation and its inverse are two features
    assert found.nodes_per_irrep.shape == (M,)


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("is_complex", [False, True])
def test_energy_ratios_of_maxima_and_of_random_halves(name, is_complex):
    group, rng = GROUPS[name], np.random.default_rng(6)
    features = GroupFeatures(group, complex_weights=is_complex)
    maxima = np.concatenate([features.sample(k, 3, seed=k) for k in range(len(features.families))])
    dimensions = np.repeat([family.dimension for family in features.families], 3)
    found = node_features(maxima.T + 0.4, group)
    np.testing.assert_allclose(found.energy_ratio, dimensions, rtol=1e-9)
    if is_complex:
        return
    for k in range(1, len(groups.real_irreps(group))):
        first = np.stack([pure(group, k, rng) for _ in range(400)], axis=1)
        ratio = node_features(first, group).energy_ratio.mean()
        kind = groups.irreps(group)[groups.real_irreps(group)[k].members[0]].kind
        assert ratio == pytest.approx({"quaternionic": 2}.get(kind, 1), rel=0.1)


def test_dead_nodes():
    M = 23
    first = waves(M, [1, 2, 3], np.zeros(3)) * np.array([1.0, 0.05, 0.0])
    found = node_features(first, groups.cyclic(M))
    assert found.kind.tolist() == ["generalising", "dead", "dead"]
    assert np.isnan(found.purity[2])
    assert found.num_features == 1
    assert found.share("generalising") == 1
    longest = node_features(first, groups.cyclic(M), smallest=1)
    assert longest.kind.tolist() == ["generalising", "dead", "dead"]
    assert node_features(0 * first, groups.cyclic(M), smallest=0).kind.tolist() == ["dead"] * 3


@pytest.mark.parametrize("sigma", ["quadratic", "relu", lambda z: z**2])
def test_evidence_from_pairs(sigma):
    """Waves generalise, noise is random; energies are those of `quantities.feature_energy`."""
    group, rng = GROUPS["Z23"], np.random.default_rng(4)
    train, _ = pairs_of(23, 0.5)
    k, phases = rng.integers(1, 12, 6), rng.uniform(0, 6, (2, 6))
    first = np.hstack([waves(23, k, *phases), rng.standard_normal((46, 6))])
    found = node_features(first, group, pairs=train, activation=sigma)
    assert found.kind.tolist() == ["generalising"] * 6 + ["random"] * 6
    assert np.all(found.labels.trained[:6] > 0.3)
    assert np.all(found.labels.held_out[:6] > 0.3)
    name = sigma if isinstance(sigma, str) else "quadratic"
    energy = feature_energy(
        (first / np.linalg.norm(first, axis=0)).T, train, train.sum(1) % 23, name
    )
    np.testing.assert_allclose(found.energy, energy, rtol=1e-9)


def test_labels_tell_where_irreps_do_not():
    """A node of two frequencies is not pure, but what it says holds for pairs left out."""
    group, (train, _) = GROUPS["Z23"], pairs_of(23, 0.5)
    node = waves(23, [3], 0.2) + waves(23, [7], 1.0) + waves(23, [9], 2.0)
    assert node_features(node, group).kind.tolist() == ["undecided"]
    found = node_features(node, group, pairs=train)
    assert found.purity[0] < 0.5
    shares = found.labels.trained[0], found.labels.held_out[0]
    assert abs(shares[0] - shares[1]) < 0.2


def test_maxima_have_the_energy_of_theory():
    """M/4 for a conjugate pair on all pairs, four times what is printed in Corollary 2."""
    M = 23
    found = node_features(
        waves(M, [1, 5], np.zeros(2)), groups.cyclic(M), pairs=np.argwhere(np.ones((M, M)))
    )
    np.testing.assert_allclose(found.energy, M / 4, rtol=1e-10)
    assert np.isnan(found.labels.held_out).all()


def test_peaked_nodes_memorise():
    M = 23
    first = np.zeros((2 * M, 2))
    first[4, 0] = first[M + 9, 0] = 1.0  # Theorem 5, focused
    first[[1, 2], 1] = first[[M + 5, M + 4], 1] = 1.0
    assert node_features(first, groups.cyclic(M)).kind.tolist() == ["memorising", "memorising"]


def test_records_and_float32():
    first = np.random.default_rng(5).standard_normal((2, 3, 46, 4)).astype(np.float32)
    train, _ = pairs_of(23, 0.4)
    found = node_features(first, GROUPS["Z23"], pairs=train)
    assert found.kind.shape == found.purity.shape == found.labels.trained.shape == (2, 3, 4)
    assert found.nodes_per_irrep.shape == (2, 3, 12)
    assert found.phase_gaps().shape == (2, 3, 12)
    assert found.cyclic.phases.shape == (2, 3, 4, 2)
    one = node_features(first[1, 2], GROUPS["Z23"], pairs=train)
    np.testing.assert_array_equal(one.energy, found.energy[1, 2])
    assert one.purity.dtype == np.float64


W, G = np.ones((14, 2)), groups.cyclic(7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: node_features(W, 7), "`group` must be a Group, got 7"),
        (
            lambda: node_features(W.T, G),
            r"`first` must have the shape \(..., 14, nodes\), got \(2, 14\)",
        ),
        (lambda: node_features(W * np.nan, G), "got nan"),
        (lambda: node_features(W, groups.cyclic(1)), "`group` must have at least two elements"),
        (
            lambda: node_features(W, G, smallest=2),
            "`smallest` must be a finite real number ≥ 0 and ≤ 1, got 2.0",
        ),
        (
            lambda: node_features(W, G, pairs=[[0, 7], [1, 1]]),
            r"`pairs\[0, 1\]` must be a whole number ≥ 0 and ≤ 6",
        ),
        (
            lambda: node_features(W, G, pairs=[[0, 1]]),
            r"`pairs` must have the shape \(samples, 2\), at least two",
        ),
        (
            lambda: node_features(W, G, pairs=[[0, 1], [1, 2]], activation="gelu2"),
            "`activation` must be",
        ),
        (
            lambda: node_features(W, G, pairs=[[0, 1], [1, 2]], activation=np.sum),
            "`activation` must give real",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("complex_weights", [False, True])
def test_theory_has_the_same_number_for_a_feature(name, complex_weights):
    group = GROUPS[name]
    features = GroupFeatures(group, complex_weights=complex_weights)
    numbered = groups.irreps(group) if complex_weights else groups.real_irreps(group)
    for family in features.families:
        nodes = features.sample(family.index, 3, seed=1)
        found, known = node_features(nodes.T, group), features.classify(nodes)
        assert found.irrep.tolist() == known.irrep.tolist() == [family.irrep] * 3
        if not complex_weights:
            assert family.members == numbered[family.irrep].members


@pytest.mark.parametrize("name", GROUPS)
def test_constants_lower_the_share_in_a_family_and_not_the_purity(name):
    features = GroupFeatures(GROUPS[name])
    nodes = features.sample(0, 3, seed=2) + 0.2
    found, known = node_features(nodes.T, GROUPS[name]), features.classify(nodes)
    np.testing.assert_allclose(found.purity, 1, atol=1e-12)
    assert np.all(known.share < 0.99)
    np.testing.assert_allclose(known.share, found.purity * (1 - found.trivial), atol=1e-12)
