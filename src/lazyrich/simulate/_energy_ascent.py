"""Ascent of the energy of features on the unit sphere, from many starts at once."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Context, argument_error, count, number, real, untraced
from lazyrich.quantities import FeatureEnergy, GroupEnergy
from lazyrich.quantities._feature_energy import EnergyData, energy_and_gradient
from lazyrich.quantities._group_energy import group_energy_and_gradient
from lazyrich.simulate._context import checked_context

BLOCK, STAGE = 1024, 32
"""Starts that are stepped together, and steps between looking which of them have arrived."""
LONGEST_STEP, SHORTEST_STEP = 4.0, 1e-12
"""In units of the norm over the gradient's length; 2/3 is best near a maximum of a quadratic activation. An
ascent whose steps become shorter than the shortest has met a kink (say of ReLU) and stops."""
CREEPING, SMOOTH = 1e-6, 1e-6
"""Steps up to which an ascent has met a kink, if it is steeper than what rounding leaves of a slope. Some
creep along a kink, by steps of about 1e-10, and never take the shortest."""


class Ascent(NamedTuple):
    """Where ascents ended: one entry for each start.

    `weights` have norm 1, `slope` is the length of the gradient along the sphere over that of the whole
    gradient, `steps` counts evaluations, `converged` says whether the slope came below the tolerance. Of
    those that did not converge, `at_kink` says which are where the gradient jumps and have all but stopped;
    the others were on their way after `max_steps`.
    """

    weights: np.ndarray
    energy: np.ndarray
    slope: np.ndarray
    steps: np.ndarray
    converged: np.ndarray
    at_kink: np.ndarray


@untraced
def energy_ascent(
    energy: "FeatureEnergy | GroupEnergy", starts: Any, *, tolerance: float = 1e-8,
    max_steps: int = 5000, context: Context | None = None,
) -> Ascent:  # fmt: skip
    r"""Projected gradient ascent $w \leftarrow (w + \tau t)/\lVert w + \tau t\rVert$ on the sphere.

    t is the gradient without its part along w. The step τ of every start adapts: half as long where the
    energy would fall, a little longer otherwise; so the energy never falls. The bare power step
    $w \leftarrow \nabla\mathcal{E}/\lVert\nabla\mathcal{E}\rVert$ does not do: for $\sigma(x) = x^2$ and
    all products in a group it only exchanges the sizes of both halves of a node, for ever.

    Args:
        energy: what to climb: `FeatureEnergy` for any data and activation, `GroupEnergy` for all
            products in a group.
        starts: nodes, shape (starts, d), real or complex, not zero; their norms do not matter.
        tolerance: the slope at which an ascent has arrived.
        max_steps: where to give up.
        context: for progress and cancellation.

    Returns:
        An `Ascent`. A start whose gradient is exactly zero stays, with slope 1; rounding moves others away
        from points that are no maxima. Where the activation has a kink, as ReLU and the modulus do, ascents
        end at kinks, nearly all of them: the energy rises neither along the gradient nor against it, but
        may along the kink. From 50 starts on all products in Z7 an end of ReLU lies at kinks of 5 to 21
        pairs, and energies rise by up to 3 % in another ascent from a point 1e-4 away; they are lower bounds.
        Use a smooth activation, such as SiLU, for maxima.

    Example:
        >>> import numpy as np
        >>> from lazyrich.groups import cyclic
        >>> from lazyrich.quantities import GroupEnergy
        >>> from lazyrich.simulate import energy_ascent
        >>> starts = np.random.default_rng(0).standard_normal((100, 14))
        >>> ends = energy_ascent(GroupEnergy(cyclic(7)), starts)
        >>> bool(ends.converged.all()), np.unique(ends.energy.round(9))
        (True, array([1.75]))
    """
    if not isinstance(energy, FeatureEnergy | GroupEnergy):
        raise argument_error("energy", "be a FeatureEnergy or a GroupEnergy", energy)
    d = energy.num_weights if isinstance(energy, FeatureEnergy) else 2 * energy.group.order
    w = checked_starts(starts, d)
    tolerance = number("tolerance", tolerance, above=0, advice="Use e.g. 1e-8.")
    max_steps = count("max_steps", max_steps, at_least=1)
    step, arguments = _stepper(energy, np.iscomplexobj(w))
    w = w / np.linalg.norm(w, axis=-1, keepdims=True)  # of moderate size, see `checked_starts`
    n = len(w)
    value, slope, rate, steps = np.zeros(n), np.ones(n), np.full(n, 0.5), np.zeros(n, int)
    active, context = np.arange(n), checked_context(context)
    with jax.enable_x64(True):
        while active.size:
            context.report("ascents", n - active.size, n)
            context.stop_if_asked()
            for block in np.array_split(active, -(-active.size // BLOCK)):
                padded = np.resize(block, min(n, BLOCK))  # one shape, one compilation
                new = [
                    np.asarray(x)[: block.size]
                    for x in step(w[padded], rate[padded], tolerance, *arguments)
                ]
                w[block], value[block], slope[block], rate[block] = new[:4]
                steps[block] += new[4]
            going = (slope > tolerance) & (steps < max_steps) & (rate > SHORTEST_STEP)
            active = np.flatnonzero(going)
    at_kink = (rate <= CREEPING) & (slope > max(tolerance, SMOOTH))
    return Ascent(w, value, slope, steps, slope <= tolerance, at_kink)


def checked_starts(starts: Any, d: int) -> np.ndarray:
    """The nodes, multiplied by powers of two so that squares of their entries are numbers."""
    w = np.asarray(starts)
    for part in (np.real(w), np.imag(w)) if np.iscomplexobj(w) else (w,):
        real("starts", part, advice="Pass nodes, shape (starts, d).")
    if w.ndim != 2 or w.shape[-1] != d or w.shape[0] < 1:
        raise argument_error("starts", f"have the shape (starts, {d})", w.shape)
    if not np.all(np.any(w, axis=-1)):
        raise argument_error("starts", "not be zero", 0.0, "Leave nodes of zeros out.")
    w = w.astype(np.complex128 if np.iscomplexobj(w) else np.float64)
    largest = np.maximum(np.abs(np.real(w)), np.abs(np.imag(w))).max(axis=-1, keepdims=True)
    exponent = -np.frexp(largest)[1]
    half = exponent // 2  # all of it at once need not be a number
    return w * np.exp2(half) * np.exp2(exponent - half)


def _stepper(energy: Any, is_complex: bool) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The compiled stage of steps, and the arrays it needs."""
    if isinstance(energy, GroupEnergy):
        plan = energy.plan(is_complex)
        return _group_stage(plan.layout), (plan.transform, plan.factors)
    energy._function("value", 1 + is_complex)  # raises if the activation does not fit
    return _data_stage(energy.activation, energy.is_pairs, energy.centring), (energy._data,)


