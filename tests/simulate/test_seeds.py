"""Seeds are checked in one way by all that train."""

import numpy as np
import pytest

from lazyrich import groups, simulate, tasks
from lazyrich.core import ArgumentError

STUDENT = simulate.TwoLayerStudent(input_dimension=3, num_samples=4, width=2)
TRAINERS = {
    "linear_descent": lambda seeds: simulate.linear_descent(
        tasks.TeacherStudent(3, 4), [1], learning_rate=0.1, seeds=seeds
    ),
    "gradient_descent": lambda seeds: simulate.gradient_descent(
        STUDENT, [1], learning_rate=0.1, seeds=seeds
    ),
    "gradient_flow": lambda seeds: simulate.gradient_flow(STUDENT, [1.0], seeds=seeds),
    "parity_descent": lambda seeds: simulate.parity_descent(
        tasks.SparseParity(2, 4, 2),
        [1],
        widths=[2],
        initial_std=0.1,
        learning_rate=0.1,
        batch_size=2,
        seeds=seeds,
    ),
    "feature_survival": lambda seeds: simulate.feature_survival(
        groups.cyclic(5), 9, np.eye(10)[:1], seeds=seeds
    ),
}


@pytest.mark.parametrize("seeds", [16, 3.0, None, "0", [], [-1], [0.5], [[0]], [2**32], {0: 1}])
@pytest.mark.parametrize("name", TRAINERS)
def test_bad_seeds_are_named(name, seeds):
    with pytest.raises(ArgumentError, match=r"`seeds(\[0\])?` must"):
        TRAINERS[name](seeds)
