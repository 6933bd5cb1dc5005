"""Fig. 3: modes of the linear model and of the diagonal linear network."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import models, plotting, simulate, tasks, theory
from lazyrich.core import Claim, Context, Convention
from lazyrich.experiments._times import time_to, value_at

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig3"
TITLE = "Exponential and sigmoidal saturation"
CAPTION = (
    "Modes of a linear model (left) and of a diagonal linear network (middle) on inputs of three variances "
    "with targets S = 1, trained by gradient descent (colour) and predicted (black dots, Eq. 10 and 9, no "
    "fit). The modes of the linear model saturate together, each from the start; those of the network one "
    "after the other. Right: whether they do so depends on the start a(0)b(0), which the paper does not "
    "state: the time at which a mode is a tenth learned over that at which the one before it is nine tenths "
    "learned. Above 1 (dashed) training is stage-like. Circles: descent; lines: theory; dotted: the linear "
    "model. Left and middle: a(0) = b(0) = 0.01, small enough for stages, large enough for the third mode to "
    "saturate within the printed axis."
)
SECONDS = {"quick": 2, "paper": 8}
REFERENCES = ("layerwise",)
CONVENTION = Convention(
    loss="½ mean over the distribution of the squared error",
    time="t is learning rate × step (gradient flow)",
    time_unit="learning rate × step",
)


@dataclasses.dataclass(frozen=True)
class Config:
    """What the figure is computed from; `start` and `starts` are values of a(0)b(0)."""

    variances: tuple[float, ...] = (0.5, 0.2, 0.1)
    target: float = 1.0
    start: float = 1e-4
    starts: tuple[float, ...] = (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
    last_time: float = 100.0
    num_records: int = 401
    steps_between: int = 50


PRESETS = {"quick": Config(), "paper": Config(num_records=1001, steps_between=200)}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Descent of both models, and of the network from every start; the predictions."""
    import xarray

    starts = (config.start, *config.starts)
    names = ["linear", *(f"start-{i}" for i in range(len(starts)))]
    pieces = [
        context.keep(name, _descent, config, starts[i - 1] if i else None)
        for i, name in context.track(list(enumerate(names)), "gradient descent")
    ]
    times, exact = _times(config), _network(config, config.start)
    fine = np.geomspace(min(config.starts), max(config.starts), 41)
    separations, curve = (
        np.array([_network(config, start).stages().separation for start in chosen])
        for chosen in (config.starts, fine)
    )
    linear = theory.LinearModes(config.target, config.variances)
    return xarray.Dataset(
        {
            "linear": pieces[0].modes,
            "layerwise": pieces[1].modes,
            "by_start": xarray.concat([piece.modes for piece in pieces[2:]], "start"),
            "linear_theory": (("time", "mode"), linear.modes(times)),
            "layerwise_theory": (("time", "mode"), exact.modes(times)),
            "separation_theory": (("start", "pair"), separations),
            "separation_curve": (("fine_start", "pair"), curve),
            "linear_separation": (("pair",), linear.stages().separation),
            "end_theory": (("model", "mode"),
                           np.stack([m.saturation_time(0.9).time for m in (linear, exact)])),
        },
        {"time": times, "start": list(config.starts), "mode": list(config.variances),
         "model": ["linear", "layerwise"], "fine_start": fine},
        CONVENTION.attributes(),
    )  # fmt: skip


def _times(config: Config) -> np.ndarray:
    return np.linspace(0, config.last_time, config.num_records)


def _network(config: Config, start: float) -> "theory.DiagonalNetwork":
    size = np.sqrt(start)
    return theory.DiagonalNetwork(config.target, first=size, second=size, variance=config.variances)


