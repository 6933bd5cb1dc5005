"""Fig. 14: the ridge top layer at M = 23, for 500 epochs."""

from typing import TYPE_CHECKING

import numpy as np

from lazyrich.core import Claim, require_seeds
from lazyrich.experiments._records import by_time
from lazyrich.experiments._times import time_to, value_at
from lazyrich.experiments.li2 import _training, _variants
from lazyrich.experiments.li2._variants import Kind

if TYPE_CHECKING:
    import xarray

PAPER, ID = "li2", "fig14"
TITLE = "The ridge top layer at M = 23"
CAPTION = (
    f"{_variants.SETTINGS}, M = 23: accuracies and losses with the top layer from ridge regression at every "
    "step, η = n·wd/2 (solid), and with a trained one (dashed), for 500 epochs. Lines: median over seeds; "
    "bands: the middle eight tenths. `quick` is of the size of `paper`."
)
SECONDS = {"quick": 11, "paper": 10}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
Config = _variants.Config
ORDER = 23
SIZE = Config(orders=(ORDER,), last_epochs=(500,), seeds_per_chunk=8)
PRESETS = {"quick": SIZE, "paper": SIZE}
PANEL = _variants.Panel((Kind.RIDGE, Kind.REAL))
run, figure = PANEL.run, PANEL.figure


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """It groks within 500 epochs, and later than the baseline."""
    order, source, num = config.orders[0], "Fig. 14", result.sizes["seed"]
    ridge, real = (
        np.clip(_variants.epochs(result, kind, order), 1, config.last_epochs[0])
        for kind in PANEL.kinds
    )
    last = by_time(result, kind=Kind.RIDGE, order=order).test_accuracy.isel(time=-1)
    found = [
        Claim(f"M = {order}: with the ridge top layer grokking still happens by epoch "
              f"{config.last_epochs[0]} (test accuracy then, the smallest over seeds)", source, 0.99,
              float(last.min()), "at-least", num_seeds=num),
        Claim(f"M = {order}: the training set is fitted long before (test accuracy when the training "
              "accuracy is 0.99 for good, the largest over seeds)", source, 0.5, _when_fitted(result, order),
              "at-most", num_seeds=num),
        Claim(f"M = {order}: the baseline is faster for every seed (epochs to test accuracy 0.9 with the "
              "ridge top layer over those of the baseline, the smallest)", source, 1.0,
              float(np.min(ridge / real)), "at-least", num_seeds=num),
    ]  # fmt: skip
    return require_seeds(found, 8)


def _when_fitted(result: "xarray.Dataset", order: int) -> float:
    runs = by_time(result, kind=Kind.RIDGE, order=order)
    times = time_to(runs.train_accuracy, 0.99)
    return float(np.max(value_at(runs.time, runs.test_accuracy, times)))
