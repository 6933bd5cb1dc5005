"""Many linear networks at once against plain steps with whole data and dense kernels."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import TwoLayerWeights, symmetrised
from lazyrich.quantities import kernel_distance
from lazyrich.simulate import linear_network_descent
from lazyrich.tasks import RandomRegression

STEPS = [0, 1, 40]


def plain(W1, W2, data, rate=0.02):
    """Loss and kernel distance at the steps, by the definition of both."""
    X, Y, _ = data

    def kernel():
        return np.kron(X @ X.T, W2.T @ W2) + np.kron(X @ W1 @ W1.T @ X.T, np.eye(Y.shape[1]))

    losses, distances, first = [], [], kernel()
    for step in range(STEPS[-1] + 1):
        if step in STEPS:
            losses.append(np.mean(np.sum((Y - X @ W1 @ W2) ** 2, axis=1)) / 2)
            distances.append(kernel_distance(first, kernel()))
        rest = X.T @ (Y - X @ W1 @ W2) / len(X)
        W1, W2 = W1 + rate * rest @ W2.T, W2 + rate * W1.T @ rest
    return losses, distances


def start(seed, d, p, c, std=0.4):
    rng = np.random.default_rng(seed)
    return TwoLayerWeights(std * rng.standard_normal((d, p)), std * rng.standard_normal((p, c)))


@pytest.mark.parametrize(
    ("d", "p", "c", "num_samples"),
    [(2, 2, 2, 10), (8, 10, 2, 4)],
    ids=["plain", "few samples, many units"],
)
def test_against_plain_steps(d, p, c, num_samples):
    """The second has directions without data and units to spare, which are left out."""
    task = RandomRegression(num_samples, d, c, whitened=False)
    weights, key = symmetrised(start(0, d, p // 2, c)), jax.random.key(1)
    data, moments = task.dataset(key), task.moments(key)
    runs = linear_network_descent(
        moments.correlation, moments.covariance, *weights, STEPS, learning_rate=0.02,
        output_power=moments.output_power,
    )  # fmt: skip
    loss, distance = plain(*weights, data)
    np.testing.assert_allclose(runs.loss, loss, rtol=1e-10)
    np.testing.assert_allclose(runs.kernel_distance, distance, rtol=1e-7, atol=1e-13)
    assert not runs.diverged


def test_grids_broadcast_and_fill_chunks():
    """More runs than fit one chunk, over two axes; each is what it is alone."""
    weights = [start(seed, 2, 2, 2) for seed in range(3)]
    first = np.stack([w.first for w in weights])[:, None]
    second = np.stack([w.second for w in weights])[:, None]
    targets = np.linspace(0.1, 2, 100)[:, None, None] * np.array([[1.0, 0.3], [-0.2, 0.5]])
    runs = linear_network_descent(targets, np.eye(2), first, second, STEPS, learning_rate=0.02)
    assert runs.loss.shape == runs.kernel_distance.shape == (3, 100, 3)
    one = linear_network_descent(targets[98], np.eye(2), *weights[2], STEPS, learning_rate=0.02)
    np.testing.assert_allclose(runs.loss[2, 98], one.loss, rtol=1e-12)
    np.testing.assert_allclose(runs.kernel_distance[2, 98], one.kernel_distance, atol=1e-14)


def test_divergence_is_told():
    runs = linear_network_descent(
        [[1.0]], [[1.0]], [[[1.0]], [[9.0]]], [[[1.0]], [[9.0]]], [0, 50], learning_rate=0.1
    )
    assert runs.diverged.tolist() == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"second": np.eye(3)}, r"`second` must have the last axes \(2, 3\)|`covariance`|`second`"),
        ({"covariance": np.eye(3)}, r"`covariance` must have the last axes \(2, 2\)"),
        ({"covariance": -np.eye(2)}, "`covariance` must be positive semi-definite"),
        ({"covariance": np.diag([1.0, 0.0])}, "`correlation` must vanish where inputs have no variance"),
        ({"correlation": np.ones((3, 2))}, r"`correlation` must have the last axes \(2, 2\)"),
        ({"first": np.ones((3, 2, 2)), "second": np.ones((4, 2, 2))}, "`first` must have leading axes that"),
        ({"first": np.full((2, 2), np.nan)}, "`first"),
        ({"steps": [3, 1]}, "`steps` must be a list of numbers in increasing order"),
        ({"learning_rate": 0.0}, "`learning_rate` must be"),
        ({"output_power": 0.1}, "`output_power` must be at least what the inputs explain"),
    ],
)  # fmt: skip
def test_bad_input(change, message):
    good = {"first": np.eye(2), "second": np.eye(2), "covariance": np.eye(2), "correlation": np.eye(2),
            "steps": [0, 1], "learning_rate": 0.1}  # fmt: skip
    with pytest.raises(ArgumentError, match=message):
        linear_network_descent(**good | change)
