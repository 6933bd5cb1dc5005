"""Fig. 1D: a fully connected ReLU network."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _panels, _walks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig1d"
TITLE = "ReLU fully connected network"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: the first-layer weights of its units at the marked moments: one ray, then two."
)
SECONDS = {"quick": 5, "paper": 8}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 67 on two orthogonal inputs."""
    network = models.TwoLayer(2, config.width, activation="relu")
    return simulate.Supervised(network, tasks.orthogonal_pair(), config.initial)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed."""
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1D."""
    found = _walks.walks(result, training(config).network.kinds[0])
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "proportional", "Fig. 1D"),
            *_walks.time_claims(found, "Fig. 1D, animation", (555, 1110)),
        ],
        8,
    )


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, training(config).network.kinds[0])


def frames(result: "xarray.Dataset", config: Config) -> "Iterator[Figure]":
    """The same moment by moment."""
    return _panels.frames(result, TITLE, training(config).network.kinds[0])
