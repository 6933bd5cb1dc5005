"""Fig. 5D: a ReLU convolution and a ReLU layer."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig5d"
TITLE = "ReLU convolution and ReLU layer"
CAPTION = _panels.caption(
    "its kernels",
    "Data of Fig. 1E, the output split as in Fig. 5B.",
)
SECONDS = {"quick": 19, "paper": 22}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
TIES = "in one run of eight both outputs are learned together"
BETWEEN = (
    "initial weights of 0.005 are not small here: kernels between the two rays take part; from weights ten "
    "times smaller the plateau has one ray, see the claims that follow"
)
MIXED = (
    "in the second drop kernels between the two rays grow too: inputs have one pixel each, so such a kernel "
    "answers to all of them and the second layer can use it for both outputs"
)
PRESETS = {
    "quick": Config(50, 5e-3, 0.02, 3000, num_seeds=16),
    "paper": Config(50, 5e-3, 0.02, 3000, num_seeds=32),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.Convolution(
        4, config.width, kernel=2, stride=2, output_dimension=50, activation="relu"
    )
    network = models.Deep(first, ("relu",), output_dimension=2)
    return simulate.Supervised(network, _settings.split_patches(), config.initial_std)


PANEL = _panels.Panel(TITLE, training, _panels.KERNELS, small=(0.1, 10))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5D."""
    found = PANEL.walks(result, config)
    less = PANEL.small_walks(result, config)
    wide = {
        "rests": Departure(TIES, 0.875, 0.2),
        "plateau": Departure(BETWEEN, 3, 1),
        "end": Departure(BETWEEN, 5.5, 1.5),
    }
    narrow = {"end": Departure(MIXED, 4, 1)}
    return require_seeds(
        [
            *_walks.walk_claims(
                result, found, "proportional", "Fig. 5D", every=False, departures=wide
            ),
            *_walks.walk_claims(
                result,
                less,
                "proportional",
                "Fig. 5D",
                every=False,
                departures=narrow,
                when=", from weights ten times smaller",
            ),
        ],
        8,
    )
