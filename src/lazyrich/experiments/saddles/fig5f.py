"""Fig. 5F: a quadratic and a linear layer."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, require_seeds
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
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5F."""
    found = _walks.walks(result, training(config).network.kinds[0])
    return require_seeds(_walks.walk_claims(result, found, "zero", "Fig. 5F", every=False), 8)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, training(config).network.kinds[0])
