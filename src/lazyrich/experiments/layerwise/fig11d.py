"""Fig. 11d: smaller inputs make up for the delay."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, Context
from lazyrich.experiments import _digits
from lazyrich.experiments.layerwise import _grokking, _rescaled
from lazyrich.experiments.layerwise._rescaled import Config

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig11d"
TITLE = "Smaller inputs remove the delay"
CAPTION = _rescaled.caption(
    "left: weights five times those of LeCun, target 3; right: input 1 to 0.01"
)
SECONDS = {"quick": 8, "paper": 2400}
REFERENCES = _rescaled.REFERENCES
CONVENTION = _grokking.CONVENTION
PRESETS = _rescaled.PRESETS
SETTING = _rescaled.Setting("smaller inputs", input=0.01)


data_fingerprint = _digits.data_fingerprint


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The default and the other setting from every seed."""
    return _rescaled.run(config, context, SETTING)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """The delay is shorter than without."""
    return _rescaled.claims(result)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Accuracies over time, side by side."""
    return _rescaled.figure(result, "Input 1 → 0.01")
