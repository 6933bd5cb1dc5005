"""Fig. 8b: a transformer on modular addition, from lazy to rich by the scale of its output."""

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments._claims import delay_claim, geometric_claim, share_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.layerwise import _grokking

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig8b"
TITLE = "The output's scale: transformer on modular addition"
CAPTION = (
    "Top: training and test accuracy of a one-layer transformer on modular addition, its output multiplied "
    "by α. Thin: every seed, bold: mean. The bar: from the training to the test time at accuracy 0.8, with "
    "their ratio; runs that end below it count as there at the end, but for the smallest α. The level is "
    "above seven tenths, the share of test pairs that a network gets which has only found that addition "
    "commutes. The text gives no settings: modulus 23, 48 dimensions, 128 ReLU units, seven tenths of the "
    "pairs, squared error, full batch, Adam with coupled decay 1e-4 at rate 4e-3/α: so outputs move at the "
    "same speed for every α, as they do in lazy training by gradient descent. `quick` has fewer steps "
    "than `paper`. The settings were found by trial, and it depends on them. Bottom: with "
    "cross-entropy and AdamW at the rate 1e-2 with decay 1 for every α, as in `imbalance-grokking`, the "
    "ratio of the times does not fall with α."
)
SECONDS = {"quick": 75, "paper": 250}
REFERENCES = ("layerwise", "grokking-lazy-rich")
CONVENTION = _grokking.CONVENTION
SOURCE = "Fig. 8b, Sec. 7.2"
LEVEL = 0.8


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 8b is computed from."""

    output_scales: tuple[float, ...] = (4.0, 2.0, 1.0)
    order: int = 23
    train_fraction: float = 0.7
    dimension: int = 48
    heads: int = 4
    width: int = 128
    learning_rate: float = 4e-3
    weight_decay: float = 1e-4
    adamw_learning_rate: float = 1e-2
    adamw_weight_decay: float = 1.0
    adamw_last_step: int = 1500
    batch_size: int = 0
    last_step: int = 5000
    num_records: int = 120
    num_seeds: int = 8
    seeds_per_chunk: int = 4


PRESETS = {
    "quick": Config(last_step=2500, num_records=60),
    "paper": Config(),
}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """All scales from every seed, the largest first; the outermost by AdamW at one rate, too."""
    scales = {f"α = {scale:g}": scale for scale in config.output_scales}
    found = over_cases({"setting": scales}, _train, config, context)
    first, *_, last = scales
    ends = {first: scales[first], last: scales[last]}
    label = "AdamW at one rate"
    other = over_cases({"end": ends}, _train_by_adamw, config, context, label, name="adamw")
    return found.merge(other).assign_attrs(CONVENTION.attributes())


def _training(config: Config, output_scale: float, objective: str) -> "simulate.Classification":
    network = models.ModularTransformer(
        config.order, config.dimension, config.heads, config.width, output_scale
    )
    task = tasks.GroupArithmetic(groups.cyclic(config.order), config.train_fraction)
    return simulate.Classification(network, task, network.lecun(), objective=objective)


def _train(config: Config, output_scale: float, seeds: range) -> "xarray.Dataset":
    training = _training(config, output_scale, "squared")
    return _grokking.train(training, config, seeds, slower=output_scale)


def _train_by_adamw(config: Config, output_scale: float, seeds: range) -> "xarray.Dataset":
    found = simulate.gradient_descent(
        _training(config, output_scale, "cross-entropy"),
        simulate.log_steps(config.adamw_last_step, config.num_records), seeds=seeds,
        optimizer=simulate.adam(decoupled=True, memory=0.98), learning_rate=config.adamw_learning_rate,
        weight_decay=config.adamw_weight_decay, dtype="float32",
    )  # fmt: skip
    names = {name: f"adamw_{name}" for name in (*_grokking.ACCURACIES, "time")}
    return found[list(_grokking.ACCURACIES)].rename(names)


def _by_adamw(result: "xarray.Dataset") -> "xarray.Dataset":
    """The second sweep, named as the first."""
    names = [f"adamw_{name}" for name in _grokking.ACCURACIES]
    return result[names].rename(
        {name: name.removeprefix("adamw_") for name in (*names, "adamw_time")} | {"end": "setting"}
    )


def _delays(result: "xarray.Dataset") -> _grokking.Delays:
    found = _grokking.delays(result, level=LEVEL)
    test = found.test.copy()
    test[:-1] = np.minimum(test[:-1], float(result.time[-1]))  # not the richest: it must get there
    return found._replace(test=test)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Lowering α removes the delay, but neither step by step nor by every training."""
    found, names = _delays(result), result.setting.values
    waits = found.test - found.train
    fall = np.where((waits > 0).all(axis=0), waits[-1] / waits[0], np.nan)  # a delay, or no answer
    between = f"from {names[0]} to {names[-1]}"
    found_claims = [
        delay_claim(f"{names[0]}: generalisation is delayed (test over training time at accuracy {LEVEL:g}, "
                    "geometric mean)", SOURCE, found.train[0], found.test[0]),
        *(_step_claim(found, names, pair) for pair in ((0, -1), *itertools.pairwise(range(len(names))))),
        geometric_claim(f"The delay falls {between} (test minus training time, the one over the other, "
                        "geometric mean)", SOURCE, 0.5, fall, "at-most"),
        share_claim(f"So it does for every seed, {between} (share of seeds with a shorter delay)", SOURCE,
                    waits[-1] < waits[0]),
        _adamw_claim(result, between),
    ]  # fmt: skip
    return require_seeds(found_claims, _grokking.FEWEST_SEEDS)


