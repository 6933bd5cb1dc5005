"""Skill strengths, on functions whose strengths are known."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lazyrich.core import ArgumentError
from lazyrich.measures import crossing_time, skill_strength
from lazyrich.tasks import SparseParity
from lazyrich.theory import Emergence

TASK = SparseParity(num_skills=3, num_bits=6, skill_bits=2)
INPUTS = TASK.dataset(jax.random.key(0), 500).inputs
G = TASK.skills(INPUTS)
STRENGTHS = arrays(float, (3,), elements=st.floats(-5, 5))


@given(STRENGTHS)
def test_finds_the_coefficients(strengths):
    found = skill_strength(G @ strengths, G)
    np.testing.assert_allclose(found.strength, strengths, atol=1e-12)
    np.testing.assert_allclose(found.uncertainty, 0, atol=1e-6)


@given(STRENGTHS, STRENGTHS, st.floats(-3, 3))
def test_is_linear_in_the_function(one, other, factor):
    a, b = INPUTS[:, 3] * one[0] + G @ one, G @ other + INPUTS[:, 4]
    both = skill_strength(np.array([a, b, a + factor * b]), G).strength
    np.testing.assert_allclose(both[2], both[0] + factor * both[1], atol=1e-9)


def test_skills_of_any_size():
    np.testing.assert_allclose(skill_strength(3 * G[:, 0], 2 * G[:, :1]).strength, 1.5)


def test_uncertainty_is_the_spread_over_samples():
    """Of 300 independent sets of samples."""
    found, errors = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        g = rng.choice([-1.0, 0.0, 1.0], (80, 1), p=[0.3, 0.4, 0.3])
        f = 2 * g[:, 0] + rng.standard_normal(80) * (1 + np.abs(g[:, 0]))
        one = skill_strength(f, g)
        found.append(one.strength[0])
        errors.append(one.uncertainty[0])
    assert np.mean(found) == pytest.approx(2, abs=4 * np.std(found) / np.sqrt(300))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(found), rel=0.15)


def test_a_single_sample_has_no_known_uncertainty():
    assert skill_strength([1.0, 2.0], [[1, 0], [0, 1]]).uncertainty.tolist() == [np.inf, np.inf]


def test_saturation_times_by_crossing():
    """The recipe of the docstring, on the solvable model."""
    model = Emergence(TASK.frequencies, TASK.target_scale, start=1e-3)
    time = np.linspace(0, 20, 2000)
    recorded = skill_strength(model.modes(time) @ G.T, G).strength
    found = crossing_time(time, recorded.T, TASK.target_scale / 2).time
    np.testing.assert_allclose(found, model.saturation_time(0.5).time, rtol=1e-4)


def test_bad_input():
    with pytest.raises(
        ArgumentError, match=r"`outputs\[1\]` must be a finite real number, got nan"
    ):
        skill_strength([1.0, np.nan], np.eye(2))
    with pytest.raises(
        ArgumentError, match=r"`outputs` must have the shape \(\.\.\., 3\) to fit `skills`"
    ):
        skill_strength([1.0, 2.0], np.eye(3))
    with pytest.raises(
        ArgumentError, match=r"`skills` must have the shape \(samples, skills\), got \(2,\)"
    ):
        skill_strength([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(
        ArgumentError, match="must have a sample of every skill, got 'none of skill 1'"
    ):
        skill_strength([1.0, 2.0], [[1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(ArgumentError, match="`outputs` must be known now"):
        jax.jit(lambda f: skill_strength(f, G).strength)(G[:, 0])
