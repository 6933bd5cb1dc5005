"""Addition modulo p."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import ModularAddition


def test_labels_are_sums():
    task = ModularAddition(7, 0.5)
    labels = task.labels.reshape(7, 7)
    for n in range(7):
        for m in range(7):
            assert labels[n, m] == (n + m) % 7


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.93])
def test_the_split_has_the_stated_size(fraction):
    task = ModularAddition(11, fraction)
    masks = [task.train_mask(jax.random.key(seed)) for seed in range(4)]
    assert all(mask.sum() == task.num_samples == round(fraction * 121) for mask in masks)
    assert not np.array_equal(masks[0], masks[1])
    assert task.aspect_ratio == pytest.approx(22 / task.num_samples)


def test_splits_are_uniform():
    task = ModularAddition(5, 0.4)
    share = np.mean([task.train_mask(jax.random.key(seed)) for seed in range(400)], axis=0)
    assert np.all(np.abs(share - 0.4) < 5 * (0.4 * 0.6 / 400) ** 0.5)


@pytest.mark.parametrize("wrong", [1, 0, -3, 2.5, "five", None, np.nan])
def test_bad_modulus(wrong):
    with pytest.raises(ArgumentError, match="`modulus` must"):
        ModularAddition(wrong, 0.5)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, np.nan, "half", None, 1e-6, 1 - 1e-9])
def test_bad_fraction(wrong):
    with pytest.raises(ArgumentError, match="`train_fraction` must"):
        ModularAddition(5, wrong)
