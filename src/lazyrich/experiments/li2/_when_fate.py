"""What becomes of features: scarce data, further training, rates, cases, flatness (Sec. 4.5, App. E, I)."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import plotting
from lazyrich.core import Claim, Context, Departure
from lazyrich.experiments._claims import clear_claim, geometric_claim, mean_claim, share_claim
from lazyrich.experiments._records import by_time
from lazyrich.experiments._times import ratio_of_times, time_to
from lazyrich.experiments.li2 import _fate_optima, _fate_runs, _training
from lazyrich.experiments.li2._setting import Setting
from lazyrich.experiments.li2._study import Study

if TYPE_CHECKING:
    import xarray

CAPTION = (
    "Further panels: early stopping, a run that generalises and gets worse again, with the energy of its "
    "nodes (mean of 𝓔(w/‖w‖) on the training pairs, relative to its largest); ungrokking, where grokked "
    "networks go on with fewer of their "
    "pairs; semi-grokking, where the share of pairs passes the boundary (bars: nodes that generalise and "
    "memorise); rates where data are scarce, switched at epoch 10 (with a switch at epoch 30, or 43 % of "
    "the pairs, the final accuracy is that of the large rate); cases of App. E with what their nodes are "
    "at the end; flatness, "
    "the largest eigenvalue of the training loss's Hessian and its trace times the squared length of the "
    "weights, over their number. Adam, coupled decay; App. E and I give no settings."
)


@dataclasses.dataclass(frozen=True)
class Settings:
    """What these studies are computed from."""

    fate_order: int = 17
    fate_width: int = 128
    fate_records: int = 30
    fate_stretch: float = 2.0
    fate_train_fractions: tuple[float, ...] = (0.3, 0.35, 0.4, 0.43, 0.45, 0.5, 0.6)
    fate_early_order: int = 79


QUICK: dict[str, Any] = {
    "fate_records": 10, "fate_stretch": 1.0, "fate_train_fractions": (0.3, 0.4, 0.43, 0.5, 0.6),
}  # fmt: skip
E_, S45 = "App. E", "Sec. 4.5"


# Early stopping: the test accuracy falls after its peak.

STOP = Setting(fraction=0.5, epochs=1500, decay=5e-3, rate=1e-2)


def _stop(config: Any, seeds: range, context: Context) -> "xarray.Dataset":
    setting = _fate_runs.sized(config, {"stop": STOP})["stop"]
    run = _fate_runs.train(setting, seeds, 2 * config.fate_records, context)
    return _fate_runs.with_nodes(run, setting)[["test_accuracy", "energy", "memorising", "live"]]


def _stop_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    # one epoch for all seeds: the best of each run by itself would fall by chance alone
    best = data.isel(time=int(data.test_accuracy.mean("seed").argmax("time")))
    end = data.isel(time=-1)
    return [
        mean_claim("If data are scarce, a network overfits after it has generalised (test accuracy at its "
                   "best epoch minus that at the end)", f"{E_}, early stopping", 0.02,
                   best.test_accuracy - end.test_accuracy, "at-least"),
        mean_claim("Meanwhile weights move to solutions of larger energy (energy of the nodes at the end "
                   "over that at the best epoch)", f"{E_}, early stopping", 1.02, end.energy / best.energy,
                   "at-least", departure=Departure(
                       "Energies have stopped rising when the test accuracy is at its best. What goes on is "
                       "that decay removes nodes, from about 46 to 34 = 2M; the energies of the others stay "
                       "as they are. With half of these data weights do move to larger energies: see "
                       "ungrokking.", 1.0, 0.03)),
        mean_claim("What it moves to is memorisation (share of memorising nodes at the end minus that at the "
                   "best epoch)", f"{E_}, early stopping", 0.05, end.memorising - best.memorising,
                   "at-least", departure=Departure(
                       "Of the nodes that decay leaves, as few memorise as before, about one in twenty.",
                       0.0, 0.04)),
    ]  # fmt: skip


def _stop_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    _training.draw_band(axes, data.test_accuracy, plotting.COLOURS[1], "test accuracy")
    scaled = data.energy / data.energy.max("time")
    _training.draw_band(axes, scaled, plotting.COLOURS[0], "energy, relative")
    _training.draw_band(axes, data.live / data.live.isel(time=0), plotting.COLOURS[2], "live nodes")
    _training.accuracy_axes(axes, f"early stopping, {STOP.fraction:.0%} of pairs", "share")
    axes.set(ylim=(-0.02, 1.4), yticks=[0, 0.5, 1])
    axes.legend(loc="upper center", ncols=2, fontsize=6)


# Ungrokking: a grokked network goes on with fewer samples.

GROKKED = Setting(fraction=0.6, epochs=500, decay=2e-3)
FEWER = {
    "fewer": Setting(fraction=0.25, epochs=1000, decay=2e-3),
    "same": Setting(fraction=0.6, epochs=1000, decay=2e-3),
}


def _ungrok(config: Any, seeds: range, context: Context) -> "xarray.Dataset":
    settings = _fate_runs.sized(config, {"before": GROKKED} | FEWER)
    own = dict(_training.parts(context, settings))
    grokked = _fate_runs.train(settings.pop("before"), seeds, 1, own["before"])
    weights = _fate_runs.last_weights(grokked)
    runs = {
        name: _fate_runs.with_nodes(
            _fate_runs.train(setting, seeds, config.fate_records, own[name], weights), setting
        )
        for name, setting in settings.items()
    }
    return _fate_runs.over(runs, "pairs")[
        ["recorded_time", "test_accuracy", "energy", "memorising", "generalising"]
    ]


def _ungrok_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    fewer, same = (by_time(data, pairs=name) for name in ("fewer", "same"))
    first, end = fewer.isel(time=0), fewer.isel(time=-1)
    return [
        share_claim("Before, networks have grokked (share of seeds with a test accuracy of at least 0.9)",
                    S45, first.test_accuracy >= _training.LEVEL),
        mean_claim("A grokked network moves back to memorisation when it goes on with fewer of its samples "
                   "(test accuracy at the end)", f"{S45}, ungrokking", 0.2, end.test_accuracy, "at-most"),
        mean_claim("With all of its samples it does not (test accuracy at the end)", f"{S45}, ungrokking",
                   0.95, same.test_accuracy.isel(time=-1), "at-least"),
        mean_claim("The nodes themselves become memorising ones (share of them at the end)",
                   f"{S45}, ungrokking", 0.5, end.memorising, "at-least"),
        mean_claim("If data are scarce, generalising solutions have a lower energy than memorising ones, and "
                   "weights move to the latter (energy at the end over that of the grokked nodes, on the "
                   "fewer samples)", f"{E_}, early stopping", 1.1, end.energy / first.energy, "at-least"),
    ]  # fmt: skip


def _ungrok_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    fewer, same = (by_time(data, pairs=name) for name in ("fewer", "same"))
    _training.draw_band(axes, fewer.test_accuracy, plotting.COLOURS[1], "test accuracy")
    _training.draw_band(axes, same.test_accuracy, "0.5", "same pairs")
    _training.draw_band(axes, fewer.memorising, plotting.COLOURS[3], "memorising nodes")
    _training.draw_band(axes, fewer.generalising, plotting.COLOURS[2], "generalising nodes")
    _training.accuracy_axes(
        axes,
        f"ungrokking, {GROKKED.fraction:.0%} to {FEWER['fewer'].fraction:.0%} of pairs",
        "share",
    )
    axes.set_xlabel("further epochs")
    axes.legend(loc="center left")


# Semi-grokking: the boundary between memorisation and generalisation.


def _semi(config: Any, seeds: range, context: Context) -> "xarray.Dataset":
    import xarray

    fractions = list(config.fate_train_fractions)
    settings = {str(p): Setting(fraction=p, epochs=800, decay=5e-3) for p in fractions}
    runs = [
        _fate_runs.with_nodes(_fate_runs.train(setting, seeds, 1, inside), setting).isel(
            time=-1, drop=True
        )
        for setting, inside in _training.parts(context, _fate_runs.sized(config, settings).values())
    ]
    kept = [run.drop_vars(["train_accuracy", "energy", "random", "live"]) for run in runs]
    return xarray.concat(kept, "fraction").assign_coords(fraction=fractions)


def _between(data: "xarray.Dataset") -> "xarray.Dataset":
    """The fraction whose mean test accuracy is nearest to one half."""
    return data.isel(fraction=int(abs(data.test_accuracy.mean("seed") - 0.5).argmin("fraction")))


def _rarer(data: "xarray.Dataset") -> "xarray.DataArray":
    """Share of the rarer kind of nodes, of those that memorise and that generalise."""
    return np.minimum(data.memorising, data.generalising)


def _energy_ratio(data: "xarray.Dataset") -> "xarray.DataArray":
    """Of the seeds that have nodes of both kinds."""
    return (data.memorising_energy / data.generalising_energy).dropna("seed")


def _last_mixed(data: "xarray.Dataset") -> "xarray.Dataset":
    """The most pairs at which networks of all seeds have nodes of both kinds."""
    ratio = data.memorising_energy / data.generalising_energy
    every = np.flatnonzero(ratio.notnull().all("seed"))
    return data.isel(fraction=int(every[-1]) if every.size else -1)


def _semi_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    few, many, edge = data.isel(fraction=0), data.isel(fraction=-1), _between(data)
    mixed = data.isel(fraction=int(_rarer(data).mean("seed").argmax("fraction")))
    return [
        mean_claim("Below a critical share of data networks memorise (test accuracy at the fewest pairs)",
                   S45, 0.1, few.test_accuracy, "at-most"),
        mean_claim("Above it they generalise (test accuracy at the most pairs)", S45, 0.9,
                   many.test_accuracy, "at-least"),
        share_claim("Near it test accuracy rises only part of the way (share of seeds that end between 0.1 "
                    "and 0.9, at the share of pairs whose mean is nearest to ½)", f"{S45}, semi-grokking",
                    (edge.test_accuracy > 0.1) & (edge.test_accuracy < _training.LEVEL), 0.5),
        mean_claim("There nodes of both kinds, at maxima that generalise and that memorise, co-exist in a "
                   "network (share of the rarer kind)", f"{S45}, semi-grokking", 0.05, _rarer(edge),
                   "at-least"),
        clear_claim("The memorising ones have the better energy (median over memorising nodes over that over "
                    "generalising ones, at the share of pairs where both are most frequent)",
                    f"{S45}, Fig. 7", 1.0, _energy_ratio(mixed)),
        clear_claim("Where data are not scarce, generalising ones have the better energy (the same ratio at "
                    "the most pairs with which all networks have nodes of both kinds)",
                    f"{E_}, early stopping", 1.0, _energy_ratio(_last_mixed(data)), "at-most"),
    ]  # fmt: skip


def _semi_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    p, width = data.fraction.values, 0.008
    for shift, kind, colour in ((-1, "generalising", 2), (1, "memorising", 3)):
        axes.bar(p + shift * width / 2, data[kind].mean("seed"), width, color=plotting.COLOURS[colour],
                 alpha=0.6, label=f"{kind} nodes")  # fmt: skip
    for row in data.test_accuracy.transpose("seed", "fraction").values:
        axes.plot(p, row, ".", color=plotting.COLOURS[1], markersize=3)
    axes.plot(p, data.test_accuracy.mean("seed"), color=plotting.COLOURS[1], label="test accuracy")
    axes.set(xlabel="share of pairs", ylabel="share", ylim=(-0.02, 1.4), yticks=[0, 0.5, 1],
             title="semi-grokking")  # fmt: skip
    axes.legend(loc="upper center", ncols=2, fontsize=6)


# Rates: large in stage I, small in stage II, where data are scarce.

SMALL_RATE, LARGE_RATE = 1e-3, 1e-2
RATES = {
    "small": Setting(1500, 5e-3, SMALL_RATE, fraction=0.45),
    "large": Setting(1500, 5e-3, LARGE_RATE, fraction=0.45),
    "large, then small": Setting(
        1500, 5e-3, SMALL_RATE, fraction=0.45, early_rate=LARGE_RATE, switch=10
    ),
}
MIXED = "large, then small"
REACHED = 0.8
"""Below 0.9, as some of the runs end there."""


def _rates(config: Any, seeds: range, context: Context) -> "xarray.Dataset":
    settings = _fate_runs.sized(config, RATES)
    runs = {
        name: _fate_runs.train(settings[name], seeds, 2 * config.fate_records, inside)[
            list(_fate_runs.CURVES)
        ]
        for name, inside in _training.parts(context, settings)
    }
    return _fate_runs.over(runs, "rate")


def _rates_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    runs = {name: by_time(data, rate=name) for name in RATES}
    last = float(data.recorded_time.max())
    test, train = (
        {name: time_to(run[f"{part}_accuracy"], REACHED) for name, run in runs.items()}
        for part in ("test", "train")
    )
    end = {name: run.test_accuracy.isel(time=-1) for name, run in runs.items()}
    return [
        geometric_claim("In stage I a large rate learns the readout faster (epochs to a training accuracy of "
                        "0.8 with the small rate over those with the large one)", "App. I, learning rates",
                        1.5, ratio_of_times(train["small"], train[MIXED], last), "at-least"),
        clear_claim("A large rate in stage I and a small one afterwards generalise sooner than the small "
                    "one throughout (logarithm of the ratio of epochs to a test accuracy of 0.8)",
                    "App. I, learning rates", 0.0,
                    np.log(ratio_of_times(test["small"], test[MIXED], last))),
        clear_claim("With limited data a small rate in stage II generalises better than a large one "
                    "throughout (test accuracy at the end, difference)", "App. I, learning rates", 0.0,
                    end[MIXED] - end["large"]),
    ]  # fmt: skip


def _rates_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    for colour, name in zip(plotting.COLOURS, RATES, strict=False):
        _training.draw_band(axes, by_time(data, rate=name).test_accuracy, colour, name)
    _training.accuracy_axes(axes, f"rate, {RATES['small'].fraction:.0%} of pairs", "test accuracy")
    axes.legend(loc="upper left")


STUDIES = (
    Study("stop", _stop, _stop_claims, _stop_panel),
    Study("ungrok", _ungrok, _ungrok_claims, _ungrok_panel),
    Study("semi", _semi, _semi_claims, _semi_panel),
    Study("stages", _rates, _rates_claims, _rates_panel),
    *_fate_optima.STUDIES,
)
