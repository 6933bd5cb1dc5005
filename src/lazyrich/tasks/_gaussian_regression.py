"""Regression on Gaussian inputs."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from lazyrich.core import argument_error, count, real, standard_normal
from lazyrich.tasks._dataset import DataSet
from lazyrich.tasks._gaussian import covariance_root, normal_nodes

MOST_NODES = 100_000


@dataclasses.dataclass(frozen=True, eq=False)
class GaussianRegression:
    r"""Inputs $x \sim \mathcal{N}(0, \Sigma)$, labels any function of them.

    Source:
        saddles, App. I; Fig. 4, 5.

    Attributes:
        covariance: Σ, shape (inputs, inputs), or the number of inputs for Σ = 1.
        target: the function from inputs, shape (samples, inputs), to labels, shape (samples, outputs).
        num_samples: size of a training set.

    Example:
        >>> import jax
        >>> from lazyrich.tasks import GaussianRegression
        >>> task = GaussianRegression([[1, 1], [1, 4]], lambda x: x @ [[1.0], [2.0]], num_samples=100)
        >>> task.dataset(jax.random.key(0)).labels.shape
        (100, 1)
        >>> nodes = task.population(nodes=3)
        >>> round(float(nodes.weights @ nodes.labels[:, 0] ** 2), 12)
        21.0
    """

    covariance: Any
    target: Callable[[Any], Any]
    num_samples: int = 8192

    def __post_init__(self) -> None:
        if np.ndim(self.covariance) == 0:
            size = count(
                "covariance", self.covariance, advice="Pass a matrix or a number of inputs."
            )
            object.__setattr__(self, "covariance", np.eye(size))
        object.__setattr__(self, "covariance", real("covariance", self.covariance))
        covariance_root(self.covariance)
        count("num_samples", self.num_samples, advice="Pass e.g. 8192.")
        if not callable(self.target):
            raise argument_error(
                "target", "be a function", self.target, "Pass e.g. lambda x: x @ W.T."
            )

    @property
    def input_dimension(self) -> int:
        """Number of inputs."""
        return self.covariance.shape[0]

    def dataset(self, key: Any) -> DataSet:
        """A training set."""
        drawn = standard_normal(key, (self.num_samples, self.input_dimension))
        return self._labelled(drawn, np.full(self.num_samples, 1 / self.num_samples))

    def population(self, nodes: int | None = None) -> DataSet:
        """Gauss–Hermite nodes and weights that stand for the whole distribution.

        Means over them are exact for polynomials of degree below twice the number of nodes in each input.

        Args:
            nodes: how many along each direction; without it 40, or as many as 10 000 points in all allow.
        """
        D = self.input_dimension
        most = min(40, math.floor(10_000 ** (1 / D) + 1e-9))
        nodes = count("nodes", most if nodes is None else nodes, advice="Use e.g. 40.")
        if nodes**D > MOST_NODES:
            raise argument_error(
                "nodes",
                f"give at most {MOST_NODES} points over {D} inputs",
                nodes,
                "Draw samples instead.",
            )
        return self._labelled(*normal_nodes(nodes, D))

    def _labelled(self, white: np.ndarray, weights: np.ndarray) -> DataSet:
        inputs = white @ covariance_root(self.covariance).T
        with jax.enable_x64(True):
            labels = np.asarray(self.target(inputs), dtype=float)
        if labels.ndim != 2 or labels.shape[0] != inputs.shape[0]:
            raise argument_error(
                "target", "give labels of shape (samples, outputs)", labels.shape, "Keep two axes."
            )
        return DataSet(inputs, labels, weights)
