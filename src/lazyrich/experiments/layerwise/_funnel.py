"""What Fig. 10a and 10b share: networks that narrow or widen, where one sign of λ turns rich late."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting, simulate
from lazyrich.core import Claim, Context, Correction, require_seeds
from lazyrich.experiments._claims import ratio_claim
from lazyrich.experiments._over_seeds import over_parts
from lazyrich.experiments._times import time_to
from lazyrich.experiments.layerwise import _kernel_grid

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

SIGNS = (
    "With the λ of Eq. 14 the signs are the other way round. The heavier layer of a funnel with λ < 0 reads "
    "only as many directions of the input as there are units; the others are learned only when it turns."
)


@dataclasses.dataclass(frozen=True)
class Config(_kernel_grid.Balanced):
    """What Fig. 10 is computed from; courses in time start at the smallest scale."""

    course_last_step: int = 100_000
    num_records: int = 60

    @property
    def lazy_sign(self) -> int:
        """The sign of λ at which the network stays lazy: 1 for a funnel."""
        return 1 if self.input_dimension > self.output_dimension else -1

    @property
    def course_imbalances(self) -> np.ndarray:
        """The lazy limit, balance, and the opposite limit, half way and whole."""
        return self.lazy_sign * self.largest_imbalance * np.array([1.0, 0.0, -0.5, -1.0])


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The grid, and courses in time with their exact solution."""
    parts = {"cells": _kernel_grid.grid_piece, "courses": _courses}
    pieces = over_parts(parts, config, context, "linear networks")
    courses = pieces["courses"].isel(scale=0, drop=True).rename(
        imbalance="course_imbalance", loss="course_loss", kernel_distance="course_distance",
        exact_loss="course_exact_loss", exact_distance="course_exact_distance",
    )  # fmt: skip
    merged = pieces["cells"].drop_vars("loss").merge(courses)
    return merged.assign_attrs(_kernel_grid.CONVENTION.attributes())


def _courses(config: Config, seeds: range) -> "xarray.Dataset":
    steps = simulate.log_steps(config.course_last_step, config.num_records)
    cells = (config, seeds, config.course_imbalances, config.scales[:1])
    runs = _kernel_grid.balanced_runs(*cells, steps)
    return runs.merge(_kernel_grid.exact_runs(*cells, runs.time.values))


def claims(result: "xarray.Dataset", config: Config, source: str) -> list[Claim]:
    """What App. F.3 says of this architecture, with its signs corrected."""
    name = "funnel" if config.lazy_sign > 0 else "anti-funnel"
    found = [*_sign_claims(result, config, name, source), *_late_claims(result, config, source)]
    return require_seeds([*found, _kernel_grid.exact_claim(result)], 8)


def _sign_claims(result: "xarray.Dataset", config: Config, name: str, source: str) -> list[Claim]:
    ends = result.kernel_distance.mean("scale").isel(imbalance=[0, -1]).values  # (seed, two ends)
    lazy, rich = (ends[:, ::-1] if config.lazy_sign > 0 else ends).T
    low, high = ends.mean(axis=0)
    contrast, sign = (low - high) / (low + high), config.lazy_sign
    return [
        Claim(f"Which limit keeps the {name} network lazy (distance at λ < 0 minus that at λ > 0, over "
              "their sum: 1 if only λ → ∞ does, −1 if only λ → −∞)", f"App. F.3, {source}", sign, contrast,
              "absolute", 0.6, num_seeds=len(ends), correction=Correction(-sign, SIGNS, "layerwise/app-f3")),
        ratio_claim("In the opposite limit the kernel moves further (ratio, mean over scales)",
                    f"App. F.3, {source}", 2.0, rich, lazy, "at-least"),
    ]  # fmt: skip


def _late_claims(result: "xarray.Dataset", config: Config, source: str) -> list[Claim]:
    seeds, time = result.sizes["seed"], result.time.values
    distance = result.course_distance.transpose("course_imbalance", "seed", "time")
    end = distance.isel(time=-1).values  # (λ, seed)
    fast = np.searchsorted(
        time, 5 / config.largest_imbalance
    )  # the light layer has learned what it can
    early = distance.isel(course_imbalance=3, time=fast).values
    halves = time_to(distance, distance.isel(time=-1) / 2)  # half of each run's way
    late, later = (np.median(halves[3] / halves[i]) for i in (1, 2))
    lam = config.largest_imbalance
    return [
        ratio_claim(f"The opposite limit starts lazy (distance at t = 5/|λ| over that at t = {time[-1]:g})",
                    f"App. F.3, {source}", 0.1, early, end[3], "at-most"),
        Claim("It turns rich late (time to half its final distance × |λ|, median)", f"App. F.3, {source}",
              50, lam * np.median(halves[3]), "at-least", num_seeds=seeds),
        Claim("Later than a balanced network (ratio of these times, median)", f"App. F.3, {source}",
              5, late, "at-least", num_seeds=seeds),
        Claim("The delay is in proportion to |λ|: the eigenvalues of F differ by s²/|λ| (ratio of the "
              "times at |λ| and |λ|/2, median)", "Theorem F.2", 2.0, later, "relative", 0.2, num_seeds=seeds),
        ratio_claim("The lazy limit stays lazy (its distance over that of the opposite limit in the end)",
                    f"App. F.3, {source}", 0.05, end[0], end[3], "at-most"),
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config, title: str) -> "Figure":
    """The map, and loss and kernel distance over time."""
    picture, axes = plotting.new_figure(3, panel=(3.7, 3.1))
    left, middle, right = axes[0]
    _kernel_grid.draw_map(picture, left, result.kernel_distance, "imbalance", "scale")
    left.set(xlabel="imbalance λ", ylabel="$\\|W_1W_2\\|_F$ at the start", title=title)
    panels: Any = (
        (middle, result.course_loss, result.course_exact_loss),
        (right, result.course_distance, result.course_exact_distance),
    )
    later = result.time > 0
    for panel, runs, exact in panels:
        for lam, colour in zip(config.course_imbalances, plotting.COLOURS, strict=False):
            mean, _ = measures.seed_mean(runs.sel(course_imbalance=lam)[:, later])
            panel.plot(result.time[later], mean, color=colour, label=f"λ = {lam + 0.0:g}")
            line, _ = measures.seed_mean(exact.sel(course_imbalance=lam)[:, later])
            panel.plot(result.time[later], line, color="black", linewidth=0.7)
        panel.set(xscale="log", xlabel="time $t$ (learning rate × step)", ylim=(0, None))
    middle.set(ylabel="loss above its least", title="Loss, norm 1 at the start")
    right.set(ylabel="kernel distance", title="Kernel, norm 1 at the start")
    right.legend(loc="upper left")
    return picture
