"""Fig. 4A: softmax self-attention."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._times import ratio_of_times, time_to
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig4a"
TITLE = "Softmax self-attention"
CAPTION = _panels.caption(
    "the query weights of its heads",
    "Order 0: at first every head averages the tokens alike, and their value weights learn what that "
    "average can tell of the label, next to nothing. Keys and queries then grow at a rate that this "
    "sampling error sets, shared by the heads, so the plateau grows with the numbers of sequences and "
    "heads. Dashed: the network to first order in its scores, whose loss second moments of the data give. "
    "From 8192 sequences with 50 heads at the rate 0.02 it rests for 265 000 to 481 000 steps, so the paper "
    "preset follows the flow of the network itself for the first 20 000. The quick preset has 128 "
    "sequences, five heads and a rate of 0.1.",
)
SECONDS = {"quick": 8, "paper": 1130}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(5, 1e-6, 0.1, 5000, 128),
    "paper": Config(50, 1e-6, 0.02, 20_000, flow=True, seeds_per_chunk=1),
}
MUCH_LONGER = 60
"""How much longer than the run from 8192 sequences the one to first order is."""


def training(config: Config) -> "simulate.Supervised":
    """The model of Fig. 1F with a softmax, on its data."""
    network = models.Attention(3, config.width, softmax=True)
    return simulate.Supervised(
        network, _settings.attention_task(config.num_samples), config.initial_std
    )


def small_scores(config: Config) -> "simulate.Supervised":
    """The same to first order in the scores."""
    from lazyrich.experiments.saddles._small_scores import SmallScores

    network = SmallScores(3, config.width, softmax=True)
    return dataclasses.replace(training(config), network=network, records=())


PANEL = _panels.Panel(TITLE, training, _panels.QUERIES, early=True, compare=False)
SMALL = dataclasses.replace(PANEL, training=small_scores)
frames = PANEL.frames


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The panel, and the same to first order in the scores, for as long as its plateau lasts."""
    longer = dataclasses.replace(
        config, last_step=config.last_step * (MUCH_LONGER if config.flow else 1)
    )
    found = PANEL.run(config, context).merge(SMALL.again("small", longer, context))
    resting = [_resting_loss(training(config).start(seed)[1]) for seed in found.seed.values]
    return found.assign(resting_loss=("seed", resting))


def _resting_loss(data: "tasks.DataSet") -> float:
    """The least loss of a map that is linear in the tokens' mean, which is all that equal shares leave."""
    mean = np.asarray(data.inputs).mean(axis=1)
    best, *_ = np.linalg.lstsq(mean, data.targets)
    return float(np.mean((data.targets - mean @ best) ** 2))


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """The panel; dashed, for the run that it shows, the loss to first order in the scores."""
    picture = PANEL.figure(result, config)
    panel, pick = picture.axes[0], _walks.shown(PANEL.walks(result, config))
    low, high = panel.get_ylim()
    times, losses = result.small_time, result.small_loss
    if (
        times[-1] > result.time[-1]
    ):  # the others' plateaus end where only first order has followed them
        panel.plot(times, losses.transpose(..., "seed"), "--", color="#bbbbbb", linewidth=0.8)
    panel.plot(times, losses.isel(seed=pick), "--", color="black", zorder=4)
    panel.set(ylim=(low, high))  # where scores are large, first order may lead anywhere
    return picture


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4A, and when its plateau should end."""
    left, end = result.loss.isel(time=-1) / result.loss.isel(time=0), 0.9 * result.resting_loss
    due = time_to(result.small_loss, end, along="small_time", falling=True)
    escape = [
        mean_claim(
            "The plateau ends when it should to first order in the scores (ratio of the times at which a "
            "tenth of its loss is gone)", "Sec. 5, App. B.1", 1.0,
            ratio_of_times(time_to(result.loss, end, falling=True), due), tolerance=0.01,
        ),
        _walks.share(
            "In the end a tenth of the loss is left at most", "Fig. 4A", (left <= 0.1).values.tolist()
        ),
    ]  # fmt: skip
    if np.median(due) > config.last_step:
        needs = (
            f"about {np.median(due):.1g} steps, for which by first order in the scores the plateau of "
            f"{config.num_samples} sequences and {config.width} heads lasts"
        )
        escape = [dataclasses.replace(claim, needs=needs) for claim in escape]
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            _walks.share(
                "In most runs all heads have the same value weights half-way through the plateau", "Fig. 4A",
                [spread <= 0.02 for spread in _value_spreads(result)], 0.75,
            ),
            mean_claim(
                "The plateau lies where the mean of the tokens alone can take the loss (ratio of losses "
                "half-way through it)", "App. B.1", 1.0,
                [run.loss[k] / run.resting_loss for run, k in _half_way(result)],
                tolerance=0.01,
            ),
            *escape,
        ],
        8,
    )  # fmt: skip


def _half_way(result: "xarray.Dataset") -> "list[tuple[xarray.Dataset, int]]":
    """Each run, and its record half-way through the plateau, which ends when a tenth of its loss is gone."""
    runs = [result.isel(seed=i) for i in range(result.sizes["seed"])]
    return [(run, int((run.loss >= 0.9 * run.resting_loss).sum()) // 2) for run in runs]


def _value_spreads(result: "xarray.Dataset") -> list[float]:
    """How far heads' value weights are from their mean, relative to it, half-way through the plateau."""
    values = [run.outgoing.values[k] for run, k in _half_way(result)]
    return [
        float(np.abs(V - V.mean(axis=0)).max() / np.linalg.norm(V.mean(axis=0))) for V in values
    ]
