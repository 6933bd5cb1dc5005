"""A network that does not fit its task is refused when the training is made, with both sizes."""

import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.models import Attention, Convolution, Deep, Layerwise, TwoLayer
from lazyrich.simulate import Supervised
from lazyrich.tasks import (
    DataSet,
    GaussianRegression,
    GivenData,
    InContextRegression,
    SparseParity,
)

IN_CONTEXT = InContextRegression([[0.6, 0.2], [0.2, 0.5]], context=5, num_samples=80)


def regression(outputs):
    return GaussianRegression(np.eye(3), lambda x: x[:, :outputs], 60)


@pytest.mark.parametrize(
    ("network", "task", "population"),
    [(TwoLayer(2, 4), regression(1), False), (TwoLayer(3, 4), regression(2), False),
     (TwoLayer(2, 4, 1, "tanh"), regression(1), True), (TwoLayer(4, 4, 1, "quadratic"), regression(1), False),
     (Convolution(2, 4), regression(1), False), (Convolution(4, 4), regression(1), False),
     (Attention(2, 4), IN_CONTEXT, True), (Attention(1, 4), IN_CONTEXT, True),
     (Attention(4, 4, softmax=True), IN_CONTEXT, False), (TwoLayer(3, 4, 1, "tanh"), IN_CONTEXT, False),
     (Attention(3, 4, output_dimension=2), IN_CONTEXT, True), (Attention(3, 4), regression(1), False),
     (Deep(Attention(3, 4), output_dimension=2), IN_CONTEXT, True)],
)  # fmt: skip
def test_a_network_that_does_not_fit_the_task(network, task, population):
    with pytest.raises(ArgumentError, match=r"`network` must .*, as the task .*, got .*Change the"):
        Supervised(network, task, 0.1, population)


@pytest.mark.parametrize(
    ("network", "task", "message"),
    [
        (TwoLayer(5, 3), GivenData(np.ones((4, 8)), np.ones(4)), r"shape \(8,\),.* reads \(5,\)"),
        (TwoLayer(8, 3), GivenData(np.ones((4, 8)), np.ones((4, 2))), r"have 2 outputs,.* got 1\."),
        (Attention(8, 3), GivenData(np.ones((4, 8)), np.ones(4)), r"\(8,\),.* reads \(any, 8\)"),
        (
            Layerwise.diagonal(5),
            GivenData(np.ones((4, 8)), np.ones(4)),
            "one that cannot read them",
        ),
    ],
)
def test_both_sizes_are_named(network, task, message):
    with pytest.raises(ArgumentError, match="`network` must .*" + message):
        Supervised(network, task, 0.1)


class Unsaid:
    """A task that does not say its sizes."""

    def dataset(self, key):
        return DataSet(np.ones((4, 8)), np.ones((4, 1)), np.full(4, 0.25))


def test_a_task_that_does_not_say_its_sizes_is_seen_at_the_start():
    training = Supervised(TwoLayer(5, 3), Unsaid(), 0.1)
    with pytest.raises(ArgumentError, match=r"`network` must read inputs of the shape \(8,\)"):
        training.start(0)


def test_a_task_must_give_data_for_a_key_alone():
    with pytest.raises(ArgumentError, match=r"`task` must give a data set by `dataset\(key\)`"):
        Supervised(TwoLayer(37, 3), SparseParity(), 0.1)
