"""Claims about walks from saddle to saddle can fail."""

import numpy as np
import pytest
import xarray

from lazyrich import models
from lazyrich.core import Verdict
from lazyrich.experiments.saddles import _walks

TIME = np.arange(0, 4001, 20.0)


def falls(time, width):
    """A smooth fall from 1 to 0."""
    return 1 / (1 + np.exp((TIME - time) / width))


def verdicts(loss):
    """Of the claims that a tanh network, whose units are all alike here, is at no saddle of one unit."""
    units = np.ones((2, TIME.size, 5, 2))
    result = xarray.Dataset(
        {
            "loss": (("seed", "time"), np.stack([loss, loss])),
            "incoming": (("seed", "time", "unit", "incoming_weight"), units),
            "outgoing": (("seed", "time", "unit", "outgoing_weight"), units[..., :1]),
            "one_unit_loss": ("restart", [0.1, 0.1]),
        },
        {"time": TIME},
    )
    found = _walks.walks(result, models.activation_kind("tanh"), early=True)
    return [claim.verdict for claim in _walks.rank_one_claims(result, found, "nowhere")[1:]]


@pytest.mark.parametrize(
    ("plateau", "expected"),
    [
        (0.1, [Verdict.FAILS, Verdict.FAILS]),  # at the loss of one unit: saddle to saddle
        (0.13, [Verdict.HOLDS, Verdict.HOLDS]),
        (0.07, [Verdict.FAILS, Verdict.HOLDS]),  # more units than one
    ],
)
def test_a_rest_at_the_loss_of_one_unit_is_noticed(plateau, expected):
    loss = (1 - plateau) * falls(400, 20) + plateau * falls(2500, 60)
    assert verdicts(loss) == expected


def test_a_late_rest_at_the_loss_of_one_unit_is_noticed():
    loss = 0.8 * falls(400, 20) + 0.1 * falls(800, 20) + 0.1 * falls(3000, 60)
    assert verdicts(loss) == [Verdict.HOLDS, Verdict.FAILS]
