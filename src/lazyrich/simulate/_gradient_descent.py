"""Gradient descent, step by step."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Context, number, whole
from lazyrich.simulate._training import Training, increasing, starts, trajectory

if TYPE_CHECKING:
    import xarray


def gradient_descent(
    training: Training,
    steps: Any,
    *,
    learning_rate: float,
    seeds: Sequence[int],
    context: Context | None = None,
) -> "xarray.Dataset":
    r"""Full-batch gradient descent, recorded at the given steps.

    $$ \theta_{t+1} = \theta_t - \eta \nabla \mathcal{L}(\theta_t) $$

    All seeds advance together, in float64. Between records nothing leaves the compiled loop.

    Args:
        training: start, loss and record.
        steps: numbers of steps at which to record, whole, ≥ 0, increasing.
        learning_rate: η > 0.
        seeds: one run for each. A run does not depend on the others but for rounding.
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
        pieces, done = [], 0
        for step in (context or Context()).track(steps.astype(int).tolist(), "gradient descent"):
            weights = _advance(training, weights, data, learning_rate, step - done)
            pieces.append(jax.tree.map(np.asarray, _record(training, weights, data)))
            done = step
    records = jax.tree.map(lambda *values: np.stack(values, axis=1), *pieces)
    return trajectory(training, records, seeds, steps, learning_rate=learning_rate,
                      simulation="gradient_descent: full batch, step by step")  # fmt: skip


@functools.partial(jax.jit, static_argnums=0)
def _advance(training: Training, weights: Any, data: Any, rate: Any, num_steps: Any) -> Any:
    gradient = jax.vmap(jax.grad(training.loss))

    def step(_: Any, weights: Any) -> Any:
        slope = gradient(weights, data)
        return jax.tree.map(lambda w, g: w - rate * g, weights, slope)

    return jax.lax.fori_loop(0, jnp.asarray(num_steps), step, weights)


@functools.partial(jax.jit, static_argnums=0)
def _record(training: Training, weights: Any, data: Any) -> dict[str, Any]:
    return jax.vmap(training.record)(weights, data)
