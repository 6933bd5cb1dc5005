"""Descent by an optimiser of optax: against Adam written out, in batches, in float32, and in PyTorch."""

import dataclasses

import jax
import numpy as np
import optax
import pytest

from lazyrich import models, simulate, tasks
from lazyrich.core import ArgumentError

RATE, DECAY = 3e-3, 1e-2
ADAM = optax.chain(optax.add_decayed_weights(DECAY), optax.adam(RATE))
TASK = tasks.DigitClassification(20, 30, target_scale=3.0, source="packaged")
NETWORK = models.MLP((64, 8, 10), "tanh", input_scale=0.5, output_scale=1.5)
TRAINING = simulate.Classification(NETWORK, TASK, NETWORK.lecun(2.0))
STEPS = [0, 1, 7, 40]


def gradients(weights, x, y):
    """Of the mean squared error of the two-layer tanh network, by hand; data as `start` gives them."""
    W, V, b, c = weights
    hidden = np.tanh(x @ W + b)
    error = 2 / y.size * 1.5 * (1.5 * (hidden @ V + c) - y)
    back = error @ V.T * (1 - hidden**2)
    return [x.T @ back, hidden.T @ error, back.sum(0), error.sum(0)]


def plain_adam(weights, batches, rate=RATE, decay=DECAY):
    """The weights after each step, from Kingma and Ba's Algorithm 1 with decay added to the gradient."""
    m, v = [0.0] * 4, [0.0] * 4
    for t, (x, y) in enumerate(batches, 1):
        slopes = [g + decay * w for g, w in zip(gradients(weights, x, y), weights, strict=True)]
        m = [0.9 * a + 0.1 * g for a, g in zip(m, slopes, strict=True)]
        v = [0.999 * a + 0.001 * g**2 for a, g in zip(v, slopes, strict=True)]
        weights = [
            w - rate * (a / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
            for w, a, s in zip(weights, m, v, strict=True)
        ]
    return weights


def start(seed):
    weights, data = TRAINING.start(seed)
    return [np.asarray(array) for array in (*weights.matrices, *weights.biases)], data


def measured(weights, x, y):
    W, V, b, c = weights
    outputs = 1.5 * (np.tanh(x @ W + b) @ V + c)
    return np.mean((outputs - y) ** 2), np.mean(outputs.argmax(1) == y.argmax(1))


def test_adam_with_other_constants_by_hand():
    """Steps and moments of Algorithm 1 of Kingma and Ba, for gradients that change."""
    rule, w = simulate.adam(momentum=0.5, memory=0.8, decoupled=True), np.array([1.0, -2.0])
    assert rule.decoupled
    assert not simulate.adam().decoupled
    with jax.enable_x64(True):
        state, m, v = rule.init(w), np.zeros(2), np.zeros(2)
        for t, slope in enumerate(np.array([[1.0, 0.1], [-3.0, 0.2], [0.5, 0.0]]), start=1):
            change, state = rule.update(slope, state, w)
            m, v = 0.5 * m + 0.5 * slope, 0.8 * v + 0.2 * slope**2
            step = -(m / (1 - 0.5**t)) / (np.sqrt(v / (1 - 0.8**t)) + 1e-8)
            np.testing.assert_allclose(change, step, rtol=1e-12)


def test_adam_with_coupled_decay_by_hand():
    run = simulate.gradient_descent(TRAINING, STEPS, optimizer=ADAM, seeds=[0, 5])
    for row, seed in enumerate([0, 5]):
        first, data = start(seed)
        for column, step in enumerate(STEPS):
            weights = plain_adam(first, [(data.inputs, data.targets)] * step)
            loss, accuracy = measured(weights, data.inputs, data.targets)
            assert run.train_loss[row, column].item() == pytest.approx(loss, rel=1e-9)
            assert run.train_accuracy[row, column].item() == pytest.approx(accuracy)
            loss, accuracy = measured(weights, data.test_inputs, data.test_targets)
            assert run.test_loss[row, column].item() == pytest.approx(loss, rel=1e-9)
            assert run.test_accuracy[row, column].item() == pytest.approx(accuracy)


def test_state_survives_records():
    """Moments are carried on from record to record: recording more often changes nothing."""
    often = simulate.gradient_descent(TRAINING, range(41), optimizer=ADAM, seeds=[0])
    seldom = simulate.gradient_descent(TRAINING, [40], optimizer=ADAM, seeds=[0])
    assert often.train_loss[0, 40].item() == seldom.train_loss[0, 0].item()


def test_minibatches_by_hand():
    run = simulate.gradient_descent(TRAINING, [0, 10], optimizer=ADAM, seeds=[3], batch_size=8)
    weights, data = start(3)
    key = jax.random.fold_in(jax.random.key(3), 1)
    batches = []
    with jax.enable_x64(True):
        for epoch in range(5):  # two batches of 8 in 20 samples
            order = np.asarray(jax.random.permutation(jax.random.fold_in(key, epoch), 20))
            batches += [
                (data.inputs[part], data.targets[part]) for part in (order[:8], order[8:16])
            ]
    loss, _ = measured(plain_adam(weights, batches), data.inputs, data.targets)
    assert run.train_loss[0, 1].item() == pytest.approx(loss, rel=1e-9)


def test_plain_descent_is_sgd():
    """The same numbers by the built-in rule, by optax's, and by a rate given to an optimiser of rate 1."""
    plain = simulate.gradient_descent(TRAINING, STEPS, learning_rate=0.05, seeds=[0])
    sgd = simulate.gradient_descent(TRAINING, STEPS, optimizer=optax.sgd(0.05), seeds=[0])
    factor = simulate.gradient_descent(
        TRAINING, STEPS, optimizer=optax.sgd(1.0), learning_rate=0.05, seeds=[0]
    )
    for other in (sgd, factor):
        np.testing.assert_allclose(other.train_loss, plain.train_loss, rtol=1e-12)


def test_float32():
    wide = simulate.gradient_descent(TRAINING, STEPS, optimizer=ADAM, seeds=[0, 5])
    low = simulate.gradient_descent(TRAINING, STEPS, optimizer=ADAM, seeds=[0, 5], dtype="float32")
    assert low.train_loss.dtype == np.float64  # what is recorded comes back wide
    gap = np.abs(low.train_loss / wide.train_loss - 1).values
    assert 0 < gap.max() < 1e-4


class Counted(simulate.Classification):
    """Counts how often its loss is traced."""

    traced = 0

    def loss(self, weights, data):
        Counted.traced += 1
        return super().loss(weights, data)


def test_one_compilation_for_scales_seeds_and_rates():
    """Networks that differ in scales and start share the compiled loop; so do rates of one optimiser."""
    rule, counts = optax.adam(1.0), []
    for scale, size, rate in ((1.0, 1.0, 1e-3), (0.1, 1.0, 1e-3), (1.0, 5.0, 1e-2)):
        network = dataclasses.replace(NETWORK, output_scale=scale, input_scale=size)
        training = Counted(network, TASK, network.lecun(size))
        simulate.gradient_descent(
            training, [0, 2], optimizer=rule, learning_rate=rate, seeds=[1, 2]
        )
        counts.append(Counted.traced)
    assert 0 < counts[0] == counts[-1]


def test_scales_are_the_networks_own():
    """The scales that are given as numbers act as in `apply`."""
    weights, data = TRAINING.start(0)
    train, _ = TASK.split(jax.random.split(jax.random.key(0))[0])
    with jax.enable_x64(True):
        outputs = np.asarray(NETWORK.apply(weights, train.inputs))
        loss = float(TRAINING.loss(weights, data))
    assert loss == pytest.approx(np.mean((outputs - train.targets) ** 2), rel=1e-12)


def test_linear_units_are_not_merged_for_an_optimizer():
    """Adam treats each weight on its own: fewer mixed units would be another network."""
    training = simulate.Supervised(
        models.TwoLayer(2, 50), tasks.orthogonal_pair(), initial_std=0.1, records=()
    )
    run = simulate.gradient_descent(training, [0, 5], optimizer=optax.adam(0.01), seeds=[0])
    (U, V), data = training.start(0)
    features = np.asarray(data.covariance), np.asarray(data.best)
    m, v = [0.0, 0.0], [0.0, 0.0]
    for t in range(1, 6):
        slope = 2 * features[0] @ (U @ V - features[1])
        slopes = [slope @ V.T, U.T @ slope]
        m = [0.9 * a + 0.1 * g for a, g in zip(m, slopes, strict=True)]
        v = [0.999 * a + 0.001 * g**2 for a, g in zip(v, slopes, strict=True)]
        U, V = (
            w - 0.01 * (a / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
            for w, a, s in zip((U, V), m, v, strict=True)
        )
    difference = U @ V - features[1]
    expected = data.least + np.sum(difference * (features[0] @ difference))
    assert run.loss[0, 1].item() == pytest.approx(float(expected), rel=1e-9)


def test_cross_entropy_by_hand():
    task = dataclasses.replace(TASK, target_scale=1.0)
    training = simulate.Classification(NETWORK, task, 0.3, objective="cross-entropy")
    run = simulate.gradient_descent(training, [0], learning_rate=1.0, seeds=[0])
    weights, data = training.start(0)
    W, V, b, c = (np.asarray(array) for array in (*weights.matrices, *weights.biases))
    logits = 1.5 * (np.tanh(data.inputs @ W + b) @ V + c)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.mean(np.log(chances[np.arange(20), data.targets.argmax(1)]))
    assert run.train_loss.item() == pytest.approx(expected, rel=1e-12)
    assert "cross-entropy" in run.attrs["loss_convention"]


def test_frozen_layers_stay_and_leave_the_kernel():
    last = simulate.Classification(NETWORK, TASK, NETWORK.lecun(), kernel_samples=5, frozen=(0, 2))
    first = dataclasses.replace(last, frozen=(1, 3))
    runs = [
        simulate.gradient_descent(training, [0, 50], learning_rate=0.5, seeds=[0])
        for training in (last, first)
    ]
    assert all(run.train_loss[0, 1] < run.train_loss[0, 0] for run in runs)
    assert runs[0].kernel_distance[0, 1].item() < 1e-30  # rounding
    assert runs[1].kernel_distance[0, 1].item() > 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`learning_rate` must"),
        ({"optimizer": "sgd"}, "`learning_rate` must"),
        ({"optimizer": "adam"}, "`learning_rate` must .* Use e.g. 0.01"),
        ({"optimizer": simulate.muon()}, "`learning_rate` must .* Use e.g. 0.01"),
        ({"optimizer": "adagrad"}, "`optimizer` must be a GradientTransformation of optax"),
        ({"optimizer": ADAM, "learning_rate": -1.0}, "`learning_rate` must"),
        ({"optimizer": ADAM, "dtype": "float16"}, "`dtype` must be 'float32' or 'float64'"),
        ({"optimizer": ADAM, "batch_size": 21}, "`batch_size` must be at most 20"),
    ],
)
def test_bad_descent(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        simulate.gradient_descent(TRAINING, [0, 1], seeds=[0], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"network": 3}, "`network` must be a network"),
        ({"task": tasks.orthogonal_pair()}, "`task` must give a training and a test set"),
        ({"network": models.MLP((64, 8, 9))}, "`network` must have 10 outputs, .* got 9"),
        ({"network": models.MLP((60, 8, 10))}, r"`network` must read .* \(64,\),.* reads \(60,\)"),
        (
            {"objective": "hinge"},
            "`objective` must be one of squared, cross-entropy, stable-softmax, got",
        ),
        ({"kernel_samples": -1}, "`kernel_samples` must"),
        ({"frozen": (9,)}, "`frozen` must hold some of the numbers 0 to 3"),
        ({"frozen": (0, 1, 2, 3)}, "`frozen` must hold some of the numbers 0 to 3, not all"),
    ],
)
def test_bad_classification(arguments, message):
    given = {"network": NETWORK, "task": TASK, "initial_std": 0.1} | arguments
    with pytest.raises(ArgumentError, match=message):
        simulate.Classification(**given).start(0)


@pytest.mark.torch
def test_same_numbers_as_pytorch():
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    first, data = start(0)
    arrays = [torch.tensor(array, requires_grad=True) for array in first]
    x, y = torch.tensor(data.inputs), torch.tensor(data.targets)
    optimiser = torch.optim.Adam(arrays, lr=RATE, weight_decay=DECAY)
    losses = []
    for _ in range(101):
        W, V, b, c = arrays
        loss = torch.nn.functional.mse_loss(1.5 * (torch.tanh(x @ W + b) @ V + c), y)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    run = simulate.gradient_descent(TRAINING, np.arange(101), optimizer=ADAM, seeds=[0])
    np.testing.assert_allclose(run.train_loss[0], losses, rtol=1e-9)
