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
SECONDS = {"quick": 8, "paper": 8}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
# pinned: what 128 runs give; within two standard errors of the share among 64
TIES = "in a fifth of the runs two of ten units grow together, as their starts are nearly tied"
LARGE = (
    "initial weights of 0.05 are not small here: units that stay unused keep outgoing weights of a fifth of "
    "the others'; from weights four times smaller it is as the paper says, see the claims that follow"
)
PRESETS = {
    "quick": Config(10, 5e-2, 0.02, 2400, num_seeds=64, seeds_per_chunk=64),
    "paper": Config(10, 5e-2, 0.02, 2400, num_seeds=64, seeds_per_chunk=64),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.TwoLayer(2, config.width, output_dimension=10, activation="quadratic")
    network = models.Deep(first, ("linear",), output_dimension=2)
    task = _settings.quadratic_task(config.num_samples, split=True)
    return simulate.Supervised(network, task, config.initial_std)


PANEL = _panels.Panel(TITLE, training, small=(0.25, 16))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5F."""
    found = PANEL.walks(result, config)
    less = PANEL.small_walks(result, config)
    wide = {
        "rests": Departure(TIES, 0.79, 0.1), "plateau": Departure(LARGE, 3, 0.5),
        "end": Departure(LARGE, 3, 0.5), "construction": Departure(LARGE, 0, 0.05),
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
                departures={"rests": Departure(TIES, 0.8, 0.1)},
                when=", from weights four times smaller",
            ),
        ],
        8,
    )
