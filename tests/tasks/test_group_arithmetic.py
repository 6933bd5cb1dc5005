"""Products of a group."""

import jax
import numpy as np
import pytest

from lazyrich import groups
from lazyrich.core import ArgumentError
from lazyrich.tasks import GroupArithmetic

KEY = jax.random.key(3)


def test_labels_are_products():
    group = groups.dihedral(4)
    task = GroupArithmetic(group, 0.5)
    for (a, b), label in zip(task.pairs, task.labels, strict=True):
        assert label == group.multiply(int(a), int(b))


@pytest.mark.parametrize(
    ("order", "fraction", "samples"),
    [(71, 0.4, 2016), (127, 0.2, 3225), (23, 0.8, 423), (10, 0.29, 29), (10, 0.7, 70)],
)
def test_sizes_are_the_papers(order, fraction, samples):
    """The number of test pairs is rounded up, as in the public code."""
    task = GroupArithmetic(groups.cyclic(order), fraction)
    assert task.num_samples == samples == task.train_mask(KEY).sum()


def test_of_a_cyclic_group_it_is_modular_addition():
    task = GroupArithmetic(groups.cyclic(5), 0.6)
    np.testing.assert_array_equal(task.labels, task.pairs.sum(axis=1) % 5)


def test_splits_are_uniform():
    task = GroupArithmetic(groups.cyclic(5), 0.4)
    share = np.mean([task.train_mask(jax.random.key(seed)) for seed in range(400)], axis=0)
    assert np.all(np.abs(share - 0.4) < 5 * (0.4 * 0.6 / 400) ** 0.5)


def test_split_is_a_partition():
    task = GroupArithmetic(groups.quaternion(), 0.3)
    train, test = task.split(KEY)
    together = np.concatenate([train.inputs, test.inputs])
    assert len(np.unique(together, axis=0)) == len(together) == 64
    for part in (train, test):
        products = task.group.table[part.inputs[:, 0], part.inputs[:, 1]]
        np.testing.assert_array_equal(part.targets.argmax(1), products)
        assert part.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, np.nan, "half", None, 1e-6, 1 - 1e-13])
def test_bad_fraction(wrong):
    with pytest.raises(ArgumentError, match="`train_fraction` must"):
        GroupArithmetic(groups.cyclic(5), wrong)


@pytest.mark.parametrize("wrong", [5, None, "Z5", np.eye(3)])
def test_bad_group(wrong):
    with pytest.raises(ArgumentError, match="`group` must be a group of at least two elements"):
        GroupArithmetic(wrong, 0.5)
    with pytest.raises(ArgumentError, match="`group` must be a group of at least two elements"):
        GroupArithmetic(groups.cyclic(1), 0.5)
