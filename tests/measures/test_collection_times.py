"""How many nodes it takes to find all maxima, against counting and against the theory of coupons."""

import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.measures import collection_times
from lazyrich.theory import NodesToCollect


def test_counts_nodes_until_nothing_is_missing():
    found = np.random.default_rng(0).integers(0, 4, (50, 12))
    for trial, time in zip(found, collection_times(found, 4), strict=True):
        counts = [n for n in range(1, 13) if len(set(trial[:n])) == 4]
        assert time == (counts[0] if counts else np.inf)
    assert np.isinf(collection_times(found, 5)).all()


def test_independent_nodes_take_as_long_as_coupons():
    nodes = NodesToCollect(np.array([1.0, 0.8, 0.5]), 1.5)
    found = np.random.default_rng(0).choice(3, p=nodes.probabilities, size=(4000, 80))
    times = collection_times(found, 3)
    assert abs(times.mean() - nodes.expected) < 4 * times.std() / np.sqrt(4000)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([[0, 2]], r"`found\[0, 1\]` must be a whole number ≥ 0 and ≤ 1"),
        ([0, 1], r"`found` must have the shape \(trials, nodes\)"),
    ],
)
def test_bad_input_is_named(found, message):
    with pytest.raises(ArgumentError, match=message):
        collection_times(found, 2)
