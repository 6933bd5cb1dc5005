"""Gradient descent of many two-layer linear networks at once, from second moments."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    Context,
    argument_error,
    covariance_spectrum,
    moderate,
    number,
    real,
    untraced,
)
from lazyrich.quantities._linear_kernel import grams_distance
from lazyrich.simulate._context import checked_context
from lazyrich.simulate._training import recorded_steps


class LinearNetworkRuns(NamedTuple):
    """Records of many runs: their leading axes, then the recorded steps."""

    loss: Any
    kernel_distance: Any
    diverged: Any  # without the last axis


@untraced
def linear_network_descent(
    correlation: Any,
    covariance: Any,
    first: Any,
    second: Any,
    steps: Any,
    *,
    learning_rate: float,
    output_power: Any = None,
    context: Context | None = None,
) -> LinearNetworkRuns:
    r"""Gradient descent of two-layer linear networks, with the distance of their kernels from the start.

    $$ W_1 \leftarrow W_1 + \eta R W_2^\top, \quad W_2 \leftarrow W_2 + \eta W_1^\top R, \quad
       R = \Sigma_{xy} - \Sigma_{xx} W_1 W_2, \qquad
       \mathcal{L} = \tfrac12 \langle \lVert y - W_2^\top W_1^\top x\rVert^2 \rangle $$

    Data enter by their second moments. Inputs are taken in the eigenvectors of their covariance; directions
    without variance change neither outputs nor kernel and are left out. Units beyond as many as inputs and
    outputs together are rotated away, which changes neither. The tangent kernel is never formed
    (`quantities.linear_kernel_distance`).

    Args:
        correlation: $\Sigma_{yx}$, shape (..., outputs, inputs).
        covariance: $\Sigma_{xx}$, shape (..., inputs, inputs), leading axes that broadcast.
        first: $W_1$ at the start, shape (..., inputs, units), likewise.
        second: $W_2$ at the start, shape (..., units, outputs), likewise.
        steps: numbers of steps at which to record, whole, from 0 to 2³¹ − 1, increasing.
        learning_rate: η > 0.
        output_power: mean of $\lVert y\rVert^2$, leading axes that broadcast; without it the best loss is 0.
        context: progress and cancellation.

    Returns:
        Loss and kernel distance over the leading axes and the steps, and which runs have left the numbers
        that a float can hold.

    Source:
        layerwise, App. F.2.

    Example:
        >>> import jax
        >>> from lazyrich import models, simulate, tasks
        >>> data = tasks.RandomRegression(10, 2, 2).moments(jax.random.key(0))
        >>> start = models.balanced_weights(jax.random.key(1), 2, 2, 2, imbalance=[0.0, 9.0])
        >>> runs = simulate.linear_network_descent(
        ...     data.correlation, data.covariance, *start, [0, 1000], learning_rate=0.01
        ... )
        >>> runs.kernel_distance.shape, bool(runs.kernel_distance[0, 1] > runs.kernel_distance[1, 1])
        ((2, 2), True)
    """
    rate = number("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01.")
    steps, context = recorded_steps(steps), checked_context(context)
    W1, W2, C, S = _checked(first, second, covariance, correlation)
    shape = np.broadcast_shapes(*(array.shape[:-2] for array in (W1, W2, C, S)))
    state, best, spectrum = _reduced(W1, W2, C, S, shape)
    least = _least_loss(spectrum, best, output_power, shape)
    runs = math.prod(shape)
    flat = [array.reshape(runs, *array.shape[len(shape) :]) for array in (*state, spectrum, best)]
    loss, distance = _all_runs(flat, steps, rate, context)
    bad = ~(np.isfinite(loss) & np.isfinite(distance)).all(axis=-1)
    full = (*shape, steps.size)
    return LinearNetworkRuns(
        loss.reshape(full) + least[..., None], distance.reshape(full), bad.reshape(shape)
    )


def _checked(first: Any, second: Any, covariance: Any, correlation: Any) -> list[np.ndarray]:
    names = ("first", "second", "covariance", "correlation")
    values = (first, second, covariance, correlation)
    arrays = [
        moderate(n, v, advice="Pass finite matrices.") for n, v in zip(names, values, strict=True)
    ]
    for name, array in zip(names, arrays, strict=True):
        if array.ndim < 2 or 0 in array.shape:
            raise argument_error(name, "be a matrix or several, not empty", array.shape)
    (d, p), c = arrays[0].shape[-2:], arrays[1].shape[-1]
    for name, array, wanted in zip(names[1:], arrays[1:], ((p, c), (d, d), (c, d)), strict=True):
        if array.shape[-2:] != wanted:
            raise argument_error(
                name, f"have the last axes {wanted} to fit the others", array.shape
            )
    try:
        np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    except ValueError:
        shapes = {name: array.shape for name, array in zip(names, arrays, strict=True)}
        raise argument_error("first", "have leading axes that broadcast", shapes) from None
    return arrays


def _reduced(
    first: Any, second: Any, covariance: Any, correlation: Any, shape: tuple[int, ...]
) -> tuple[tuple[Any, Any], Any, Any]:
    """Weights with few inputs and units, the best map, and the covariance's eigenvalues."""
    for C in covariance.reshape(-1, *covariance.shape[-2:]):
        covariance_spectrum(C)  # refuses what is no covariance
    values, vectors = np.linalg.eigh(covariance)
    top = values.max(axis=-1, keepdims=True)
    present = values > 1e-12 * np.where(top > 0, top, 1)
    kept = np.any(present.reshape(-1, values.shape[-1]), axis=0)
    kept[-1] = True  # even a covariance of zero has a shape
    turn = np.swapaxes(vectors[..., kept], -1, -2)
    spectrum = np.where(present, values, 0.0)[..., kept]
    drive = turn @ np.swapaxes(correlation, -1, -2)
    _check_span(correlation, drive, spectrum)
    safe = np.where(spectrum > 0, spectrum, np.inf)
    W1, W2 = _fewer_units(turn @ first, second)
    spread = [np.broadcast_to(a, shape + a.shape[-2:]) for a in (W1, W2, drive / safe[..., None])]
    return (spread[0], spread[1]), spread[2], np.broadcast_to(spectrum, shape + spectrum.shape[-1:])


