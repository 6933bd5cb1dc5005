"""What the panels of Figs. 1, 4 and 5 share: runs that walk from saddle to saddle, and their units."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, models, plotting, simulate
from lazyrich.core import Claim, Context, Convention, Departure
from lazyrich.experiments._over_seeds import over_seeds

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

CONVENTION = Convention(
    loss="mean over samples of the squared norm of the error, no ½ (Eq. 64)",
    time="t counts gradient-descent steps; gradient flow at time η·t where the caption says so",
    time_unit="steps",
)
REFERENCES = ("saddles",)
NUM_RECORDS = 200
RESTARTS = 16


@dataclasses.dataclass(frozen=True)
class Config:
    """What a panel is computed from."""

    width: int = 50
    initial: float = 1e-6
    learning_rate: float = 0.01
    last_step: int = 2000
    num_samples: int = 8192
    population: bool = False
    num_seeds: int = 8
    seeds_per_chunk: int = 8


Training = Callable[[Config], "simulate.Supervised"]


def run(
    training: Training, config: Config, context: Context, *, flow: bool = False
) -> "xarray.Dataset":
    """The panel's network from every seed, and the losses at which the same network with one unit rests."""
    walk = losses(training, config, context, flow=flow)
    one_unit = context.keep("one-unit", _one_unit, training, config, flow)
    return walk.merge(one_unit).assign_attrs(CONVENTION.attributes())


def losses(
    training: Training,
    config: Config,
    context: Context,
    *,
    flow: bool = False,
    name: str = "training",
) -> "xarray.Dataset":
    """Loss and units of every run."""
    steps = np.round(np.linspace(0, config.last_step, NUM_RECORDS + 1))

    def compute(index: int, seeds: range) -> "xarray.Dataset":
        return _train(training(config), steps, config, seeds, flow).drop_attrs()

    return over_seeds("training", name, [config.num_seeds], config, compute, context)[0]


def _one_unit(training: Training, config: Config, flow: bool) -> "xarray.Dataset":
    """From weights that leave no plateau to wait on; on the whole distribution where there is one."""
    narrow = training(dataclasses.replace(config, width=1, initial=0.1))
    if narrow.can_learn_population:
        narrow = dataclasses.replace(narrow, population=True, records=())
    ends = _train(narrow, [config.last_step], config, range(RESTARTS), flow).loss[:, -1]
    return (
        ends.drop_vars("time").drop_attrs().rename(seed="restart").to_dataset(name="one_unit_loss")
    )


def _train(
    training: "simulate.Supervised", steps: Any, config: Config, seeds: range, flow: bool
) -> "xarray.Dataset":
    if flow:
        return simulate.gradient_flow(
            training, steps, learning_rate=config.learning_rate, seeds=seeds, tolerance=1e-6
        )
    return simulate.gradient_descent(
        training, steps, learning_rate=config.learning_rate, seeds=seeds
    )


@dataclasses.dataclass(frozen=True)
class Walk:
    """What a run did: its plateaus, and its layer at the middle of the intermediate one and at the end."""

    plateaus: "measures.Plateaus"
    middle: int
    at_plateau: "measures.EffectiveWidth"
    at_end: "measures.EffectiveWidth"

    @property
    def has_intermediate(self) -> bool:
        """Whether the loss rested once between its start and its end."""
        return self.plateaus.num_drops == 2


def run_rescaled(training: Training, config: Config, context: Context, factor: float) -> Any:
    """The losses from weights smaller by a factor, on the same data."""
    small = dataclasses.replace(config, initial=config.initial * factor)
    return losses(training, small, context, name="rescaled").loss.rename("rescaled_loss")


def drop_times(losses: "xarray.DataArray") -> list[Any]:
    """When each run's loss drops, for runs that drop twice."""
    found = [measures.plateaus(losses.time.values, one.values) for one in losses]
    return [p.drop_times for p in found if p.num_drops == 2]


def walks(result: "xarray.Dataset", kind: "models.UnitKind | None") -> list[Walk]:
    """What each seed's run did."""
    return [_walk(result.isel(seed=i), kind) for i in range(result.sizes["seed"])]


def _walk(one: "xarray.Dataset", kind: "models.UnitKind | None") -> Walk:
    found = measures.plateaus(one.time.values, one.loss.values)
    inner = slice(1, -1) if found.num_drops > 1 else slice(0, 1)
    centre = (found.starts[inner][0] + found.ends[inner][0]) / 2
    middle = int(np.argmin(np.abs(one.time.values - centre)))
    widths = [
        measures.effective_width(one.incoming.values[i], one.outgoing.values[i], kind=kind)
        for i in (middle, -1)
    ]
    return Walk(found, middle, *widths)


