"""Fig. 11: modular addition with real weights, the baseline."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.li2 import _training, _variants
from lazyrich.experiments.li2._variants import Kind

if TYPE_CHECKING:
    import xarray

PAPER, ID = "li2", "fig11"
TITLE = "Modular addition with real weights"
CAPTION = (
    f"{_variants.SETTINGS}: accuracies and losses for sizes M of the group. Lines: median over seeds; bands: "
    "the middle eight tenths. At larger M the test accuracy follows the training accuracy sooner. "
    f"{_variants.QUICK}"
)
SECONDS = {"quick": 4, "paper": 50}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
Config = _variants.Config
PRESETS = _variants.PRESETS
PANEL = _variants.Panel((Kind.REAL,))
run, figure = PANEL.run, PANEL.figure


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """It groks at every order."""
    orders, source = _variants.ALL_ORDERS, "Fig. 11"
    found = [
        *_variants.for_orders(result, orders, lambda M: _variants.groks(result, Kind.REAL, M, source)),
        *_variants.for_orders(result, orders, lambda M: _variants.delayed(result, Kind.REAL, M, source, 1.0)),
    ]  # fmt: skip
    return require_seeds(found, 8)
