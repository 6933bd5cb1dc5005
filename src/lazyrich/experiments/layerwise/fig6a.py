"""Fig. 6a: layer imbalance makes a square linear network lazy."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import measures, plotting, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._claims import mean_claim, ratio_claim, share_claim
from lazyrich.experiments._over_seeds import over_parts
from lazyrich.experiments.layerwise import _kernel_grid

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig6a"
TITLE = "Layer imbalance, square network"
CAPTION = (
    "Left: how far the tangent kernel has moved after 4000 steps, by the layers' imbalance λ and the "
    "size of the first product (d = p = c = 2, ten samples, whitened, random labels of variance 1, "
    "where the text has σ = √3 and the public code 1; mean over seeds). Middle: at λ = 0 the loss "
    "falls like a sigmoid from small weights and without a plateau from large ones; right: the kernel "
    "moves far at any size. Colour: descent, mean over seeds; black: the matrix solution without a "
    "fit. Under the flow the determinant of a square product keeps its sign at λ = 0: where the "
    "task's is another, it rests at a saddle, which descent leaves late, as its steps break the "
    "balance."
)
SECONDS = {"quick": 4, "paper": 8}
CONVENTION = _kernel_grid.CONVENTION
REFERENCES = _kernel_grid.REFERENCES


@dataclasses.dataclass(frozen=True)
class Config(_kernel_grid.Balanced):
    """What Fig. 6a is computed from."""

    course_scales: tuple[float, ...] = (0.01, 0.1, 1.0, 20.0)
    course_last_step: int = 40_000
    num_records: int = 60


PRESETS = {"quick": Config(num_imbalances=20, num_scales=20), "paper": Config()}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The grid, and courses in time at λ = 0 with their exact solution."""
    parts = {"cells": _kernel_grid.grid_piece, "courses": _courses}
    pieces = over_parts(parts, config, context, "linear networks")
    courses = pieces["courses"].isel(imbalance=0, drop=True).rename(scale="course_scale")
    names = {"loss": "course_loss", "kernel_distance": "course_distance",
             "exact_loss": "course_exact_loss", "exact_distance": "course_exact_distance"}  # fmt: skip
    return (
        pieces["cells"]
        .drop_vars("loss")
        .merge(courses.rename(names))
        .assign_attrs(CONVENTION.attributes())
    )


