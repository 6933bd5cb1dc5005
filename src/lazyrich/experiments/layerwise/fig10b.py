"""Fig. 10b: layer imbalance in a network that widens from input to output."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim
from lazyrich.experiments.layerwise import _funnel, _kernel_grid

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig10b"
TITLE = "Layer imbalance, anti-funnel network"
CAPTION = (
    "Left: how far the tangent kernel has moved after 4000 steps, as in Fig. 6a (d = p = 2, c = 4, "
    "which the paper leaves open). Middle and right: loss and kernel distance over time. The network "
    "is lazy in one limit of λ only. The opposite one is λ = 9, where it first learns what its heavy "
    "second layer can write and turns rich later. Colour: descent, mean over seeds; black: the matrix "
    "solution without a fit."
)
SECONDS = {"quick": 5, "paper": 9}
CONVENTION = _kernel_grid.CONVENTION
REFERENCES = _kernel_grid.REFERENCES
Config = _funnel.Config
PRESETS = {
    "quick": Config(input_dimension=2, output_dimension=4, num_imbalances=20, num_scales=20),
    "paper": Config(input_dimension=2, output_dimension=4),
}
run = _funnel.run


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. F.3 says of this network."""
    return _funnel.claims(result, config, "Fig. 10b")


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """The map and courses in time."""
    return _funnel.figure(result, config, TITLE)
