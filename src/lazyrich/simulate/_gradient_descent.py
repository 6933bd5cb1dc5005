"""Gradient descent, step by step."""

import functools
import itertools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Context, argument_error, count, is_traced, real
from lazyrich.simulate._checkpoint import Checkpoint
from lazyrich.simulate._context import checked_context
from lazyrich.simulate._optimizers import Optimizer, resolved
from lazyrich.simulate._training import (
    STEPS,
    Training,
    check_seeds,
    recorded_steps,
    stacked,
    trajectory,
)

if TYPE_CHECKING:
    import optax
    import xarray

SPAN = 5.0
"""Seconds of descent after which progress is reported, and a wish to stop is heard."""


def gradient_descent(
    training: Training,
    steps: Any,
    *,
    seeds: Sequence[int],
    learning_rate: Any = None,
    optimizer: "str | Optimizer | optax.GradientTransformation | None" = None,
    weight_decay: Any = None,
    batch_size: int | None = None,
    dtype: Any = None,
    context: Context | None = None,
    checkpoint: str | None = None,
) -> "xarray.Dataset":
    r"""Gradient descent, recorded at the given steps.

    $$ \theta_{t+1} = \theta_t - \eta\,(\nabla \mathcal{L}(\theta_t) + \lambda\theta_t) $$

    or, with an optimizer and its state s,

    $$ \theta_{t+1} = \theta_t + \eta\, u(\nabla\mathcal{L}(\theta_t) + \lambda\theta_t, s_t, \theta_t) $$

    All seeds advance together, or in parts or one after another where the training says so. Between records
    nothing leaves the compiled loop.

    Args:
        training: start, loss and record.
        steps: numbers of steps at which to record, whole, from 0 to 2³¹ − 1, increasing.
        seeds: one run for each. A run does not depend on the others but for rounding, and not even that
            where runs go one after another.
        learning_rate: η > 0. Only with a transformation of optax, which has a rate of its own, it may be left
            out; if given, it is a factor of its steps. A list of rates gives runs for each, over a dimension
            `learning_rate`.
        optimizer: what makes a step of a gradient: `adam` or `adamw` (coupled and decoupled decay), `muon`,
            `polar-muon` (see `muon`), `sgd`, all of rate one; or a transformation of optax, for example
            `optax.adam(1e-3)`. Make that once and use it again: one that is made anew is compiled anew.
        weight_decay: λ ≥ 0. It is added to the gradient, except for `adamw` and `muon`, where it acts on the
            weights. A list of decays gives runs for each, over a dimension `weight_decay`.
        batch_size: samples in a step's gradient, drawn anew in each pass through the data; without it, all.
            Samples left over at the end of a pass are not used in it.
        dtype: `float64`, or `float32` to descend in it, for large networks: about twice as fast. Without it,
            what the training prefers.
        context: progress and cancellation, and where checkpoints lie.
        checkpoint: a name under which the context keeps weights, optimizer state and records on the way. A
            run that was killed goes on from there, and ends with the same bits as one that was not.

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
    rule = resolved(optimizer)
    grid = {"learning_rate": _rates(learning_rate, rule), "weight_decay": _decays(weight_decay)}
    steps, context = recorded_steps(steps), checked_context(context)
    seeds = check_seeds(training, seeds)
    if batch_size is not None:
        count("batch_size", batch_size, advice="Use e.g. 64, or None for all samples.")
    dtype = training.dtype if dtype is None else dtype
    if dtype not in ("float32", "float64"):
        raise argument_error("dtype", "be 'float32' or 'float64'", dtype)
    values = [[None] if v is None else np.atleast_1d(v).tolist() for v in grid.values()]
    runs = [_Run(*run) for run in itertools.product(*values, seeds)]
    size = training.runs_together or len(runs)
    chunks = [runs[i : i + size] for i in range(0, len(runs), size)]
    plan = _Plan(training, rule, batch_size, steps.astype(int).tolist())
    progress = _Progress(context, len(chunks) * plan.steps[-1])
    with jax.enable_x64(dtype == "float64"):
        found = [
            _records(plan, chunk, progress, Checkpoint(progress.context, checkpoint, number))
            for number, chunk in enumerate(chunks)
        ]
    records = {name: _wide(np.concatenate([part[name] for part in found])) for name in found[0]}
    lists = {name: values for name, values in grid.items() if np.ndim(values) == 1}
    single = {name: float(v) for name, v in grid.items() if v is not None and np.ndim(v) == 0}
    batch = "full batch" if batch_size is None else f"minibatches of {batch_size}"
    named = optimizer if isinstance(optimizer, str) else "an optimizer of optax"
    by = "step by step" if optimizer is None else f"by {named}"
    return trajectory(training, records, seeds, steps, lists, clock=STEPS, **single,
                      simulation=f"gradient_descent: {batch}, {by}, {dtype}")  # fmt: skip


class _Run(NamedTuple):
    rate: Any
    decay: Any
    seed: Any


class _Plan(NamedTuple):
    training: Training
    rule: Any
    batch_size: int | None
    steps: list[int]


def _rates(learning_rate: Any, rule: Any) -> Any:
    """Learning rates, or factors of the steps of optax's transformations, which are 1 if not given."""
    has_own = not (rule is None or isinstance(rule, Optimizer))
    advice = "Leave it out, or use e.g. 0.01." if has_own else "Use e.g. 0.01."
    given = 1.0 if learning_rate is None and has_own else learning_rate
    return _one_or_list("learning_rate", real("learning_rate", given, above=0, advice=advice))


