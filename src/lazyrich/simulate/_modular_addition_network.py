"""A two-layer network with quadratic units learns to add modulo p."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from lazyrich.core import Convention
from lazyrich.models import TwoLayer, TwoLayerWeights
from lazyrich.simulate._training import Training
from lazyrich.tasks import ModularAddition


class _Data(NamedTuple):
    is_train: Any  # (p²,), 1 for the pairs that are trained on, 0 for the others


@dataclasses.dataclass(frozen=True)
class ModularAdditionNetwork(Training):
    r"""Gromov's network: quadratic units in the mean-field scaling, squared error on one-hot labels.

    $$ f(n, m) = \frac{1}{d_h} W_2\, \left(\frac{W_1 x}{\sqrt{2p}}\right)^{2}, \qquad
       x = (e_n, e_m), \qquad
       \mathcal{L} = \frac{1}{Np} \sum_{(n, m)} \|f(n, m) - e_{n + m}\|^2 $$

    with $W_1, W_2 \sim \mathcal{N}(0, 1)$. The network is evaluated on the grid of all pairs, where one-hot
    inputs are sums of rows and no matrix product; training and test pairs are weights on that grid.

    Records `train_loss`, `test_loss`, `train_accuracy`, `test_accuracy` (share of pairs whose largest
    output is the label).

    Source:
        linear-grokking, Eq. 43, 44, after Gromov (2023).

    Attributes:
        modulus: p.
        width: $d_h$.
        train_fraction: share of the pairs that is trained on. It changes no shape, so that runs with
            different shares use the same compiled code.

    Example:
        >>> from lazyrich import simulate
        >>> network = simulate.ModularAdditionNetwork(modulus=7, width=20, train_fraction=0.8)
        >>> run = simulate.gradient_descent(network, [0, 100], learning_rate=100.0, seeds=[0])
        >>> bool(run.train_loss[0, 1] < run.train_loss[0, 0])
        True
    """

    modulus: int
    width: int
    train_fraction: float = dataclasses.field(compare=False)

    def __post_init__(self) -> None:
        self.task()
        self._model()

    def task(self) -> ModularAddition:
        """The task, with its split."""
        return ModularAddition(self.modulus, self.train_fraction)

    def start(self, seed: int) -> tuple[TwoLayerWeights, _Data]:
        """Weights and split of a seed."""
        keys = jax.random.split(jax.random.key(seed))
        mask = self.task().train_mask(keys[1])
        weights = self._model().init(keys[0], std=1.0)
        return weights, _Data(mask.astype(float))

    def loss(self, weights: TwoLayerWeights, data: _Data) -> Any:
        """Mean squared error over training pairs and outputs."""
        return _mean(self._errors(self._outputs(weights)), data.is_train)

    def record(self, weights: TwoLayerWeights, data: _Data) -> dict[str, Any]:
        """Losses and accuracies."""
        outputs = self._outputs(weights)
        errors = self._errors(outputs)
        labels = self.task().labels
        is_right = (jnp.argmax(outputs, axis=1) == labels).astype(errors.dtype)
        return {
            "train_loss": _mean(errors, data.is_train),
            "test_loss": _mean(errors, 1 - data.is_train),
            "train_accuracy": _mean(is_right, data.is_train),
            "test_accuracy": _mean(is_right, 1 - data.is_train),
        }  # fmt: skip

    def attributes(self) -> dict[str, Any]:
        """How loss and time are counted."""
        return Convention(
            loss="mean over samples and outputs of the squared error, no ½",
            time="number of gradient-descent steps",
            time_unit="steps",
        ).attributes()

    def _model(self) -> TwoLayer:
        return TwoLayer(2 * self.modulus, self.width, self.modulus, "quadratic")

    def _outputs(self, weights: TwoLayerWeights) -> Any:
        """Outputs for all pairs, shape (p², p)."""
        left, right = weights.first[: self.modulus], weights.first[self.modulus :]
        hidden = (left[:, None] + right[None]).reshape(-1, self.width) ** 2 / (2 * self.modulus)
        return hidden @ weights.second / self.width

    def _errors(self, outputs: Any) -> Any:
        target = jax.nn.one_hot(self.task().labels, self.modulus, dtype=outputs.dtype)
        return jnp.mean((outputs - target) ** 2, axis=1)


def _mean(values: Any, mask: Any) -> Any:
    return mask @ values / jnp.sum(mask)