def _courses(config: Config, seeds: range) -> "xarray.Dataset":
    steps = simulate.log_steps(config.course_last_step, config.num_records)
    runs = _kernel_grid.balanced_runs(config, seeds, [0.0], config.course_scales, steps)
    exact = _kernel_grid.exact_runs(config, seeds, [0.0], config.course_scales, runs.time.values)
    return runs.merge(exact).assign(same_side=("seed", _kernel_grid.same_side(config, seeds)))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 6 and App. F.2 say of square networks."""
    return require_seeds([*_grid_claims(result), *_course_claims(result)], 8)


def _grid_claims(result: "xarray.Dataset") -> list[Claim]:
    distance, seeds = result.kernel_distance, result.sizes["seed"]
    cells = distance.transpose("seed", "imbalance", "scale").values
    half = cells.shape[1] // 2
    signs = (cells[:, -half:] + cells[:, :half][:, ::-1]) / 2  # (seed, |λ|, scale)
    up, down = cells[:, -half:].mean(axis=2), cells[:, :half][:, ::-1].mean(axis=2)
    both = signs.mean(axis=2)
    small = distance.isel(scale=0)
    sign = np.abs(up - down).max(axis=1) / both.max(axis=1)
    return [
        share_claim("The kernel moves less, the larger |λ| (share of steps of |λ| at all scales, mean over "
                    "seeds)", "Sec. 6.1, Fig. 6a", np.diff(signs.mean(axis=0), axis=0) < 0, 0.95,
                    uncertainty=None, num_seeds=seeds),
        ratio_claim("At the largest |λ| the kernel moves less than at the smallest (ratio, mean over scales)",
                    "Sec. 6.1, Fig. 6a", 0.5, both[:, -1], both[:, 0], "at-most"),
        ratio_claim("At the smallest scale it hardly moves at the largest |λ| (ratio to the smallest |λ|)",
                    "Sec. 6.1, Fig. 6a", 0.01, small[:, -1], small[:, half], "at-most"),
        mean_claim("The sign of λ does not matter in square networks (largest difference over the largest "
                   "distance)", "App. F.3", 0.02, sign, "at-most"),
        _kernel_grid.exact_claim(result),
    ]  # fmt: skip


def _course_claims(result: "xarray.Dataset") -> list[Claim]:
    seeds, scales = result.sizes["seed"], result.course_scale.values
    end, _ = measures.seed_mean(result.course_distance.isel(time=-1))
    first = _plateau(result)
    # from the largest weights steps are too large for a flow: the first goes half of the way
    loss, exact = (
        x.isel(course_scale=slice(-1)) for x in (result.course_loss, result.course_exact_loss)
    )
    gap = (np.abs(loss - exact) / loss.isel(time=0)).max(["course_scale", "time"])
    left = (exact.isel(time=-1) / exact.isel(time=0)).max("course_scale")
    return [
        Claim("At λ = 0 the kernel moves far at any scale (smallest over largest distance in the end)",
              "App. F.2", 0.5, float(end.min() / end.max()), "at-least", num_seeds=seeds),
        Claim(f"From small weights (norm {scales[0]:g}) the loss falls like a sigmoid (first over largest "
              "rate)", "App. F.2, Eq. 70", 0.1, first[:, 0].mean(), "at-most", num_seeds=seeds),
        Claim(f"From large weights (norm {scales[-1]:g}) it has no plateau (first over largest rate)",
              "App. F.2", 0.9, first[:, -1].mean(), "at-least", num_seeds=seeds),
        Claim(f"Up to norm {scales[-2]:g} the loss follows the matrix solution, where both products have one "
              "sign of the determinant (largest difference over the first loss)", "Theorem F.2", 0.02,
              float(gap.where(result.same_side).max()), "at-most", num_seeds=seeds),
        Claim("The others' flow ends at a saddle: the determinant cannot change its sign (share of seeds "
              "that do not learn)", "Theorem F.2", 1 - float(result.same_side.mean()),
              float((left > 1e-6).mean()), "absolute", num_seeds=seeds),
    ]  # fmt: skip


def _plateau(result: "xarray.Dataset") -> np.ndarray:
    """The rate at which the logarithm of the loss falls at first, over the largest rate; (seed, scale)."""
    loss, time = result.course_loss, result.time.values
    kept = loss.transpose("seed", "course_scale", "time").values + 1e-300
    rate = -np.diff(np.log(kept), axis=-1) / np.diff(time)
    settled = kept[..., :-1] > 1e-6 * kept[..., :1]  # then only rounding is left
    return rate[..., 0] / np.where(settled, rate, -np.inf).max(axis=-1)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """The map, and loss and kernel distance over time at λ = 0."""
    picture, axes = plotting.new_figure(3, panel=(3.7, 3.1))
    left, middle, right = axes[0]
    _kernel_grid.draw_map(picture, left, result.kernel_distance, "imbalance", "scale")
    left.set(xlabel="imbalance λ", ylabel="$\\|W_1W_2\\|_F$ at the start", title=TITLE)
    share = result.course_loss / result.course_loss.isel(time=0)
    exact = result.course_exact_loss / result.course_exact_loss.isel(time=0)
    later = result.time > 0
    panels = ((middle, share, exact), (right, result.course_distance, result.course_exact_distance))
    for panel, runs, solution in panels:
        for scale, colour in zip(config.course_scales, plotting.COLOURS, strict=False):
            mean, _ = measures.seed_mean(runs.sel(course_scale=scale)[:, later])
            panel.plot(result.time[later], mean, color=colour, label=f"norm {scale:g}")
            line, _ = measures.seed_mean(solution.sel(course_scale=scale)[:, later])
            panel.plot(result.time[later], line, color="black", linewidth=0.7)
        panel.set(xscale="log", xlabel="time $t$ (learning rate × step)")
    middle.set(ylabel="loss / first loss", title="λ = 0: loss", ylim=(0, 1.05))
    right.set(ylabel="kernel distance", title="λ = 0: kernel", ylim=(0, None))
    middle.legend()
    return picture
