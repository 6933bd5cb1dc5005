"""Fig. 5F: a quadratic and a linear layer."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig5f"
TITLE = "Quadratic and linear layer"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Data of Fig. 1G; the paper does not say how it splits the output in two: here each output is the "
    "square of one input.",
)
SECONDS = {"quick": 6, "paper": 15}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
TIES = "in a fifth of the runs two of ten units grow together, as their starts are nearly tied"
LARGE = (
    "initial weights of 0.05 are not small here: units that stay unused keep outgoing weights of a fifth of "
    "the "
    "others'; from weights four times smaller it is as the paper says, see the claims that follow"
)
PRESETS = {
    "quick": Config(10, 5e-2, 0.02, 2400, num_seeds=32),
    "paper": Config(10, 5e-2, 0.02, 2400, num_seeds=32),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.TwoLayer(2, config.width, output_dimension=10, activation="quadratic")
    network = models.Deep(first, ("linear",), output_dimension=2)
    task = _settings.quadratic_task(config.num_samples, split=True)
    return simulate.Supervised(network, task, config.initial)


PANEL = _panels.Panel(TITLE, training, small=(0.25, 16))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5F."""
    found = PANEL.walks(result, config)
    less = PANEL.small_walks(result, config)
    wide = {
        "rests": Departure(TIES, 0.78, 0.2), "plateau": Departure(LARGE, 2.5, 1),
        "end": Departure(LARGE, 3, 1), "construction": Departure(LARGE, 0, 0.3),
    }  # fmt: skip
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "zero", "Fig. 5F", every=False, departures=wide),
            *_walks.walk_claims(
                result,
                less,
                "zero",
                "Fig. 5F",
                every=False,
                departures={"rests": Departure(TIES, 0.84, 0.15)},
                when=", from weights four times smaller",
            ),
        ],
        8,
    )
