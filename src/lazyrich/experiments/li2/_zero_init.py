"""What Fig. 15 to 18 share: runs whose top layer starts at zero beside runs that start as usual."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import groups, measures, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Departure, argument_error, require_seeds
from lazyrich.experiments._over_seeds import over_seeds
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
    """Both starts, over `layers`, `fraction`, `start`, `seed` and `record`; `epoch` says when records are."""
    import xarray

    shape = (len(config.middle_layers), len(config.train_fractions), len(STARTS))

    def train(index: int, seeds: range) -> "xarray.Dataset":
        layer, share, start = np.unravel_index(index, shape)
        return _train(config, int(layer), int(share), list(STARTS)[start], seeds)

    counts = [config.num_seeds] * int(np.prod(shape))
    runs = over_seeds("modular addition", "run", counts, config, train, context)
    names = ("layers", "fraction", "start")
    curves = {
        name: (
            (*names, "seed", "record"),
            np.stack([run[name] for run in runs]).reshape(*shape, *runs[0][name].shape),
        )
        for name in ("train_accuracy", "test_accuracy", "train_loss", "test_loss")
    }
    epochs = [[_epochs(config, number, start) for start in STARTS] for number in range(shape[1])]
    return xarray.Dataset(
        curves | {"epoch": (("fraction", "start", "record"), np.array(epochs, float))},
        {
            "layers": list(config.middle_layers), "fraction": list(config.train_fractions),
            "start": list(STARTS), "seed": np.arange(config.num_seeds),
        }, _training.CONVENTION.attributes(),
    )  # fmt: skip


def _epochs(config: Config, number: int, start: str) -> np.ndarray:
    """When to record: half of the records evenly in time, half evenly in its logarithm; always as many."""
    part = config.zero_epochs if start == "zero" else 1.0
    last, num = round(part * config.last_epochs[number]), config.num_records
    if num > last:
        raise argument_error("num_records", f"be at most {last}, the number of epochs", num)
    early = np.unique(np.round(np.geomspace(1, last, num // 2)))
    late = np.linspace(0, last, 4 * num).round()
    rest = np.setdiff1d(late, early)
    missing = num - early.size
    return np.sort(
        np.concatenate([early, rest[np.linspace(0, rest.size - 1, missing).round().astype(int)]])
    )


def _train(config: Config, layer: int, share: int, start: str, seeds: range) -> "xarray.Dataset":
    group = groups.cyclic(config.order)
    task = tasks.GroupArithmetic(group, config.train_fractions[share])
    most = tasks.GroupArithmetic(group, max(config.train_fractions)).num_samples
    network = models.PairNetwork(
        config.order,
        config.width,
        activation=config.activation,
        middle_layers=config.middle_layers[layer],
    )
    training = simulate.FeatureLearning(
        network, task, top_scale=STARTS[start], padded_samples=most if config.fill_up else None
    )
    found = simulate.gradient_descent(
        training, _epochs(config, share, start), seeds=seeds, optimizer="adam",
        learning_rate=config.learning_rate, weight_decay=config.weight_decay,
    )  # fmt: skip
    return found.drop_vars("time").rename(time="record").drop_attrs()


def epochs(result: "xarray.Dataset") -> np.ndarray:
    """Epochs until the test accuracy passes the level for good, (layers, fraction, start, seed); or inf."""
    curves = result.test_accuracy.transpose("layers", "fraction", "start", "seed", "record").values
    found = [
        [
            measures.crossing_time(grid, curves[:, i, j], _training.LEVEL).time
            for j, grid in enumerate(grids)
        ]
        for i, grids in enumerate(result.epoch.values)
    ]
    return np.moveaxis(np.array(found), 2, 0)


class SpeedUp(NamedTuple):
    """Epochs with the usual start over epochs with zero-init, and their difference; means over seeds."""

    ratio: _training.Ratio
    saved: float
    saved_error: float
    reached: tuple[float, float]

    @property
    def text(self) -> str:
        """The ratio as it stands on a figure."""
        sign = {"at least": "≥ ", "at most": "≤ ", "exact": "", "unknown": "? "}[self.ratio.bound]
        return f"{sign}{self.ratio.ratio:.2g}×"


def speed_up(result: "xarray.Dataset", layer: int, share: int) -> SpeedUp:
    """For one depth and one share of the data.

    Runs that never get there count as the last epoch of the usual start, so the gain is rather too small.
    """
    last = float(result.epoch.values[share, 0, -1])
    usual, zero = epochs(result)[layer, share]
    saved = np.minimum(usual, last) - np.minimum(zero, last)
    error = float(saved.std(ddof=1) / np.sqrt(saved.size)) if saved.size > 1 else np.nan
    reached = (float(np.mean(np.isfinite(usual))), float(np.mean(np.isfinite(zero))))
    return SpeedUp(
        _training.ratio_of_epochs(usual, zero, last), float(saved.mean()), error, reached
    )


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
    one = result.isel(layers=layer, fraction=share).rename(record="time")
    for start, colour in zip(STARTS, (plotting.COLOURS[1], plotting.COLOURS[0]), strict=True):
        time = result.epoch.isel(fraction=share).sel(start=start).values
        curves = one.test_accuracy.sel(start=start).assign_coords(time=time)
        _training.draw_band(axes, curves, colour, "zero-init" if start == "zero" else "usual start")
    fraction = float(result.fraction[share])
    _training.accuracy_axes(
        axes, f"{title}{fraction:.0%} of the pairs: {found.text}", "test accuracy"
    )
    axes.set_xlim(left=1)


def _draw_epochs(axes: Any, result: "xarray.Dataset", layer: int) -> None:
    times, last = epochs(result)[layer], result.epoch.values[:, 0, -1]
    for number, (start, colour) in enumerate(zip(STARTS, (1, 0), strict=True)):
        means = [_training.geometric_mean(times[i, number], last[i]) for i in range(len(last))]
        middle, error = np.array(means).T
        axes.errorbar(result.fraction, middle, error, color=plotting.COLOURS[colour], marker="o",
        markersize=4,
                      label="zero-init" if start == "zero" else "usual start")  # fmt: skip
    axes.set(yscale="log", xlabel="share of the pairs that is trained on", title="Epochs to accuracy 0.9",
             ylabel="epochs")  # fmt: skip


def quotient(one: SpeedUp, other: SpeedUp) -> tuple[float, str, float, float]:
    """Of two speed-ups: value, comparison, tolerance and standard error, as a claim takes them."""
    value = one.ratio.ratio / other.ratio.ratio
    spread = np.hypot(one.ratio.error / one.ratio.ratio, other.ratio.error / other.ratio.ratio)
    return value, "at-least", 0.0, value * float(spread)


@dataclasses.dataclass(frozen=True)
class Panel:
    """One of Fig. 15 to 17, named by `source`: x² and two layers at one M."""

    source: str

    def run(self, config: Config, context: Context) -> "xarray.Dataset":
        """Both starts at every share of the data."""
        return run(config, context)

    def claims(self, result: "xarray.Dataset", config: Config) -> list[Claim]:
        """Zero-init is faster, and what scarce data do to that."""
        found, num = table(result)[0], result.sizes["seed"]
        least = min(found, key=lambda one: one.ratio.ratio)
        scarce, middle, ample = found[0], found[len(found) // 2], found[-1]
        more = scarce.saved - ample.saved
        error = float(np.hypot(scarce.saved_error, ample.saved_error))
        return require_seeds([
            Claim("Zero-init leads to faster grokking at every share of the data (epochs to a test accuracy "
                  "of 0.9 with the usual start over those with zero-init, geometric mean, the smallest over "
                  "shares)", self.source, 1.0, least.ratio.ratio, "at-least", uncertainty=least.ratio.error,
                  num_seeds=num),
            Claim("Every zero-init run gets there (share of runs, the smallest over shares)", self.source,
                  1.0, min(one.reached[1] for one in found), "at-least", num_seeds=num),
            Claim("in particular when data are scarce: more epochs are saved (mean at the scarcest share "
                  "minus that at the most ample)", "Fig. 17", 0.0, more, "at-least", uncertainty=error,
                  num_seeds=num),
            Claim("in particular when data are scarce: the factor is larger (speed-up at the middle share "
                  "over that at the most ample)", "Fig. 17", 1.0, *quotient(middle, ample), num_seeds=num),
            Claim("in particular when data are scarce: the scarcer they are, the larger is the factor "
                  "(speed-up at the scarcest share over that at the middle one)", "Fig. 17", 1.0,
                  *quotient(scarce, middle), num_seeds=num, departure=Departure(FALLS, 0.65, 0.25)),
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
        "squared error, Adam at 5e-3, coupled decay 5e-5. The text gives no shares; these are chosen here. "
        "The factor rises and falls again as data get scarcer: in preset `quick` it is at the scarcest "
        "share what it is at the most ample one (ratio 0.91 ± 0.04, 1.04 ± 0.06, at least 1.01 ± 0.06 in "
        "Fig. 15, 16, 17); at M = 41 two or three seeds gave 1.3, 1.8, 1.9, 1.3 and 1.2 for 85, 70, 60, 50 "
        "and 40 % of the pairs. With K = 128 in place of 256 it is largest at the scarcest share that was "
        f"tried. `quick` has M = {quick} and K = 256."
    )
