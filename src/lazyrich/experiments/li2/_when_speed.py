"""What makes grokking faster or slower: decay, width, data, start, rates and objectives (App. E)."""

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures
from lazyrich.core import Claim, Context, Departure
from lazyrich.experiments._claims import geometric_claim, mean_claim, share_claim
from lazyrich.experiments.li2 import _when_no_decay, _when_output
from lazyrich.experiments.li2._setting import Setting
from lazyrich.experiments.li2._study import Study
from lazyrich.experiments.li2._when_runs import (
    draw_epochs,
    generalise,
    last_epoch,
    log_axes,
    ratio,
    reached,
    train,
)

if TYPE_CHECKING:
    import xarray

CAPTION = (
    "Modular addition by σ(XW)V with σ(x) = x², M = 17, K = 128, 80 % of the pairs, squared loss, Adam at "
    "rate 5e-3 with decay 3e-4, unless a panel says otherwise; the text gives no settings. Dots: epochs "
    "after which a run's test accuracy stays above 0.9; open: it does not, the run's last epoch; lines: "
    "medians over seeds. Curves: medians, with the middle eight tenths. Decay: coupled (Adam) and decoupled "
    "(AdamW); dotted: 1/η. Output scale: what is the same for all β: weights at the start; outputs at the "
    "start; or these and the speed at which outputs move, by a rate ∝ 1/β (Adam) or 1/β² (SGD). `paper` has "
    "more settings than `quick`, of the same networks."
)
E_ = "App. E"


@dataclasses.dataclass(frozen=True)
class Settings(_when_output.Settings, _when_no_decay.Settings):
    """What these studies are computed from."""

    speed_order: int = 17
    speed_width: int = 128
    speed_records: int = 40
    speed_stretch: float = 1.0
    speed_widths: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)
    speed_train_fractions: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9)
    speed_coupled: tuple[float, ...] = (1e-3, 3e-4, 1e-4, 3e-5)
    speed_decoupled: tuple[float, ...] = (0.4, 0.2, 0.1, 0.05)
    speed_initial_scales: tuple[float, ...] = (0.1, 0.3, 1.0, 2.0)


QUICK: dict[str, Any] = {
    "speed_widths": (8, 64, 128), "speed_train_fractions": (0.5, 0.7, 0.9),
    "speed_coupled": (1e-3, 3e-4, 1e-4), "speed_decoupled": (0.4, 0.2, 0.1),
    "speed_initial_scales": (0.1, 1.0, 2.0), "speed_outputs": (0.5, 2.0),
    "speed_learning_rates": (1e-3, 1e-2, 3e-2),
}  # fmt: skip
DECAY = 3e-4
"""Of the studies that are not on decay."""


# Weight decay: t ∝ 1/η.


KINDS = {"adam": 0.2, "adamw": 200.0}
"""Last epochs times decay: more than twice the epochs that runs need at any decay."""


def _decays(config: Any) -> dict[str, Setting]:
    """Runs for each decay of either kind. What they have not reached at their end enters no fit."""
    decays = {"adam": config.speed_coupled, "adamw": config.speed_decoupled}
    return {
        f"{kind} {decay:g}": Setting(multiple / decay, decay, optimizer=kind)
        for kind, multiple in KINDS.items()
        for decay in decays[kind]
    }


def _slopes(data: "xarray.Dataset", kind: str, decays: tuple[float, ...]) -> np.ndarray:
    """Exponent of epochs by decay, fitted to every seed; NaN where a decay lets it never generalise."""
    times = np.array([reached(data, f"{kind} {decay:g}") for decay in decays]).T
    known = np.isfinite(times).all(axis=1)
    found = np.full(len(times), np.nan)
    if known.any():
        found[known] = measures.power_law(decays, times[known]).exponent
    return found


def _decay_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    reason = (
        "Adam divides the gradient, coupled decay included, by its root mean square over past epochs. Where "
        "the gradient is small, so is what it is divided by, and part of η cancels. With decoupled decay, "
        "which is not divided, the exponent is near −1."
    )
    text = "Epochs to generalise go as 1/η (exponent, mean over seeds)"
    return [
        share_claim("With every decay all networks generalise (share of runs, coupled and decoupled decay)",
                    E_, generalise(data, *_decays(config)), num_seeds=data.sizes["seed"]),
        mean_claim(f"{text}, decoupled decay, AdamW", E_, -1, _slopes(data, "adamw", config.speed_decoupled),
                   "absolute", 0.15),
        mean_claim(f"{text}, coupled decay, Adam", E_, -1, _slopes(data, "adam", config.speed_coupled),
                   "absolute", 0.15, departure=Departure(reason, pinned=-0.62, tolerance=0.1)),
    ]  # fmt: skip


def _decay_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    rows = (
        ("adam", "Adam, 10³η", config.speed_coupled, 1e3),
        ("adamw", "AdamW, η", config.speed_decoupled, 1.0),
    )
    for colour, (kind, label, decays, factor) in enumerate(rows):
        draw_epochs(axes, data, {f"{kind} {x:g}": factor * x for x in decays}, label, colour)
        first = f"{kind} {max(decays):g}"
        top = float(np.median(np.minimum(reached(data, first), last_epoch(data, first))))
        x = factor * np.array([min(decays), max(decays)])
        axes.plot(x, top * x[-1] / x, color="black", linestyle=":", linewidth=0.8)
    log_axes(axes, (0.1, 0.2, 0.4, 1.0), r"decay $\eta$", "Weight decay")
    axes.legend()


# Number of hidden nodes.


