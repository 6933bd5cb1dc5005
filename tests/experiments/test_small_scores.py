"""Softmax attention to first order in its scores, against softmax attention itself."""

import jax
import numpy as np
import pytest

from lazyrich.experiments.saddles._small_scores import SmallScores
from lazyrich.models import Attention


def off(scale):
    """How far the first order is from the whole, where keys and queries have this size."""
    inputs = np.random.default_rng(0).standard_normal((20, 6, 3))
    with jax.enable_x64(True):
        weights = Attention(3, 4).init(jax.random.key(0), 1.0)
        weights = weights._replace(first=scale * weights.first)
        whole = Attention(3, 4, softmax=True).apply(weights, inputs)
        first = SmallScores(3, 4, softmax=True).apply(weights, inputs)
    return float(np.abs(np.asarray(first) - np.asarray(whole)).max())


def test_what_is_left_out_is_of_second_order_in_the_scores():
    """Scores are of second order in keys and queries, so halving these divides the rest by sixteen."""
    assert off(0.0) < 1e-14
    assert off(0.02) / off(0.01) == pytest.approx(16, rel=0.05)
