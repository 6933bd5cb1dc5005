"""Fig. 1G: a quadratic network."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig1g"
TITLE = "Quadratic network"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: the first-layer weights of its units at the marked moments: one unit, then two. The "
    "target is divided by √8, so that the loss starts at 1 as in the animation. With ten units the times "
    "depend on the start: see the spread."
)
SECONDS = {"quick": 5, "paper": 8}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(width=10, initial=5e-3, learning_rate=0.04, num_seeds=32),
    "paper": Config(width=10, initial=5e-3, learning_rate=0.04, num_seeds=128),
}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 71 on its data."""
    network = models.TwoLayer(2, config.width, activation="quadratic")
    return simulate.Supervised(
        network, _settings.quadratic_task(config.num_samples), config.initial
    )


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed."""
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1G."""
    found = _walks.walks(result, training(config).network.kinds[0])
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "zero", "Fig. 1G", every=False),
            _walks.mean(
                "The plateau lies at a third of the initial loss, which one unit reaches (1/3 by "
                "minimising over "
                "rank-one matrices)",
                "Fig. 1G",
                1 / 3,
                [p.levels[1] for p in rested],
                0.05,
            ),
            *_walks.spread_claims(found, "Fig. 1G, animation", (795, 1610)),
        ],
        8,
    )


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, training(config).network.kinds[0])


def frames(result: "xarray.Dataset", config: Config) -> "Iterator[Figure]":
    """The same moment by moment."""
    return _panels.frames(result, TITLE, training(config).network.kinds[0])
