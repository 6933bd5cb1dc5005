"""Fig. 5C: three ReLU layers."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig5c"
TITLE = "Three ReLU layers"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: the first-layer weights of its units at the marked moments. Data of Fig. 1D."
)
SECONDS = {"quick": 6, "paper": 15}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
BETWEEN = (
    "initial weights of 0.005 are not small here: units between the two rays take part in some runs; from "
    "weights ten times smaller it is as the paper says, see the claims that follow"
)
PRESETS = {
    "quick": Config(50, 5e-3, 0.02, 5000),
    "paper": Config(50, 5e-3, 0.02, 5000, num_seeds=32),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.TwoLayer(2, config.width, output_dimension=50, activation="relu")
    network = models.Deep(first, ("relu",))
    return simulate.Supervised(network, tasks.orthogonal_pair(), config.initial)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed."""
    return _panels.run(training, config, context, small=(0.1, 10 * config.last_step))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5C."""
    kind = training(config).network.kinds[0]
    found = _walks.walks(result, kind)
    less = _walks.walks(_panels.from_small(result), kind)
    departures = {"plateau": Departure(BETWEEN, 1.5, 0.6), "end": Departure(BETWEEN, 3, 0.6)}
    return require_seeds(
        [
            *_walks.walk_claims(
                result, found, "proportional", "Fig. 5C", every=False, departures=departures
            ),
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


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, training(config).network.kinds[0])
