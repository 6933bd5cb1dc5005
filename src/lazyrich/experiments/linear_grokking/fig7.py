"""Fig. 7: phase diagrams of the grokking time in weight decay, outputs and λ."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import plotting, quantities, theory
from lazyrich.core import Claim, Context, Status
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig7"
TITLE = "Phase diagrams of the grokking time"
CAPTION = (
    "Exact delay between training and test accuracy reaching 0.95, against weight decay, number of outputs "
    "and λ. White: the test accuracy never gets there. The paper does not state the third parameter of "
    "each panel: here λ = 0.9, one output, and no decay. Grey: both accuracies are there from the start."
)
SECONDS = {"quick": 12, "paper": 40}
REFERENCES = ("linear-grokking",)
CONVENTION = _curves.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 7 is computed from."""

    num_points: int = 100
    aspect_ratio: float = 0.9
    learning_rate: float = 0.01
    threshold: float = 1e-3
    accuracy: float = 0.95


PRESETS = {"quick": Config(), "paper": Config(num_points=160)}


def axes_of(config: Config) -> dict[str, np.ndarray]:
    """The values along each axis."""
    return {
        "decay": np.geomspace(1e-6, 1e-1, config.num_points),
        "outputs": np.unique(np.round(np.geomspace(1, 2000, config.num_points + 20))),
        "ratio": np.linspace(0.02, 1.2, config.num_points),
    }


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Exact grokking times on three grids, a band of rows at a time."""
    import xarray

    values = axes_of(config)
    decay, outputs, ratio = values["decay"], values["outputs"], values["ratio"]
    panels = {
        ("outputs", "decay"): {"output_dimension": outputs[:, None], "weight_decay": decay},
        ("ratio", "decay"): {"aspect_ratio": ratio[:, None], "weight_decay": decay},
        ("ratio", "outputs"): {"aspect_ratio": ratio[:, None], "output_dimension": outputs},
    }
    variables = {}
    for (row, column), parameters in context.track(list(panels.items()), "phase diagrams"):
        common = {
            "aspect_ratio": config.aspect_ratio, "learning_rate": config.learning_rate,
            "threshold": config.threshold,
        }  # fmt: skip
        delay = theory.LinearGrokking(**common | parameters).grokking_time(config.accuracy)
        variables[f"delay_{row}_{column}"] = ((row, column), delay.time)
        variables[f"status_{row}_{column}"] = ((row, column), delay.status)
    return xarray.Dataset(variables, values, CONVENTION.attributes())


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What the caption and Sec. 3 say about the diagrams."""
    by_decay, by_outputs = result.delay_ratio_decay, result.delay_ratio_outputs
    never = result.status_ratio_outputs == Status.NEVER
    one_output = result.isel(outputs=0)
    over = (result.ratio > 1 / (1 - config.threshold / 4)).values
    ridge = by_outputs.sel(ratio=0.9, method="nearest")
    reached = np.isfinite(by_decay.sel(ratio=0.9, method="nearest"))
    edge = float(result.decay[int(reached.sum()) - 1])
    return [
        Claim(
            "Without decay and with one output, generalisation fails exactly where λ > 1 leaves too much "
            "loss (points of the diagram that disagree)",
            "Fig. 7, Sec. 3.1.1", 0,
            float(np.sum((one_output.status_ratio_outputs == Status.NEVER).values != over)), "absolute",
        ),
        Claim(
            "Decay above a limit keeps the test accuracy from reaching 0.95 (largest γ that still reaches "
            "it at λ = 0.9, against γ²/8(1 − λ)³ = the loss that 0.95 needs)",
            "Fig. 7, Eq. 15", _largest_decay(config), edge, "relative", 0.15,
        ),
        Claim(
            "The grokking time grows with λ below 1 at every decay that lets it generalise "
            "(smallest step between neighbours)",
            "Fig. 7 centre", 0, float(_smallest_step(by_decay.where(result.ratio < 1, drop=True))),
            "at-least",
        ),
        Claim(
            "The grokking time has a maximum in the number of outputs (λ = 0.9: largest over that at one)",
            "Fig. 7 right, Sec. 3.3.1", 1.5, float(ridge.max() / ridge[0]), "at-least",
        ),
        Claim(
            "Very many outputs leave nothing to grok (largest delay at 2000 outputs where it generalises)",
            "Fig. 7, Sec. 3.3.1", 0, float(by_outputs.isel(outputs=-1).where(~never).max()), "absolute",
        ),
    ]  # fmt: skip


def _largest_decay(config: Config) -> float:
    """γ at which the limit γ²/8(1 − λ)³ of the test loss is the loss that accuracy 0.95 needs."""
    loss = quantities.threshold_loss(config.accuracy, config.threshold)
    return float(np.sqrt(8 * loss * (1 - config.aspect_ratio) ** 3))


def _smallest_step(delay: "xarray.DataArray") -> float:
    steps = delay.diff("ratio")
    return float(steps.where(np.isfinite(steps)).min())


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Three maps with one colour scale each."""
    labels = {
        "decay": r"weight decay $\gamma$",
        "outputs": r"number of outputs $d_\mathrm{out}$",
        "ratio": r"aspect ratio $\lambda$",
    }
    picture, axes = plotting.new_figure(3, panel=(4.2, 3.3))
    fixed = {
        ("outputs", "decay"): rf"$\lambda = {config.aspect_ratio:g}$",
        ("ratio", "decay"): "one output",
        ("ratio", "outputs"): "no decay",
    }
    for panel, ((row, column), title) in zip(axes[0], fixed.items(), strict=True):
        delay = result[f"delay_{row}_{column}"]
        _draw_map(picture, panel, delay, row, column)
        panel.set(xlabel=labels[column], ylabel=labels[row], title=title, xscale="log")
        if row == "outputs":
            panel.set_yscale("log")
    return picture


def _draw_map(picture: Any, axes: Any, delay: "xarray.DataArray", row: str, column: str) -> None:
    from matplotlib.colors import LogNorm

    visible = delay.where(np.isfinite(delay) & (delay > 0))
    levels = np.geomspace(max(float(visible.min()), 1.0), float(visible.max()), 19)
    mesh = axes.pcolormesh(
        delay[column], delay[row], visible, norm=LogNorm(levels[0], levels[-1]), cmap="viridis",
        shading="nearest", rasterized=True,
    )  # fmt: skip
    axes.contour(delay[column], delay[row], visible, levels[::3], colors="white", linewidths=0.6)
    if (delay == 0).any():
        axes.contourf(delay[column], delay[row], delay == 0, [0.5, 1.5], colors=["0.85"])
    axes.grid(False)
    picture.colorbar(mesh, ax=axes, label="delay (steps)")
