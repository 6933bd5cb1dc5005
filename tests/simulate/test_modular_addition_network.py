"""Gromov's network against its definition."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.simulate import ModularAdditionNetwork, gradient_descent


def by_definition(weights, p, mask):
    """Losses and accuracies, pair by pair (Eq. 43)."""
    W1, W2 = weights.first.T, weights.second.T
    losses, right = {True: [], False: []}, {True: [], False: []}
    for n in range(p):
        for m in range(p):
            x = np.zeros(2 * p)
            x[n] = x[p + m] = 1
            z = (W1 @ x / np.sqrt(2 * p)) ** 2
            output = W2 @ z / len(z)
            target = np.eye(p)[(n + m) % p]
            is_train = bool(mask[n * p + m])
            losses[is_train].append(np.mean((output - target) ** 2))
            right[is_train].append(np.argmax(output) == (n + m) % p)
    return {
        "train_loss": np.mean(losses[True]), "test_loss": np.mean(losses[False]),
        "train_accuracy": np.mean(right[True]), "test_accuracy": np.mean(right[False]),
    }  # fmt: skip


@pytest.mark.parametrize("fraction", [0.3, 0.8])
def test_records_are_as_defined(fraction):
    network = ModularAdditionNetwork(5, 9, fraction)
    weights, data = network.start(3)
    run = gradient_descent(network, [0], learning_rate=1.0, seeds=[3]).isel(seed=0, time=0)
    for name, value in by_definition(weights, 5, np.asarray(data.is_train) > 0).items():
        assert run[name].item() == pytest.approx(value, rel=1e-12)


def test_a_step_follows_the_gradient():
    network = ModularAdditionNetwork(5, 6, 0.6)
    weights, data = network.start(0)
    mask, rate, h = np.asarray(data.is_train) > 0, 0.5, 1e-6

    def loss(first, second):
        return by_definition(weights._replace(first=first, second=second), 5, mask)["train_loss"]

    rng = np.random.default_rng(0)
    A, B = rng.standard_normal(weights.first.shape), rng.standard_normal(weights.second.shape)
    slope = (loss(weights.first + h * A, weights.second + h * B)
             - loss(weights.first - h * A, weights.second - h * B)) / (2 * h)  # fmt: skip
    with jax.enable_x64(True):
        gradient = jax.tree.map(np.asarray, jax.grad(network.loss)(weights, data))
    assert np.sum(gradient.first * A) + np.sum(gradient.second * B) == pytest.approx(
        slope, rel=1e-6
    )
    run = gradient_descent(network, [0, 1], learning_rate=rate, seeds=[0])
    moved = weights._replace(
        first=weights.first - rate * gradient.first,
        second=weights.second - rate * gradient.second,
    )
    after = by_definition(moved, 5, mask)["train_loss"]
    assert run.train_loss[0, 1].item() == pytest.approx(after, rel=1e-12)


def test_it_groks_with_enough_pairs():
    network = ModularAdditionNetwork(13, 60, 0.85)
    run = gradient_descent(network, [0, 150, 1500], learning_rate=3000.0, seeds=[0, 1])
    assert float(run.train_accuracy[:, -1].min()) == 1
    assert float(run.test_accuracy[:, -1].mean()) > 0.9
    assert float(run.test_accuracy[:, 0].mean()) < 0.3


def test_the_share_changes_no_compiled_code():
    assert ModularAdditionNetwork(5, 6, 0.5) == ModularAdditionNetwork(5, 6, 0.7)
    runs = [
        gradient_descent(ModularAdditionNetwork(5, 6, share), [5], learning_rate=1.0, seeds=[0])
        for share in (0.5, 0.7)
    ]
    assert runs[0].train_loss.item() != runs[1].train_loss.item()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((1, 6, 0.5), "modulus"), ((5, 0, 0.5), "width"), ((5, 6, 0.0), "train_fraction")],
)
def test_bad_input(arguments, name):
    with pytest.raises(ArgumentError, match=f"`{name}` must"):
        ModularAdditionNetwork(*arguments)
