"""Fig. 11a: grokking of a deep network on digits."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, Context
from lazyrich.experiments import _digits
from lazyrich.experiments.layerwise import _grokking, _rescaled
from lazyrich.experiments.layerwise._rescaled import Config

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig11a"
TITLE = "Grokking of a deep network"
CAPTION = _rescaled.caption(
    "weights five times those of LeCun, target 3: it learns by heart at once and generalises late"
)
SECONDS = {"quick": 12, "paper": 1200}
REFERENCES = _rescaled.REFERENCES
CONVENTION = _grokking.CONVENTION
PRESETS = _rescaled.PRESETS


data_fingerprint = _digits.data_fingerprint


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The default from every seed."""
    return _rescaled.run(config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Fig. 11a shows: a delay."""
    return _rescaled.claims(result)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Accuracies over time."""
    return _rescaled.figure(result)
