"""Fig. 5F: a quadratic and a linear layer."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig5f"
TITLE = "Quadratic and linear layer"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: the first-layer weights of its units at the marked moments. Data of Fig. 1G; the "
    "paper does not say how it splits the output in two: here each output is the square of one input."
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


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed."""
    return _panels.run(training, config, context, small=(0.25, 16 * config.last_step))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5F."""
    kind = training(config).network.kinds[0]
    found = _walks.walks(result, kind)
    less = _walks.walks(_panels.from_small(result), kind)
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


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, training(config).network.kinds[0])
