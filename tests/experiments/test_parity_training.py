"""Training on sparse parities: one step by hand, precision, and what cases share."""

import jax
import numpy as np

from lazyrich.core import Context
from lazyrich.experiments.layerwise import _parity_training as parity
from lazyrich.tasks import SparseParity

TASK = SparseParity(num_skills=2, num_bits=5, skill_bits=2)


def training(**changes):
    plain = {"widths": (6, 3), "sizes": (0, 0), "optimizer": "sgd", "learning_rate": 0.05, "decay_from": 1.0,
             "initial_std": 0.5, "batch_size": 16}  # fmt: skip
    return parity.ParityTraining(TASK, **plain | changes)


def numpy_step(weights, x, y, rate):
    """One step of descent on the mean squared error, by the chain rule; optax keeps its rates in float32."""
    W, b, v, c = (np.asarray(w, float) for w in weights)
    before = x @ W + b
    hidden = np.maximum(before, 0)
    error = 2 * (hidden @ v + c - y) / len(y)
    back = np.outer(error, v) * (before > 0)
    gradients = x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum()
    return [w - rate * g for w, g in zip((W, b, v, c), gradients, strict=True)]


def test_a_step_is_a_step_of_descent_on_the_batch():
    run = training()
    with jax.enable_x64(True):
        keys = jax.numpy.stack([jax.random.key(4)])
        state, data, _ = parity._start(run, keys, "float64")
        after, _ = parity._advance(run, 10, state, keys, data, 7, 8)
        batch = TASK.dataset(jax.random.fold_in(jax.random.fold_in(keys[0], 3), 7), 16)
    for case in range(2):
        before = [np.asarray(w)[0, case] for w in state[0]]
        expected = numpy_step(before, batch.inputs, batch.targets[:, 0], 0.05)
        for found, exact in zip(after, expected, strict=True):
            np.testing.assert_allclose(np.asarray(found)[0, case], exact, rtol=1e-6, atol=1e-7)


def test_units_that_a_case_lacks_stay_at_zero():
    run = training(optimizer="adam")
    keys = jax.numpy.stack([jax.random.key(0)])
    state, data, _ = parity._start(run, keys, "float32")
    weights, _ = parity._advance(run, 30, state, keys, data, 0, 30)
    assert np.all(np.asarray(weights.first)[0, 1, :, 3:] == 0)
    assert np.all(np.asarray(weights.second)[0, 1, 3:] == 0)
    assert np.all(np.asarray(weights.second)[0, 1, :3] != 0)


def test_single_precision_is_enough():
    """What float32 changes is far below the spread over batches."""
    run = training(initial_std=0.3, widths=(24,), sizes=(0,), batch_size=64)
    steps = [0, 100, 300]
    single, double = (
        parity.skill_strengths(run, steps, range(2), Context(), precision)
        for precision in ("float32", "float64")
    )
    assert single.shape == (2, 1, 3, 2)
    assert np.abs(single[:, :, -1] - single[:, :, 0]).max() > 0.2  # something is learned
    np.testing.assert_allclose(single, double, atol=2e-4)


def test_small_training_sets_are_the_first_samples_of_large_ones():
    """With a single sample, every step sees that sample."""
    run = training(sizes=(1, 50), widths=(6, 6), batch_size=4)
    with jax.enable_x64(True):
        keys = jax.numpy.stack([jax.random.key(1)])
        state, data, _ = parity._start(run, keys, "float64")
        after, _ = parity._advance(run, 10, state, keys, data, 0, 1)
        x, y = (np.asarray(part)[0, :1] for part in data)
    expected = numpy_step([np.asarray(w)[0, 0] for w in state[0]], x, y, 0.05)
    for found, exact in zip(after, expected, strict=True):
        np.testing.assert_allclose(np.asarray(found)[0, 0], exact, rtol=1e-6, atol=1e-7)


def test_the_rate_falls_to_zero():
    run = training(decay_from=0.5)
    keys = jax.numpy.stack([jax.random.key(0)])
    state, data, _ = parity._start(run, keys, "float32")
    early, _ = parity._advance(run, 10, state, keys, data, 0, 10)
    same, _ = parity._advance(
        run, 10, parity._advance(run, 10, state, keys, data, 0, 10), keys, data, 10, 12
    )
    np.testing.assert_allclose(early.first, same.first, atol=1e-7)
    assert np.abs(np.asarray(early.first - state[0].first)).max() > 1e-2
