"""Fig. 1B: a fully connected linear network."""

from typing import TYPE_CHECKING

import numpy as np

from lazyrich import models, simulate, theory
from lazyrich.core import AssumptionError, Claim, require_seeds
from lazyrich.experiments.saddles import _animations, _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig1b"
TITLE = "Linear fully connected network"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "One direction, then two. The paper leaves out the target map; it is taken such that the outputs "
    "are uncorrelated with variance 1, and the loss is a mean over the two outputs, as the "
    "animations need: their times are met partly by construction.",
)
SECONDS = {"quick": 2, "paper": 3}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 65 on its data."""
    network = models.TwoLayer(2, config.width, 2)
    task = _settings.linear_task(config.num_samples)
    return simulate.Supervised(network, task, config.initial_std, mean_outputs=True)


PANEL = _panels.Panel(TITLE, training)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 and 5.1 say about Fig. 1B."""
    found = PANEL.walks(result, config)
    W, C = _settings.linear_map(), _settings.CORRELATED
    points = theory.LinearFixedPoints(W @ C, C)
    rule, predicted = "when the staircase of its start says", _predicted(result, config)
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "dependent", "Fig. 1B"),
            _walks.mode_claim(found, float(points.loss([0]))),
            *_walks.time_claims(
                found, _animations.source("1B", chosen=True), _animations.DROPS["1B"]
            ),
            *_walks.prediction_claims(found, "Sec. 5.1", rule, predicted, 0.03),
        ],
        8,
    )


def _predicted(result: "xarray.Dataset", config: Config) -> list[np.ndarray]:
    """Drop times of each run over the whole distribution; a mean over two outputs is a loss with ½.

    NaN where the start is not small.
    """
    W, C = _settings.linear_map(), _settings.CORRELATED
    start, found = result.isel(time=0), []
    for u, v in zip(start.incoming.values, start.outgoing.values, strict=True):
        try:
            stairs = theory.Staircase(
                W @ C, C, first=u.T, second=v, learning_rate=config.learning_rate
            )
            found.append(stairs.drop_times)
        except AssumptionError:
            found.append(np.full(2, np.nan))
    return found
