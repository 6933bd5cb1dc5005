"""What the panels of Figs. 1, 4 and 5 share: runs that walk from saddle to saddle, and their units."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import models, plotting, simulate
from lazyrich.core import Context, Convention
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
    """What a panel is computed from."""

    width: int = 50
    initial: float = 1e-6
    learning_rate: float = 0.01
    last_step: int = 2000
    num_samples: int = 8192
    population: int = 0
    flow: bool = False
    num_records: int = 200
    num_seeds: int = 8
    seeds_per_chunk: int = 8


Training = Callable[[Config], "simulate.Supervised"]


def run(
    training: Training, config: Config, context: Context, *, small: tuple[float, int] | None = None
) -> "xarray.Dataset":
    """The panel's network from every seed, and the losses at which the same network with one unit rests.

    Args:
        training: the panel's network and task for a configuration.
        config: the panel's configuration.
        context: progress, cancellation and checkpoints.
        small: the same once more from weights smaller by a factor, for a number of steps.
    """
    found = losses(training, config, context)
    found = found.merge(context.keep("one-unit", _one_unit, training, config))
    if small is not None:
        less = dataclasses.replace(config, initial=config.initial * small[0], last_step=small[1])
        again = losses(training, less, context, name="small")
        found = found.merge(
            again.rename({name: f"small_{name}" for name in (*again.data_vars, "time")})
        )
    return found.assign(order=order(training(config).network)).assign_attrs(CONVENTION.attributes())


def from_small(result: "xarray.Dataset") -> "xarray.Dataset":
    """The runs from smaller weights, named like the others."""
    names = {
        name: str(name).removeprefix("small_") for name in result.variables if "small_" in str(name)
    }
    return result[[name for name in names if name in result.data_vars]].rename(names)


def order(network: "models.Network") -> float:
    """The power with which the outputs of the first layer grow with its small incoming weights."""
    import jax

    first = network.first if isinstance(network, models.Deep) else network
    weights = first.init(jax.random.key(0), 1.0)
    shape = (
        (20, 5, first.token_dimension)
        if isinstance(first, models.Attention)
        else (20, _inputs(first))
    )
    x = np.random.default_rng(0).standard_normal(shape)
    with jax.enable_x64(True):
        near, far = (
            np.abs(first.apply(weights._replace(first=h * weights.first), x)).max()
            for h in (1e-3, 2e-3)
        )
    return float(np.log2(far / near))


def _inputs(network: Any) -> int:
    return (
        network.input_length if isinstance(network, models.Convolution) else network.input_dimension
    )


def losses(
    training: Training,
    config: Config,
    context: Context,
    *,
    name: str = "training",
) -> "xarray.Dataset":
    """Loss and units of every run."""
    steps = np.round(np.linspace(0, config.last_step, config.num_records + 1))

    def compute(index: int, seeds: range) -> "xarray.Dataset":
        return _train(training(config), steps, config, seeds).drop_attrs()

    return over_seeds("training", name, [config.num_seeds], config, compute, context)[0]


def _one_unit(training: Training, config: Config) -> "xarray.Dataset":
    """Descent from weights that leave no plateau to wait on, on the whole distribution where there is one."""
    narrow = training(dataclasses.replace(config, width=1, initial=0.1))
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
        return simulate.gradient_flow(
            training, steps, learning_rate=config.learning_rate, seeds=seeds, tolerance=1e-6
        )
    return simulate.gradient_descent(
        training, steps, learning_rate=config.learning_rate, seeds=seeds
    )


def figure(
    result: "xarray.Dataset", title: str, kind: "models.UnitKind | None",
    *, weights: tuple[int, int] = (0, 1), names: tuple[str, str] = ("$u_1$", "$u_2$"),
    early: bool = False,
) -> "Figure":  # fmt: skip
    """The loss of all runs above, one run's first-layer weights at the plateau and at the end below."""
    found = _walks.walks(result, kind, early=early)
    pick = _walks.shown(found)
    picture, axes = plotting.new_mosaic(
        [["loss", "loss"], ["plateau", "end"]], (4.6, 4.8), (1.1, 1)
    )
    top, one, middle = axes["loss"], result.isel(seed=pick), found[pick].middle
    for i in range(result.sizes["seed"]):
        bold = (
            {"color": plotting.COLOURS[0], "zorder": 3}
            if i == pick
            else {"color": "#bbbbbb", "lw": 0.8}
        )
        top.plot(result.time, result.loss.isel(seed=i), **bold)
    for index, colour in ((middle, plotting.COLOURS[1]), (-1, plotting.COLOURS[2])):
        top.plot(result.time[index], one.loss[index], "o", color=colour, zorder=4)
    top.set(
        xlabel="time $t$ (steps)",
        ylabel="loss",
        title=title,
        ylim=(-0.03 * float(result.loss.max()), None),
    )
    panels = (
        ("plateau", middle, "after the first drop" if early else "during the plateau", 1),
        ("end", -1, "at the end", 2),
    )
    for name, index, words, colour in panels:
        x, y = (one.incoming[index, :, weights[k]] for k in (0, 1))
        _draw_units(
            axes[name],
            x,
            y,
            f"{words} (step {float(result.time[index]):g})",
            plotting.COLOURS[colour],
        )
        axes[name].set(xlabel=names[0], ylabel=names[1])
    return picture


def frames(
    result: "xarray.Dataset", title: str, kind: "models.UnitKind | None",
    *, weights: tuple[int, int] = (0, 1), names: tuple[str, str] = ("$u_1$", "$u_2$"), every: int = 2,
) -> "Iterator[Figure]":  # fmt: skip
    """The walk of the run that `figure` shows, moment by moment: the loss so far and the units' weights."""
    one = result.isel(seed=_walks.shown(_walks.walks(result, kind)))
    x, y = (one.incoming.values[:, :, weights[k]] for k in (0, 1))
    size = 1.1 * float(max(np.abs(x).max(), np.abs(y).max()))
    for index in range(0, result.sizes["time"], every):
        picture, (row,) = plotting.new_figure(2)
        row[0].plot(result.time, one.loss, color="#bbbbbb", linewidth=0.8)
        row[0].plot(result.time[: index + 1], one.loss[: index + 1])
        row[0].set(xlabel="time $t$ (steps)", ylabel="loss", title=title)
        words = f"step {float(result.time[index]):g}"
        _draw_units(row[1], x[index], y[index], words, plotting.COLOURS[1])
        row[1].set(xlabel=names[0], ylabel=names[1], xlim=(-size, size), ylim=(-size, size))
        yield picture


def _draw_units(axes: Any, x: Any, y: Any, title: str, colour: str) -> None:
    axes.axhline(0, color="#bbbbbb", linewidth=0.8)
    axes.axvline(0, color="#bbbbbb", linewidth=0.8)
    axes.plot(x, y, "o", color=colour, markersize=4, alpha=0.8)
    size = 1.15 * float(np.max(np.abs([x, y]))) or 1.0
    axes.set(xlim=(-size, size), ylim=(-size, size), aspect="equal")
    axes.set_title(title, fontsize=8)
