"""Training of ReLU networks on sparse parities: many seeds, widths and sizes of the training set at once.

Everything is in float32. A step's gradient is a mean over a random batch, whose error of a share 1/√batch of
it is thousands of times what rounding adds; a test compares runs in both precisions.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from lazyrich.core import Context
from lazyrich.tasks import SparseParity

PROBES = 1000
"""Inputs of each skill from which its strength is measured."""


@dataclasses.dataclass(frozen=True)
class ParityTraining:
    """How the networks of Fig. 4 are trained; the loss is the mean squared error without ½.

    Attributes:
        task: the skills.
        widths: numbers of ReLU units, one case for each; with `sizes` of the same length.
        sizes: numbers of training samples of the cases; 0 for fresh samples in every step.
        optimizer: "sgd" or "adam".
        learning_rate: the rate at the start.
        decay_from: share of the training after which the rate falls linearly to zero; 1 for never.
        initial_std: standard deviation of all weights and biases at the start.
        batch_size: samples in a step.
    """

    task: SparseParity
    widths: tuple[int, ...]
    sizes: tuple[int, ...]
    optimizer: str
    learning_rate: float
    decay_from: float
    initial_std: float
    batch_size: int


class Weights(NamedTuple):
    r"""A network with one hidden layer, $f(x) = v \cdot \mathrm{ReLU}(xW + b) + c$."""

    first: Any  # (inputs, units)
    bias: Any  # (units,)
    second: Any  # (units,)
    shift: Any  # ()


def skill_strengths(
    training: ParityTraining,
    steps: Any,
    seeds: Sequence[int],
    context: Context,
    precision: str = "float32",
) -> np.ndarray:
    """$R_k/S$ at the given steps, shape (seed, case, step, skill)."""
    with jax.enable_x64(precision == "float64"):
        keys = jnp.stack([jax.random.key(seed) for seed in seeds])
        state, data, probes = _start(training, keys, precision)
        records, done = [], 0
        for step in context.track([int(step) for step in steps], "training"):
            state = _advance(training, int(steps[-1]), state, keys, data, done, step)
            records.append(np.asarray(_measure(training, state[0], probes), float))
            done = step
    return np.stack(records, axis=2)


def _active(training: ParityTraining) -> np.ndarray:
    """1 for the units that a case has, shape (cases, units)."""
    widths = np.asarray(training.widths)
    return (np.arange(widths.max()) < widths[:, None]).astype(float)


def _apply(weights: Weights, inputs: Any) -> Any:
    hidden = jax.nn.relu(inputs @ weights.first + weights.bias)
    return hidden @ weights.second + weights.shift


def _loss(weights: Weights, inputs: Any, targets: Any) -> Any:
    return jnp.mean((_apply(weights, inputs) - targets) ** 2)


def _optimizer(training: ParityTraining, last: int) -> Any:
    begin = round(training.decay_from * last)
    rate = optax.linear_schedule(training.learning_rate, 0.0, max(last - begin, 1), begin)
    return {"sgd": optax.sgd, "adam": optax.adam}[training.optimizer](rate)


@functools.partial(jax.jit, static_argnums=(0, 2))
def _start(training: ParityTraining, keys: Any, precision: str) -> tuple[Any, Any, Any]:
    """Weights and the optimizer's state of each seed and case, training sets, and inputs to measure on.

    Of the training sets there is the largest; smaller ones are its first samples.
    """
    cases, size = jnp.arange(len(training.widths)), max(training.sizes)

    def one_seed(key: Any) -> Any:
        keys = [jax.random.fold_in(key, number) for number in range(3)]
        weights = jax.vmap(lambda case: _draw(training, keys[0], case, precision))(cases)
        memory = jax.vmap(_optimizer(training, 1).init)(weights)
        data = _sample(training.task, keys[1], size) if size else jnp.zeros(())
        return (weights, memory), data, _probes(training.task, keys[2])

    return jax.vmap(one_seed)(keys)


def _draw(training: ParityTraining, key: Any, case: Any, precision: str) -> Weights:
    """Weights at the start; units that a case lacks are zero."""
    d, units = training.task.input_dimension, max(training.widths)
    shapes = ((d, units), (units,), (units,), ())
    parts = jax.random.split(jax.random.fold_in(key, case), len(shapes))
    # drawn in float32 also for the comparison in float64, which must start alike
    drawn = (jax.random.normal(k, s, jnp.float32) for k, s in zip(parts, shapes, strict=True))
    w = Weights(*((training.initial_std * x).astype(precision) for x in drawn))
    mask = jnp.asarray(_active(training), precision)[case]
    return w._replace(first=w.first * mask, bias=w.bias * mask, second=w.second * mask)


def _sample(task: SparseParity, key: Any, size: int) -> tuple[Any, Any]:
    data = task.dataset(key, size)
    return data.inputs, data.targets[:, 0]


def _probes(task: SparseParity, key: Any) -> tuple[Any, Any]:
    """The same bits under the control bit of each skill, shape (skills, probes, inputs), and the skills "
    "there.
    """
    K, bits = task.num_skills, task.skill_dataset(key, 0, PROBES).inputs[:, task.num_skills :]
    control = jnp.broadcast_to(jnp.eye(K, dtype=bits.dtype)[:, None], (K, PROBES, K))
    inputs = jnp.concatenate([control, jnp.broadcast_to(bits, (K, *bits.shape))], axis=-1)
    return inputs, task.skills(inputs).sum(axis=-1)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _advance(
    training: ParityTraining, last: int, state: Any, keys: Any, data: Any, begin: Any, end: Any
) -> Any:
    optimizer, sizes = _optimizer(training, last), jnp.asarray(training.sizes, jnp.float32)

    def update(state: Any, inputs: Any, targets: Any) -> Any:
        weights, memory = state
        # units that a case lacks have no gradient, as both their layers are zero
        slope = jax.grad(_loss)(weights, inputs, targets)
        change, memory = optimizer.update(slope, memory)
        return optax.apply_updates(weights, change), memory

    def one_seed(state: Any, key: Any, data: Any, step: Any) -> Any:
        key = jax.random.fold_in(jax.random.fold_in(key, 3), step)
        if max(training.sizes) == 0:
            inputs, targets = _sample(training.task, key, training.batch_size)
            return jax.vmap(update, (0, None, None))(state, inputs, targets)
        drawn = jax.random.uniform(key, (training.batch_size,), jnp.float32)
        chosen = jnp.minimum((sizes[:, None] * drawn).astype(int), sizes[:, None].astype(int) - 1)
        return jax.vmap(update)(state, data[0][chosen], data[1][chosen])

    def step(index: Any, state: Any) -> Any:
        return jax.vmap(one_seed, (0, 0, 0, None))(state, keys, data, index)

    return jax.lax.fori_loop(begin, end, step, state)


@functools.partial(jax.jit, static_argnums=0)
def _measure(training: ParityTraining, weights: Any, probes: Any) -> Any:
    """E[f g_k]/(E[g_k²] S), from inputs of each skill, the same at all times."""

    def strengths(weights: Any, probes: Any) -> Any:
        inputs, g = probes
        return jnp.mean(_apply(weights, inputs) * g, axis=-1) / training.task.target_scale

    return jax.vmap(jax.vmap(strengths, (0, None)))(weights, probes)
