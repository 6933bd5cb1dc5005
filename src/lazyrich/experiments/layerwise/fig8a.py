"""Fig. 8a: a two-layer network on digits, from lazy to rich by the scale of its output."""

import dataclasses
import functools
from typing import TYPE_CHECKING

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments import _digits
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.layerwise import _grokking

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig8a"
TITLE = "The output's scale: two-layer network on digits"
CAPTION = (
    "Training and test accuracy of a ReLU network with one hidden layer on few pictures of digits, its "
    "output multiplied by α. Thin: every seed, bold: mean. The bar: from the training to the test time at "
    "the level, four fifths of the last test accuracy at the largest α, with their ratio. The text gives "
    "no settings: weights start at four times LeCun's, the target is 1, Adam with coupled decay. Preset "
    "`paper`: 784-200-10, 1000 pictures, rate 1e-3, decay 1e-4, batches of 128; preset `quick`: 100 units, "
    "200 pictures of 14 × 14 pixels, full batch, rate 3e-3, decay 1e-3. Without MNIST the small digits set "
    "that comes with the install takes its place."
)
SECONDS = {"quick": 11, "paper": 900}
REFERENCES = ("layerwise", "grokking-lazy-rich")
CONVENTION = _grokking.CONVENTION
SOURCE = "Fig. 8a, Sec. 7.2"


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 8a is computed from. Pictures are pooled to at most `side` pixels a side."""

    output_scales: tuple[float, ...] = (1.0, 0.3, 0.1)
    width: int = 200
    initial_scale: float = 4.0
    num_samples: int = 1000
    num_test: int = 2000
    side: int = 28
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    last_step: int = 14_000
    num_records: int = 120
    num_seeds: int = 8
    seeds_per_chunk: int = 4


PRESETS = {
    "quick": Config(
        width=100, num_samples=200, num_test=500, side=14, batch_size=0, learning_rate=3e-3,
        weight_decay=1e-3, last_step=2500, num_records=60, num_seeds=4,
    ),
    "paper": Config(),
}  # fmt: skip
data_fingerprint = _digits.data_fingerprint


def run(config: Config, context: Context) -> "xarray.Dataset":
    """All scales from every seed, the largest first."""
    task = _grokking.digits_task(config, context.data_folder)
    scales = {f"α = {scale:g}": scale for scale in config.output_scales}
    train = functools.partial(_train, task)
    found = over_cases({"setting": scales}, train, config, context)
    return found.assign_attrs(CONVENTION.attributes() | _digits.attributes(task.digits))


def _train(
    task: "tasks.DigitClassification", config: Config, output_scale: float, seeds: range
) -> "xarray.Dataset":
    network = models.MLP(
        (task.input_dimension, config.width, 10), "relu", output_scale=output_scale
    )
    training = simulate.Classification(network, task, network.lecun(config.initial_scale))
    return _grokking.train(training, config, seeds)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Lowering α removes the delay."""
    found = _grokking.delay_claims(result, SOURCE)
    return require_seeds([*found, *_grokking.sweep_claims(result, SOURCE)], _grokking.FEWEST_SEEDS)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """A panel for each α."""
    return _grokking.figure(result, [f"$\\alpha={scale:g}$" for scale in config.output_scales])
