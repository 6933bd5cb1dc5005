"""Gradient flow: descent with steps so small that only learning rate × step matters."""

import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import LIBRARY_CONVENTION, Context, argument_error, flag, number, real
from lazyrich.simulate._context import checked_context
from lazyrich.simulate._training import Training, check_seeds, increasing, stacked, trajectory

if TYPE_CHECKING:
    import xarray

MAX_STEPS = 1_000_000
STEPS_OF_FLOW = (
    "gradient flow dθ/dt = −η ∇loss, so that t counts steps at the learning rate η",
    "steps",
)


def gradient_flow(
    training: Training,
    times: Any,
    *,
    seeds: Sequence[int],
    learning_rate: float = 1.0,
    tolerance: float = 1e-8,
    implicit: bool = False,
    context: Context | None = None,
) -> "xarray.Dataset":
    r"""Gradient flow, recorded at the given times.

    $$ \dot\theta = -\eta \nabla \mathcal{L}(\theta) $$

    An adaptive Runge–Kutta method (Tsitouras, order 5) takes the steps: few on plateaus and wherever
    descent would take thousands that hardly differ. Descent at learning rate η follows the flow up to terms
    of order η times the loss's largest curvature λ.

    A step cannot be longer than about 3/λ, though, however little moves: where weights rest in a narrow
    valley it takes as many as descent. There an implicit method (Kværnø, order 5) goes on in a few long ones.
    Each solves for the weights by the loss's Hessian, so this is for up to a few hundred of them.

    Args:
        training: start, loss and record.
        times: when to record, ≥ 0, increasing.
        seeds: one run for each. A run does not depend on the others.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        tolerance: of the error in a step, relative to the size of the weights.
        implicit: long steps where the loss is curved a lot, each with the Hessian.
        context: progress and cancellation, between seeds.

    Returns:
        What `training` records, over `seed` and `time`, and `diverged`, true where the flow has left the
        numbers that a float can hold or needs more than a million steps; `implicit` needs fewer.

    Example:
        >>> from lazyrich import simulate
        >>> student = simulate.TwoLayerStudent(input_dimension=10, num_samples=20, width=5)
        >>> run = simulate.gradient_flow(student, [0, 100.0], seeds=[0, 1])
        >>> run.train_loss.shape, bool((run.train_loss[:, 1] < run.train_loss[:, 0]).all())
        ((2, 2), True)
    """
    learning_rate = number("learning_rate", learning_rate, above=0, advice="Use 1 as usual.")
    tolerance = number("tolerance", tolerance, above=0, below=1, advice="Use e.g. 1e-8.")
    times = increasing("times", real("times", times, at_least=0, advice="Flows start at 0."))
    if times[-1] > sys.float_info.max / max(learning_rate, 1):
        raise argument_error("learning_rate", "leave `times` × rate finite", learning_rate)
    implicit = flag("implicit", implicit)
    seeds, context = check_seeds(training, seeds), checked_context(context)
    with jax.enable_x64(True):
        times_at_unit_rate = times * learning_rate
        # one after the other: steps adapt, and side by side all would wait for the slowest
        found = [
            jax.device_get(
                _flow(training, implicit, *stacked(training, [seed]), times_at_unit_rate, tolerance)
            )
            for seed in context.track(seeds, "gradient flow")
        ]
    records = jax.tree.map(lambda *parts: np.stack(parts), *found)
    unit_rate = (LIBRARY_CONVENTION.time, LIBRARY_CONVENTION.time_unit)
    method = "Kvaerno5" if implicit else "Tsit5"
    clock = unit_rate if learning_rate == 1 else STEPS_OF_FLOW
    return trajectory(training, records, seeds, times, clock=clock, learning_rate=learning_rate,
                      simulation=f"gradient_flow: {method}, tolerance {tolerance:g}")  # fmt: skip


@functools.partial(jax.jit, static_argnums=(0, 1))
def _flow(
    training: Training, implicit: bool, weights: Any, data: Any, times: Any, tolerance: Any
) -> Any:
    import diffrax

    def velocity(t: Any, weights: Any, data: Any) -> Any:
        return jax.tree.map(jnp.negative, jax.grad(training.loss)(weights, data))

    weights, data = jax.tree.map(lambda leaf: leaf[0], (weights, data))  # of one seed
    size = jnp.sqrt(_mean_square(weights))
    scale = jnp.where(size > 0, size, 1.0)  # weights of zero are a start like others
    steps = diffrax.PIDController(rtol=tolerance, atol=tolerance * scale)
    if implicit:  # its interpolant is of order 3: steps end at the records
        steps = diffrax.ClipStepSizeController(steps, step_ts=times)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(velocity), _implicit_solver(tolerance, scale) if implicit else diffrax.Tsit5(),
        0.0, times[-1], None, weights, data,
        saveat=diffrax.SaveAt(ts=times, fn=lambda t, y, args: training.record(y, args)),
        stepsize_controller=steps, max_steps=MAX_STEPS, throw=False,
    )  # fmt: skip
    return solution.ys


def _implicit_solver(tolerance: Any, scale: Any) -> Any:
    """Its equations solved well within the tolerance: otherwise steps are refused, or shorter."""
    import diffrax
    import optimistix

    error = 0.01 * tolerance
    return diffrax.Kvaerno5(root_finder=optimistix.Chord(rtol=error, atol=error * scale))


def _mean_square(tree: Any) -> Any:
    leaves = jax.tree.leaves(tree)
    return sum(jnp.sum(leaf**2) for leaf in leaves) / sum(leaf.size for leaf in leaves)
