"""Fig. 7 trains three mixtures of features in place of all: the same descent."""

import dataclasses

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError, Context
from lazyrich.experiments.layerwise import _function_space, fig7

SMALL = dataclasses.replace(fig7.PRESETS["quick"], widths=(12,), num_features=12, last_step=50)


def test_three_mixtures_descend_as_all_features_do():
    found = _function_space.many(SMALL.widths[0], SMALL, range(2))
    target = SMALL.target_length * _function_space.DIRECTION
    Z = np.sqrt(12)
    for seed in range(2):
        _, key = jax.random.split(jax.random.key(seed))
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        both = rng.standard_normal((12, 3))
        W, b = both[:, :2], both[:, 2:]  # variance 1, the output divided by Z
        for _ in range(SMALL.last_step):
            error = (W * b).sum(axis=0) / Z - target
            rate = _function_space.RATE / 4  # loss without ½
            W, b = W - rate * 2 * b * error / Z, b - rate * 2 * W @ error[:, None] / Z
        np.testing.assert_allclose(found.features[seed, 1], W * b / Z, rtol=1e-10, atol=1e-13)


def test_features_shown_must_be_among_the_widths():
    config = dataclasses.replace(SMALL, num_features=13)
    with pytest.raises(
        ArgumentError, match=r"`num_features` must be one of the widths \(12,\), got 13"
    ):
        fig7.run(config, Context())
