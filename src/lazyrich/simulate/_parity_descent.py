"""Training of ReLU networks on sparse parities: many seeds, widths and sizes of the training set at once."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    Context,
    Convention,
    argument_error,
    choice,
    count,
    items,
    number,
    untraced,
    whole,
)
from lazyrich.core._arguments import MAX_NUMBERS
from lazyrich.simulate._context import checked_context
from lazyrich.simulate._seed import checked_seeds
from lazyrich.simulate._training import STEPS, recorded_steps
from lazyrich.tasks import SparseParity

if TYPE_CHECKING:
    import xarray

PROBES = 1000
"""Inputs of each skill from which its strength is measured."""
MOST_SAMPLES = 2**23
"""Samples of a training set are chosen by random numbers of float32, which has no more."""
LARGEST = 1e30
"""Of rates and standard deviations: float32 ends at 3e38."""
LOSS = "mean over samples of the squared error, no ½"


@untraced
def parity_descent(
    task: SparseParity,
    steps: Any,
    *,
    widths: Sequence[int],
    num_samples: Sequence[int] | None = None,
    initial_std: float,
    learning_rate: float,
    decay_from: float = 1.0,
    optimizer: str = "sgd",
    batch_size: int,
    seeds: Sequence[int],
    dtype: str = "float32",
    context: Context | None = None,
) -> "xarray.Dataset":
    r"""Stochastic descent of ReLU networks on sparse parities, and how strong each skill is in them.

    $$ f(x) = v \cdot \operatorname{ReLU}(xW + b) + c, \qquad
       \mathcal{L} = \frac1B \sum_\mu (f(x_\mu) - f^*(x_\mu))^2, \qquad
       R_k = \frac{E[f g_k]}{E[g_k^2]} $$

    over a batch of B samples that is drawn anew for each step. Networks of several widths, or on training
    sets of several sizes, advance together with all seeds: narrow ones have units whose weights are zero and
    stay so, small training sets are the first samples of the largest one. Without training sets every step
    has fresh samples, the same for all widths. `gradient_descent` has one data set for each run, which it
    goes through in passes.

    Descent is in float32. A step's gradient is a mean over a random batch, whose error, of a share
    $1/\sqrt B$ of it, is thousands of times what rounding adds.

    Source:
        layerwise, Sec. 4.3, Fig. 4; emergence, Sec. 5.

    Args:
        task: the skills.
        steps: numbers of steps at which to record, whole, from 0 to 2³¹ − 1, increasing.
        widths: numbers of hidden units, one case for each.
        num_samples: sizes of the training sets, one for each of `widths`, from 1 to 2²³, from which batches
            are drawn with replacement; None for fresh samples in every step.
        initial_std: standard deviation of all weights and biases at the start.
        learning_rate: η > 0, at the start.
        decay_from: share of the steps, from 0 to 1, after which the rate falls linearly, to zero at the last
            one; 1 for never.
        optimizer: `sgd` or `adam`.
        batch_size: samples in a step.
        seeds: one run of all cases for each; seed s gives the same run whatever the others are, but for
            rounding.
        dtype: `float32`, or `float64` to see what rounding adds.
        context: progress and cancellation, between records.

    Returns:
        A dataset over `seed`, `case`, `time` (in steps) and `skill` (counted from 1): `strength`, $R_k/S$,
        estimated from 1000 inputs of each skill that are the same at all times, and `diverged`, true where a
        run has left the numbers that a float can hold. `width` and `num_samples` say what the cases are; 0
        stands for fresh samples.

    Example:
        >>> from lazyrich import simulate, tasks
        >>> task = tasks.SparseParity(num_skills=2, num_bits=4, skill_bits=2)
        >>> run = simulate.parity_descent(
        ...     task, [0, 2000], widths=[64], initial_std=0.1, learning_rate=0.05, batch_size=64, seeds=[0]
        ... )
        >>> run.strength.dims, run.strength[0, 0].round(1).values.tolist()
        (('seed', 'case', 'time', 'skill'), [[0.0, 0.0], [1.0, 1.0]])
    """
    if not isinstance(task, SparseParity):
        raise argument_error("task", "be a SparseParity", task, "See `lazyrich.tasks`.")
    steps, seeds, context = recorded_steps(steps), checked_seeds(seeds), checked_context(context)
    most = MAX_NUMBERS // task.input_dimension
    wide = _sizes("widths", widths, most)
    sets = (
        (0,) * len(wide)
        if num_samples is None
        else _sizes("num_samples", num_samples, MOST_SAMPLES)
    )
    if len(sets) != len(wide):
        raise argument_error("num_samples", f"have {len(wide)} entries, as `widths`", len(sets))
    runs = _Runs(
        task, wide, sets, choice("optimizer", optimizer, ("sgd", "adam")),
        number("learning_rate", learning_rate, above=0, at_most=LARGEST, advice="Use e.g. 0.05."),
        number("decay_from", decay_from, at_least=0, at_most=1, advice="1: never."),
        number("initial_std", initial_std, at_least=0, at_most=LARGEST, advice="Use e.g. 0.1."),
        count("batch_size", batch_size, at_most=most, advice="Use e.g. 256."),
    )  # fmt: skip
    _check_memory(runs, len(seeds))
    found = _strengths(runs, steps, seeds, context, choice("dtype", dtype, ("float32", "float64")))
    return _dataset(runs, found, seeds, steps, dtype)


def _sizes(name: str, values: Any, most: int) -> tuple[int, ...]:
    advice = "Pass e.g. [100]."
    checked = whole(
        name, items(name, values, advice=advice), at_least=1, at_most=most, advice=advice
    )
    if checked.ndim != 1 or checked.size == 0:
        raise argument_error(name, "be a list of numbers, not empty", values, advice)
    return tuple(int(value) for value in checked)


@dataclasses.dataclass(frozen=True)
class _Runs:
    task: SparseParity
    widths: tuple[int, ...]
    num_samples: tuple[int, ...]  # 0 for fresh samples
    optimizer: str
    learning_rate: float
    decay_from: float
    initial_std: float
    batch_size: int


class _Weights(NamedTuple):
    first: Any  # (inputs, units)
    bias: Any  # (units,)
    second: Any  # (units,)
    shift: Any  # ()


def _check_memory(runs: _Runs, num_seeds: int) -> None:
    """Weights, and hidden units on a batch and on the probes, of all that advances together."""
    task, networks = runs.task, num_seeds * len(runs.widths)
    rows = max(task.input_dimension, runs.batch_size, PROBES * task.num_skills)
    if networks * max(runs.widths) * rows > MAX_NUMBERS:
        raise argument_error(
            "widths", f"need at most {MAX_NUMBERS} numbers, with this batch and all seeds",
            runs.widths, "Use fewer seeds at a time, or a smaller batch.",
        )  # fmt: skip


def _dataset(
    runs: _Runs, strength: np.ndarray, seeds: list[int], steps: Any, dtype: str
) -> "xarray.Dataset":
    import xarray

    said = {"learning_rate": runs.learning_rate, "decay_from": runs.decay_from,
            "initial_std": runs.initial_std, "batch_size": runs.batch_size, "task": repr(runs.task),
            "simulation": f"parity_descent: random batches, by {runs.optimizer}, {dtype}"}  # fmt: skip
    diverged = ~np.isfinite(strength).all(axis=(2, 3))
    return xarray.Dataset(
        {"strength": (("seed", "case", "time", "skill"), strength),
         "diverged": (("seed", "case"), diverged)},
        {"seed": seeds, "time": steps, "skill": np.arange(1, runs.task.num_skills + 1),
         "width": ("case", list(runs.widths)), "num_samples": ("case", list(runs.num_samples))},
        said | Convention(LOSS, *STEPS).attributes(),
    )  # fmt: skip


def _strengths(
    runs: _Runs, steps: Any, seeds: list[int], context: Context, dtype: str
) -> np.ndarray:
    """$R_k/S$ at the given steps, shape (seed, case, step, skill)."""
    with jax.enable_x64(dtype == "float64"):
        keys = jnp.stack([jax.random.key(seed) for seed in seeds])
        state, data, probes = _start(runs, keys, dtype)
        records, done = [], 0
        for step in context.track([int(step) for step in steps], "training"):
            state = _advance(runs, int(steps[-1]), state, keys, data, done, step)
            records.append(np.asarray(_measure(runs, state[0], probes), float))
            done = step
    return np.stack(records, axis=2)


def _active(runs: _Runs) -> np.ndarray:
    """1 for the units that a case has, shape (cases, units)."""
    widths = np.asarray(runs.widths)
    return (np.arange(widths.max()) < widths[:, None]).astype(float)


def _apply(weights: _Weights, inputs: Any) -> Any:
    hidden = jax.nn.relu(inputs @ weights.first + weights.bias)
    return hidden @ weights.second + weights.shift


def _loss(weights: _Weights, inputs: Any, targets: Any) -> Any:
    return jnp.mean((_apply(weights, inputs) - targets) ** 2)


def _optimizer(runs: _Runs, last: int) -> Any:
    import optax

    begin = round(runs.decay_from * last)
    rate = optax.linear_schedule(runs.learning_rate, 0.0, max(last - begin, 1), begin)
    return {"sgd": optax.sgd, "adam": optax.adam}[runs.optimizer](rate)


@functools.partial(jax.jit, static_argnums=(0, 2))
def _start(runs: _Runs, keys: Any, dtype: str) -> tuple[Any, Any, Any]:
    """_Weights and the optimizer's state of each seed and case, training sets, and inputs to measure on.

    Of the training sets there is the largest; smaller ones are its first samples.
    """
    cases, size = jnp.arange(len(runs.widths)), max(runs.num_samples)

    def one_seed(key: Any) -> Any:
        keys = [jax.random.fold_in(key, number) for number in range(3)]
        weights = jax.vmap(lambda case: _draw(runs, keys[0], case, dtype))(cases)
        memory = jax.vmap(_optimizer(runs, 1).init)(weights)
        data = _sample(runs.task, keys[1], size) if size else jnp.zeros(())
        return (weights, memory), data, _probes(runs.task, keys[2])

    return jax.vmap(one_seed)(keys)


def _draw(runs: _Runs, key: Any, case: Any, dtype: str) -> _Weights:
    """_Weights at the start; units that a case lacks are zero."""
    d, units = runs.task.input_dimension, max(runs.widths)
    shapes = ((d, units), (units,), (units,), ())
    parts = jax.random.split(jax.random.fold_in(key, case), len(shapes))
    # drawn in float32 also for the comparison in float64, which must start alike
    drawn = (jax.random.normal(k, s, jnp.float32) for k, s in zip(parts, shapes, strict=True))
    w = _Weights(*((runs.initial_std * x).astype(dtype) for x in drawn))
    mask = jnp.asarray(_active(runs), dtype)[case]
    return w._replace(first=w.first * mask, bias=w.bias * mask, second=w.second * mask)


def _sample(task: SparseParity, key: Any, size: int) -> tuple[Any, Any]:
    data = task.dataset(key, size)
    return data.inputs, data.targets[:, 0]


def _probes(task: SparseParity, key: Any) -> tuple[Any, Any]:
    """The same bits under the control bit of each skill, (skills, probes, inputs), and the skills there."""
    K, bits = task.num_skills, task.skill_dataset(key, 0, PROBES).inputs[:, task.num_skills :]
    control = jnp.broadcast_to(jnp.eye(K, dtype=bits.dtype)[:, None], (K, PROBES, K))
    inputs = jnp.concatenate([control, jnp.broadcast_to(bits, (K, *bits.shape))], axis=-1)
    return inputs, task.skills(inputs).sum(axis=-1)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _advance(runs: _Runs, last: int, state: Any, keys: Any, data: Any, begin: Any, end: Any) -> Any:
    import optax

    optimizer, sizes = _optimizer(runs, last), jnp.asarray(runs.num_samples, jnp.float32)

    def update(state: Any, inputs: Any, targets: Any) -> Any:
        weights, memory = state
        # units that a case lacks have no gradient, as both their layers are zero
        slope = jax.grad(_loss)(weights, inputs, targets)
        change, memory = optimizer.update(slope, memory)
        return optax.apply_updates(weights, change), memory

    def one_seed(state: Any, key: Any, data: Any, step: Any) -> Any:
        key = jax.random.fold_in(jax.random.fold_in(key, 3), step)
        if max(runs.num_samples) == 0:
            inputs, targets = _sample(runs.task, key, runs.batch_size)
            return jax.vmap(update, (0, None, None))(state, inputs, targets)
        drawn = jax.random.uniform(key, (runs.batch_size,), jnp.float32)
        chosen = jnp.minimum((sizes[:, None] * drawn).astype(int), sizes[:, None].astype(int) - 1)
        return jax.vmap(update)(state, data[0][chosen], data[1][chosen])

    def step(index: Any, state: Any) -> Any:
        return jax.vmap(one_seed, (0, 0, 0, None))(state, keys, data, index)

    return jax.lax.fori_loop(begin, end, step, state)


@functools.partial(jax.jit, static_argnums=0)
def _measure(runs: _Runs, weights: Any, probes: Any) -> Any:
    """E[f g_k]/(E[g_k²] S), from inputs of each skill, the same at all times."""

    def strengths(weights: Any, probes: Any) -> Any:
        inputs, g = probes
        return jnp.mean(_apply(weights, inputs) * g, axis=-1) / runs.task.target_scale

    return jax.vmap(jax.vmap(strengths, (0, None)))(weights, probes)