def _decays(weight_decay: Any) -> Any:
    if weight_decay is None:
        return None
    checked = real("weight_decay", weight_decay, at_least=0, advice="Use e.g. 1e-4, or 0.")
    return _one_or_list("weight_decay", checked)


def _one_or_list(name: str, values: Any) -> Any:
    if is_traced(values) or np.ndim(values) > 1 or np.size(values) == 0:
        raise argument_error(name, "be a number or a list of them, known now", values)
    return values


def _wide(record: np.ndarray) -> np.ndarray:
    wider = {"float32": np.float64, "complex64": np.complex128}
    return record.astype(wider.get(record.dtype.name, record.dtype), copy=False)


class _Progress:
    """Steps done of all steps to do, in all chunks of runs."""

    def __init__(self, context: Context, total: int):
        self.context, self.done, self.total = context, 0, total

    def add(self, steps: int) -> None:
        """So many more are done."""
        self.done += steps
        self.context.report("gradient descent", self.done, self.total)
        self.context.stop_if_asked()


def _records(
    plan: _Plan, runs: list[_Run], progress: _Progress, kept: Checkpoint
) -> dict[str, np.ndarray]:
    """What some runs, which advance together, record, shape (run, time, …) each."""
    training, rule, _, steps = plan
    weights, data = stacked(training, [run.seed for run in runs])
    _check_batch(plan, data)
    # fewer units, as mixtures of all, descend alike by the gradient, and by nothing else
    weights, frame = training.reduce(weights) if rule is None else (weights, None)
    state = None if rule is None else _first_state(training, rule, weights)
    advance = _advance(plan, data, runs)

    def record(moving: Any, data: Any) -> Any:
        later = advance(moving, data, 0, 1)[0] if training.compares else None
        return _record(training, moving[0], later, frame, data)

    kept.sign(advance, record, (weights, state), data, steps)
    moving, pieces, done = kept.load((weights, state))
    progress.add(done)
    pace = _Pace()
    for step in steps[len(pieces) :]:
        while done < step:
            end = min(step, done + pace.steps)
            moving = pace.timed(advance, moving, data, done, end)
            progress.add(end - done)
            done = end
            kept.save(moving, pieces, done)
        later = advance(moving, data, done, done + 1)[0] if training.compares else None
        pieces.append(jax.tree.map(np.asarray, _record(training, moving[0], later, frame, data)))
    kept.finish(pieces, done)
    return {name: np.stack([piece[name] for piece in pieces], axis=1) for name in pieces[0]}


class _Pace:
    """How many steps to take before looking up; where a loop is cut changes nothing of its numbers."""

    def __init__(self) -> None:
        self.steps = 16

    def timed(self, advance: Callable[..., Any], *arguments: Any) -> Any:
        """What `advance` gives; the next cut is where it takes about `SPAN` seconds to."""
        begun = time.monotonic()
        moved = jax.block_until_ready(advance(*arguments))
        seconds = time.monotonic() - begun
        taken = arguments[-1] - arguments[-2]
        self.steps = int(np.clip(taken * SPAN / max(seconds, 1e-9), 1, 8 * self.steps))
        return moved


