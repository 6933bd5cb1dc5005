"""Gradient descent, step by step."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Context, argument_error, count, number, whole
from lazyrich.simulate._training import Training, increasing, starts, trajectory

if TYPE_CHECKING:
    import xarray


def gradient_descent(
    training: Training,
    steps: Any,
    *,
    learning_rate: float,
    seeds: Sequence[int],
    batch_size: int | None = None,
    context: Context | None = None,
) -> "xarray.Dataset":
    r"""Gradient descent, recorded at the given steps.

    $$ \theta_{t+1} = \theta_t - \eta \nabla \mathcal{L}(\theta_t) $$

    All seeds advance together, in float64. Between records nothing leaves the compiled loop.

    Args:
        training: start, loss and record.
        steps: numbers of steps at which to record, whole, ≥ 0, increasing.
        learning_rate: η > 0.
        seeds: one run for each. A run does not depend on the others but for rounding.
        batch_size: samples in a step's gradient, drawn anew in each pass through the data; without it, all.
            Samples left over at the end of a pass are not used in it.
        context: progress and cancellation.

    Returns:
        What `training` records, over `seed` and `time` (in steps), and `diverged`, true where a run has
        left the numbers that a float can hold.

    Example:
        >>> from lazyrich import simulate
        >>> student = simulate.TwoLayerStudent(input_dimension=10, num_samples=20, width=5)
        >>> run = simulate.gradient_descent(student, [0, 100], learning_rate=0.1, seeds=[0, 1])
        >>> run.train_loss.shape, bool((run.train_loss[:, 1] < run.train_loss[:, 0]).all())
        ((2, 2), True)
    """
    learning_rate = number("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01.")
    steps = increasing("steps", whole("steps", steps, at_least=0, advice="Record at whole steps."))
    with jax.enable_x64(True):
        seeds, (weights, data) = starts(training, seeds)
        weights, frame = training.reduce(weights)
        pieces, done = [], 0
        advance = (
            _full_batch if batch_size is None else _minibatches(training, data, batch_size, seeds)
        )
        for step in (context or Context()).track(steps.astype(int).tolist(), "gradient descent"):
            weights = advance(training, weights, data, learning_rate, done, step)
            pieces.append(jax.tree.map(np.asarray, _record(training, weights, frame, data)))
            done = step
    records = jax.tree.map(lambda *values: np.stack(values, axis=1), *pieces)
    batch = "full batch" if batch_size is None else f"minibatches of {batch_size}"
    return trajectory(training, records, seeds, steps, learning_rate=learning_rate,
                      simulation=f"gradient_descent: {batch}, step by step")  # fmt: skip


@functools.partial(jax.jit, static_argnums=0)
def _full_batch(
    training: Training, weights: Any, data: Any, rate: Any, begin: Any, end: Any
) -> Any:
    gradient = jax.vmap(jax.grad(training.loss))

    def step(_: Any, weights: Any) -> Any:
        slope = gradient(weights, data)
        return jax.tree.map(lambda w, g: w - rate * g, weights, slope)

    return jax.lax.fori_loop(begin, end, step, weights)


def _minibatches(training: Training, data: Any, batch_size: int, seeds: list[int]) -> Any:
    """A way to advance by minibatches, each seed with an order of samples of its own."""
    size = count("batch_size", batch_size, advice="Use e.g. 64, or None for all samples.")
    samples = training.count_samples(data)
    if size > samples:
        raise argument_error("batch_size", f"be at most {samples}, the number of samples", size)
    keys = jnp.stack([jax.random.fold_in(jax.random.key(seed), 1) for seed in seeds])
    return lambda training, *state: _by_batches(training, size, keys, *state)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _by_batches(
    training: Training, size: int, keys: Any, weights: Any, data: Any, rate: Any, begin: Any, end: Any
) -> Any:  # fmt: skip
    samples = training.count_samples(data)
    batches = samples // size
    gradient = jax.vmap(
        lambda w, d, indices: jax.grad(training.loss)(w, training.minibatch(d, indices))
    )

    def shuffled(step: Any) -> Any:
        new = jax.vmap(jax.random.fold_in, (0, None))(keys, step // batches)
        return jax.vmap(lambda key: jax.random.permutation(key, samples))(new)

    def one(step: Any, state: Any) -> Any:
        weights, order = state
        place = step % batches
        order = jax.lax.cond((place == 0) | (step == begin), shuffled, lambda _: order, step)
        indices = jax.lax.dynamic_slice_in_dim(order, place * size, size, axis=1)
        slope = gradient(weights, data, indices)
        return jax.tree.map(lambda w, g: w - rate * g, weights, slope), order

    nothing = jnp.zeros((keys.shape[0], samples), int)
    return jax.lax.fori_loop(begin, end, one, (weights, nothing))[0]


@functools.partial(jax.jit, static_argnums=0)
def _record(training: Training, weights: Any, frame: Any, data: Any) -> dict[str, Any]:
    return jax.vmap(training.record)(jax.vmap(training.expand)(weights, frame), data)
