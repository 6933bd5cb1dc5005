"""Fig. 12: complex weights grok faster than real ones."""

import dataclasses
from typing import TYPE_CHECKING

from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.li2 import _training, _variants
from lazyrich.experiments.li2._variants import Kind

if TYPE_CHECKING:
    import xarray

PAPER, ID = "li2", "fig12"
TITLE = "Modular addition with complex weights"
CAPTION = (
    f"{_variants.SETTINGS}: accuracies and losses with complex weights (solid), real ones (dashed), and real "
    "ones with 2K nodes (dotted, at the first M), which are as many real numbers as the complex network has. "
    "Complex weights start as the real ones do, times random phases; the loss is the squared modulus of the "
    "residual, and a class is chosen by the largest real part. Lines: median over seeds; bands: the middle "
    "eight tenths. "
    f"{_variants.QUICK}"
)
SECONDS = {"quick": 18, "paper": 220}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
Config = _variants.Config
PRESETS = {
    "quick": dataclasses.replace(_variants.PRESETS["quick"], last_epochs=(320, 50)),
    "paper": _variants.PRESETS["paper"],
}
PANEL = _variants.Panel((Kind.COMPLEX, Kind.REAL, Kind.WIDE))
run, figure = PANEL.run, PANEL.figure


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Complex weights are faster, and not because there are more numbers to learn."""
    orders, source = _variants.ALL_ORDERS, "Fig. 12"

    def faster(other: str, orders: tuple[int, ...], source: str) -> list[Claim]:
        kinds = (Kind.COMPLEX, other)
        return _variants.for_orders(
            result, orders, lambda M: _variants.speed(result, kinds, M, source, "at-most")
        )

    found = [
        *_variants.for_orders(result, orders, lambda M: _variants.groks(result, Kind.COMPLEX, M, source)),
        *faster(Kind.REAL, orders, source),
        *faster(Kind.WIDE, orders[:1], f"{source}, at as many real numbers"),
    ]  # fmt: skip
    return require_seeds(found, 8)
