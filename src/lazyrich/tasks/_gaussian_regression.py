"""Regression on Gaussian inputs."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from lazyrich.core import argument_error, count, number, real, standard_normal
from lazyrich.core._polynomial import MOST_DEGREE, polynomial_degree
from lazyrich.tasks._dataset import DataSet, RegressionMoments
from lazyrich.tasks._gaussian import (
    MOST_INPUTS,
    axis_nodes,
    covariance_root,
    even_nodes,
    normal_nodes,
)

MOST_NODES = 100_000
FEWEST_NODES = 6
"""For functions that are no polynomials. Means of products of two units, sigmoid, sine, tanh or ReLU, in four
and five inputs are then right to 1 %; three nodes leave 4 %, two 20 %."""
FEWEST_EVEN = 16
"""Nodes from which equal distances are better than Gauss–Hermite's for functions with poles like tanh 2x."""


@dataclasses.dataclass(frozen=True, eq=False)
class GaussianRegression:
    r"""Inputs $x \sim \mathcal{N}(0, \Sigma)$, targets any function of them.

    Source:
        saddles, App. I; Fig. 4, 5.

    Attributes:
        covariance: Σ, shape (inputs, inputs), or the number of inputs for Σ = 1.
        target: the function from inputs, shape (samples, inputs), to targets, shape (samples, outputs).
        num_samples: size of a training set.

    Example:
        >>> import jax
        >>> from lazyrich.tasks import GaussianRegression
        >>> task = GaussianRegression([[1, 1], [1, 4]], lambda x: x @ [[1.0], [2.0]], num_samples=100)
        >>> task.dataset(jax.random.key(0)).targets.shape
        (100, 1)
        >>> nodes = task.population(nodes=3)
        >>> round(float(nodes.weights @ nodes.targets[:, 0] ** 2), 12)
        21.0
    """

    covariance: Any
    target: Callable[[Any], Any]
    num_samples: int = 8192

    def __post_init__(self) -> None:
        if np.ndim(self.covariance) == 0:
            size = count(
                "covariance", self.covariance, at_most=MOST_INPUTS,
                advice="Pass a matrix or a number of inputs.",
            )  # fmt: skip
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

    @functools.cached_property
    def output_dimension(self) -> int:
        """Number of outputs, as the target has of two inputs drawn at random."""
        two = np.random.default_rng(0).standard_normal((2, self.input_dimension))
        return self._labelled(two, np.full(2, 0.5)).targets.shape[1]

    def dataset(self, key: Any) -> DataSet:
        """A training set."""
        drawn = standard_normal(key, (self.num_samples, self.input_dimension))
        return self._labelled(drawn, np.full(self.num_samples, 1 / self.num_samples))

    def population(self, nodes: int | None = None, degree: int | None = None) -> DataSet:
        """Points and weights that stand for the whole distribution.

        Where the target is a polynomial they are Gauss–Hermite nodes, whose means are exact for polynomials
        of degree below twice their number in each input: all that a squared loss needs is, from
        max(d, `degree`) + 1 nodes on with d the target's degree; fewer are refused. Where that is 2 and
        inputs are many, two points on each input's axis do. Functions that are no polynomials need more
        nodes: six leave errors up to 1 %. If the target is none, nodes from 16 on lie at equal distances:
        24 of them average tanh² 2x to 0.04 %, 40 to 4e-6; as many Gauss–Hermite nodes to 1 % and 0.15 %.

        Args:
            nodes: how many along each direction, at least 2; without it 40, or as many as 10 000 points
                allow. What needs more points than 100 000 is refused.
            degree: in the inputs, of a network's features; without it any function may have to be averaged.
        """
        if degree is not None:
            advice = "Leave it out if there is none."
            degree = count("degree", degree, at_most=MOST_DEGREE, advice=advice)
        exact = 1 + max(degree or 0, self._target_degree or 0, 1)
        if nodes is not None:
            nodes = count("nodes", nodes, at_least=exact, advice="Fewer give wrong means.")
            return self._grid(nodes)
        D, is_known = self.input_dimension, None not in (degree, self._target_degree)
        most = min(40, math.floor(10_000 ** (1 / D) + 1e-9))
        nodes = max(most, exact if is_known else max(exact, FEWEST_NODES))
        if is_known and exact == 2 and nodes**D > MOST_NODES:
            return self._labelled(*axis_nodes(D))
        return self._grid(nodes)

    def moments(self) -> RegressionMoments:
        r"""$\Sigma_{yx}$, $\Sigma_{xx}$ and $\operatorname{Tr}\Sigma_{yy}$ of the whole distribution.

        Exact, as `population` is, where the target is a polynomial: of any number of inputs if it is linear.
        """
        found = self.population(degree=1).moments()
        return found._replace(covariance=self.covariance)

    def scaled(self, output_power: float = 1.0, nodes: int | None = None) -> "GaussianRegression":
        """The task with targets times a number, so that their mean square is `output_power`.

        Args:
            output_power: Tr Σ_yy, which is the loss of a network whose outputs are zero.
            nodes: with which the mean is found, as in `population`.
        """
        power = number("output_power", output_power, above=0, advice="Use e.g. 1.")
        data = self.population(nodes)
        found = float(data.weights @ np.sum(data.targets**2, axis=1))
        if not found > 0:
            raise argument_error(
                "target", "not be zero everywhere", found, "No factor gives it another mean square."
            )
        factor, target = np.sqrt(power / found), self.target
        return dataclasses.replace(self, target=lambda x: target(x) * factor)

    def _grid(self, nodes: int) -> DataSet:
        D = self.input_dimension
        if nodes**D > MOST_NODES:
            raise argument_error(
                "nodes", f"give at most {MOST_NODES} points over {D} inputs", nodes,
                "Draw samples instead.",
            )  # fmt: skip
        is_even = self._target_degree is None and nodes >= FEWEST_EVEN
        return self._labelled(*(even_nodes if is_even else normal_nodes)(nodes, D))

    @functools.cached_property
    def _target_degree(self) -> int | None:
        return polynomial_degree(
            lambda white: self._labelled(white, np.ones(len(white))).targets, self.input_dimension
        )

    def _labelled(self, white: np.ndarray, weights: np.ndarray) -> DataSet:
        inputs = white @ covariance_root(self.covariance).T
        with jax.enable_x64(True):
            targets = np.asarray(self.target(inputs), dtype=float)
        if targets.ndim != 2 or targets.shape[0] != inputs.shape[0]:
            raise argument_error(
                "target",
                "give targets of shape (samples, outputs)",
                targets.shape,
                "Keep two axes.",
            )
        return DataSet(inputs, targets, weights)
