"""Training on sparse parities: one step by hand, precision, and what cases share."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError, Context
from lazyrich.simulate import _parity_descent as parity
from lazyrich.simulate import parity_descent
from lazyrich.tasks import SparseParity

TASK = SparseParity(num_skills=2, num_bits=5, skill_bits=2)


SMALL = {"widths": (6, 3), "initial_std": 0.5, "learning_rate": 0.05, "batch_size": 16}


def runs(**changes):
    plain = {"num_samples": (0, 0), "optimizer": "sgd", "decay_from": 1.0}
    return parity._Runs(TASK, **SMALL | plain | changes)


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
    run = runs()
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
    run = runs(optimizer="adam")
    keys = jax.numpy.stack([jax.random.key(0)])
    state, data, _ = parity._start(run, keys, "float32")
    weights, _ = parity._advance(run, 30, state, keys, data, 0, 30)
    assert np.all(np.asarray(weights.first)[0, 1, :, 3:] == 0)
    assert np.all(np.asarray(weights.second)[0, 1, 3:] == 0)
    assert np.all(np.asarray(weights.second)[0, 1, :3] != 0)


def plain_strengths(seed, steps):
    """Two networks, stepped one by one in NumPy on the batches that the library draws."""
    with jax.enable_x64(True):
        key = jax.random.key(seed)
        state, _, probes = parity._start(runs(), key[None], "float64")
        keys = [jax.random.fold_in(jax.random.fold_in(key, 3), step) for step in range(steps)]
        batches = [TASK.dataset(key, 16) for key in keys]
    inputs, g = (np.asarray(part)[0] for part in probes)
    found = []
    for case, width in enumerate((6, 3)):
        W, b, v, c = (np.asarray(w, float)[0, case] for w in state[0])
        weights = [W[:, :width], b[:width], v[:width], c]  # without what the case lacks
        for batch in batches:
            weights = numpy_step(weights, batch.inputs, batch.targets[:, 0], 0.05)
        W, b, v, c = weights
        outputs = np.maximum(inputs @ W + b, 0) @ v + c
        found.append(np.mean(outputs * g, axis=-1) / TASK.target_scale)
    return found


def test_against_plain_steps():
    run = parity_descent(TASK, [0, 10, 40], **SMALL, seeds=[3, 4], dtype="float64")
    for number, seed in enumerate((3, 4)):
        for place, steps in enumerate((0, 10, 40)):
            found = run.strength.values[number, :, place]
            np.testing.assert_allclose(found, plain_strengths(seed, steps), rtol=1e-5, atol=1e-6)


def test_says_what_it_is():
    changes = {"widths": [4, 4], "num_samples": [5, 30], "decay_from": 0.5}
    labels = []
    context = Context(report=lambda label, done, total: labels.append((done, total)))
    run = parity_descent(TASK, [0, 4], **SMALL | changes, seeds=[0], context=context)
    assert run.strength.dims == ("seed", "case", "time", "skill")
    assert run.width.values.tolist() == [4, 4]
    assert run.num_samples.values.tolist() == [5, 30]
    assert run.skill.values.tolist() == [1, 2]
    assert not run.diverged.any()
    assert run.attrs["time_unit"] == "steps"
    assert run.attrs["loss_convention"] == "mean over samples of the squared error, no ½"
    assert labels[-1] == (2, 2)


def test_a_seed_does_not_depend_on_the_others():
    both = parity_descent(TASK, [20], **SMALL, seeds=[1, 5]).strength[1]
    alone = parity_descent(TASK, [20], **SMALL, seeds=[5]).strength[0]
    np.testing.assert_allclose(both, alone, atol=1e-6)


def test_divergence_is_told():
    run = parity_descent(TASK, [0, 200], **SMALL | {"learning_rate": 1e3}, seeds=[0])
    assert run.diverged.all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"widths": 5}, "`widths` must"),
        ({"widths": [3, 0]}, r"`widths\[1\]` must be a whole number ≥ 1"),
        ({"num_samples": [3]}, "`num_samples` must have 2 entries, as `widths`, got 1"),
        ({"num_samples": [3, 2**24]}, r"`num_samples\[1\]` must"),
        ({"optimizer": "muon"}, "`optimizer` must"),
        ({"decay_from": 1.5}, "`decay_from` must"),
        ({"batch_size": 0}, "`batch_size` must"),
        ({"dtype": "float16"}, "`dtype` must"),
        ({"widths": [10**6], "batch_size": 10**6}, "`widths` must need at most"),
        ({"task": "parity"}, "`task` must be a SparseParity"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ArgumentError, match=message):
        parity_descent(**{"task": TASK, "steps": [0, 1], "seeds": [0]} | SMALL | change)


def test_single_precision_is_enough():
    """What float32 changes is far below the spread over batches."""
    changes = {"initial_std": 0.3, "widths": (24,), "batch_size": 64, "seeds": range(2)}
    single, double = (
        parity_descent(TASK, [0, 100, 300], **SMALL | changes, dtype=dtype).strength.values
        for dtype in ("float32", "float64")
    )
    assert single.shape == (2, 1, 3, 2)
    assert np.abs(single[:, :, -1] - single[:, :, 0]).max() > 0.2  # something is learned
    np.testing.assert_allclose(single, double, atol=2e-4)


def test_small_training_sets_are_the_first_samples_of_large_ones():
    """With a single sample, every step sees that sample."""
    run = runs(num_samples=(1, 50), widths=(6, 6), batch_size=4)
    with jax.enable_x64(True):
        keys = jax.numpy.stack([jax.random.key(1)])
        state, data, _ = parity._start(run, keys, "float64")
        after, _ = parity._advance(run, 10, state, keys, data, 0, 1)
        x, y = (np.asarray(part)[0, :1] for part in data)
    expected = numpy_step([np.asarray(w)[0, 0] for w in state[0]], x, y, 0.05)
    for found, exact in zip(after, expected, strict=True):
        np.testing.assert_allclose(np.asarray(found)[0, 0], exact, rtol=1e-6, atol=1e-7)


def test_the_rate_falls_to_zero():
    run = runs(decay_from=0.5)
    keys = jax.numpy.stack([jax.random.key(0)])
    state, data, _ = parity._start(run, keys, "float32")
    early, _ = parity._advance(run, 10, state, keys, data, 0, 10)
    same, _ = parity._advance(
        run, 10, parity._advance(run, 10, state, keys, data, 0, 10), keys, data, 10, 12
    )
    np.testing.assert_allclose(early.first, same.first, atol=1e-7)
    assert np.abs(np.asarray(early.first - state[0].first)).max() > 1e-2
