"""Fig. 5C: three ReLU layers."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig5c"
TITLE = "Three ReLU layers"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Data of Fig. 1D.",
)
SECONDS = {"quick": 7, "paper": 8}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
BETWEEN = (
    "initial weights of 0.005 are not small here: units between the two rays take part in some runs; from "
    "weights ten times smaller it is as the paper says, see the claims that follow"
)
PRESETS = {
    "quick": Config(50, 5e-3, 0.02, 5000, num_seeds=16),
    "paper": Config(50, 5e-3, 0.02, 5000, num_seeds=32),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.TwoLayer(2, config.width, output_dimension=50, activation="relu")
    network = models.Deep(first, ("relu",))
    return simulate.Supervised(network, tasks.orthogonal_pair(), config.initial_std)


PANEL = _panels.Panel(TITLE, training, small=(0.1, 10))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5C."""
    found = PANEL.walks(result, config)
    less = PANEL.small_walks(result, config)
    departures = {"plateau": Departure(BETWEEN, 0.55, 0.2), "end": Departure(BETWEEN, 0.25, 0.2)}
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "proportional", "Fig. 5C", departures=departures),
            *_walks.walk_claims(
                result,
                less,
                "proportional",
                "Fig. 5C",
                every=False,
                when=", from weights ten times smaller",
            ),
        ],
        8,
    )
