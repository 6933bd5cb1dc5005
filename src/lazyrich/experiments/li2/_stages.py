"""What Fig. 2 and 3 share: modular addition with and without decay, with what tells the stages apart."""

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

from lazyrich import groups, simulate
from lazyrich.core import Context, centred
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.li2 import _training

if TYPE_CHECKING:
    import xarray

KINDS = ("typical", "mean", "largest", "share")
"""Ways to say how far a Gram matrix is from diagonal, see `measures.gram_diagonality`."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 2 and 3 are computed from."""

    order: int = 71
    width: int = 2048
    train_fraction: float = 0.4
    learning_rate: float = 1e-3
    weight_decays: tuple[float, ...] = (2e-4, 0.0)
    last_epoch: int = 600
    num_records: int = 32
    num_seeds: int = 15
    seeds_per_chunk: int = 1


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Every seed with every decay."""
    axes = {"weight_decay": config.weight_decays}
    return over_cases(axes, _train, config, context, "modular addition", resume=True).assign_attrs(
        _training.CONVENTION.attributes()
    )


def _train(config: Config, decay: float, seeds: range, context: Context) -> "xarray.Dataset":
    training = _training.training(
        groups.cyclic(config.order), config.train_fraction, config.width, records=("change",)
    )
    ridge = training.task.num_samples * config.weight_decays[0] / 2
    training = dataclasses.replace(training, probe=_probe(ridge))
    epochs = simulate.log_steps(config.last_epoch, config.num_records)
    return _training.descend(training, epochs, seeds, config, context, weight_decay=decay)


@functools.cache  # a probe made anew would be compiled anew
def _probe(ridge: float) -> Any:
    """Size of the gradient that reaches the features, now and with the ridge readout, and Gram matrices."""
    import jax
    import jax.numpy as jnp

    def probe(training: Any, weights: Any, data: Any) -> dict[str, Any]:
        F, V = training.features(weights, data), weights.second
        Y = jax.nn.one_hot(data.labels, V.shape[1], dtype=F.dtype)
        key = centred(Y) @ (centred(Y).T @ F)
        G, fixed = _sent_back(F, Y, V), _ridge_top(F, Y, ridge)
        kept = centred(F)
        return {
            "gradient_norm": jnp.linalg.norm(G),
            "gradient_alignment": jnp.sum(G * key) / (jnp.linalg.norm(G) * jnp.linalg.norm(key)),
            "ridge_gradient_norm": jnp.linalg.norm(_sent_back(F, Y, fixed)),
        } | {
            f"{name}_{kind}": value
            for name, gram in (("node", kept.T @ kept), ("sample", kept @ kept.T))
            for kind, value in zip(KINDS, _off_diagonal(gram), strict=True)
        }  # fmt: skip

    return probe


def _sent_back(F: Any, Y: Any, V: Any) -> Any:
    """G_F: minus n/2 times the slope of the loss by the centred features.

    The loss sees residuals centred over classes. Without that, what it does not see would never die away.
    """
    return centred(centred(Y - F @ V, "classes")) @ V.T


def _ridge_top(F: Any, Y: Any, ridge: float) -> Any:
    """The top layer at which the training loss with decay is stationary, for these features.

    By conjugate gradients: 60 steps give the gradient's norm to four digits, at a fraction of what a
    factorisation costs.
    """
    import jax

    n, K = F.shape
    targets = centred(Y, "classes")
    gram, right = (F.T @ F, F.T @ targets) if n >= K else (F @ F.T, targets)
    found, _ = jax.scipy.sparse.linalg.cg(
        lambda x: gram @ x + ridge * x, right, maxiter=100, tol=1e-5
    )
    return found if n >= K else F.T @ found


def _off_diagonal(gram: Any) -> tuple[Any, ...]:
    """The four numbers of `KINDS`."""
    import jax.numpy as jnp

    m, diagonal = gram.shape[0], jnp.diagonal(gram)
    off = jnp.abs(gram - jnp.diag(diagonal))
    squares, on = jnp.sum(off**2), jnp.sum(diagonal**2)
    return (
        jnp.sqrt(squares / (m - 1) / on), jnp.sum(off) / (m * (m - 1)) / diagonal.mean(),
        off.max() / diagonal.mean(), squares / (squares + on),
    )  # fmt: skip
