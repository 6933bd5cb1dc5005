"""Ascents of the energy: monotone, to critical points, the same on the fast and the plain path."""

import numpy as np
import pytest

from lazyrich import groups
from lazyrich.core import ArgumentError, Cancelled, Context
from lazyrich.quantities import FeatureEnergy, GroupEnergy
from lazyrich.simulate import energy_ascent, feature_survival
from lazyrich.theory import GroupFeatures

RNG = np.random.default_rng(0)


def pairs_of(group):
    a, b = np.divmod(np.arange(group.order**2), group.order)
    return np.stack([a, b], 1), group.table[a, b]


@pytest.fixture(scope="module")
def ends():
    """Both paths from the same starts."""
    group = groups.dihedral(3)
    starts = RNG.standard_normal((40, 12))
    return starts, *(
        energy_ascent(e, starts) for e in (GroupEnergy(group), FeatureEnergy(*pairs_of(group)))
    )


def test_fast_and_plain_paths_agree(ends):
    _, fast, plain = ends
    np.testing.assert_allclose(fast.energy, plain.energy, rtol=1e-10)
    np.testing.assert_allclose(fast.weights, plain.weights, atol=1e-6)


def test_ends_are_maxima_above_the_starts(ends):
    starts, fast, _ = ends
    features = GroupFeatures(groups.dihedral(3))
    assert fast.converged.all()
    assert fast.slope.max() <= 1e-8
    assert features.classify(fast.weights).is_maximum.all()
    np.testing.assert_allclose(np.linalg.norm(fast.weights, axis=1), 1)
    assert np.all(fast.energy >= features.classify(starts).energy)


def test_blocks_and_their_order_do_not_matter(ends, monkeypatch):
    from lazyrich.simulate import _energy_ascent as module

    starts, fast, _ = ends
    monkeypatch.setattr(module, "BLOCK", 16)
    again = energy_ascent(GroupEnergy(groups.dihedral(3)), starts)
    np.testing.assert_allclose(again.weights, fast.weights, atol=1e-7)


def test_bare_power_steps_only_exchange_the_halves():
    """Why the ascent takes shorter steps: w ← ∇𝓔/‖∇𝓔‖ does not converge."""
    w = GroupFeatures(groups.cyclic(5)).sample(0)[0]
    w[:5] *= 2
    w /= np.linalg.norm(w)
    g = GroupEnergy(groups.cyclic(5)).gradient(w)
    after = g / np.linalg.norm(g)
    assert np.linalg.norm(after[:5]) == pytest.approx(np.linalg.norm(w[5:]))
    assert GroupEnergy(groups.cyclic(5)).value(after) == pytest.approx(
        GroupEnergy(groups.cyclic(5)).value(w)
    )


def test_complex_starts_reach_twice_the_energy():
    group = groups.cyclic(5)
    starts = RNG.standard_normal((20, 20)).view(complex)
    found = energy_ascent(GroupEnergy(group), starts)
    np.testing.assert_allclose(found.energy, 2.5, rtol=1e-10)
    assert GroupFeatures(group, complex_weights=True).classify(found.weights).is_maximum.all()


def test_linear_activation_finds_the_top_eigenvector():
    pairs, labels = pairs_of(groups.cyclic(5))
    kept = RNG.permutation(25)[:12]
    pairs, labels = pairs[kept], labels[kept]
    found = energy_ascent(
        FeatureEnergy(pairs, labels, "linear", num_weights=10), RNG.standard_normal((8, 10))
    )
    X = np.concatenate([np.eye(5)[pairs[:, 0]], np.eye(5)[pairs[:, 1]]], axis=1)
    Y = np.eye(5)[labels]
    B = X.T @ (Y - Y.mean(0))
    np.testing.assert_allclose(found.energy, np.linalg.eigvalsh(B @ B.T)[-1] / 2, rtol=1e-9)


def test_a_start_without_gradient_stays():
    w = RNG.standard_normal((3, 10))
    w[0, 5:] = 0
    found = energy_ascent(GroupEnergy(groups.cyclic(5)), w, max_steps=500)
    np.testing.assert_allclose(found.weights[0], w[0] / np.linalg.norm(w[0]))
    assert found.energy[0] == 0
    assert found.converged.tolist() == [False, True, True]


