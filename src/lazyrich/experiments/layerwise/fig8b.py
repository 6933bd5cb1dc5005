"""Fig. 8b: a transformer on modular addition, from lazy to rich by the scale of its output."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.layerwise import _grokking

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig8b"
TITLE = "The output's scale: transformer on modular addition"
CAPTION = (
    "Training and test accuracy of a one-layer transformer on modular addition, its output multiplied by "
    "α. Thin: every seed, bold: mean. The bar: from the training to the test time at accuracy 0.8, with "
    "their ratio; runs that end below it count as there at the end, but for the smallest α. The level is "
    "above seven tenths, the share of test pairs that a network gets which has only found that addition "
    "commutes. The text gives no settings: modulus 23, 48 dimensions, 128 ReLU units, seven tenths of the "
    "pairs, squared error, full batch, Adam with coupled decay 1e-4 at rate 4e-3/α: so outputs move at the "
    "same speed for every α, as they do in lazy training by gradient descent. `quick` has fewer seeds, "
    "scales and steps than `paper`. The settings were found by trial. It depends on them: with "
    "cross-entropy and AdamW at one rate for every α, the ratio of the times rose as α fell."
)
SECONDS = {"quick": 25, "paper": 200}
REFERENCES = ("layerwise", "grokking-lazy-rich")
CONVENTION = _grokking.CONVENTION
SOURCE = "Fig. 8b, Sec. 7.2"
LEVEL = 0.8


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 8b is computed from."""

    output_scales: tuple[float, ...] = (4.0, 2.0, 1.0)
    modulus: int = 23
    train_fraction: float = 0.7
    dimension: int = 48
    heads: int = 4
    width: int = 128
    learning_rate: float = 4e-3
    weight_decay: float = 1e-4
    batch_size: int = 0
    last_step: int = 5000
    num_records: int = 120
    num_seeds: int = 8
    seeds_per_chunk: int = 4


PRESETS = {
    "quick": Config(output_scales=(4.0, 1.0), last_step=2500, num_records=60, num_seeds=4),
    "paper": Config(),
}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """All scales from every seed, the largest first."""

    def train(index: int, seeds: range) -> "xarray.Dataset":
        return _train(config, config.output_scales[index], seeds)

    names = [f"α = {scale:g}" for scale in config.output_scales]
    return _grokking.over_settings(names, config, train, context)


def _train(config: Config, output_scale: float, seeds: range) -> "xarray.Dataset":
    network = models.ModularTransformer(
        config.modulus, config.dimension, config.heads, config.width, output_scale
    )
    task = tasks.ModularAddition(config.modulus, config.train_fraction)
    training = simulate.Classification(network, task, network.start())
    return _grokking.train(training, config, seeds, slower=output_scale)


def _delays(result: "xarray.Dataset") -> _grokking.Delays:
    found = _grokking.delays(result, level=LEVEL)
    test = found.test.copy()
    test[:-1] = np.minimum(test[:-1], float(result.time[-1]))  # not the richest: it must get there
    return found._replace(test=test)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Lowering α removes the delay."""
    found, num, names = _delays(result), result.sizes["seed"], result.setting.values
    lazy, error = _grokking.log_mean(found.ratio[0])
    ratio, ratio_error = _grokking.log_mean(found.ratio[-1] / found.ratio[0])
    waits = found.test - found.train
    wait, wait_error = _grokking.log_mean(waits[-1] / waits[0])
    between = f"from {names[0]} to {names[-1]}"
    found_claims = [
        Claim(f"{names[0]}: generalisation is delayed (test over training time at accuracy {LEVEL:g}, "
              "geometric mean)", SOURCE, 2, lazy, "at-least", uncertainty=error, num_seeds=num),
        Claim(f"The ratio of test to training time falls {between} (the one over the other, geometric mean)",
              SOURCE, 1, ratio, "at-most", uncertainty=ratio_error, num_seeds=num),
        Claim(f"The delay falls {between} (test minus training time, the one over the other, geometric mean)",
              SOURCE, 0.5, wait, "at-most", uncertainty=wait_error, num_seeds=num),
        Claim(f"So it does for every seed, {between} (share of seeds with a shorter delay)", SOURCE, 1.0,
              float(np.mean(waits[-1] < waits[0])), "at-least", num_seeds=num),
    ]  # fmt: skip
    return require_seeds(found_claims, _grokking.FEWEST_SEEDS)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """A panel for each α."""
    titles = [f"$\\alpha={scale:g}$" for scale in config.output_scales]
    return _grokking.figure(result, titles, _delays(result))
