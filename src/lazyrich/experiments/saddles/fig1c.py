"""Fig. 1C: a linear convolution."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _animations, _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig1c"
TITLE = "Linear convolutional network"
CAPTION = _panels.caption(
    "its kernels",
    "One direction, then two.",
)
SECONDS = {"quick": 2, "paper": 3}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 66 on its data."""
    network = models.Convolution(4, config.width, kernel=2, stride=2)
    return simulate.Supervised(
        network, _settings.convolution_task(config.num_samples), config.initial_std
    )


PANEL = _panels.Panel(TITLE, training, _panels.KERNELS, small=(1 / 8, 1))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1C."""
    found = PANEL.walks(result, config)
    less = PANEL.small_walks(result, config)
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "dependent", "Fig. 1C"),
            *_walks.early_claims(
                found, less, _animations.source("1C"), _animations.DROPS["1C"], (570, 968)
            ),
        ],
        8,
    )
