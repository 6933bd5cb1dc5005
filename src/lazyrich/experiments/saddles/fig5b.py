"""Fig. 5B: a linear convolution and a linear layer."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig5b"
TITLE = "Linear convolution and linear layer"
CAPTION = _panels.caption(
    "its kernels",
    "Data of Fig. 1C; the paper does not say how it splits the output in two: here each output reads "
    "the pixels under one entry of the kernel.",
)
SECONDS = {"quick": 4, "paper": 6}
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
    return simulate.Supervised(network, task, config.initial_std)


PANEL = _panels.Panel(TITLE, training, _panels.KERNELS)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5B."""
    found = PANEL.walks(result, config)
    return require_seeds(_walks.walk_claims(result, found, "dependent", "Fig. 5B", every=False), 8)
