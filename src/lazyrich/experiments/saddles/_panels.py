"""What the panels of Figs. 1, 4 and 5 share: runs that walk from saddle to saddle, and their units."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import models, plotting, simulate
from lazyrich.core import Claim, Context, Convention
from lazyrich.experiments._over_seeds import over_seeds
from lazyrich.experiments.saddles import _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

CONVENTION = Convention(
    loss="mean over samples of the squared norm of the error, no ½ (Eq. 64)",
    time="t counts gradient-descent steps; gradient flow at time η·t where the caption says so",
    time_unit="steps",
)
REFERENCES = ("saddles",)
RESTARTS, MOST_STEPS = 16, 20_000
"""Of the network with one unit."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What a panel is computed from.

    `nodes` are those of a quadrature over the population, per input; `implicit` says how to integrate a flow.
    """

    width: int = 50
    initial_std: float = 1e-6
    learning_rate: float = 0.01
    last_step: int = 2000
    num_samples: int = 8192
    population: bool = False
    nodes: int = 0
    flow: bool = False
    implicit: bool = False
    num_records: int = 200
    num_seeds: int = 8
    seeds_per_chunk: int = 8


def caption(below: str, rest: str = "") -> str:
    """What is drawn in every panel, what its lower half shows, and what is particular to it."""
    text = (
        "Above: the loss of every run (grey) and of one (blue), where there are intermediate plateaus the "
        f"run whose plateau lasts for the median time. Below: {below} at the marked moments. {rest}"
    )
    return text.strip()


class Drawn(NamedTuple):
    """Two of a unit's incoming weights, and their names."""

    weights: tuple[int, int]
    names: tuple[str, str]


NEURONS = Drawn((0, 1), ("$u_1$", "$u_2$"))
KERNELS = Drawn((0, 1), ("kernel $u_1$", "kernel $u_2$"))
QUERIES = Drawn((3, 4), ("query $Q_1$", "query $Q_2$"))


@dataclasses.dataclass(frozen=True)
class Panel:
    """A network that learns a task from every seed; its loss and its units are drawn.

    Attributes:
        title: of the picture.
        training: network and task for a configuration.
        drawn: which weights.
        early: look at the units right after the first drop, not in the middle of the plateau.
        small: the same once more from weights smaller by the first factor, for more steps by the second.
        compare: find the losses at which the network with one unit rests.
    """

    title: str
    training: "Callable[[Config], simulate.Supervised]"
    drawn: Drawn = NEURONS
    early: bool = False
    small: tuple[float, int] | None = None
    compare: bool = True

    def run(self, config: Config, context: Context) -> "xarray.Dataset":
        """Every seed, and whatever it is compared with."""
        found = self._runs(config, context, "training")
        if self.compare:
            found = found.merge(context.keep("one-unit", _one_unit, self.training, config))
        if self.small is not None:
            factor, longer = self.small
            less = dataclasses.replace(
                config, initial_std=config.initial_std * factor, last_step=config.last_step * longer
            )
            found = found.merge(self.again("small", less, context))
        order = _order(self.training(config).network)
        return found.assign(order=order).assign_attrs(CONVENTION.attributes())

    def again(self, name: str, config: Config, context: Context) -> "xarray.Dataset":
        """Every seed under other conditions: variables whose names begin with that of the condition."""
        runs = self._runs(config, context, name)
        return runs.rename({old: f"{name}_{old}" for old in (*runs.data_vars, "time")})

    def _runs(self, config: Config, context: Context, name: str) -> "xarray.Dataset":
        steps = simulate.even_steps(config.last_step, config.num_records)

        def compute(config: Config, seeds: range) -> "xarray.Dataset":
            return _train(self.training(config), steps, config, seeds)

        return over_seeds(compute, config, context, name=name)

    def kind(self, config: Config) -> "models.UnitKind":
        """What holds for the units of the first layer."""
        return self.training(config).network.kinds[0]

    def walks(self, result: "xarray.Dataset", config: Config) -> list[_walks.Walk]:
        """What each run did."""
        return _walks.walks(result, self.kind(config), early=self.early)

    def small_walks(self, result: "xarray.Dataset", config: Config) -> list[_walks.Walk]:
        """What each run from smaller weights did."""
        return self.walks(condition(result, "small"), config)

    def order_claim(self, result: "xarray.Dataset", config: Config, source: str) -> Claim:
        """The lowest order at which a unit responds, as measured: it says what separates in time."""
        kind = self.kind(config)
        return Claim(
            f"The lowest order of a unit in its incoming weights is {kind.order}: what separates is "
            f"{kind.separates}", source, kind.order, float(result.order), "absolute", 0.01,
        )  # fmt: skip

    def figure(self, result: "xarray.Dataset", config: Config) -> "Figure":
        """The loss of all runs above, one run's first-layer weights at two moments below."""
        found = self.walks(result, config)
        pick = _walks.shown(found)
        picture, axes = plotting.new_mosaic(
            [["loss", "loss"], ["plateau", "end"]], (4.6, 4.8), (1.1, 1)
        )
        one, middle = result.isel(seed=pick), found[pick].middle
        _draw_losses(axes["loss"], result, pick, self.title)
        dropped = "after the first drop" if found[pick].plateaus.num_drops else "at the start"
        words = dropped if self.early else "during the plateau"
        for name, index, when, colour in (
            ("plateau", middle, words, 1),
            ("end", -1, "at the end", 2),
        ):
            time, colour = float(result.time[index]), plotting.COLOURS[colour]
            axes["loss"].plot(time, one.loss[index], "o", color=colour, zorder=4)
            x, y = (one.incoming.values[index][:, i] for i in self.drawn.weights)
            size = 1.15 * float(np.max(np.abs([x, y]))) or 1.0
            self._draw_units(axes[name], x, y, size, f"{when} (step {time:g})", colour)
        return picture

    def frames(
        self, result: "xarray.Dataset", config: Config, every: int = 2
    ) -> "Iterator[Figure]":
        """The walk of the run that `figure` shows, moment by moment: the loss so far and the units."""
        one = result.isel(seed=_walks.shown(self.walks(result, config)))
        x, y = (one.incoming.values[:, :, i] for i in self.drawn.weights)
        size = 1.1 * float(max(np.abs(x).max(), np.abs(y).max()))
        for index in range(0, result.sizes["time"], every):
            picture, (row,) = plotting.new_figure(2)
            row[0].plot(result.time, one.loss, color="#bbbbbb", linewidth=0.8)
            row[0].plot(result.time[: index + 1], one.loss[: index + 1])
            row[0].set(xlabel="time $t$ (steps)", ylabel="loss", title=self.title)
            step = f"step {float(result.time[index]):g}"
            self._draw_units(row[1], x[index], y[index], size, step, plotting.COLOURS[1])
            yield picture

    def _draw_units(self, axes: Any, x: Any, y: Any, size: float, title: str, colour: str) -> None:
        axes.axhline(0, color="#bbbbbb", linewidth=0.8)
        axes.axvline(0, color="#bbbbbb", linewidth=0.8)
        axes.plot(x, y, "o", color=colour, markersize=4, alpha=0.8)
        mark = float(
            f"{size / 1.5:.0e}"
        )  # one digit: labels stay short, whatever the size of the weights
        ticks = {"ticks": [-mark, 0, mark], "labels": [f"{-mark:g}", "0", f"{mark:g}"]}
        axes.set_xticks(**ticks)
        axes.set_yticks(**ticks)
        axes.set(xlim=(-size, size), ylim=(-size, size), aspect="equal")
        axes.set(xlabel=self.drawn.names[0], ylabel=self.drawn.names[1])
        axes.set_title(title, fontsize=8)