def _check_span(correlation: Any, drive: Any, spectrum: Any) -> None:
    whole = np.sum(correlation**2, axis=(-2, -1))
    inside = np.sum(np.where(spectrum[..., None] > 0, drive, 0) ** 2, axis=(-2, -1))
    if np.any(whole - inside > 1e-9 * whole):
        raise argument_error(
            "correlation", "vanish where inputs have no variance", "a part outside",
            "Take both moments from the same data.",
        )  # fmt: skip


def _fewer_units(W1: Any, W2: Any) -> tuple[Any, Any]:
    """A rotation of the units that leaves no more than inputs and outputs together."""
    inputs = W1.shape[-2]
    if W1.shape[-1] <= inputs + W2.shape[-1]:
        return W1, W2
    lead = np.broadcast_shapes(W1.shape[:-2], W2.shape[:-2])
    both = [np.broadcast_to(a, lead + a.shape[-2:]) for a in (np.swapaxes(W1, -1, -2), W2)]
    few: Any = np.linalg.qr(np.concatenate(both, axis=-1), mode="r")
    return np.swapaxes(few[..., :inputs], -1, -2), few[..., inputs:]


def _least_loss(spectrum: Any, best: Any, output_power: Any, shape: tuple[int, ...]) -> np.ndarray:
    explained = np.sum(spectrum[..., None] * best**2, axis=(-2, -1))
    if output_power is None:
        return np.zeros(shape)
    power = real("output_power", output_power, at_least=0, advice="Pass the mean of ‖y‖².")
    if (
        power.size == 0
        or power.ndim > len(shape)
        or any(
            have not in (1, want)
            for have, want in zip(power.shape[::-1], shape[::-1], strict=False)
        )
    ):
        raise argument_error(
            "output_power", f"have axes that broadcast to {shape}, those of the runs", power.shape
        )
    rest = np.broadcast_to(power, shape) - explained
    if np.any(rest < -1e-9 * np.max(explained)):
        raise argument_error(
            "output_power", "be at least what the inputs explain", float(np.min(power))
        )
    return np.maximum(rest, 0) / 2


def _all_runs(flat: list[Any], steps: Any, rate: float, context: Context) -> tuple[Any, Any]:
    """Runs in chunks of one size, which fit into the processor's caches."""
    runs, size = flat[0].shape[0], flat[0][0].size + flat[1][0].size
    chunk = min(max(64, 2048 // size), runs)
    loss, distance = np.empty((2, runs, steps.size))
    begins = np.diff(steps, prepend=0).astype(int)
    with jax.enable_x64(True):
        for begin in context.track(range(0, runs, chunk), "gradient descent"):
            index = np.minimum(
                np.arange(begin, begin + chunk), runs - 1
            )  # the last one is filled up
            part = [jax.device_put(np.moveaxis(array[index], 0, -1)) for array in flat]
            found = _descend(part, begins, rate)
            rows = slice(begin, min(begin + chunk, runs))
            for out, values in zip((loss, distance), found, strict=True):
                out[rows] = np.asarray(values).T[: rows.stop - rows.start]
    return loss, distance


@jax.jit
def _descend(runs: list[Any], lengths: Any, rate: Any) -> tuple[Any, Any]:
    """Loss and kernel distance after each stretch of steps; runs are the last axis of every array."""
    W1, W2, spectrum, best = runs
    begin = _grams(W1, W2)
    covariance = jax.vmap(jnp.diag)(spectrum.T)

    def stretch(weights: Any, length: Any) -> Any:
        weights = jax.lax.fori_loop(0, length, lambda _, w: _step(w, spectrum, best, rate), weights)
        error = best - _map(*weights)
        loss = jnp.sum(spectrum[:, None] * error**2, axis=(0, 1)) / 2
        return weights, (loss, grams_distance(begin, _grams(*weights), covariance))

    return jax.lax.scan(stretch, (W1, W2), lengths)[1]


def _step(weights: tuple[Any, Any], spectrum: Any, best: Any, rate: Any) -> tuple[Any, Any]:
    W1, W2 = weights
    # products of tiny matrices as sums over the last axis' neighbours: one instruction for several runs
    R = rate * spectrum[:, None] * (best - _map(W1, W2))
    R = jax.lax.optimization_barrier(R)  # else it is computed anew for each entry that uses it
    return W1 + jnp.sum(R[:, None] * W2, axis=2), W2 + jnp.sum(W1[:, :, None] * R[:, None], axis=0)


def _map(W1: Any, W2: Any) -> Any:
    return jnp.sum(W1[:, :, None] * W2, axis=1)


def _grams(W1: Any, W2: Any) -> tuple[Any, Any]:
    A, B = jnp.moveaxis(W1, -1, 0), jnp.moveaxis(W2, -1, 0)
    return A @ jnp.swapaxes(A, -1, -2), jnp.swapaxes(B, -1, -2) @ B
