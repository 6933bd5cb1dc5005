"""Nodes that climb one after the other, against plain stepping and what the theory predicts."""

import numpy as np
import pytest
from scipy.linalg import polar

from lazyrich import groups, theory
from lazyrich.core import ArgumentError
from lazyrich.measures import collection_times
from lazyrich.simulate import sequential_muon

RATES = np.array([1.0, 0.8, 0.5])


def slope(w):
    return RATES.astype(w.dtype) * w**2


def starts(trials, nodes, exponent=1.5, seed=0):
    """Fréchet amplitudes, scaled into the ball, which changes no winner."""
    alpha = np.random.default_rng(seed).exponential(size=(trials, nodes, 3)) ** (-1 / exponent)
    return 0.1 * alpha / np.linalg.norm(alpha, axis=-1, keepdims=True)


def test_against_plain_stepping():
    first = starts(1, 2)
    ends = sequential_muon(slope, first, num_steps=40, step_size=0.05)
    kept = []
    for node in range(2):
        w = first[0, node]
        for _ in range(40):
            g = slope(w)
            # the polar factor of independent columns
            w = w + 0.05 * polar(np.column_stack([*kept, g]))[0][:, -1]
            w = w / max(1, np.linalg.norm(w))
        np.testing.assert_allclose(ends[0, node], w, atol=1e-9)
        kept.append(slope(w) / np.linalg.norm(slope(w)))


@pytest.mark.parametrize("memory", ["unit", "gradient"])
def test_the_polar_factor_never_finds_the_same_maximum_twice(memory):
    ends = sequential_muon(slope, starts(40, 3), memory=memory, num_steps=200)
    assert np.all(ends.max(axis=-1) > 0.9)
    assert np.all(collection_times(ends.argmax(axis=-1), 3) == 3)


@pytest.mark.parametrize("memory", ["none", "halved"])
def test_other_nodes_take_as_long_as_the_theory_says(memory):
    ends = sequential_muon(slope, starts(300, 90), memory=memory, num_steps=150)
    found = (RATES * ends).argmax(axis=-1)
    times = collection_times(found, 3)
    assert np.isfinite(times).all()
    nodes = theory.NodesToCollect(RATES, 1.5)
    expected = nodes.expected if memory == "none" else nodes.expected_with_suppression()
    assert abs(times.mean() - expected) < 4 * times.std() / np.sqrt(300)
    if memory == "none":
        share = np.bincount(found.ravel()) / found.size
        np.testing.assert_allclose(share, nodes.probabilities, atol=0.02)


def test_nodes_without_memory_end_where_their_race_ends():
    first = starts(10, 2)
    ends = sequential_muon(slope, first, memory="none")
    for trial, node in np.ndindex(10, 2):
        assert ends[trial, node].argmax() == theory.ModeRace(RATES, first[trial, node]).winner


def test_maxima_of_a_group_come_in_families_which_one_gradient_does_not_cover():
    """A second node at another phase of the same frequency stays there: Muon does not push it elsewhere."""
    energy, g = theory.ModulatedEnergy(groups.cyclic(5)), np.arange(5)
    cosine, sine = np.cos(2 * np.pi * g / 5), np.sin(2 * np.pi * g / 5)
    nodes = np.array([[*cosine, *cosine], [*sine, *-sine]])
    nodes = 0.9 * nodes / np.linalg.norm(nodes, axis=1, keepdims=True)
    ends = sequential_muon(energy.gradient, nodes[None], num_steps=60)[0]
    np.testing.assert_allclose(energy.value(ends), 1.25, rtol=1e-3)
    assert theory.ModulatedEnergy(groups.cyclic(5), (1, 4)).value(ends).max() < 1e-3


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match=r"`starts` must have the shape \(trials, nodes, d\)"):
        sequential_muon(slope, np.ones((2, 3)))
    with pytest.raises(ArgumentError, match=r"`starts` must be at most of length 1"):
        sequential_muon(slope, np.ones((1, 2, 3)))
    with pytest.raises(
        ArgumentError, match=r"`memory` must be one of none, halved, unit, gradient"
    ):
        sequential_muon(slope, starts(1, 1), memory="all")
    with pytest.raises(ArgumentError, match=r"`gradient` must be a function of one vector"):
        sequential_muon(1.0, starts(1, 1))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match=r"`num_steps` must be"):
        sequential_muon(slope, starts(1, 1), num_steps=0)
