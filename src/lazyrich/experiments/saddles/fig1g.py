"""Fig. 1G: a quadratic network."""

from typing import TYPE_CHECKING

import numpy as np

from lazyrich import models, simulate, theory
from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments.saddles import _animations, _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig1g"
TITLE = "Quadratic network"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "One unit, then two. The target is divided by √8, so that the loss starts at 1 as in the animation. "
    "With ten units the times depend on the start: see the spread.",
)
SECONDS = {"quick": 3, "paper": 3}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
CORRELATION = np.sqrt(2) * np.eye(2)
"""Mean of y·xxᵀ: on the diagonal (3 + 1)/√8, from the fourth moments of normal inputs."""
TIES = "in one run of ten two of ten units grow together, as their starts are nearly tied"
RULE = "when the first unit, growing alone, would become infinite"
PRESETS = {
    "quick": Config(width=10, initial_std=5e-3, learning_rate=0.04, num_seeds=32),
    "paper": Config(width=10, initial_std=5e-3, learning_rate=0.04, num_seeds=128),
}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 71 on its data."""
    network = models.TwoLayer(2, config.width, activation="quadratic")
    return simulate.Supervised(
        network, _settings.quadratic_task(config.num_samples), config.initial_std
    )


PANEL = _panels.Panel(TITLE, training)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1G."""
    found = PANEL.walks(result, config)
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    return require_seeds(
        [
            *_walks.walk_claims(
                result,
                found,
                "zero",
                "Fig. 1G",
                every=False,
                departures={"rests": Departure(TIES, 0.9, 0.08)},
            ),
            mean_claim(
                "The plateau lies at a third of the initial loss (least over matrices of rank one)",
                "Fig. 1G",
                1 / 3,
                [p.levels[1] for p in rested],
                tolerance=0.05,
            ),
            *_walks.spread_claims(
                found, _animations.source("1G", chosen=True), _animations.DROPS["1G"]
            ),
            *_walks.prediction_claims(
                found, "Proposition 5, Eq. 14", RULE, _blow_ups(result, config), 0.05
            ),
        ],
        8,
    )


def _blow_ups(result: "xarray.Dataset", config: Config) -> list[np.ndarray]:
    """When the first unit of each run becomes infinite; a loss without ½ runs twice as fast."""
    start = result.isel(time=0)
    escapes = [
        theory.QuadraticEscape(CORRELATION, u.T, v[:, 0], 2 * config.learning_rate)
        for u, v in zip(start.incoming.values, start.outgoing.values, strict=True)
    ]
    return [escape.blow_up_time().time.min(keepdims=True) for escape in escapes]