def condition(result: "xarray.Dataset", name: str) -> "xarray.Dataset":
    """The runs that `Panel.again` made under other conditions, their variables called as usual."""
    ours = [old for old in result.variables if str(old).startswith(f"{name}_")]
    names = {old: str(old).removeprefix(f"{name}_") for old in ours}
    return result[[old for old in ours if old in result.data_vars]].rename(names)


def _draw_losses(axes: Any, result: "xarray.Dataset", pick: int, title: str) -> None:
    for i in range(result.sizes["seed"]):
        bold = {"color": plotting.COLOURS[0], "zorder": 3}
        look = bold if i == pick else {"color": "#bbbbbb", "linewidth": 0.8}
        axes.plot(result.time, result.loss.isel(seed=i), **look)
    low = -0.03 * float(result.loss.max())
    axes.locator_params(axis="x", nbins=6)
    axes.set(xlabel="time $t$ (steps)", ylabel="loss", title=title, ylim=(low, None))


def _order(network: "models.Network") -> float:
    """The power with which the outputs of the first layer grow with its small incoming weights."""
    import jax

    first = network.first if isinstance(network, models.Deep) else network
    weights = first.init(jax.random.key(0), 1.0)
    shape = (size or 5 for size in first.input_shape)
    x = np.random.default_rng(0).standard_normal((20, *shape))
    with jax.enable_x64(True):
        near, far = (
            np.abs(first.apply(weights._replace(first=h * weights.first), x)).max()
            for h in (1e-3, 2e-3)
        )
    return float(np.log2(far / near))


def _one_unit(training: Any, config: Config) -> "xarray.Dataset":
    """Descent from weights that leave no plateau to wait on, on the whole distribution where there is one."""
    narrow = training(dataclasses.replace(config, width=1, initial_std=0.1))
    if narrow.can_learn_population and not narrow.population:
        narrow = dataclasses.replace(narrow, population=True)
    narrow = dataclasses.replace(narrow, records=())
    descent = dataclasses.replace(config, flow=False)
    ends = _train(narrow, [min(config.last_step, MOST_STEPS)], descent, range(RESTARTS)).loss[:, -1]
    return (
        ends.drop_vars("time").drop_attrs().rename(seed="restart").to_dataset(name="one_unit_loss")
    )


def _train(
    training: "simulate.Supervised", steps: Any, config: Config, seeds: range
) -> "xarray.Dataset":
    if config.flow:
        tolerance = 1e-8 if config.implicit else 1e-6  # explicit steps are short enough anyway
        return simulate.gradient_flow(
            training, steps, learning_rate=config.learning_rate, seeds=seeds, tolerance=tolerance,
            implicit=config.implicit,
        )  # fmt: skip
    return simulate.gradient_descent(
        training, steps, learning_rate=config.learning_rate, seeds=seeds
    )
