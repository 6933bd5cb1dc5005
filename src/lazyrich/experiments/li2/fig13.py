"""Fig. 13: a top layer from ridge regression at every step."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.li2 import _training, _variants
from lazyrich.experiments.li2._variants import Kind

if TYPE_CHECKING:
    import xarray

PAPER, ID = "li2", "fig13"
TITLE = "Modular addition with the ridge top layer"
CAPTION = (
    f"{_variants.SETTINGS}: accuracies and losses with the top layer from ridge regression at every step, "
    "η = n·wd/2 (solid), and with a trained one (dashed). Lines: median over seeds; bands: the middle eight "
    "tenths. "
    f"{_variants.QUICK}"
)
SECONDS = {"quick": 25, "paper": 150}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
Config = _variants.Config
PRESETS = _variants.PRESETS
PANEL = _variants.Panel((Kind.RIDGE, Kind.REAL))
run, figure = PANEL.run, PANEL.figure


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """It still groks, later at M = 23 and sooner at larger M."""
    smallest, *larger = _variants.ALL_ORDERS
    source, kinds = "Fig. 13", (Kind.RIDGE, Kind.REAL)

    def speed(orders: Sequence[int], comparison: str) -> list[Claim]:
        return _variants.for_orders(
            result, orders, lambda M: _variants.speed(result, kinds, M, source, comparison)
        )

    found = [
        *_variants.for_orders(
            result, _variants.ALL_ORDERS, lambda M: _variants.groks(result, Kind.RIDGE, M, source)
        ),
        *speed([smallest], "at-least"), *speed(larger, "at-most"),
    ]  # fmt: skip
    return require_seeds(found, 8)