@functools.lru_cache(maxsize=64)
def _group_stage(layout: tuple[tuple[int, int], ...]) -> Callable[..., Any]:
    def both(w: Any, transform: Any, factors: Any) -> tuple[Any, Any]:
        return group_energy_and_gradient(w, transform, factors, layout, jnp)

    return jax.jit(functools.partial(_stage, both))


@functools.lru_cache(maxsize=64)
def _data_stage(activation: Any, is_pairs: bool, centring: str) -> Callable[..., Any]:
    def both(w: Any, data: EnergyData) -> tuple[Any, Any]:
        return energy_and_gradient(w, data, activation, is_pairs, centring)

    return jax.jit(functools.partial(_stage, both))


def _stage(both: Callable[..., Any], w: Any, rate: Any, tolerance: Any, *data: Any) -> Any:
    """Up to `STAGE` steps of a block of starts."""
    first, gradient = both(w, *data)

    def step(state: Any) -> Any:
        taken, w, value, tangent, slope, rate, steps = state
        trial = w + rate[:, None] * tangent
        trial = trial / jnp.linalg.norm(trial, axis=-1, keepdims=True)
        energy, gradient = both(trial, *data)
        new, new_slope = _tangent(trial, gradient)
        # near the end the energy's changes are below rounding, and the slope says more
        better = (energy >= value) | ((energy >= value * (1 - 1e-12)) & (new_slope < slope))
        done = slope <= tolerance
        take = (better & ~done)[:, None]
        rate = jnp.where(
            done, rate, jnp.where(better, jnp.minimum(1.15 * rate, LONGEST_STEP), rate / 2)
        )
        return (
            taken + 1, jnp.where(take, trial, w), jnp.where(take[:, 0], energy, value),
            jnp.where(take, new, tangent), jnp.where(take[:, 0], new_slope, slope), rate, steps + ~done,
        )  # fmt: skip

    def unfinished(state: Any) -> Any:
        return (state[0] < STAGE) & jnp.any(state[4] > tolerance)

    begin = (0, w, first, *_tangent(w, gradient), rate, jnp.zeros(len(w), int))
    _, w, value, _, slope, rate, steps = jax.lax.while_loop(unfinished, step, begin)
    return w, value, slope, rate, steps


def _tangent(w: Any, gradient: Any) -> tuple[Any, Any]:
    """The gradient along the sphere in units of the whole gradient's length, and its size."""
    size = jnp.linalg.norm(gradient, axis=-1)
    along = jnp.sum((jnp.conj(w) * gradient).real, axis=-1, keepdims=True) * w
    tangent = (gradient - along) / jnp.where(size > 0, size, 1.0)[:, None]
    return tangent, jnp.where(size > 0, jnp.linalg.norm(tangent, axis=-1), 1.0)
