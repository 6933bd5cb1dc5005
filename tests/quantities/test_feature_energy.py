"""The energy of features: against dense matrices, differences, and its form for groups."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich import groups
from lazyrich.core import ArgumentError
from lazyrich.quantities import FeatureEnergy, GroupEnergy, feature_energy

GROUPS = {
    "Z2": groups.cyclic(2),
    "Z5": groups.cyclic(5),
    "Z6": groups.cyclic(6),
    "Z2xZ2": groups.product(groups.cyclic(2), groups.cyclic(2)),
    "D3": groups.dihedral(3),
    "Q8": groups.quaternion(),
    "Dic3": groups.dicyclic(3),
    "A4": groups.alternating(4),
}
RNG = np.random.default_rng(0)


def pairs_of(group):
    a, b = np.divmod(np.arange(group.order**2), group.order)
    return np.stack([a, b], 1), group.table[a, b]


def one_hot(pairs, M):
    return np.concatenate([np.eye(M)[pairs[:, 0]], np.eye(M)[pairs[:, 1]]], axis=1)


def plain(w, X, labels, sigma, weights=None, centred=True):
    """The energy from its definition, with a loop over samples."""
    weights = np.ones(len(labels)) if weights is None else weights
    Y = np.eye(labels.max() + 1)[labels]
    Y = Y - (weights @ Y) / weights.sum() * centred
    z = sum(c * y * sigma(x @ w) for c, y, x in zip(weights, Y, X, strict=True))
    return 0.5 * np.sum(np.abs(z) ** 2)


@pytest.fixture(scope="module")
def tanh():
    """Some products of Z5, a class of which is rare, with weights on samples."""
    pairs, labels = pairs_of(GROUPS["Z5"])
    kept = RNG.permutation(25)[:14]
    counts = RNG.uniform(0, 2, 14)
    energy = FeatureEnergy(pairs[kept], labels[kept], "tanh", num_weights=10, sample_weights=counts)
    return energy, one_hot(pairs[kept], 5), labels[kept], counts


def test_definition(tanh):
    energy, X, labels, counts = tanh
    nodes = RNG.standard_normal((2, 3, 10))
    found = energy.value(nodes)
    assert found.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert found[index] == pytest.approx(
            plain(nodes[index], X, labels, np.tanh, counts), rel=1e-12
        )


def test_pairs_and_dense_inputs_agree(tanh):
    energy, X, labels, counts = tanh
    dense = FeatureEnergy(X, labels, "tanh", sample_weights=counts)
    w = RNG.standard_normal((3, 10))
    np.testing.assert_allclose(dense.value(w), energy.value(w), rtol=1e-13)
    np.testing.assert_allclose(dense.gradient(w), energy.gradient(w), rtol=1e-12, atol=1e-13)


def test_gradient_and_hessian_are_derivatives(tanh):
    energy = tanh[0]
    w, t = RNG.standard_normal((2, 3, 10))
    h = 1e-6
    slope = (energy.value(w + h * t) - energy.value(w - h * t)) / (2 * h)
    np.testing.assert_allclose(np.sum(energy.gradient(w) * t, -1), slope, rtol=1e-7)
    H = energy.hessian(w)
    np.testing.assert_allclose(H, H.swapaxes(-1, -2), atol=1e-13)
    product = energy.hessian_product(w, t)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", H, t), product, atol=1e-12)
    difference = (energy.gradient(w + h * t) - energy.gradient(w - h * t)) / (2 * h)
    np.testing.assert_allclose(product, difference, atol=1e-7)


def test_left_out_samples_do_not_matter():
    pairs, labels = pairs_of(GROUPS["Z5"])
    kept = RNG.permutation(25)[:9]
    mask = np.zeros(25)
    mask[kept] = 1
    w = RNG.standard_normal((2, 10))
    masked = FeatureEnergy(pairs, labels, sample_weights=mask)
    alone = FeatureEnergy(pairs[kept], labels[kept], num_weights=10)
    np.testing.assert_allclose(masked.value(w), alone.value(w), rtol=1e-12)
    np.testing.assert_allclose(masked.gradient(w), alone.gradient(w), rtol=1e-11, atol=1e-13)


def test_one_class_has_energy_only_without_centring():
    pairs = np.array([[0, 1], [1, 0], [2, 2]])
    w = RNG.standard_normal(6)
    labels = np.ones(3, int)
    assert feature_energy(w, pairs, labels) == pytest.approx(0, abs=1e-28)
    expected = 0.5 * np.sum((w[pairs[:, 0]] + w[3 + pairs[:, 1]]) ** 2) ** 2
    assert feature_energy(w, pairs, labels, centring="none") == pytest.approx(expected)


def test_blocks_change_nothing(monkeypatch):
    from lazyrich.quantities import _feature_energy as module

    pairs, labels = pairs_of(GROUPS["Z6"])
    w = RNG.standard_normal((7, 12))
    whole = FeatureEnergy(pairs, labels, jnp.sin).gradient(w)
    monkeypatch.setattr(module, "BLOCK", 80)
    module._functions.cache_clear()
    np.testing.assert_allclose(
        FeatureEnergy(pairs, labels, jnp.sin).gradient(w), whole, rtol=1e-12, atol=1e-13
    )
    module._functions.cache_clear()


def test_inside_a_trace():
    pairs, labels = pairs_of(GROUPS["Z2"])
    w = np.array([0.3, -0.2, 0.5, 0.1])
    energy = FeatureEnergy(pairs, labels)
    with jax.enable_x64(True):
        slope = jax.grad(lambda w: energy.value(w))(jnp.asarray(w))
    np.testing.assert_allclose(slope, energy.gradient(w), rtol=1e-12)


@pytest.mark.parametrize("name", GROUPS)
def test_group_form_equals_the_definition(name):
    group = GROUPS[name]
    pairs, labels = pairs_of(group)
    X = one_hot(pairs, group.order)
    fast = GroupEnergy(group, quadratic=-1.3)
    for w in (
        RNG.standard_normal(2 * group.order),
        RNG.standard_normal(4 * group.order).view(complex),
    ):
        exact = plain(w, X, labels, lambda x: 0.4 * x - 1.3 * x**2)
        assert fast.value(w) == pytest.approx(exact, rel=1e-12)
        t, h = RNG.standard_normal(2 * group.order) * (1 + 1j * np.iscomplexobj(w)), 1e-6
        t = t if np.iscomplexobj(w) else t.real
        slope = (fast.value(w + h * t) - fast.value(w - h * t)) / (2 * h)
        assert np.sum(fast.gradient(w).conj() * t).real == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("name", ["Z6", "D3", "Q8"])
def test_group_hessian_is_the_gradients_derivative(name):
    fast = GroupEnergy(GROUPS[name], 0.7)
    w, t = RNG.standard_normal((2, 3, 2 * GROUPS[name].order))
    difference = (fast.gradient(w + 1e-6 * t) - fast.gradient(w - 1e-6 * t)) / 2e-6
    np.testing.assert_allclose(
        np.einsum("kij,kj->ki", fast.hessian(w), t), difference, rtol=1e-6, atol=1e-6
    )


def test_complex_gradient_and_hessian():
    pairs, labels = pairs_of(GROUPS["Z5"])
    energy, fast = FeatureEnergy(pairs, labels), GroupEnergy(GROUPS["Z5"])
    w, t = RNG.standard_normal((2, 3, 20)).view(complex)
    np.testing.assert_allclose(energy.gradient(w), fast.gradient(w), rtol=1e-11, atol=1e-11)
    parts = np.concatenate([t.real, t.imag], -1)
    product = np.einsum("kij,kj->ki", energy.hessian(w), parts)
    expected = energy.hessian_product(w, t)
    np.testing.assert_allclose(
        product[:, :10] + 1j * product[:, 10:], expected, rtol=1e-10, atol=1e-10
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(list(GROUPS)), scale=st.floats(0.1, 10))
def test_properties_of_the_group_energy(seed, name, scale):
    group = GROUPS[name]
    M, energy = group.order, GroupEnergy(group)
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(2 * M)
    value = energy.value(w)
    # degree four, and Euler's theorem
    assert energy.value(scale * w) == pytest.approx(scale**4 * value, rel=1e-10)
    assert energy.gradient(w) @ w == pytest.approx(4 * value, rel=1e-10)
    # signs of either half, and constants added to either half, change nothing
    flipped = np.concatenate([w[:M], -w[M:]])
    assert energy.value(flipped) == pytest.approx(value, rel=1e-10)
    shifted = w + np.repeat(rng.standard_normal(2), M)
    assert energy.value(shifted) == pytest.approx(value, rel=1e-9)
    # (ga)(bc) and a(bd) = (ad⁻¹)(db) permute the classes or the pairs
    g, d = rng.integers(0, M, 2)
    moved = np.concatenate([w[:M][group.table[g]], w[M:][group.table[:, d]]])
    assert energy.value(moved) == pytest.approx(value, rel=1e-9)
    inner = np.concatenate([w[:M][group.table[:, group.inverses[d]]], w[M:][group.table[d]]])
    assert energy.value(inner) == pytest.approx(value, rel=1e-9)
    # the halves of a reversed node exchange their roles
    swapped = np.concatenate([w[M:][group.inverses], w[:M][group.inverses]])
    assert energy.value(swapped) == pytest.approx(value, rel=1e-9)
    # Fourier coefficients keep the norm and lead back
    blocks = energy.blocks(w)
    assert np.sum(np.abs(blocks) ** 2) == pytest.approx(w @ w)
    np.testing.assert_allclose(energy.from_blocks(blocks), w, atol=1e-12)


def test_matrices_are_the_fourier_coefficients():
    group = GROUPS["A4"]
    w = RNG.standard_normal(24)
    for (A, B), irrep in zip(GroupEnergy(group).matrices(w), groups.irreps(group), strict=True):
        scale = np.sqrt(irrep.dimension / 12)
        np.testing.assert_allclose(
            A, scale * np.einsum("g,gij->ij", w[:12], irrep.matrices), atol=1e-13
        )
        np.testing.assert_allclose(
            B, scale * np.einsum("g,gij->ij", w[12:], irrep.matrices), atol=1e-13
        )


PAIRS, LABELS = np.array([[0, 1], [1, 0], [1, 1]]), np.array([0, 1, 0])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: feature_energy(np.ones(3), PAIRS, LABELS), r"`weights` must have a last axis of even"),
        (lambda: feature_energy(np.ones(2), PAIRS, LABELS), r"`weights` must have a last axis of even"),
        (lambda: feature_energy(1.0, PAIRS, LABELS), r"`weights` must have the shape \(..., d\)"),
        (lambda: feature_energy([np.nan, 0, 0, 0], PAIRS, LABELS), r"`weights\[0\]` must be a finite real"),
        (lambda: feature_energy(np.ones(4), -PAIRS, LABELS), r"`data\[0, 1\]` must be .* ≥ 0"),
        (lambda: feature_energy(np.ones(4), np.zeros((0, 4)), []), r"`data` must have the shape"),
        (lambda: feature_energy(np.ones(3), np.ones((3, 2)), LABELS), r"`weights` must have the shape"),
        (lambda: feature_energy(np.ones(4), PAIRS, LABELS[:2]), r"`labels` must have the shape \(3,\)"),
        (lambda: feature_energy(np.ones(4), PAIRS, [0.5, 1, 0]), r"`labels\[0\]` must be a whole number"),
        (lambda: feature_energy(np.ones(4), PAIRS, LABELS, "cosine"), r"`activation` must be a function"),
        (lambda: feature_energy(1j * np.ones(4), PAIRS, LABELS, jnp.abs), r"`activation` must be analytic"),
        (lambda: FeatureEnergy(PAIRS, LABELS, sample_weights=np.zeros(3)), r"`sample_weights` must .* not"),
        (lambda: FeatureEnergy(PAIRS, LABELS, sample_weights=[1, -1, 1]), r"`sample_weights\[1\]` must be"),
        (lambda: FeatureEnergy(PAIRS, LABELS).hessian(np.ones(5)), r"`weights` must have the shape"),
        (lambda: GroupEnergy("Z5"), r"`group` must be a group"),
        (lambda: GroupEnergy(GROUPS["Z5"], 0), r"`quadratic` must not be 0"),
        (lambda: GroupEnergy(GROUPS["Z5"]).value(np.ones(9)), r"`weights` must have the shape \(..., 10\)"),
        (lambda: GroupEnergy(GROUPS["Z5"]).value(np.full(10, np.inf)), r"`weights\[0\]` must be a finite"),
    ],
)  # fmt: skip
def test_bad_input(call, match):
    with pytest.raises(ArgumentError, match=match):
        call()
