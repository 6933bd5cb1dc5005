"""Fig. 1E: a ReLU convolution."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _animations, _panels, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig1e"
TITLE = "ReLU convolutional network"
CAPTION = _panels.caption(
    "its kernels",
    "One ray, then two.",
)
SECONDS = {"quick": 2, "paper": 3}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 68 on four orthogonal inputs."""
    network = models.Convolution(4, config.width, kernel=2, stride=2, activation="relu")
    return simulate.Supervised(network, tasks.orthogonal_patches(), config.initial_std)


PANEL = _panels.Panel(TITLE, training, _panels.KERNELS, small=(1 / 8, 1))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1E."""
    found = PANEL.walks(result, config)
    less = PANEL.small_walks(result, config)
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "proportional", "Fig. 1E"),
            *_walks.early_claims(
                found, less, _animations.source("1E"), _animations.DROPS["1E"], (604, 963)
            ),
        ],
        8,
    )
