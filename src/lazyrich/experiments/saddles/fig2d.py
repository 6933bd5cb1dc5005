"""Fig. 2D: the effect of the scale of the initial weights."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import plotting, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._claims import worst_claim
from lazyrich.experiments._times import time_to
from lazyrich.experiments.saddles import _spectra, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig2d"
TITLE = "The effect of the initial weights' scale"
CAPTION = (
    "Left: the loss of linear networks of 100 units from isotropic weights of standard deviation ε, every "
    "run (thin) and the one that rests for the median time (bold). Circles: drops that the staircase "
    "predicts for the smallest scale, without a fit. Right: the modes W_kk over their targets, means over "
    "runs, for the smallest and an intermediate scale. Larger weights shorten the plateaus and keep "
    "farther from the saddles. At an intermediate scale no plateau is left between drops, yet the modes "
    "are learned one after the other. From the largest scale they are learned together. The paper leaves "
    "open the scales. Other settings as in Fig. 2A."
)
SECONDS = {"quick": 3, "paper": 6}
CONVENTION = _spectra.CONVENTION
REFERENCES = _spectra.REFERENCES
SOURCE = "Sec. 6, Fig. 2D"


@dataclasses.dataclass(frozen=True)
class Config(_spectra.Config):
    """What Fig. 2D is computed from; the third standard deviation is the intermediate one."""

    initial_stds: tuple[float, ...] = (1e-6, 1e-4, 1e-2, 1e-1)


PRESETS = {"quick": Config(), "paper": Config(population=False, num_seeds=64)}
INTERMEDIATE = 2


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every scale and seed, recorded on a grid that is finer at the start."""
    even = simulate.even_steps(config.last_step, _spectra.NUM_RECORDS)
    steps = np.union1d(even, simulate.even_steps(config.last_step // 10, 200))
    trainings = {
        scale: _spectra.linear(config, initial_std=scale, records=("units",))
        for scale in config.initial_stds
    }
    found = _spectra.train(
        "runs", "scale", trainings, steps, config.learning_rate, config, context, _kept
    )
    smallest = _spectra.staircase(dataclasses.replace(config, initial_std=config.initial_stds[0]))
    return found.assign(predicted_drop=("drop", smallest.drop_times)).assign_attrs(
        CONVENTION.attributes()
    )


def _kept(record: Any) -> Any:
    """The loss and the map W."""
    W = np.einsum("stho,sthi->stoi", record.outgoing.values, record.incoming.values)
    return record[["loss"]].assign(linear_map=(("seed", "time", "output", "input"), W))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 6 says of the scale of the initial weights."""
    levels = _spectra.linear_levels()
    found = _spectra.walks(result.loss)
    halves, distances = _half_times(result), _distances(result)
    names = [f"ε = {scale:g}" for scale in config.initial_stds]
    drops = _spectra.drop_times(result.loss[:1], levels)
    return require_seeds([
        *_spectra.trend("The larger the weights, the shorter the time on intermediate plateaus", SOURCE,
                        _spectra.resting(found)[: INTERMEDIATE + 1]),
        *_spectra.trend("The larger the weights, the earlier the first mode is learned", SOURCE,
                        halves[..., 0]),
        *(_walks.share(f"From {names[i]} modes are learned one after the other, the strongest first", SOURCE,
                        list((np.diff(halves[i], axis=-1) > 0).all(axis=-1))) for i in (0, INTERMEDIATE)),
        _walks.share(f"From {names[INTERMEDIATE]} the loss falls in one drop, without a plateau within",
                      SOURCE, [_spectra.falls_in(p, 1, levels) for p in found[INTERMEDIATE]]),
        _distance_claim(distances),
        _walks.share(f"From {names[-1]} it falls at once, without any plateau", SOURCE,
                      [not p.starts_on_plateau and _spectra.falls_in(p, 1, levels) for p in found[-1]]),
        _spectra.drop_claim(drops, result.predicted_drop.values[None], "Sec. 5.1"),
        *_spectra.level_claims(found[:1], f"{SOURCE}, Lemma 6", levels, f"From {names[0]}"),
    ], 8)  # fmt: skip


def _half_times(result: "xarray.Dataset") -> np.ndarray:
    """When each W_kk has half its target for good, (scale, seed, mode)."""
    s = _spectra.strengths(1.0)
    times = [time_to(result.linear_map[..., k, k], s[k] / 2) for k in range(s.size)]
    return np.stack(times, axis=-1)


def _distances(result: "xarray.Dataset") -> np.ndarray:
    """How near W comes to the fixed point of the first mode, over the size of W*, (scale, seed)."""
    s = _spectra.strengths(1.0)
    saddle = np.diag([s[0], 0.0, 0.0])
    apart = np.linalg.norm(result.linear_map.values - saddle, axis=(-2, -1)) / np.linalg.norm(s)
    return apart.min(axis=-1)


def _distance_claim(distances: np.ndarray) -> Claim:
    """Over neighbouring scales, the smallest ratio of the distances."""
    return worst_claim(
        "The larger the weights, the farther W stays from the saddle with one mode (smallest ratio from "
        "one scale to the next)", SOURCE, 1.0, distances[1:] / distances[:-1], "at-least",
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """The loss, and the modes for two scales."""
    picture, axes = plotting.new_figure(2, panel=(4.2, 3.3))
    left, right = axes[0]
    levels, s = _spectra.linear_levels(), _spectra.strengths(1.0)
    colours = _spectra.SHADES[::-1]
    after = result.isel(time=slice(1, None))  # log time
    for i, scale in enumerate(config.initial_stds):
        _spectra.draw_runs([left], after.loss[i], colours[i], f"ε = {scale:g}")
    _spectra.draw_drops(left, result.predicted_drop, levels, colours[0])
    _spectra.draw_levels(left, levels)
    for i in (0, INTERMEDIATE):
        for k, style in enumerate(("-", "--", ":")):
            share = after.linear_map[i, ..., k, k].mean("seed") / s[k]
            right.plot(
                after.time,
                share,
                linestyle=style,
                color=colours[i],
                label=f"{k + 1}" if i == 0 else None,
            )
    left.set(ylabel="loss", ylim=(0, 1.45 * levels[0]), title="Loss")
    right.set(
        ylabel="$W_{kk}$ / target",
        title=f"Modes, ε = {config.initial_stds[0]:g} and {config.initial_stds[INTERMEDIATE]:g}",
    )
    left.legend(ncols=2, loc="upper right")
    right.legend(title="mode k")
    for panel in axes[0]:
        panel.set(xscale="log", xlabel="time $t$ (steps)")
    return picture
