"""Digits to classify: which pictures, how they are pooled, and what is refused."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import DigitClassification, digit_images

TASK = DigitClassification(50, 40, target_scale=3.0, source="packaged")


def test_samples_are_pictures_of_the_source():
    train, test = TASK.split(jax.random.key(2))
    source = digit_images("packaged", "train")
    rows = {
        (tuple(image), label)
        for image, label in zip(
            source.images.reshape(1500, -1).tolist(), source.labels, strict=True
        )
    }
    found = [
        (tuple(pixels), label)
        for pixels, label in zip(
            (train.inputs * 16).astype(int).tolist(), train.targets.argmax(1), strict=True
        )
    ]
    assert len(set(found)) == 50  # without replacement
    assert set(found) <= rows
    np.testing.assert_array_equal(np.sort(train.targets, axis=1)[:, [-2, -1]], [[0.0, 3.0]] * 50)
    expected = digit_images("packaged", "test").images[:40].reshape(40, -1) / 16
    np.testing.assert_array_equal(test.inputs, expected)
    assert train.weights.sum() == pytest.approx(1)


def test_keys_choose_training_pictures_only():
    first, second, again = (TASK.split(jax.random.key(key)) for key in (0, 1, 0))
    assert not np.array_equal(first[0].inputs, second[0].inputs)
    np.testing.assert_array_equal(first[0].inputs, again[0].inputs)
    np.testing.assert_array_equal(first[1].inputs, second[1].inputs)
    np.testing.assert_array_equal(TASK.dataset(jax.random.key(0)).inputs, first[0].inputs)


def test_pooling_is_the_mean_of_squares():
    pooled = DigitClassification(50, 40, pool=2, source="packaged")
    assert pooled.input_dimension == 16
    fine, coarse = (task.dataset(jax.random.key(0)).inputs for task in (TASK, pooled))
    image = fine[7].reshape(8, 8)
    expected = [
        image[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].mean() for i in range(4) for j in range(4)
    ]
    np.testing.assert_allclose(coarse[7], expected, rtol=1e-14)


def test_fewer_test_pictures_than_asked_for():
    _, test = DigitClassification(5, source="packaged").split(jax.random.key(0))
    assert len(test.inputs) == 297


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_samples": 0}, "`num_samples` must"),
        ({"num_samples": 1501}, "`num_samples` must be at most 1500, the pictures there are"),
        ({"num_test": -1}, "`num_test` must"),
        ({"target_scale": 0.0}, "`target_scale` must"),
        ({"target_scale": float("nan")}, "`target_scale` must"),
        ({"pool": 3}, r"`pool` must divide the sides \[8, 8\] of the pictures"),
    ],
)
def test_bad_task(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        DigitClassification(**{"source": "packaged", **arguments})