def test_gives_up_and_says_so():
    found = energy_ascent(
        GroupEnergy(groups.cyclic(5)), RNG.standard_normal((3, 10)), max_steps=1, tolerance=1e-15
    )
    assert not found.converged.all()


def test_kinks_are_told_from_giving_up():
    """At the end of a ReLU's ascent some pairs receive exactly nothing, and the gradient jumps there."""
    pairs, labels = pairs_of(groups.cyclic(7))
    starts = np.random.default_rng(0).standard_normal((20, 14))
    energy = FeatureEnergy(pairs, labels, "relu")
    found = energy_ascent(energy, starts)
    assert found.at_kink.all()
    assert not found.converged.any()
    received = found.weights[:, pairs[:, 0]] + found.weights[:, 7 + pairs[:, 1]]
    assert np.all(np.sum(np.abs(received) < 1e-9, axis=1) >= 1)
    smooth = energy_ascent(FeatureEnergy(pairs, labels, "silu"), starts)
    assert not smooth.at_kink.any()
    short = energy_ascent(energy, starts, max_steps=1)
    assert not short.at_kink.any()
    finer = energy_ascent(GroupEnergy(groups.cyclic(5)), starts[:, :10], tolerance=1e-300)
    assert not finer.at_kink.any()  # rounding stops these


def test_progress_and_cancellation():
    seen = []
    context = Context(report=lambda label, done, total: seen.append((label, done, total)))
    energy_ascent(GroupEnergy(groups.cyclic(5)), RNG.standard_normal((3, 10)), context=context)
    assert seen[0] == ("ascents", 0, 3)
    with pytest.raises(Cancelled):
        energy_ascent(
            GroupEnergy(groups.cyclic(5)),
            np.ones((1, 10)),
            context=Context(should_stop=lambda: True),
        )


def test_survival_rises_with_the_number_of_products():
    group = groups.cyclic(11)
    features = GroupFeatures(group)
    starts = np.concatenate([features.sample(k, 2, k) for k in range(5)])
    shares = [feature_survival(group, n, starts, seeds=range(3)) for n in (30, 80, 121)]
    rates = [found.survived.mean() for found in shares]
    assert rates[0] == 0
    assert rates[0] <= rates[1] <= rates[2] == 1
    np.testing.assert_allclose(shares[2].share, 1)
    np.testing.assert_allclose(shares[2].energy, 11 / 4)
    assert shares[0].share.shape == (3, 10)


ENERGY = GroupEnergy(groups.cyclic(5))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: energy_ascent("energy", np.ones((1, 10))), r"`energy` must be a FeatureEnergy"),
        (
            lambda: energy_ascent(ENERGY, np.ones(10)),
            r"`starts` must have the shape \(starts, 10\)",
        ),
        (lambda: energy_ascent(ENERGY, np.zeros((1, 10))), r"`starts` must not be zero"),
        (
            lambda: energy_ascent(ENERGY, np.full((1, 10), np.nan)),
            r"`starts\[0, 0\]` must be a finite",
        ),
        (
            lambda: energy_ascent(ENERGY, np.ones((1, 10)), tolerance=0),
            r"`tolerance` must be .* > 0",
        ),
        (
            lambda: energy_ascent(ENERGY, np.ones((1, 10)), max_steps=0),
            r"`max_steps` must be .* ≥ 1",
        ),
        (
            lambda: feature_survival(groups.cyclic(5), 26, np.ones((1, 10))),
            r"`num_samples` must be at most 25",
        ),
        (
            lambda: feature_survival(groups.cyclic(5), 0, np.ones((1, 10))),
            r"`num_samples` must be .* ≥ 1",
        ),
        (
            lambda: feature_survival(groups.cyclic(5), 5, np.ones((1, 9))),
            r"`starts` must have the shape",
        ),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ArgumentError, match=match):
        call()


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_norms_of_starts_do_not_matter(ends, size):
    """Their squares are no numbers."""
    starts, expected, _ = ends
    found = energy_ascent(GroupEnergy(groups.dihedral(3)), size * starts)
    np.testing.assert_allclose(found.energy, expected.energy, rtol=1e-9)
    assert found.converged.all()
