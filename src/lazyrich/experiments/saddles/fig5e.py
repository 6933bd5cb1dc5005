"""Fig. 5E: linear attention and two linear layers."""

import dataclasses
from typing import TYPE_CHECKING

from lazyrich import models, simulate, theory
from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig5e"
TITLE = "One-layer linear transformer"
CAPTION = _panels.caption(
    "the query weights of its heads",
    "Data of Fig. 1F; linear attention, then two linear layers of ten and one units, without the "
    "residual connection. At the printed initial scale, 0.005, the first plateau lasts for about a million "
    "steps, and the second for hundreds, so that they are seen as one drop; the quick preset starts from "
    "0.02, where two modes are often learned in one drop, too.",
)
SECONDS = {"quick": 7, "paper": 150}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
SMALL = 5e-3
PRESETS = {
    "quick": Config(10, 2e-2, 0.02, 25_000, population=True, num_records=1000, num_seeds=16),
    "paper": Config(
        10, 5e-3, 0.02, 1_600_000, population=True, flow=True, num_records=8000, num_seeds=16
    ),
}
AT_ONCE = (
    "once the first mode has grown the two layers, the second needs hundreds of steps, as in Fig. 1F, after "
    "a plateau of a million: in a third of the runs, recorded every 200 steps, it can be told from the first"
)


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.Attention(3, config.width, output_dimension=3)
    network = models.Deep(first, ("linear", "linear"), (10,))
    task = _settings.attention_task(config.num_samples)
    return simulate.Supervised(network, task, config.initial_std, config.population)


PANEL = _panels.Panel(TITLE, training, _panels.QUERIES)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5E."""
    found = PANEL.walks(result, config)
    needs = (
        None if config.initial_std <= SMALL else f"initial weights of {SMALL:g}, as in the paper"
    )
    walk = _walks.walk_claims(
        result, found, "zero", "Fig. 5E", every=False, departures={"rests": Departure(AT_ONCE, 0.31, 0.2)}
    )  # fmt: skip
    saddles = theory.AttentionSaddles(_settings.attention_task(1).covariance, 32)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "Sec. 7"),
            mean_claim(
                "The loss ends where all modes are learned, as without the two layers",
                "Fig. 5E",
                float(saddles.loss([0, 1])),
                [walk.plateaus.levels[-1] for walk in found],
                tolerance=0.01,
            ),
            *[dataclasses.replace(claim, needs=needs) for claim in walk],
        ],
        8,
    )
