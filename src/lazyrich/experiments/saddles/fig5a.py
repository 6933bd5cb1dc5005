"""Fig. 5A: three linear layers."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, theory
from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig5a"
TITLE = "Three linear layers"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Data of Fig. 1B.",
)
SECONDS = {"quick": 2, "paper": 4}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(50, 5e-3, 0.02, 3000),
    "paper": Config(50, 5e-3, 0.02, 3000, num_seeds=32),
}


def training(config: Config) -> "simulate.Supervised":
    """The network and its data."""
    first = models.TwoLayer(2, config.width, output_dimension=50)
    network = models.Deep(first, ("linear",), output_dimension=2)
    task = _settings.linear_task(config.num_samples)
    return simulate.Supervised(network, task, config.initial_std, mean_outputs=True)


PANEL = _panels.Panel(TITLE, training)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.2 says about Fig. 5A; maps of one rank are the same for any number of linear layers."""
    found = PANEL.walks(result, config)
    W, C = _settings.linear_map(), _settings.CORRELATED
    loss = float(theory.LinearFixedPoints(W @ C, C).loss([0]))
    walked = _walks.walk_claims(result, found, "dependent", "Fig. 5A")
    return require_seeds([*walked, _walks.mode_claim(found, loss)], 8)
