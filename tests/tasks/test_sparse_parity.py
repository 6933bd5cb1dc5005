"""Multitask sparse parity."""

import itertools

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.tasks import SparseParity

TASK = SparseParity(num_skills=3, num_bits=8, skill_bits=2, exponent=1.0, target_scale=2.0)


@pytest.fixture(scope="module")
def data():
    return TASK.dataset(jax.random.key(0), 4000)


def test_defaults_are_those_of_the_paper():
    task = SparseParity()
    assert (task.num_skills, task.num_bits, task.skill_bits, task.exponent) == (5, 32, 3, 1.6)
    assert (task.target_scale, task.input_dimension) == (5.0, 37)


@given(st.integers(1, 40), st.floats(0, 4))
def test_frequencies_follow_the_power_law(num_skills, exponent):
    p = SparseParity(num_skills, 3 * num_skills, 3, exponent).frequencies
    assert p.sum() == pytest.approx(1)
    np.testing.assert_allclose(p / p[0], np.arange(1, num_skills + 1) ** -exponent)


def test_skills_read_different_bits():
    assert len(set(TASK.masks.ravel())) == TASK.masks.size == 6
    assert TASK.masks.min() == TASK.num_skills


def test_skills_by_counting_ones():
    for control, bits in itertools.product(range(3), itertools.product((0, 1), repeat=8)):
        x = np.array([*np.eye(3)[control], *bits], float)
        expected = np.zeros(3)
        expected[control] = (-1) ** sum(bits[2 * control : 2 * control + 2])
        np.testing.assert_array_equal(TASK.skills(x), expected)
        assert TASK.target(x) == 2 * expected[control]


def test_samples_have_the_stated_distribution(data):
    assert data.inputs.shape == (4000, 11)
    assert data.targets.shape == (4000, 1)
    assert set(np.unique(data.inputs)) == {0.0, 1.0}
    np.testing.assert_array_equal(data.inputs[:, :3].sum(axis=1), 1)
    error = np.sqrt(TASK.frequencies * (1 - TASK.frequencies) / 4000)
    assert np.all(np.abs(data.inputs[:, :3].mean(axis=0) - TASK.frequencies) < 4 * error)
    bits = 2 * data.inputs[:, 3:] - 1
    assert np.all(np.abs(bits.T @ bits / 4000 - np.eye(8)) < 5 / np.sqrt(4000))
    np.testing.assert_array_equal(np.abs(data.targets), 2.0)
    assert data.weights.sum() == pytest.approx(1)


def test_skills_exclude_each_other_and_have_their_power(data):
    g = TASK.skills(data.inputs)
    products = g.T @ g / 4000
    assert np.all(products[~np.eye(3, dtype=bool)] == 0)
    np.testing.assert_array_equal(np.diag(products), data.inputs[:, :3].mean(axis=0))


def test_more_bits_than_a_word_are_independent():
    bits = SparseParity(1, 70, 3).dataset(jax.random.key(1), 2000).inputs[:, 1:] * 2 - 1
    assert np.all(np.abs(bits.T @ bits / 2000 - np.eye(70)) < 6 / np.sqrt(2000))


def test_draws_are_the_same_inside_a_trace():
    key = jax.random.key(3)
    outside = TASK.dataset(key, 5)
    inside = jax.jit(lambda key: TASK.dataset(key, 5))(key)
    np.testing.assert_array_equal(outside.inputs, inside.inputs)
    np.testing.assert_array_equal(outside.targets, inside.targets)
    assert outside.inputs.dtype == np.float64
    assert not np.array_equal(outside.inputs, TASK.dataset(jax.random.key(4), 5).inputs)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2))
def test_samples_of_one_skill(skill):
    g = TASK.skills(TASK.skill_dataset(jax.random.key(0), skill, 5).inputs)
    np.testing.assert_array_equal(np.abs(g), np.tile(np.eye(3)[skill], (5, 1)))


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "five", None, np.nan, [2]])
@pytest.mark.parametrize("name", ["num_skills", "num_bits", "skill_bits"])
def test_bad_sizes(name, wrong):
    with pytest.raises(ArgumentError, match=f"`{name}` must"):
        SparseParity(**{name: wrong})


def test_too_few_bits():
    with pytest.raises(
        ArgumentError, match=r"`num_bits` must be at least 15, as skills share no bits, got 14"
    ):
        SparseParity(num_bits=14)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("exponent", -0.1), ("exponent", np.nan), ("target_scale", 0), ("target_scale", "5")],
)
def test_bad_numbers(name, wrong):
    with pytest.raises(ArgumentError, match=f"`{name}` must be a finite real number"):
        SparseParity(**{name: wrong})


def test_bad_draws():
    with pytest.raises(ArgumentError, match="`key` must be a random key"):
        TASK.dataset(0, 5)
    with pytest.raises(ArgumentError, match="`num_samples` must"):
        TASK.dataset(jax.random.key(0), 0)
    with pytest.raises(ArgumentError, match="`skill` must be below 3, got 3"):
        TASK.skill_dataset(jax.random.key(0), 3, 5)
    with pytest.raises(
        ArgumentError, match=r"`inputs` must have the shape \(\.\.\., 11\), got \(2, 4\)"
    ):
        TASK.skills(np.zeros((2, 4)))
