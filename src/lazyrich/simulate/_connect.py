"""From one fixed point to the next, along an invariant manifold."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, moderate, number
from lazyrich.core._arguments import LARGE
from lazyrich.models import Units
from lazyrich.simulate._gradient_flow import gradient_flow
from lazyrich.simulate._seed import checked_seed
from lazyrich.simulate._supervised import Supervised

if TYPE_CHECKING:
    import xarray

MAX_STRETCHES = 40


class Connection(NamedTuple):
    """A path between two fixed points, and where it arrived."""

    path: "xarray.Dataset"
    """`loss`, `incoming`, `outgoing` and all `weights`, flat, over `time`: learning rate × step."""
    weights: Any
    """The weights at the end."""
    gradient_norm: float
    """The norm of the gradient there."""
    arrived: bool
    """Whether the flow left its start and came to rest."""


def connect(
    training: Supervised,
    weights: Any,
    *,
    unit: int,
    displacement: float = 1e-4,
    seed: int = 0,
    tolerance: float = 1e-7,
) -> Connection:
    r"""Break one constraint at a fixed point and follow the flow to the next fixed point.

    At an embedded fixed point of effective width h some units are zero, equal or otherwise bound to others.
    One of them, and only this one, is displaced at random by a little. The constraints on the others persist
    under gradient flow (Theorem 3), so the flow stays on a manifold of effective width h + 1 and comes to
    rest at a fixed point of that width.

    Source:
        saddles, Sec. 4, F.4, Fig. 1A.

    Args:
        training: network and task; the data are those of `seed`.
        weights: the weights at the fixed point.
        unit: the number of the unit, of the first hidden layer, whose constraint is broken.
        displacement: length of the displacement.
        seed: of the data and of the displacement's direction.
        tolerance: the norm of the gradient below which the flow has come to rest.

    Returns:
        The path, the weights at its end, the norm of the gradient there, and whether it arrived. It does not
        arrive if the start is a minimum on that manifold, or if the flow takes too long.

    Example:
        >>> import numpy as np
        >>> from lazyrich import models, simulate, tasks
        >>> network = models.TwoLayer(2, 3, activation="relu")
        >>> training = simulate.Supervised(network, tasks.orthogonal_pair(), initial_std=0.0)
        >>> zero = models.TwoLayerWeights(np.zeros((2, 3)), np.zeros((3, 1)))
        >>> first = simulate.connect(training, zero, unit=0, seed=1)
        >>> first.arrived, round(float(first.path.loss[-1]), 6), first.weights.first[:, 1:].any()
        (True, 0.5, np.False_)
    """
    if not isinstance(training, Supervised):
        raise argument_error(
            "training", "be a `Supervised`", training, "Give a network and a task."
        )
    length = number("displacement", displacement, above=0, at_most=LARGE, advice="Use e.g. 1e-4.")
    rest, seed = (
        number("tolerance", tolerance, above=0, advice="Use e.g. 1e-7."),
        checked_seed(seed),
    )
    training.network.check_weights(weights)
    weights = jax.tree.map(lambda w: moderate("weights", w, advice="Pass finite weights."), weights)
    units = training.network.units(weights)
    most = len(units.incoming) - 1
    index = count("unit", unit, at_least=0, at_most=most, advice="Units count from 0.")
    start = training.network.with_units(weights, _displaced(units, index, length, seed))
    return _follow(training, start, seed, rest)


def _displaced(units: Units, index: int, length: float, seed: int) -> Units:
    rng = np.random.default_rng([seed, index])
    u, v = (rng.standard_normal(part.shape[1]) for part in units)
    size = length / np.hypot(np.linalg.norm(u), np.linalg.norm(v))
    moved = Units(np.array(units.incoming), np.array(units.outgoing))
    moved.incoming[index] += size * u
    moved.outgoing[index] += size * v
    return moved


def _follow(training: Supervised, weights: Any, seed: int, tolerance: float) -> Connection:
    """Flow for stretches that grow, until the gradient has been large and is small again."""
    import xarray

    data = training.start(seed)[1]
    pieces: list[xarray.Dataset] = []
    clock, stretch, peak, arrived = 0.0, 1.0, 0.0, False
    slope = _gradient_norm(training, weights, data)
    for _ in range(MAX_STRETCHES):
        current = weights
        here = dataclasses.replace(
            training, initial_weights=lambda seed, w=current: w, records=("units", "weights")
        )
        piece = gradient_flow(here, np.linspace(0, stretch, 11)[1:], seeds=[seed], tolerance=1e-9)
        if bool(piece.diverged[0]):
            raise argument_error(
                "weights", "lead to a flow that stays finite", "one that diverges",
                "Start near a fixed point.",
            )  # fmt: skip
        one = piece.isel(seed=0).drop_vars("diverged")
        weights = _shaped(one.weights.values[-1], current)
        pieces.append(one.assign_coords(time=one.time + clock))
        clock, peak = clock + stretch, max(peak, slope)
        slope = _gradient_norm(training, weights, data)
        arrived = slope < tolerance and peak > 100 * slope
        if arrived:
            break
        stretch *= 1.25
    return Connection(xarray.concat(pieces, "time"), weights, slope, arrived)


def _shaped(flat: np.ndarray, like: Any) -> Any:
    """Recorded weights as the tree that they are of: units of every layer move, not only the first's."""
    leaves, tree = jax.tree.flatten(like)
    ends = np.cumsum([np.size(leaf) for leaf in leaves])
    parts = np.split(flat, ends[:-1])
    shaped = [part.reshape(np.shape(leaf)) for part, leaf in zip(parts, leaves, strict=True)]
    return jax.tree.unflatten(tree, shaped)


def _gradient_norm(training: Supervised, weights: Any, data: Any) -> float:
    with jax.enable_x64(True):
        slopes = jax.grad(training.loss)(jax.tree.map(jnp.asarray, weights), data)
        return float(np.sqrt(sum(np.sum(np.asarray(g) ** 2) for g in jax.tree.leaves(slopes))))
