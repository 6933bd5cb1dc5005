"""Fig. 5B: a linear convolution and a linear layer."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig5b"
TITLE = "Linear convolution and linear layer"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: the kernels at the marked moments. Data of Fig. 1C; the paper does not say how it "
    "splits the output in two: here each output reads the pixels under one entry of the kernel."
)
SECONDS = {"quick": 6, "paper": 15}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(50, 5e-3, 0.02, 2400),
    "paper": Config(50, 5e-3, 0.02, 2400, num_seeds=32),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.Convolution(4, config.width, kernel=2, stride=2, output_dimension=50)
    network = models.Deep(first, ("linear",), output_dimension=2)
    task = _settings.convolution_task(config.num_samples, split=True)
    return simulate.Supervised(network, task, config.initial)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed."""
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5B."""
    found = _walks.walks(result, training(config).network.kinds[0])
    return require_seeds(_walks.walk_claims(result, found, "dependent", "Fig. 5B", every=False), 8)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(
        result, TITLE, training(config).network.kinds[0], names=("kernel $u_1$", "kernel $u_2$")
    )
