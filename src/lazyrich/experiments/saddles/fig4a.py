"""Fig. 4A: softmax self-attention."""

from typing import TYPE_CHECKING

import numpy as np

from lazyrich import models, simulate
from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4a"
TITLE = "Softmax self-attention"
CAPTION = _panels.caption(
    "the query weights of its heads",
    "Order 0: at first every head averages the tokens alike, and their value weights learn what that "
    "average can tell of the label, next to nothing. Keys and queries then grow at a rate that this "
    "sampling error sets, so the plateau grows with the number of sequences. The quick preset has 128 "
    "of them, five heads and a rate of 0.1 in place of 8192, 50 and 0.02.",
)
SECONDS = {"quick": 10, "paper": 20_000}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(5, 1e-6, 0.1, 5000, 128),
    "paper": Config(50, 1e-6, 0.02, 100_000, seeds_per_chunk=1),
}


def training(config: Config) -> "simulate.Supervised":
    """The model of Fig. 1F with a softmax, on its data."""
    network = models.Attention(3, config.width, softmax=True)
    return simulate.Supervised(
        network, _settings.attention_task(config.num_samples), config.initial_std
    )


PANEL = _panels.Panel(TITLE, training, _panels.QUERIES, early=True, compare=False)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4A."""
    fallen = result.loss.isel(time=-1) / result.loss.isel(time=0)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            _walks.share(
                "In most runs all heads have the same value weights half-way through the plateau", "Fig. 4A",
                [spread <= 0.02 for spread in _value_spreads(result)], 0.75,
            ),
            _walks.share(
                "In the end a tenth of the loss is left at most", "Fig. 4A", (fallen <= 0.1).values.tolist()
            ),
        ],
        8,
    )  # fmt: skip


def _value_spreads(result: "xarray.Dataset") -> list[float]:
    """How far heads' value weights are from their mean, relative to it, half-way through the plateau."""
    spreads = []
    for i in range(result.sizes["seed"]):
        one = result.isel(seed=i)
        middle = int(np.flatnonzero(one.loss.values >= 0.9 * one.loss.values[0])[-1]) // 2
        V = one.outgoing.values[middle]
        spreads.append(float(np.abs(V - V.mean(axis=0)).max() / np.linalg.norm(V.mean(axis=0))))
    return spreads