def _step_claim(found: _grokking.Delays, names: Any, pair: tuple[int, int]) -> Claim:
    """The ratio falls from one α to another; from the largest to the next it does not."""
    before, after = pair
    ends_early = Departure(
        "From α = 4 to 2 the training time halves, the test time does not: at both some runs stay at seven "
        "tenths of the test pairs until the end, and count as there then; those at α = 4 have less time.",
        pinned=2.2, tolerance=1.2,
    )  # fmt: skip
    return _grokking.falling_claim(
        f"The ratio of test to training time falls from {names[before]} to {names[after]} (the one over the "
        "other", SOURCE, found.ratio[after] / found.ratio[before],
        departure=ends_early if pair == (0, 1) else None,
    )  # fmt: skip


def _adamw_claim(result: "xarray.Dataset", between: str) -> Claim:
    ratio = _grokking.delays(_by_adamw(result), level=LEVEL).ratio
    rises = Departure(
        "Adam's steps have one length for every α, and decay, which is decoupled and strong, is the same: "
        "at the smaller α the training set is learned sooner, and the test set not. In lazy training by "
        "gradient descent outputs move equally fast for every α, as above.",
        pinned=2.1, tolerance=1.0,
    )  # fmt: skip
    return geometric_claim(
        f"So it does by AdamW on the cross-entropy at one rate for every α, {between} (ratio of test to "
        "training time, the one over the other, geometric mean)", SOURCE, 1.0, ratio[-1] / ratio[0],
        "at-most", departure=rises,
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """A panel for each α; below, the outermost by AdamW at one rate."""
    scales, other = config.output_scales, _by_adamw(result)
    picture, (top, bottom) = plotting.new_figure(len(scales), 2, panel=(3.3, 2.8))
    for index, (axes, scale) in enumerate(zip(top, scales, strict=True)):
        _grokking.draw_curves(axes, result, _delays(result), index, f"$\\alpha={scale:g}$")
    found, ends = _grokking.delays(other, level=LEVEL), (scales[0], scales[-1])
    for index, (axes, scale) in enumerate(zip((bottom[0], bottom[-1]), ends, strict=True)):
        title = f"$\\alpha={scale:g}$, AdamW at one rate"
        _grokking.draw_curves(axes, other, found, index, title)
    for axes in bottom[1:-1]:
        axes.remove()
    top[0].legend(loc="upper left")
    return picture
