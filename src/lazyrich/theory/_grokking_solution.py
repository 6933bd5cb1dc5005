"""Solutions that give a training and a test loss: the accuracies that follow, and the delay between them."""

import abc
import math
from typing import Any

import equinox as eqx

from lazyrich.core import Crossing, compute_elementwise
from lazyrich.quantities._threshold_accuracy import accuracy_from_loss, loss_from_accuracy, several
from lazyrich.theory._first_crossing import delay, first_crossing
from lazyrich.theory._solution import Solution, accuracy_level

ERF_SQRT_2 = math.erf(math.sqrt(2))
"""The accuracy by which the paper defines grokking: for one output a loss of a quarter of the threshold."""


class GrokkingSolution(Solution):
    """A solution whose errors are Gaussian; a squared error up to a threshold counts as correct."""

    threshold: eqx.AbstractVar[Any]
    output_dimension: eqx.AbstractVar[Any]

    @abc.abstractmethod
    def train_loss(self, time: Any) -> Any:
        """Loss on the training set."""

    @abc.abstractmethod
    def test_loss(self, time: Any) -> Any:
        """Expected loss on fresh inputs."""

    @abc.abstractmethod
    def _resolved(self) -> Any:
        """What is computed with: a pytree with `_falling(which)`, the training (0) or test (1) loss.

        It is itself, or its parameters with what must be known of them before tracing.
        """

    def train_accuracy(self, time: Any) -> Any:
        """Share of training samples with squared error below the threshold."""
        return self._accuracy(self.train_loss(time))

    def test_accuracy(self, time: Any) -> Any:
        """Share of fresh samples with squared error below the threshold."""
        return self._accuracy(self.test_loss(time))

    def train_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """When the training accuracy first reaches a level."""
        return self._crossing(_train_time, accuracy)

    def test_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """When the test accuracy first reaches a level; `inf` where it never does."""
        return self._crossing(_test_time, accuracy)

    def grokking_delay(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """Delay between training and test accuracy reaching a level, on the exact curves."""
        return self._crossing(_grokking_delay, accuracy)

    def _accuracy(self, loss: Any) -> Any:
        # a step of its own, which is compiled once for both losses
        outputs = several(self.output_dimension)
        return compute_elementwise(accuracy_from_loss, loss, self.threshold, outputs)

    def _crossing(self, function: Any, accuracy: Any) -> Crossing:
        outputs, level = several(self.output_dimension), accuracy_level(accuracy, self)
        return compute_elementwise(function, self._resolved(), level, self.threshold, outputs)


def _train_time(m: Any, accuracy: Any, threshold: Any, outputs: Any) -> Crossing:
    return first_crossing(m._falling(0), loss_from_accuracy(accuracy, threshold, outputs))


def _test_time(m: Any, accuracy: Any, threshold: Any, outputs: Any) -> Crossing:
    return first_crossing(m._falling(1), loss_from_accuracy(accuracy, threshold, outputs))


def _grokking_delay(m: Any, accuracy: Any, threshold: Any, outputs: Any) -> Crossing:
    # once: with several outputs it is the longest formula here
    level = loss_from_accuracy(accuracy, threshold, outputs)
    return delay(first_crossing(m._falling(0), level), first_crossing(m._falling(1), level))
