"""Features of linear networks with two inputs as arrows in the plane of linear functions."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, models, simulate, tasks, theory

if TYPE_CHECKING:
    import xarray

DIRECTION = np.array([1.0, 1.0]) / np.sqrt(2)
"""Of the target."""
RATE = 0.04
"""Learning rate over the kernel of the loss: small enough for descent to be near the flow."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 7 is computed from."""

    feature_length: float = 0.05
    target_length: float = 1.0
    small_target: float = 0.005
    num_features: int = 100
    widths: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000, 10_000)
    last_step: int = 1000
    num_seeds: int = 16
    seeds_per_chunk: int = 16


def pair(length: float, config: Config, seeds: range) -> "xarray.Dataset":
    """Two features that cancel, the first aligned with the target."""

    def start(seed: int) -> models.TwoLayerWeights:
        import jax

        angle = 2 * np.pi * float(jax.random.uniform(simulate.weights_key(seed)))
        incoming = np.sqrt(config.feature_length) * np.array([np.cos(angle), np.sin(angle)])
        sign = np.sign(incoming @ DIRECTION) * np.sqrt(config.feature_length)
        return models.TwoLayerWeights(
            np.stack([incoming, incoming], axis=1), np.array([[sign], [-sign]])
        )

    # the loss's curvature: that of the start or that of the solution, whichever is larger
    kernel = max(4 * config.feature_length, 2 * length)
    W, b, loss = _train(config, 2, length, start, kernel, seeds)
    return _record(W, b, loss, length, seeds)


def _train(
    config: Config, width: int, length: float, start: "Callable[[int], Any]", kernel: float, seeds: range
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Weights, shapes (seed, moment, feature, 2) and (…, 1), and losses before and after training."""
    target = length * DIRECTION
    task = tasks.GaussianRegression(2, lambda x: (x @ target)[:, None])
    training = simulate.Supervised(
        models.TwoLayer(2, width), task, initial_weights=start, population=True
    )
    run = simulate.gradient_descent(
        training, [0, config.last_step], learning_rate=RATE / kernel, seeds=seeds
    )
    return run.incoming.values, run.outgoing.values, run.loss.values


def _record(
    W: np.ndarray, b: np.ndarray, loss: np.ndarray, length: float, seeds: range
) -> "xarray.Dataset":
    """Features before and after training, where they move first, losses and weight-to-target ratio."""
    import xarray

    h, target = W * b, length * DIRECTION
    error = target - h[:, :1].sum(axis=2)
    drift = b[:, :1] ** 2 * error[:, :, None] + W[:, :1] * (W[:, :1] @ error[..., None])
    ratios = [_ratio(W[i, 0], b[i, 0], target) for i in range(len(seeds))]
    return xarray.Dataset(
        {
            "features": (("seed", "moment", "feature", "axis"), h),
            "drift": (("seed", "feature", "axis"), drift[:, 0]),
            "loss": (("seed", "moment"), loss),
            "final_share": ("seed", loss[:, 1] / loss[:, 0]),
            "ratio": ("seed", np.array(ratios)),
        },
        {"seed": list(seeds), "moment": ["before", "after"]},
    )


def _ratio(W: np.ndarray, b: np.ndarray, target: np.ndarray) -> Any:
    """Weight-to-target ratio; on the two unit inputs the targets are the target's entries."""
    kernel = W.T @ W + np.sum(b**2) * np.eye(2)
    return measures.weight_to_target_ratio(np.concatenate([W, b], axis=1), kernel, target)


def many(width: int, config: Config, seeds: range) -> "xarray.Dataset":
    """NTK initialisation: weights of variance 1, output divided by √p. Weights here are those over √Z.

    So W b has the division in it, and time runs slower by Z, which the rate makes up for. Linear units
    may be mixed by any orthogonal matrix: three mixtures descend as all of them do, and one compiled
    program serves all widths.
    """
    mixing = []
    Z = np.sqrt(width)

    def start(seed: int) -> models.TwoLayerWeights:
        import jax

        rng = np.random.default_rng(np.asarray(jax.random.key_data(simulate.weights_key(seed))))
        frame, few = np.linalg.qr(rng.standard_normal((width, 3)) / np.sqrt(Z))
        mixing.append(frame)
        return models.TwoLayerWeights(few[:, :2].T, few[:, 2:])

    few_W, few_b, loss = _train(config, 3, config.target_length, start, 4 * Z, seeds)
    frames = np.array(mixing)[:, None]  # one for each seed, in their order
    found = _record(frames @ few_W, frames @ few_b, loss, config.target_length, seeds)
    h = found.features.values
    distance = np.linalg.norm(config.target_length * DIRECTION - h[:, 0].sum(axis=1), axis=-1)
    change, size = _rms(h[:, 1] - h[:, 0]), _rms(h[:, 0])
    found = found.assign(
        moved=("seed", change / distance), unscaled_moved=("seed", Z * change / distance),
        relative_moved=("seed", change / size / distance), relative=("seed", change / size),
        scalar_moved=("seed", _scalar_movement(config, width, seeds)),
    )  # fmt: skip
    return found if width == config.num_features else found.drop_dims("feature")


def _rms(vectors: np.ndarray) -> np.ndarray:
    """Root of the mean squared length over features, shape (seed, feature, axis) to (seed,)."""
    return np.sqrt(np.mean(np.sum(vectors**2, axis=-1), axis=-1))


def _scalar_movement(config: Config, width: int, seeds: range) -> np.ndarray:
    """How far features of a network with one input move, root mean square over the distance to the target."""
    draws = np.array([np.random.default_rng([7, s]).standard_normal((2, width)) for s in seeds])
    # features without weights stay so: padded to one shape, all widths are compiled once
    padded = np.zeros((2, len(seeds), max(config.widths)))
    padded[:, :, :width] = np.moveaxis(draws, 1, 0)
    network = theory.ScalarNetwork(
        config.target_length, first=padded[0], second=padded[1], normalisation=np.sqrt(width)
    )
    moved = np.sqrt(np.sum(network.movement(100.0) ** 2, axis=-1) / width)
    return moved / np.abs(config.target_length - network.initial_output)