def _each(training: Training, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for every run; one run alone is not made a batch of one, which would be slower."""
    if training.runs_together != 1:
        return jax.vmap(function)

    def alone(*trees: Any) -> Any:
        return jax.tree.map(lambda x: x[None], function(*jax.tree.map(lambda x: x[0], trees)))

    return alone


def _advance(plan: _Plan, data: Any, runs: list[_Run]) -> Callable[..., Any]:
    """From weights and state at one step to those at another."""
    numbers = tuple(
        None if values[0] is None else jax.device_put(np.asarray(values))
        for values in ([run.rate for run in runs], [run.decay for run in runs])
    )
    if plan.batch_size is None:
        return lambda moving, data, begin, end: _full_batch(
            plan.training, plan.rule, moving, data, numbers, begin, end
        )
    size = int(plan.batch_size)
    keys = jnp.stack([jax.random.fold_in(jax.random.key(run.seed), 1) for run in runs])
    return lambda moving, data, begin, end: _by_batches(
        plan.training, plan.rule, size, keys, moving, data, numbers, begin, end
    )


def _check_batch(plan: _Plan, data: Any) -> None:
    """Before anything is compiled."""
    if plan.batch_size is None:
        return
    samples = plan.training.count_samples(data)
    if plan.batch_size > samples:
        raise argument_error(
            "batch_size", f"be at most {samples}, the number of samples", plan.batch_size
        )


def _move(rule: Any, numbers: Any, moving: Any, slope: Any) -> Any:
    """Weights and the optimiser's state after a step."""
    (weights, state), (rate, decay) = moving, numbers
    decoupled = getattr(rule, "decoupled", False)
    if decay is not None and not decoupled:
        slope = jax.tree.map(lambda g, w: g + decay * w, slope, weights)
    if rule is None:
        return jax.tree.map(lambda w, g: w - rate * g, weights, slope), state
    change, state = rule.update(slope, state, weights)
    if decay is not None and decoupled:
        change = jax.tree.map(lambda u, w: u - decay * w, change, weights)
    return jax.tree.map(lambda w, u: w + rate * u, weights, change), state


# an optimiser is a pair of functions: what is compiled is found again by their identity
@functools.partial(jax.jit, static_argnums=(0, 1))
def _first_state(training: Training, rule: Any, weights: Any) -> Any:
    return _each(training, rule.init)(weights)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _full_batch(
    training: Training, rule: Any, moving: Any, data: Any, numbers: Any, begin: Any, end: Any
) -> Any:
    def run(moving: Any, data: Any, numbers: Any) -> Any:
        def step(_: Any, moving: Any) -> Any:
            return _move(rule, numbers, moving, jax.grad(training.loss)(moving[0], data))

        return jax.lax.fori_loop(begin, end, step, moving)

    return _each(training, run)(moving, data, numbers)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _by_batches(
    training: Training, rule: Any, size: int, keys: Any, moving: Any, data: Any, numbers: Any,
    begin: Any, end: Any,
) -> Any:  # fmt: skip
    samples = training.count_samples(data)
    batches = samples // size

    def run(key: Any, moving: Any, data: Any, numbers: Any) -> Any:
        def shuffled(step: Any) -> Any:
            return jax.random.permutation(jax.random.fold_in(key, step // batches), samples)

        def one(step: Any, state: Any) -> Any:
            moving, order = state
            place = step % batches
            order = jax.lax.cond((place == 0) | (step == begin), shuffled, lambda _: order, step)
            indices = jax.lax.dynamic_slice_in_dim(order, place * size, size)
            slope = jax.grad(training.loss)(moving[0], training.minibatch(data, indices))
            return _move(rule, numbers, moving, slope), order

        return jax.lax.fori_loop(begin, end, one, (moving, jnp.zeros(samples, int)))[0]

    return _each(training, run)(keys, moving, data, numbers)


@functools.partial(jax.jit, static_argnums=0)
def _record(training: Training, weights: Any, later: Any, frame: Any, data: Any) -> dict[str, Any]:
    def one(weights: Any, later: Any, frame: Any, data: Any) -> dict[str, Any]:
        weights = training.expand(weights, frame)
        found = training.record(weights, data)
        return found if later is None else found | training.compare(weights, later, data)

    return _each(training, one)(weights, later, frame, data)
