"""What Fig. 15 to 18 share: runs whose top layer starts at zero beside runs that start as usual."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import groups, measures, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Departure, argument_error, require_seeds
from lazyrich.experiments._claims import geometric_claim, mean_claim, share_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments._records import by_record, by_time
from lazyrich.experiments._times import ratio_of_times
from lazyrich.experiments.li2 import _training

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

REFERENCES = ("li2",)
STARTS = {"usual": 1.0, "zero": 0.0}
"""Factors of the top layer at the start."""
FALLS = (
    "The factor is largest at a middle share and falls again towards the boundary. As the curves show, at "
    "the middle share the first rise of the test accuracy carries zero-init far and the usual start not; "
    "near the boundary it carries neither, and most of the time goes into the slow rise after it. In "
    "epochs the gain there is about that at the middle share."
)


@dataclasses.dataclass(frozen=True)
class Config:
    """What a figure is computed from. Numbers of epochs belong to fractions, the scarcest data first.

    Zero-init needs fewer of them: `zero_epochs` says which part. Where compiling takes longer than training,
    samples are filled up to the same number for all fractions (`fill_up`).
    """

    order: int = 41
    width: int = 1024
    train_fractions: tuple[float, ...] = (0.4, 0.5, 0.7)
    last_epochs: tuple[int, ...] = (1000, 600, 250)
    zero_epochs: float = 1.0
    fill_up: bool = False
    middle_layers: tuple[int, ...] = (0,)
    activation: str = "quadratic"
    learning_rate: float = 5e-3
    weight_decay: float = 5e-5
    num_records: int = 60
    num_seeds: int = 8
    seeds_per_chunk: int = 2


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Both starts, over `layers`, `fraction`, `start`, `seed` and `record`."""
    shares = {fraction: number for number, fraction in enumerate(config.train_fractions)}
    axes = {"layers": config.middle_layers, "fraction": shares, "start": list(STARTS)}
    found = over_cases(axes, _train, config, context, "modular addition", resume=True)
    return found.assign_attrs(_training.CONVENTION.attributes())


