"""Regression on random inputs with random targets."""

import dataclasses
from typing import Any

import jax
import numpy as np

from lazyrich.core import argument_error, count, flag, number, standard_normal
from lazyrich.core._random import checked_key
from lazyrich.tasks._dataset import DataSet, RegressionMoments


@dataclasses.dataclass(frozen=True)
class RandomRegression:
    r"""A set of random inputs and targets that have nothing to do with each other.

    $$ Y \sim \mathcal{N}(0, \sigma^2), \qquad X \sim \mathcal{N}(0, 1), \quad
       \text{whitened:}\ X \to X (X^\top X/N)^{-1/2} $$

    so that whitened inputs have $\frac1N X^\top X = I$ exactly.

    Source:
        layerwise, App. F.2, F.4.

    Attributes:
        num_samples: N.
        input_dimension: d; at most N for whitened inputs.
        output_dimension: c.
        whitened: whether inputs are whitened.
        target_scale: σ, the targets' standard deviation.

    Example:
        >>> import jax, numpy as np
        >>> from lazyrich.tasks import RandomRegression
        >>> task = RandomRegression(num_samples=10, input_dimension=2, output_dimension=2)
        >>> moments = task.moments(jax.random.key(0))
        >>> bool(np.allclose(moments.covariance, np.eye(2), atol=1e-12)), moments.correlation.shape
        (True, (2, 2))
    """

    num_samples: int
    input_dimension: int
    output_dimension: int = 1
    whitened: bool = True
    target_scale: float = 1.0

    def __post_init__(self) -> None:
        for name in ("num_samples", "input_dimension", "output_dimension"):
            value = count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            object.__setattr__(self, name, value)
        scale = number(
            "target_scale", self.target_scale, at_least=0, at_most=1e100, advice="Use 1."
        )
        object.__setattr__(self, "target_scale", scale)
        if flag("whitened", self.whitened) and self.num_samples < self.input_dimension:
            raise argument_error(
                "num_samples", f"be at least {self.input_dimension}, the number of inputs, to whiten them",
                self.num_samples, "Take more samples, or `whitened=False`.",
            )  # fmt: skip

    def dataset(self, key: Any) -> DataSet:
        """Inputs, shape (samples, inputs), and targets, shape (samples, outputs)."""
        inputs, targets = jax.random.split(checked_key(key))
        N = self.num_samples
        X = standard_normal(inputs, (N, self.input_dimension))
        if self.whitened:
            U, _, Vt = np.linalg.svd(X, full_matrices=False)
            X = np.sqrt(N) * (U @ Vt)
        Y = self.target_scale * standard_normal(targets, (N, self.output_dimension))
        return DataSet(X, Y, np.full(N, 1 / N))

    def moments(self, key: Any) -> RegressionMoments:
        """The exact second moments of `dataset(key)`."""
        return self.dataset(key).moments()
