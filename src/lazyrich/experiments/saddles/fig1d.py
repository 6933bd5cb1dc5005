"""Fig. 1D: a fully connected ReLU network."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _animations, _panels, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig1d"
TITLE = "ReLU fully connected network"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "One ray, then two.",
)
SECONDS = {"quick": 1, "paper": 3}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 67 on two orthogonal inputs."""
    network = models.TwoLayer(2, config.width, activation="relu")
    return simulate.Supervised(network, tasks.orthogonal_pair(), config.initial_std)


PANEL = _panels.Panel(TITLE, training)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1D."""
    found = PANEL.walks(result, config)
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "proportional", "Fig. 1D"),
            *_walks.time_claims(found, _animations.source("1D"), _animations.DROPS["1D"]),
        ],
        8,
    )