def _widths(config: Any) -> dict[str, Setting]:
    return {f"K = {width}": Setting(500, DECAY, width=width) for width in config.speed_widths}


def _width_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    names, base = list(_widths(config)), f"K = {config.speed_width}"
    fastest = min(names, key=lambda name: float(np.median(reached(data, name))))
    reason = (
        "A step of Adam does not shrink with the gradient, and at one rate the outputs of a wider network "
        "move faster. Between the smallest width that suffices and one that fits all samples at once "
        "there is a step, not an endless rise."
    )
    wider = config.speed_widths[-1] > config.speed_width
    return [
        share_claim(f"{names[0]} nodes are too few to generalise (share of seeds that do)", E_,
                    generalise(data, names[0]), 0.0, "at-most"),
        share_claim("Some number of nodes is enough (largest share of seeds that generalise)", E_,
                    max((generalise(data, name) for name in names), key=np.mean)),
        geometric_claim("Too many nodes slow grokking (epochs of the widest network over those of the "
                        "fastest, geometric mean)", E_, 1.2, ratio(data, names[-1], fastest), "at-least"),
        geometric_claim("Ever more nodes slow it ever more, in the end there is no feature learning (epochs "
                        f"of the widest network over those at {base}, geometric mean)", f"Sec. 3.1, {E_}",
                        1.0, ratio(data, names[-1], base), "at-least",
                        departure=Departure(reason, 0.83, 0.15),
                        needs=None if wider else f"more than {config.speed_width} nodes, which `paper` has"),
    ]  # fmt: skip


def _width_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    draw_epochs(axes, data, dict(zip(_widths(config), config.speed_widths, strict=True)), "", 0)
    log_axes(axes, config.speed_widths, "nodes $K$", "Hidden nodes")


# Number of samples.


def _fractions(config: Any) -> dict[str, Setting]:
    return {
        f"p = {part:g}": Setting(500 if part > 0.65 else 1000, DECAY, fraction=part)
        for part in config.speed_train_fractions
    }


def _data_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    names = list(_fractions(config))
    return [
        geometric_claim(f"More samples, faster grokking (epochs at {later} over those at {sooner}, geometric "
                        "mean)", E_, 1.2, ratio(data, later, sooner), "at-least")
        for later, sooner in itertools.pairwise(names)
    ]  # fmt: skip


def _data_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    draw_epochs(
        axes, data, dict(zip(_fractions(config), config.speed_train_fractions, strict=True)), "", 0
    )
    log_axes(axes, config.speed_train_fractions, "share of pairs $n/M^2$", "Samples")


# Scale of all weights at the start.

START_DECAYS = (0.0, 1e-4, 1e-3)


def _starts(config: Any) -> dict[str, Setting]:
    return {
        _start(start, decay): Setting(150 if start < 1 else 500, decay, initial_scale=start)
        for start in config.speed_initial_scales
        for decay in START_DECAYS
    }


def _start(start: float, decay: float) -> str:
    return f"α = {start:g}, η = {decay:g}"


def _start_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    small, large = config.speed_initial_scales[0], config.speed_initial_scales[-1]
    none, weak, strong = START_DECAYS
    reason = "Such decay is stronger than the gradient of the loss at so small weights, and all go to zero."

    def groks(text: str, start: float, decay: float, comparison: str, **more: Any) -> Claim:
        what = f"{text} (α = {start:g}, η = {decay:g}, share of seeds that generalise)"
        expected = 1.0 if comparison == "at-least" else 0.0
        hits = generalise(data, _start(start, decay))
        return share_claim(what, E_, hits, expected, comparison, **more)

    return [
        groks("A small start groks without decay", small, none, "at-least"),
        groks("A small start groks with weak decay", small, weak, "at-least"),
        groks("A small start groks regardless of decay, strong decay too", small, strong, "at-least",
              departure=Departure(reason, 0.0, 0.1)),
        groks("A large start does not without decay", large, none, "at-most"),
        groks("A large start does with enough decay", large, strong, "at-least"),
        geometric_claim(f"Weak decay makes the transition slow (α = 1, epochs at η = {weak:g} over those at "
                        f"{strong:g}, geometric mean)", E_, 1.2,
                        ratio(data, _start(1.0, weak), _start(1.0, strong)), "at-least"),
    ]  # fmt: skip


def _start_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    for colour, decay in enumerate(START_DECAYS):
        names = {_start(start, decay): start for start in config.speed_initial_scales}
        draw_epochs(axes, data, names, rf"$\eta={decay:g}$", colour)
    log_axes(axes, config.speed_initial_scales, r"start $\alpha$", "Scale of the start")
    axes.legend(loc="upper left", fontsize=6)


def _study(name: str, settings: Any, claims: Any, panel: Any) -> Study:
    def compute(config: Any, seeds: range, context: Context) -> Any:
        return train(config, settings(config), seeds, context)

    return Study(name, compute, claims, panel)


STUDIES = (
    _study("decay", _decays, _decay_claims, _decay_panel),
    _study("width", _widths, _width_claims, _width_panel),
    _study("data", _fractions, _data_claims, _data_panel),
    _study("start", _starts, _start_claims, _start_panel),
    _study("output", _when_output.settings, _when_output.claims, _when_output.panel),
    _study("rate", _when_no_decay.rates, _when_no_decay.rate_claims, _when_no_decay.rate_panel),
    _study(
        "sgd",
        _when_no_decay.optimizers,
        _when_no_decay.optimizer_claims,
        _when_no_decay.optimizer_panel,
    ),
    _study(
        "softmax",
        _when_no_decay.objectives,
        _when_no_decay.objective_claims,
        _when_no_decay.objective_panel,
    ),
)
