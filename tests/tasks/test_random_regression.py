"""Random regression."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import RandomRegression


@pytest.mark.parametrize("whitened", [True, False])
def test_moments_are_those_of_the_data(whitened):
    task = RandomRegression(12, 3, 2, whitened=whitened, target_scale=2.0)
    X, Y, weights = task.dataset(jax.random.key(4))
    moments = task.moments(jax.random.key(4))
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(moments.covariance, X.T @ X / 12, atol=1e-14)
    np.testing.assert_allclose(moments.correlation, Y.T @ X / 12, atol=1e-14)
    assert moments.output_power == pytest.approx(np.mean(np.sum(Y**2, axis=1)))
    assert np.allclose(moments.covariance, np.eye(3), atol=1e-13) == whitened


def test_labels_have_their_scale_and_know_nothing_of_the_inputs():
    task = RandomRegression(20_000, 2, 3, target_scale=3.0)
    moments = task.moments(jax.random.key(0))
    assert moments.output_power == pytest.approx(27, rel=0.03)
    assert np.abs(moments.correlation).max() < 5 * 3 / np.sqrt(20_000)


def test_whitening_turns_inputs_as_little_as_possible():
    """The symmetric square root: the whitened inputs are those closest to the drawn ones."""
    X = RandomRegression(9, 4, whitened=False).dataset(jax.random.key(1)).inputs
    white = RandomRegression(9, 4).dataset(jax.random.key(1)).inputs
    cross = white.T @ X
    np.testing.assert_allclose(cross, cross.T, atol=1e-12)
    assert np.all(np.linalg.eigvalsh(cross) > 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 4), "`num_samples` must be at least 4, the number of inputs, to whiten them, got 3"),
        ((0, 4), "`num_samples` must be"),
        ((5, 4, 1, True, -1.0), "`target_scale` must be"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        RandomRegression(*arguments)
