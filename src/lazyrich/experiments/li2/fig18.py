"""Fig. 18: zero-init against the usual start in deeper networks."""

from typing import TYPE_CHECKING

import numpy as np

from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._claims import geometric_claim
from lazyrich.experiments.li2 import _training, _zero_init

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "li2", "fig18"
TITLE = "Zero-init in deeper networks"
CAPTION = (
    "Test accuracy over epochs with a top layer that starts at zero (zero-init) and with the usual start, "
    "by the number of middle layers, which have residual connections, and by the share of training pairs, "
    "with the speed-up: epochs to a test accuracy of 0.9 of the usual start over those of zero-init, "
    "geometric mean over seeds (≥: runs with the usual start that do not get there count as the last "
    "epoch). Lines: median over seeds, bands: the middle eight tenths. Modular addition, ReLU, squared "
    "error, Adam at 5e-3. Preset `paper`: K = 2048, coupled decay 1e-4; M and the shares are not given, "
    "here M = 41. Preset `quick`: M = 29, K = 96, no or one middle layer, decay 7e-4, found by trial, so "
    "that the usual start generalises soon enough to be timed."
)
SECONDS = {"quick": 22, "paper": 25_000}
REFERENCES = _zero_init.REFERENCES
CONVENTION = _training.CONVENTION
Config = _zero_init.Config
PRESETS = {
    "quick": Config(
        order=29, width=96, train_fractions=(0.8, 0.88), last_epochs=(700, 300), zero_epochs=0.35,
        middle_layers=(0, 1), activation="relu", weight_decay=7e-4, num_records=36, fill_up=True,
        seeds_per_chunk=8,
    ),
    "paper": Config(
        order=41, width=2048, train_fractions=(0.5, 0.8), last_epochs=(1500, 600), zero_epochs=0.5,
        middle_layers=(0, 1, 2), activation="relu", weight_decay=1e-4, seeds_per_chunk=1,
    ),
}  # fmt: skip
SOURCE = "Fig. 18, Sec. 3.2"


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Both starts at every depth and share of the data."""
    return _zero_init.run(config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What the caption and Sec. 3.2 say."""
    found, num, layers = _zero_init.table(result), result.sizes["seed"], result.layers.values
    claims = []
    for row, number in zip(found, layers, strict=True):
        if number == 0:
            continue
        least = _zero_init.smallest(row)
        most = max(row, key=lambda one: np.nan_to_num(one.ratio))
        # a bound that runs into the last epoch does not say that the factor is smaller
        short = most.bound == "at least" and most.ratio < 10
        name = f"{number} other layer{'s' if number > 1 else ''}"
        claims += [
            geometric_claim(
                f"{name}: zero-init leads to faster feature learning (epochs to a test accuracy of 0.9 with "
                "the usual start over those with zero-init, geometric mean, the smallest over shares)",
                SOURCE, 1.0, least.ratios, "at-least"),
            Claim(f"{name}: the gain is larger than without other layers (speed-up over that of two layers, "
                  "the smallest over shares)", SOURCE, 1.0,
                  float(np.min([a.ratio / b.ratio for a, b in zip(row, found[0], strict=True)])), "at-least",
                  num_seeds=num),
            geometric_claim(f"{name}: in particular when data are scarce (speed-up at the scarcest share "
                            "over that at the most ample)", "Sec. 3.2", 1.0,
                            row[0].ratios / row[-1].ratios, "at-least"),
            geometric_claim(f"{name}: the gap can be as large as 10 times (largest speed-up over shares)",
                            SOURCE, 10.0, most.ratios, "at-least",
                            needs="more epochs: runs with the usual start do not get there" if short
                            else None),
        ]  # fmt: skip
    return require_seeds(claims, 8)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Test accuracies, a row for each depth."""
    layers = result.layers.values
    return _zero_init.figure(result, [f"{n} other layer{'s' if n != 1 else ''}\n" for n in layers])
