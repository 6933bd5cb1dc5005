"""Fig. 7: phase diagrams of the grokking time in weight decay, outputs and λ."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting, quantities, simulate, theory
from lazyrich.core import Claim, Context, Status, require_seeds
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig7"
TITLE = "Phase diagrams of the grokking time"
CAPTION = (
    "Exact delay between training and test accuracy reaching 0.95, against weight decay, number of outputs "
    "and λ. White: the test accuracy never gets there. The paper does not state the third parameter of "
    "each panel: here λ = 0.9, one output, and no decay. Grey: both accuracies are there from the start. "
    "Circles: gradient descent, in the same colours."
)
SECONDS = {"quick": 16, "paper": 240}
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
    input_dimension: int = 1000
    num_test: int = 1000
    num_seeds: int = 16
    seeds_per_chunk: int = 4


PRESETS = {
    "quick": Config(input_dimension=300, num_test=400, num_seeds=8),
    "paper": Config(num_points=160),
}
STEPS = simulate.log_steps(2e6, 90, first=10, start=False)
SAMPLED = {
    ("outputs", "decay"): ((2, 1e-5), (12, 1e-5), (60, 1e-5), (12, 1e-4)),
    ("ratio", "decay"): ((0.3, 1e-5), (0.6, 1e-5), (0.8, 1e-4), (0.6, 1e-3)),
    ("ratio", "outputs"): ((0.3, 4), (0.6, 4), (0.6, 40), (0.8, 12)),
}
"""Where descent looks at the diagrams: row and column values of each panel."""


def axes_of(config: Config) -> dict[str, np.ndarray]:
    """The values along each axis."""
    return {
        "decay": np.geomspace(1e-6, 1e-1, config.num_points),
        "outputs": np.unique(np.round(np.geomspace(1, 2000, config.num_points * 4 // 3))),
        "ratio": np.linspace(0.02, 1.2, config.num_points),
    }


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The three diagrams, and descent at some of their points."""
    import xarray

    return xarray.merge(
        [diagrams(config), _descent(config, context)], combine_attrs="drop_conflicts"
    )


def diagrams(config: Config) -> "xarray.Dataset":
    """Exact grokking times on three grids, all in one call: one compilation."""
    import xarray

    values = axes_of(config)
    shapes = {panel: tuple(values[axis].size for axis in panel) for panel in SAMPLED}
    grids = {
        panel: dict(
            zip(panel, np.meshgrid(*(values[axis] for axis in panel), indexing="ij"), strict=True)
        )
        for panel in SAMPLED
    }
    fixed = {"outputs": 1.0, "decay": 0.0, "ratio": config.aspect_ratio}
    flat = {
        axis: np.concatenate([
            np.ravel(grid[axis]) if axis in grid else np.full(np.prod(shapes[panel]), value)
            for panel, grid in grids.items()
        ]) for axis, value in fixed.items()
    }  # fmt: skip
    exact = theory.LinearGrokking(
        flat["ratio"], config.learning_rate, config.threshold,
        output_dimension=flat["outputs"], weight_decay=flat["decay"],
    ).grokking_delay(config.accuracy)  # fmt: skip
    cuts = np.cumsum([np.prod(shape) for shape in shapes.values()])[:-1]
    variables = {}
    for panel, delay, status in zip(
        SAMPLED, np.split(exact.time, cuts), np.split(exact.status, cuts), strict=True
    ):
        variables["delay_" + "_".join(panel)] = (panel, delay.reshape(shapes[panel]))
        variables["status_" + "_".join(panel)] = (panel, status.reshape(shapes[panel]))
    return xarray.Dataset(variables, values, CONVENTION.attributes())


def _sampled_cases(config: Config) -> list[_curves.Case]:
    fixed = {"outputs": 1, "decay": 0.0, "ratio": config.aspect_ratio}
    points = [
        fixed | dict(zip(panel, point, strict=True))
        for panel in SAMPLED
        for point in SAMPLED[panel]
    ]
    return [_curves.Case(at["ratio"], int(at["outputs"]), at["decay"]) for at in points]


def _descent(config: Config, context: Context) -> "xarray.Dataset":
    """Delays read off descent, over `point` and `seed`, and exact ones for this number of inputs."""
    cases = _sampled_cases(config)
    thresholds = (config.threshold,)
    measured = _curves.measured_delays(
        "points", cases, config, STEPS, thresholds, config.accuracy, context
    )
    finite = _curves.finite_delays(cases, config, config.accuracy)
    kept = measured.squeeze("threshold", drop=True)[["delay"]].rename(delay="measured_delay")
    return kept.assign(finite_delay=(("point",), finite))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What the caption and Sec. 3 say about the diagrams."""
    by_decay, by_outputs = result.delay_ratio_decay, result.delay_ratio_outputs
    never = result.status_ratio_outputs == Status.NEVER
    one_output = result.isel(outputs=0)
    over = (result.ratio > 1 / (1 - config.threshold / 4)).values
    ridge = by_outputs.sel(ratio=0.9, method="nearest")
    reached = np.isfinite(by_decay.sel(ratio=0.9, method="nearest"))
    edge = float(result.decay[int(reached.sum()) - 1])
    found = [
        _curves.rms_claim(
            "Descent finds the delays of the diagrams, for the number of inputs there are (rms relative "
            f"error over {result.sizes['point']} points)", "Fig. 7", 0.15,
            result.measured_delay / result.finite_delay,
        ),
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
    return require_seeds(found, 8)


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
        mesh = _draw_map(picture, panel, delay, row, column)
        _draw_points(panel, mesh, result, (row, column))
        panel.set(xlabel=labels[column], ylabel=labels[row], title=title, xscale="log")
        if row == "outputs":
            panel.set_yscale("log")
    return picture


def _draw_map(picture: Any, axes: Any, delay: "xarray.DataArray", row: str, column: str) -> Any:
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
    return mesh


def _draw_points(axes: Any, mesh: Any, result: "xarray.Dataset", panel: tuple[str, str]) -> None:
    """What descent found, in the colours of the map."""
    points = [(key, point) for key in SAMPLED for point in SAMPLED[key]]
    mean = measures.seed_mean(result.measured_delay).mean.values
    for (key, (row, column)), delay in zip(points, mean, strict=True):
        if key == panel:
            axes.scatter(
                column,
                row,
                c=[delay],
                norm=mesh.norm,
                cmap=mesh.cmap,
                s=45,
                edgecolors="white",
                zorder=3,
            )