def _epochs(config: Config, number: int, start: str) -> np.ndarray:
    """When to record: half of the records evenly in time, half evenly in its logarithm; always as many."""
    part = config.zero_epochs if start == "zero" else 1.0
    last, num = round(part * config.last_epochs[number]), config.num_records
    if num > last:
        raise argument_error("num_records", f"be at most {last}, the number of epochs", num)
    early = simulate.log_steps(last, num // 2, start=False)
    late = np.linspace(0, last, 4 * num).round()
    rest = np.setdiff1d(late, early)
    missing = num - early.size
    return np.sort(
        np.concatenate([early, rest[np.linspace(0, rest.size - 1, missing).round().astype(int)]])
    )


def _train(
    config: Config, middle: int, share: int, start: str, seeds: range, context: Context
) -> "xarray.Dataset":
    group = groups.cyclic(config.order)
    most = tasks.GroupArithmetic(group, max(config.train_fractions)).num_samples
    training = _training.training(
        group, config.train_fractions[share], config.width, activation=config.activation,
        middle_layers=middle, top_scale=STARTS[start],
        padded_samples=most if config.fill_up else None,
    )  # fmt: skip
    found = _training.descend(training, _epochs(config, share, start), seeds, config, context)
    kept = found[["train_accuracy", "test_accuracy", "train_loss", "test_loss"]]
    return by_record(kept)


def epochs(result: "xarray.Dataset") -> np.ndarray:
    """Epochs until the test accuracy passes the level for good, (layers, fraction, start, seed); or inf."""
    curves = result.test_accuracy.transpose("layers", "fraction", "start", "seed", "record").values
    times = result.recorded_time.transpose("layers", "fraction", "start", "record").values
    found = np.empty(curves.shape[:-1])
    for place in np.ndindex(times.shape[:-1]):
        found[place] = measures.crossing_time(times[place], curves[place], _training.LEVEL).time
    return found


class SpeedUp(NamedTuple):
    """What zero-init gains, by seed. A run that never gets there counts as if it did at the last epoch."""

    ratios: np.ndarray
    """Epochs with the usual start over epochs with zero-init; NaN where neither gets there."""
    saved: np.ndarray
    """Their difference."""
    bound: str
    """What runs that never get there make of the ratio: `exact` if there are none, `at least` if only slower
    runs, `at most` if only faster runs do not, `unknown` else."""
    reached: np.ndarray
    """Whether the runs with zero-init get there."""

    @property
    def ratio(self) -> float:
        """Geometric mean over seeds."""
        return float(measures.seed_geometric_mean(self.ratios).mean)

    @property
    def text(self) -> str:
        """The ratio as it stands on a figure."""
        if np.isnan(self.ratio):
            return "never"
        sign = {"at least": "≥ ", "at most": "≤ ", "exact": "", "unknown": "? "}[self.bound]
        return f"{sign}{self.ratio:.2g}×"


def speed_up(result: "xarray.Dataset", layer: int, share: int) -> SpeedUp:
    """For one depth and one share of the data.

    Runs that never get there count as the last epoch of the usual start, so the gain is rather too small.
    """
    last = float(result.recorded_time.isel(layers=layer, fraction=share, start=0, record=-1))
    usual, zero = epochs(result)[layer, share]
    return SpeedUp(
        ratio_of_times(usual, zero, last), np.minimum(usual, last) - np.minimum(zero, last),
        bound(usual, zero), np.isfinite(zero),
    )  # fmt: skip


def smallest(found: Sequence[SpeedUp]) -> SpeedUp:
    """The smallest gain; one that nothing is known about, if there is one."""
    return min(found, key=lambda one: (not np.isnan(one.ratio), one.ratio))


def bound(slower: Any, faster: Any) -> str:
    """What runs that never get there make of a ratio of epochs."""
    words = {
        (True, True): "exact", (False, True): "at least", (True, False): "at most",
        (False, False): "unknown",
    }  # fmt: skip
    return words[bool(np.isfinite(slower).all()), bool(np.isfinite(faster).all())]


def table(result: "xarray.Dataset") -> list[list[SpeedUp]]:
    """Speed-ups of every depth (rows) and share of the data (columns)."""
    return [
        [speed_up(result, layer, share) for share in range(result.sizes["fraction"])]
        for layer in range(result.sizes["layers"])
    ]


def figure(result: "xarray.Dataset", titles: Sequence[str]) -> "Figure":
    """A row for each depth, a panel for each share of the data, and one of epochs against the share."""
    rows, columns = result.sizes["layers"], result.sizes["fraction"]
    picture, axes = plotting.new_figure(columns + 1, rows, panel=(2.9, 2.6))
    found = table(result)
    for layer in range(rows):
        for share in range(columns):
            _draw(axes[layer, share], result, layer, share, titles[layer], found[layer][share])
        _draw_epochs(axes[layer, -1], result, layer)
    limits = [panel.get_ylim() for panel in axes[:, -1]]
    for panel in axes[:, -1]:  # depths are to be compared
        panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    axes[0, 0].legend(loc="upper left")
    return picture


def _draw(
    axes: Any, result: "xarray.Dataset", layer: int, share: int, title: str, found: SpeedUp
) -> None:
    one = result.isel(layers=layer, fraction=share)
    for start, colour in zip(STARTS, (plotting.COLOURS[1], plotting.COLOURS[0]), strict=True):
        curves = by_time(one, start=start).test_accuracy
        _training.draw_band(axes, curves, colour, "zero-init" if start == "zero" else "usual start")
    fraction = float(result.fraction[share])
    _training.accuracy_axes(
        axes, f"{title}{fraction:.0%} of the pairs: {found.text}", "test accuracy"
    )
    axes.set_xlim(left=1)


def _draw_epochs(axes: Any, result: "xarray.Dataset", layer: int) -> None:
    times = epochs(result)[layer]
    last = result.recorded_time.isel(layers=layer, start=0, record=-1).values
    for number, (start, colour) in enumerate(zip(STARTS, (1, 0), strict=True)):
        reached = np.minimum(times[:, number], last[:, None])
        middle, error = measures.seed_geometric_mean(reached, -1)
        axes.errorbar(result.fraction, middle, error, color=plotting.COLOURS[colour], marker="o",
        markersize=4,
                      label="zero-init" if start == "zero" else "usual start")  # fmt: skip
    axes.set(yscale="log", xlabel="share of the pairs that is trained on", title="Epochs to accuracy 0.9",
             ylabel="epochs")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Panel:
    """One of Fig. 15 to 17, named by `source`: x² and two layers at one M."""

    source: str

    def run(self, config: Config, context: Context) -> "xarray.Dataset":
        """Both starts at every share of the data."""
        return run(config, context)

    def claims(self, result: "xarray.Dataset", config: Config) -> list[Claim]:
        """Zero-init is faster, and what scarce data do to that."""
        found = table(result)[0]
        least = smallest(found)
        scarce, middle, ample = found[0], found[len(found) // 2], found[-1]
        return require_seeds([
            geometric_claim(
                "Zero-init leads to faster grokking at every share of the data (epochs to a test accuracy of "
                "0.9 with the usual start over those with zero-init, geometric mean, the smallest over "
                "shares)", self.source, 1.0, least.ratios, "at-least"),
            share_claim("Every zero-init run gets there (share of runs, the smallest over shares)",
                        self.source, min((one.reached for one in found), key=np.mean)),
            mean_claim("in particular when data are scarce: more epochs are saved (mean at the scarcest "
                       "share minus that at the most ample)", "Fig. 17", 0.0, scarce.saved - ample.saved,
                       "at-least"),
            geometric_claim("in particular when data are scarce: the factor is larger (speed-up at the "
                            "middle share over that at the most ample)", "Fig. 17", 1.0,
                            middle.ratios / ample.ratios, "at-least"),
            geometric_claim("in particular when data are scarce: the scarcer they are, the larger is the "
                            "factor (speed-up at the scarcest share over that at the middle one)", "Fig. 17",
                            1.0, scarce.ratios / middle.ratios, "at-least",
                            departure=Departure(FALLS, 0.65, 0.25)),
        ], 8)  # fmt: skip

    def figure(self, result: "xarray.Dataset", config: Config) -> "Figure":
        """Test accuracies at every share."""
        return figure(result, [""])


def caption(order: int, quick: int) -> str:
    """What Fig. 15 to 17 show."""
    return (
        "Test accuracy over epochs with a top layer that starts at zero (zero-init) and with the usual "
        "start, for several shares of training pairs, with the speed-up: epochs to a test accuracy of 0.9 "
        "of the usual start over those of zero-init, geometric mean over seeds (≥: some runs with the "
        "usual start do not get there, and count as the last epoch). Lines: median over seeds, bands: the "
        f"middle eight tenths. Right: epochs to 0.9. Modular addition, M = {order}, K = 1024, σ(x) = x², "
        "squared error, Adam at 5e-3, coupled decay 5e-5. The text gives no shares; they are chosen, the "
        "scarcest so that zero-init gets there within the epochs of the run. "
        "The factor rises and falls again as data get scarcer: in preset `quick` it is at the scarcest "
        "share what it is at the most ample one (ratio 0.91 ± 0.04, 1.04 ± 0.06, at least 1.01 ± 0.06 in "
        "Fig. 15, 16, 17); at M = 41 two or three seeds gave 1.3, 1.8, 1.9, 1.3 and 1.2 for 85, 70, 60, 50 "
        "and 40 % of the pairs. With K = 128 in place of 256 it is largest at the scarcest share that was "
        f"tried. `quick` has M = {quick} and K = 256."
    )
