"""Fig. 5D: a ReLU convolution and a ReLU layer."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig5d"
TITLE = "ReLU convolution and ReLU layer"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: the kernels at the marked moments. Data of Fig. 1E, the output split as in Fig. 5B."
)
SECONDS = {"quick": 6, "paper": 15}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(50, 5e-3, 0.02, 3000),
    "paper": Config(50, 5e-3, 0.02, 3000, num_seeds=32),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.Convolution(
        4, config.width, kernel=2, stride=2, output_dimension=50, activation="relu"
    )
    network = models.Deep(first, ("relu",), output_dimension=2)
    return simulate.Supervised(network, _settings.split_patches(), config.initial)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed."""
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5D."""
    found = _walks.walks(result, training(config).network.kinds[0])
    return require_seeds(_walks.walk_claims(result, found, "proportional", "Fig. 5D"), 8)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(
        result, TITLE, training(config).network.kinds[0], names=("kernel $u_1$", "kernel $u_2$")
    )
