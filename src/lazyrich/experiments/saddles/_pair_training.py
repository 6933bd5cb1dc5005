"""Minibatch training of a two-layer network on two digits, as in Fig. 3."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich import models, simulate, tasks

SINGULAR_VALUES = 3


@dataclasses.dataclass(frozen=True)
class PairTraining(simulate.Training):
    """Two layers that tell two digits apart; records the loss and the largest singular values of U.

    Not a `Supervised`: a linear network learns from samples here, not from their moments; pictures stay
    bytes, which takes an eighth of the memory; and singular values of 784 × H weights come from the smaller
    Gram matrix, which is many times faster. It loses those below 1e-8 of the largest.

    Attributes:
        network: what learns.
        task: the two digits.
        initial_std: standard deviation of all weights at the start.
        white: the largest grey value.
        recorded_samples: the recorded loss is a mean over so many samples, the first ones.
    """

    network: "models.TwoLayer"
    task: "tasks.DigitPair" = dataclasses.field(compare=False)
    initial_std: float
    white: int
    recorded_samples: int

    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {"singular_value": ("order",)}

    def start(self, seed: int) -> tuple[Any, Any]:
        """Small weights; grey values and one-hot targets."""
        digits, pair = self.task.digits, np.array([self.task.first, self.task.second])
        chosen = np.isin(digits.labels, pair)
        pixels = digits.images[chosen].reshape(int(chosen.sum()), -1)
        targets = (digits.labels[chosen, None] == pair).astype(float)
        return self.network.init(jax.random.key(seed), self.initial_std), (pixels, targets)

    def loss(self, weights: Any, data: Any) -> Any:
        """Mean over samples of the squared norm of the error."""
        pixels, targets = data
        errors = self._outputs(weights, pixels / float(self.white)) - targets
        return jnp.mean(jnp.sum(errors**2, axis=-1))

    def _outputs(self, weights: Any, inputs: Any) -> Any:
        if self.network.activation != "linear":
            return self.network.apply(weights, inputs)
        # x(UV), not (xU)V: every sample meets two columns, not as many as there are units
        return inputs @ (weights.first @ weights.second)

    def record(self, weights: Any, data: Any) -> dict[str, Any]:
        """The loss over some samples, and the singular values of the incoming weights."""
        U = weights.first  # (pixels, units)
        gram = U.T @ U if U.shape[0] > U.shape[1] else U @ U.T
        squares = jnp.linalg.eigvalsh(gram)[: -SINGULAR_VALUES - 1 : -1]
        return {
            "loss": self.loss(weights, self.minibatch(data, slice(self.recorded_samples))),
            "singular_value": jnp.sqrt(jnp.maximum(squares, 0)),
        }

    def minibatch(self, data: Any, indices: Any) -> Any:
        """Some samples."""
        pixels, targets = data
        return pixels[indices], targets[indices]

    def count_samples(self, data: Any) -> int:
        """Number of samples; the first axis counts seeds."""
        return data[1].shape[-2]