def _descent(config: Config, start: float | None) -> "xarray.Dataset":
    """The modes over time: of the linear model from zero (no start), or of the network."""
    import xarray

    d = len(config.variances)
    task = tasks.GaussianRegression(
        np.diag(config.variances), lambda x: config.target * x.sum(1)[:, None]
    )
    if start is None:
        network: Any = models.LinearModel(d)
        weights: Any = np.zeros((d, 1))
    else:
        network, size = models.Layerwise.diagonal(d), np.sqrt(start)
        weights = models.TwoLayerWeights(size * np.eye(d), np.full((d, 1), size))
    training = simulate.Supervised(
        network, task, initial_weights=lambda seed: weights, population=3
    )
    steps = config.steps_between * np.arange(config.num_records)
    step = config.last_time / steps[-1]
    # the trainer's loss has no ½, so that half of the step is its learning rate
    run = simulate.gradient_descent(training, steps, learning_rate=step / 2, seeds=[0]).isel(seed=0)
    modes = np.einsum("tji,tj->ti", run.incoming.values, run.outgoing.values[..., 0])
    return xarray.Dataset(
        {"modes": (("time", "mode"), modes)},
        {"time": _times(config), "mode": list(config.variances)},
    )


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 4.1 says about the figure."""
    return [
        *_agreement(result, config),
        *_saturation(result, config),
        *_stages(result, config),
    ]


def _agreement(result: "xarray.Dataset", config: Config) -> list[Claim]:
    found = []
    for model, words, equation in (
        ("linear", "The linear model", 10),
        ("layerwise", "The diagonal network", 9),
    ):
        gap = float(np.abs(result[model] - result[f"{model}_theory"]).max()) / config.target
        ends = time_to(result[model], 0.9 * config.target)
        exact = result.end_theory.sel(model=model).values
        found += [
            # descent lags behind the flow by a share of about variance × step of its growth
            Claim(f"{words}: descent follows Eq. {equation} (largest difference over the target)",
                  f"Fig. 3, Eq. {equation}", 0.01, gap, "at-most"),
            Claim(f"{words}: times of nine tenths are those of Eq. {equation} (largest relative difference)",
                  f"Fig. 3, Eq. {equation}", 0.005, float(np.abs(ends / exact - 1).max()), "at-most"),
            Claim(f"{words}: modes saturate in the order of their variances (share of pairs)", "Fig. 3",
                  1.0, float(np.mean(np.diff(ends) > 0)), "absolute"),
        ]  # fmt: skip
    return found


def _saturation(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Begin and end of each mode; the linear ones begin at once, the others late."""
    shares = {}
    for model in ("linear", "layerwise"):
        begin, end = (time_to(result[model], q * config.target) for q in (0.1, 0.9))
        shares[model] = begin / end
    full, linear_full = (
        time_to(curves.isel(mode=0), 0.99 * config.target)
        for curves in (result.layerwise, result.linear)
    )
    next_one, beside = (
        float(value_at(result.time, curves.isel(mode=1), when)) / config.target
        for curves, when in ((result.layerwise, full), (result.linear, linear_full))
    )
    return [
        Claim("Linear model: modes saturate from t = 0 on (largest time to a tenth over that to nine tenths)",
              "Fig. 3", 0.05, shares["linear"].max(), "at-most"),
        Claim("Diagonal network: saturation is delayed (smallest time to a tenth over that to nine tenths)",
              "Fig. 3", 0.5, shares["layerwise"].min(), "at-least"),
        Claim("Diagonal network: the next mode is negligible when the first is at 99 % (share of its target)",
              "Sec. 4.1", 0.05, next_one, "at-most"),
        Claim("Linear model: modes saturate concurrently (share of the next mode when the first is at 99 %)",
              "Sec. 4.1", 0.5, beside, "at-least"),
    ]  # fmt: skip


def _separation(curves: "xarray.DataArray", config: Config) -> np.ndarray:
    """Begin of a mode over the end of the one before it; last axis the pairs."""
    begin, end = (time_to(curves, q * config.target) for q in (0.1, 0.9))
    return begin[..., 1:] / end[..., :-1]


def _stages(result: "xarray.Dataset", config: Config) -> list[Claim]:
    linear, network, by_start = (
        _separation(result[name], config) for name in ("linear", "layerwise", "by_start")
    )
    exact = result.separation_theory.values
    stage_like, predicted = (np.all(values > 1, axis=1) for values in (by_start, exact))
    return [
        Claim("Diagonal network: modes are learned in sequence (smallest separation)", "Sec. 4.1", 1.0,
              network.min(), "at-least"),
        Claim("Linear model: they are not (largest separation)", "Sec. 4.1", 0.15, linear.max(), "at-most"),
        Claim("From other starts separations are those of Eq. 9 (largest difference)", "Sec. 4.1", 0.02,
              float(np.abs(by_start - exact).max()), "at-most"),
        Claim("Stage-like training where Eq. 9 says so (share of starts)", "Sec. 4.1", 1.0,
              float(np.mean(stage_like == predicted)), "absolute"),
        Claim("The smaller the start, the more modes separate (share of neighbouring starts)", "Sec. 4.1",
              1.0, float(np.mean(np.diff(by_start, axis=0) > 0)), "absolute"),
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Both models, and what depends on the start."""
    picture, (row,) = plotting.new_figure(3, panel=(3.5, 2.9))
    marks = np.linspace(0, result.sizes["time"] - 1, 41).astype(int)
    for i, variance in enumerate(config.variances):
        for panel, model in zip(row, ("linear", "layerwise"), strict=False):
            label = f"$E[x_{i + 1}^2] = {variance:g}$"
            panel.plot(
                result.time,
                result[model][:, i] / config.target,
                color=plotting.COLOURS[i],
                label=label,
                linewidth=2.2,
            )
            panel.plot(
                result.time[marks],
                result[f"{model}_theory"][marks, i] / config.target,
                ".",
                color="black",
                markersize=2.5,
            )
    row[0].set(title="(a) Linear", ylabel=r"$\theta_i / S_i$", xlabel="time $t$")
    row[1].set(title="(b) Layerwise", ylabel="$a_i b_i / S_i$", xlabel="time $t$")
    row[0].legend(loc="lower right")
    found = _separation(result.by_start, config)
    for pair in range(found.shape[1]):
        colour = plotting.COLOURS[3 + pair]
        words = f"modes {pair + 1} and {pair + 2}"
        row[2].plot(result.fine_start, result.separation_curve[:, pair], color=colour, label=words)
        row[2].plot(result.start, found[:, pair], "o", color=colour, markersize=4, fillstyle="none")
        row[2].axhline(
            float(result.linear_separation[pair]), color=colour, linestyle=":", linewidth=1
        )
    row[2].axhline(1, color="#555555", linestyle="--", linewidth=0.9)
    row[2].set(xscale="log", xlabel="start $a(0)b(0)$", ylabel="next begins / mode ends", ylim=(0, None),
               title="(c) Stage-like or not")  # fmt: skip
    row[2].legend(loc="upper right")
    return picture
