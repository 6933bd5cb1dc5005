"""Fig. 2: losses and their gap in a run that groks, with the stages of learning."""

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, measures, plotting, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._claims import delay_claim, share_claim
from lazyrich.experiments._over_seeds import over_seeds
from lazyrich.experiments._times import time_to
from lazyrich.experiments.li2 import _training

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "li2", "fig2"
TITLE = "Losses and the three stages"
CAPTION = (
    "Left: training loss, test loss and the gap between them in a run that groks. Shaded: the stages of "
    "training that `measures.training_stage` finds at every record: I lazy, II independent, III "
    "interactive. Right: what they are read off in the same run: the share of nodes that have a feature, "
    "how new the median node is, and the cosine between the gradient that reaches the features and ỸỸᵀF̃, "
    "that of independent nodes, to which it comes back in the end, when it only balances the decay. Bold: "
    "seed 0; thin: the other seeds. Modular addition, σ(x) = x², Adam, coupled decay 2e-4, rate 1e-3; M = "
    "71, K = 2048, 40 % of the pairs in preset `paper`, M = 23, K = 256, 70 % in `quick`. The paper's "
    "figure is a drawing."
)
SECONDS = {"quick": 6, "paper": 900}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
STAGES = ("lazy", "independent", "interactive", "undecided")
EVIDENCE = ("learned", "turned", "alignment")


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 2 is computed from."""

    order: int = 71
    width: int = 2048
    train_fraction: float = 0.4
    learning_rate: float = 1e-3
    weight_decay: float = 2e-4
    last_epoch: int = 600
    num_records: int = 40
    num_seeds: int = 8
    seeds_per_chunk: int = 1


PRESETS = {
    "quick": Config(order=23, width=256, train_fraction=0.7, num_records=20, seeds_per_chunk=4),
    "paper": Config(),
}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Every seed, with the stage at every record."""
    return over_seeds(_piece, config, context, resume=True).assign_attrs(CONVENTION.attributes())


def _piece(config: Config, seeds: range, context: Context) -> "xarray.Dataset":
    import xarray

    found = [_train(config, seed, inside) for seed, inside in _training.parts(context, seeds)]
    return xarray.concat(found, "seed")


def _train(config: Config, seed: int, context: Context) -> "xarray.Dataset":
    """One run, its weights turned into stages and thrown away."""
    group = groups.cyclic(config.order)
    training = _training.training(group, config.train_fraction, config.width, records=("weights",))
    epochs = simulate.log_steps(config.last_epoch, config.num_records)
    found = _training.descend(training, epochs, [seed], config, context)
    pairs, M, one = training.train_pairs(seed), config.order, found.isel(seed=0)
    stages = measures.training_stage(
        one["first"].values, one["second"].values, lambda W: (W[pairs[:, 0]] + W[M + pairs[:, 1]]) ** 2,
        group.table[pairs[:, 0], pairs[:, 1]], inputs=pairs, start=one["first"].values[0], group=group,
        centring="classes",
    )  # fmt: skip
    numbers = {name: getattr(stages.evidence, name) for name in EVIDENCE}
    numbers["stage"] = np.array([STAGES.index(str(word)) for word in stages.stage], float)
    curves = found.drop_vars(["first", "second"])
    return curves.assign({name: (("seed", "time"), value[None]) for name, value in numbers.items()})


