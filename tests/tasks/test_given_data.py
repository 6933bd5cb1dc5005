"""Data sets that are given point by point."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import GivenData, orthogonal_pair, orthogonal_patches


def test_all_points_as_they_are():
    x, y = np.arange(12.0).reshape(4, 3), np.arange(8.0).reshape(4, 2)
    data = GivenData(x, y).dataset()
    np.testing.assert_array_equal(data.inputs, x)
    np.testing.assert_array_equal(data.targets, y)
    np.testing.assert_array_equal(data.weights, np.full(4, 0.25))


def test_nothing_is_random():
    task = GivenData([[1.0, 2.0]], [3.0])
    one, other = task.dataset(jax.random.key(0)), task.dataset(jax.random.key(1))
    assert all((a == b).all() for a, b in zip(one, other, strict=True))


def test_whole_numbers_and_one_output():
    data = GivenData([[1, 2], [3, 4]], [1, -1]).dataset()
    assert data.inputs.dtype == data.targets.dtype == np.float64
    np.testing.assert_array_equal(data.targets, [[1.0], [-1.0]])


def test_inputs_of_more_axes():
    assert GivenData(np.ones((5, 4, 3)), np.ones(5)).dataset().inputs.shape == (5, 4, 3)


def test_the_two_points_of_fig_1d():
    data = orthogonal_pair().dataset()
    np.testing.assert_array_equal(data.inputs, [[1.0, 0.5], [-1.0, 2.0]])
    np.testing.assert_array_equal(data.targets, [[1.0], [-1.0]])
    assert data.inputs[0] @ data.inputs[1] == 0


def test_the_four_points_of_fig_1e():
    """One pixel each; their second moments are the covariance of Fig. 1C, and the loss starts at 1."""
    data = orthogonal_patches().dataset()
    covariance = np.einsum("n,na,nb->ab", data.weights, data.inputs, data.inputs)
    np.testing.assert_allclose(covariance, np.diag([1.0, 1.0, 2.0, 1.0]), rtol=1e-15)
    assert data.weights @ data.targets[:, 0] ** 2 == pytest.approx(1, rel=1e-15)
    np.testing.assert_allclose(
        np.linalg.solve(data.inputs, data.targets)[:, 0] * np.sqrt(5), [1, 1, -1, 1], rtol=1e-15
    )


@pytest.mark.parametrize(
    ("inputs", "labels", "message"),
    [([1.0, 2.0], [1.0, 2.0], r"`inputs` must have the shape \(samples, …\), not empty, got \(2,\)"),
     (np.ones((0, 2)), np.ones(0), "`inputs` must"),
     (np.ones((3, 2)), np.ones(2), r"`targets` must have one row for each of the 3 samples, got \(2, 1\)"),
     (np.ones((3, 2)), np.ones((2, 3)), r"`targets` must have one row for each .* got \(2, 3\)"),
     (np.ones((3, 2)), 1.0, r"`targets` must have one row for each of the 3 samples, got \(\)"),
     (np.ones((3, 2)), np.ones((3, 1, 1)), "`targets` must have one row"),
     ([[1.0, np.nan]], [1.0], r"`inputs\[0, 1\]` must be .* Pass finite numbers, one sample in each row."),
     ([[1.0, 2.0]], [np.inf], r"`targets\[0\]` must be .* Pass finite numbers, one for each sample."),
     ([["a", "b"]], [1.0], "`inputs` must"), (None, [1.0], "`inputs` must"), ([[1j]], [1.0], "`inputs")],
)  # fmt: skip
def test_bad_input(inputs, labels, message):
    with pytest.raises(ArgumentError, match=message):
        GivenData(inputs, labels)


def test_moments_of_given_points():
    X, Y = np.array([[1.0, 0.5], [-1.0, 2.0], [0.0, 3.0]]), np.array([[1.0], [-1.0], [2.0]])
    found = GivenData(X, Y).dataset().moments()
    np.testing.assert_allclose(found.covariance, X.T @ X / 3, rtol=1e-14)
    np.testing.assert_allclose(found.correlation, Y.T @ X / 3, rtol=1e-14)
    assert found.output_power == pytest.approx(2)
    with pytest.raises(ArgumentError, match=r"`inputs` must have the shape \(samples, inputs\)"):
        GivenData(np.ones((2, 3, 4)), [1.0, 2.0]).dataset().moments()