def shown(found: Sequence[Walk]) -> int:
    """The run to draw: of those with an intermediate plateau, the one that rests for the median time."""
    rests = np.array(
        [
            w.plateaus.drop_times[1] - w.plateaus.drop_times[0] if w.has_intermediate else -1
            for w in found
        ]
    )
    good = np.flatnonzero(rests >= 0) if np.any(rests >= 0) else np.arange(len(found))
    return int(good[np.argsort(rests[good], kind="stable")[len(good) // 2]])


def share(statement: str, source: str, hits: Sequence[bool], expected: float = 1.0) -> Claim:
    """A claim on the share of runs of which something is true."""
    measured, num = float(np.mean(hits)), len(hits)
    error = float(np.sqrt(measured * (1 - measured) / num))
    return Claim(
        f"{statement} (share of runs)", source, expected, measured, "at-least",
        uncertainty=error, num_seeds=num,
    )  # fmt: skip


def mean(
    statement: str, source: str, expected: float, values: Sequence[float], tolerance: float
) -> Claim:
    """A claim on a mean over runs, relative."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    measured = values.mean() if values.size else np.nan
    return Claim(
        statement, source, expected, float(measured), "relative", tolerance,
        uncertainty=float(error), num_seeds=int(values.size),
    )  # fmt: skip


def saddle_ratios(result: "xarray.Dataset", found: Sequence[Walk]) -> list[float]:
    """Loss on the intermediate plateau over the nearest loss at which one unit comes to rest, by run."""
    ratios: list[float] = []
    rests = result.one_unit_loss.values
    for level in (walk.plateaus.levels[1] for walk in found if walk.has_intermediate):
        ratios.append(float(level / rests[np.argmin(np.abs(rests - level))]))
    return ratios


def walk_claims(
    result: "xarray.Dataset", found: Sequence[Walk], construction: str, source: str,
    *, most: float = 1.0, tolerance: float = 0.05, rests: Departure | None = None,
) -> list[Claim]:  # fmt: skip
    """What the paper says of every panel: a plateau, there one effective unit, two in the end."""
    rested = [walk for walk in found if walk.has_intermediate]
    return [
        dataclasses.replace(
            share("The loss rests once on its way", source, [w.has_intermediate for w in found],
                  0.9 if rests is None else 1.0),
            departure=rests,
        ),
        mean("On the intermediate plateau the map is one that a single unit can express (loss over that of "
             "the trained network with one unit)", f"{source}, Theorem 1", 1.0,
             saddle_ratios(result, found), tolerance),
        *_width_claims(rested, source, most),
        share(f"By {_WORDS[construction]}", f"{source}, Sec. 3",
              [w.at_end.construction == construction for w in rested], most),
    ]  # fmt: skip


def _width_claims(rested: Sequence[Walk], source: str, most: float) -> list[Claim]:
    """One effective unit on the plateau and two in the end: in all runs, or in the median one."""
    words = ("On the plateau the effective width is one", "In the end it is two")
    widths = [[w.at_plateau.width for w in rested], [w.at_end.width for w in rested]]
    if most == 1:
        return [
            share(text, source, [width == n for width in found])
            for n, (text, found) in enumerate(zip(words, widths, strict=True), 1)
        ]
    return [
        Claim(
            f"{text} (median over runs)", source, n, float(np.median(found)), "absolute",
            num_seeds=len(found),
        )
        for n, (text, found) in enumerate(zip(words, widths, strict=True), 1)
    ]  # fmt: skip


_WORDS = {
    "dependent": "rank: the two are directions that all units share (Eq. 7)",
    "proportional": "rays: the two are rays of proportional weights (Eq. 6)",
    "zero": "units: the two are units with large weights, all others near zero (Eq. 5)",
}


def time_claims(
    found: Sequence[Walk], source: str, expected: Sequence[float],
    departures: Sequence[Departure | None] = (None, None), when: str = "",
) -> list[Claim]:  # fmt: skip
    """When the loss drops, against the times read off the authors' animations, to within 10 %."""
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    return [
        dataclasses.replace(
            mean(f"The {word} drop comes at step {step:g}{when}", source, step,
                 [p.drop_times[i] for p in rested], 0.1),
            departure=departures[i],
        )
        for i, (word, step) in enumerate(zip(("first", "second"), expected, strict=True))
    ]  # fmt: skip


def spread_claims(
    found: Sequence[Walk],
    source: str,
    expected: Sequence[float],
    departure: Departure | None = None,
) -> list[Claim]:
    """Where times depend on the start: the animation's lie among those of the runs."""
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    earlier = [
        float(np.mean([p.drop_times[i] < step for p in rested])) for i, step in enumerate(expected)
    ]
    return [
        Claim(
            f"The {word} drop comes at step {step:g}, within the spread over starts (share of runs that are "
            "earlier)", source, 0.5, measured, "absolute", 0.49, num_seeds=len(rested), departure=departure,
        )
        for word, step, measured in zip(("first", "second"), expected, earlier, strict=True)
    ]  # fmt: skip


def figure(
    result: "xarray.Dataset", title: str, kind: "models.UnitKind | None",
    *, weights: tuple[int, int] = (0, 1), names: tuple[str, str] = ("$u_1$", "$u_2$"),
) -> "Figure":  # fmt: skip
    """The loss of all runs above, one run's first-layer weights at the plateau and at the end below."""
    found = walks(result, kind)
    pick = shown(found)
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
    panels = (("plateau", middle, "during the plateau", 1), ("end", -1, "at the end", 2))
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


def _draw_units(axes: Any, x: Any, y: Any, title: str, colour: str) -> None:
    axes.axhline(0, color="#bbbbbb", linewidth=0.8)
    axes.axvline(0, color="#bbbbbb", linewidth=0.8)
    axes.plot(x, y, "o", color=colour, markersize=4, alpha=0.8)
    size = 1.15 * float(np.max(np.abs([x, y]))) or 1.0
    axes.set(xlim=(-size, size), ylim=(-size, size), aspect="equal")
    axes.set_title(title, fontsize=8)