def _begins(result: "xarray.Dataset", stage: str) -> np.ndarray:
    """First epoch at which a stage is found, for every seed; infinite where it never is."""
    is_there = result.stage.transpose("seed", "time").values == STAGES.index(stage)
    return np.where(is_there.any(axis=1), result.time.values[is_there.argmax(axis=1)], np.inf)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Fig. 1 and 2 say about the course of a run."""
    num = result.sizes["seed"]
    lazy, independent, interactive = (_begins(result, name) for name in STAGES[:3])
    ordered = (lazy < independent) & (independent < interactive)
    gap = (result.test_loss - result.train_loss).transpose("seed", "time").values
    train, test = result.train_accuracy.values, result.test_accuracy.values
    start = np.array(
        [np.argmax(result.time.values >= min(t, result.time.values[-1])) for t in independent]
    )
    seeds = np.arange(num)
    memorised = time_to(result.train_accuracy, _training.LEVEL)
    found = [
        share_claim("Learning is first lazy, then independent, then interactive (share of seeds with that "
                    "order)", "Fig. 1, 2", ordered),
        Claim("In the lazy stage the training set is learned: memorisation comes before features (training "
              "accuracy when nodes begin to learn independently, the smallest)", "Fig. 2, Sec. 3", 0.9,
              float(train[seeds, start].min()), "at-least", num_seeds=num),
        Claim("and nothing of it generalises yet (test accuracy at that time, the largest)", "Fig. 2, Sec. 3",
              0.2, float(test[seeds, start].max()), "at-most", num_seeds=num),
        Claim("The gap between test and training loss opens before the test set is learned (largest gap over "
              "the test loss at the start, the smallest over seeds)", "Fig. 2 left", 0.5,
              float((gap.max(axis=1) / result.test_loss.values[:, 0]).min()), "at-least", num_seeds=num),
        Claim("and closes as features are learned (last gap over the largest, the largest)", "Fig. 2 left",
              0.6, float((gap[:, -1] / gap.max(axis=1)).max()), "at-most", num_seeds=num),
        delay_claim("It is a delayed generalisation (epochs to a test accuracy of 0.9 over those to the "
                    "training accuracy, geometric mean)", "Fig. 2 left", memorised,
                    time_to(result.test_accuracy, _training.LEVEL), end=float(result.time[-1])),
    ]  # fmt: skip
    return require_seeds(found, 8)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Losses, and what the stages are read off, over the stages."""
    picture, (row,) = plotting.new_figure(2, panel=(4.6, 3.2))
    curves = {
        "train loss": result.train_loss, "test loss": result.test_loss,
        "gap": result.test_loss - result.train_loss,
    }  # fmt: skip
    _draw(row[0], curves)
    row[0].set(xscale="log", xlabel="epoch", ylabel="loss", title="Training, test, and their gap")
    names = (
        "nodes with a feature",
        "newness of the median node",
        r"$\cos(G_F, \tilde Y\tilde Y^\top\tilde F)$",
    )
    _draw(row[1], {label: result[name] for label, name in zip(names, EVIDENCE, strict=True)})
    row[1].set(
        xscale="log", xlabel="epoch", ylabel="share or cosine", title="Evidence", ylim=(-0.1, 1.05)
    )
    for axes in row:
        _shade(axes, result)
    row[0].legend(loc="center left")
    row[1].legend(loc="upper left", bbox_to_anchor=(0, 0.94))  # below the stages' numbers
    return picture


def _draw(axes: Any, curves: "dict[str, xarray.DataArray]") -> None:
    for colour, (label, values) in zip(plotting.COLOURS, curves.items(), strict=False):
        time = plotting.log_time(values.time)
        rows = values.transpose("seed", "time").values
        plotting.plot_runs(axes, time, rows, rows[0], colour=colour, label=label)


def _shade(axes: Any, result: "xarray.Dataset") -> None:
    """The stages of seed 0 behind the curves, each with its number."""
    time = plotting.log_time(result.time)
    codes = result.stage.transpose("seed", "time").values[0].astype(int)
    edges = np.concatenate([time[:1], np.sqrt(time[1:] * time[:-1]), time[-1:]])
    cuts = np.flatnonzero(np.diff(codes, prepend=-1, append=-1))
    for begin, end in itertools.pairwise(cuts):
        code = codes[begin]
        grey = ("#ffffff", "#e3e3e3", "#c9c9c9", "#f5f5f5")[code]
        axes.axvspan(edges[begin], edges[end], color=grey, zorder=0, linewidth=0)
        if edges[end] / edges[begin] > 1.5:
            middle = np.sqrt(edges[begin] * edges[end])
            axes.text(middle, 0.98, ("I", "II", "III", "?")[code], ha="center", va="top",
                      transform=axes.get_xaxis_transform(), fontsize=9)  # fmt: skip
    axes.set_xlim(edges[0], edges[-1])
