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
    import optax
    import xarray


def gradient_descent(
    training: Training,
    steps: Any,
    *,
    seeds: Sequence[int],
    learning_rate: float | None = None,
    optimizer: "optax.GradientTransformation | None" = None,
    batch_size: int | None = None,
    dtype: Any = "float64",
    context: Context | None = None,
) -> "xarray.Dataset":
    r"""Gradient descent, recorded at the given steps.

    $$ \theta_{t+1} = \theta_t - \eta \nabla \mathcal{L}(\theta_t) $$

    or, with an optimizer of optax and its state s,

    $$ \theta_{t+1} = \theta_t + \eta\, u(\nabla\mathcal{L}(\theta_t), s_t, \theta_t) $$

    All seeds advance together. Between records nothing leaves the compiled loop.

    Args:
        training: start, loss and record.
        steps: numbers of steps at which to record, whole, ≥ 0, increasing.
        seeds: one run for each. A run does not depend on the others but for rounding.
        learning_rate: η > 0; with an optimizer, a factor of its steps, 1 if not given.
        optimizer: what makes a step of a gradient, for example `optax.adam(1e-3)`, or with coupled decay
            `optax.chain(optax.add_decayed_weights(1e-4), optax.adam(1e-3))`. Make it once and use it again:
            one that is made anew is compiled anew. For several rates use `optax.adam(1.0)` and
            `learning_rate`.
        batch_size: samples in a step's gradient, drawn anew in each pass through the data; without it, all.
            Samples left over at the end of a pass are not used in it.
        dtype: `float64`, or `float32` to descend in it, for large networks: about twice as fast.
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
    rate = _checked_rate(learning_rate, optimizer)
    steps = increasing("steps", whole("steps", steps, at_least=0, advice="Record at whole steps."))
    if dtype not in ("float32", "float64"):
        raise argument_error("dtype", "be 'float32' or 'float64'", dtype)
    with jax.enable_x64(dtype == "float64"):
        seeds, (weights, data) = starts(training, seeds)
        # fewer units, as mixtures of all, descend alike by the gradient, and by nothing else
        weights, frame = training.reduce(weights) if optimizer is None else (weights, None)
        state = None if optimizer is None else jax.vmap(optimizer.init)(weights)
        pieces, done = [], 0
        advance = (
            _full_batch if batch_size is None else _minibatches(training, data, batch_size, seeds)
        )
        for step in (context or Context()).track(steps.astype(int).tolist(), "gradient descent"):
            weights, state = advance(training, optimizer, (weights, state), data, rate, done, step)
            pieces.append(jax.tree.map(np.asarray, _record(training, weights, frame, data)))
            done = step
    records = jax.tree.map(lambda *values: _wide(np.stack(values, axis=1)), *pieces)
    batch = "full batch" if batch_size is None else f"minibatches of {batch_size}"
    by = "step by step" if optimizer is None else "by an optimizer of optax"
    return trajectory(training, records, seeds, steps, learning_rate=rate,
                      simulation=f"gradient_descent: {batch}, {by}, {dtype}")  # fmt: skip


def _checked_rate(learning_rate: Any, optimizer: Any) -> float:
    """The learning rate, or the factor of an optimiser's steps, which is 1 if not given."""
    if optimizer is None:
        return number("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01.")
    if not (
        callable(getattr(optimizer, "init", None)) and callable(getattr(optimizer, "update", None))
    ):
        raise argument_error(
            "optimizer",
            "be a GradientTransformation of optax",
            optimizer,
            "Use `optax.adam(1e-3)`.",
        )
    given = 1.0 if learning_rate is None else learning_rate
    return number("learning_rate", given, above=0, advice="Leave it out, or use e.g. 0.01.")


def _wide(record: np.ndarray) -> np.ndarray:
    return record.astype(np.float64) if record.dtype == np.float32 else record


def _move(optimizer: Any, rate: Any, moving: Any, slope: Any) -> Any:
    """Weights and the optimiser's state after a step."""
    weights, state = moving
    if optimizer is None:
        return jax.tree.map(lambda w, g: w - rate * g, weights, slope), state
    change, state = jax.vmap(optimizer.update)(slope, state, weights)
    return jax.tree.map(lambda w, u: w + rate * u, weights, change), state


# an optimiser is a pair of functions: the compiled loop is found again by their identity
@functools.partial(jax.jit, static_argnums=(0, 1))
def _full_batch(
    training: Training, optimizer: Any, moving: Any, data: Any, rate: Any, begin: Any, end: Any
) -> Any:
    gradient = jax.vmap(jax.grad(training.loss))

    def step(_: Any, moving: Any) -> Any:
        return _move(optimizer, rate, moving, gradient(moving[0], data))

    return jax.lax.fori_loop(begin, end, step, moving)


def _minibatches(training: Training, data: Any, batch_size: int, seeds: list[int]) -> Any:
    """A way to advance by minibatches, each seed with an order of samples of its own."""
    size = count("batch_size", batch_size, advice="Use e.g. 64, or None for all samples.")
    samples = training.count_samples(data)
    if size > samples:
        raise argument_error("batch_size", f"be at most {samples}, the number of samples", size)
    keys = jnp.stack([jax.random.fold_in(jax.random.key(seed), 1) for seed in seeds])
    return lambda training, optimizer, *rest: _by_batches(training, optimizer, size, keys, *rest)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _by_batches(
    training: Training, optimizer: Any, size: int, keys: Any, moving: Any, data: Any, rate: Any,
    begin: Any, end: Any,
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
        moving, order = state
        place = step % batches
        order = jax.lax.cond((place == 0) | (step == begin), shuffled, lambda _: order, step)
        indices = jax.lax.dynamic_slice_in_dim(order, place * size, size, axis=1)
        slope = gradient(moving[0], data, indices)
        return _move(optimizer, rate, moving, slope), order

    nothing = jnp.zeros((keys.shape[0], samples), int)
    return jax.lax.fori_loop(begin, end, one, (moving, nothing))[0]


@functools.partial(jax.jit, static_argnums=0)
def _record(training: Training, weights: Any, frame: Any, data: Any) -> dict[str, Any]:
    return jax.vmap(training.record)(jax.vmap(training.expand)(weights, frame), data)
