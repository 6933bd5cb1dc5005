"""Fig. 4B: skills emerge with data."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import simulate, theory
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.layerwise import _skills

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig4b"
TITLE = "Emergence of skills with data"
CAPTION = (
    "Strength of five parities after long training on D samples. Dashed: mean over ReLU networks with "
    "biases, bands: standard deviation over seeds. Solid: R_k/S = E[min(1, d_k/D_c)] with d_k samples of "
    "skill k, D_c fitted to the first skill only. Dotted: 1 − √(1 − D p_k/D_c), as printed, fitted in the "
    "same way. Bits are 0 or 1, and p_k ∝ k^−1.6. Quick: 15 bits, 128 units, batches of 96, rate 0.05, start "
    "0.1; paper: 32 bits, 1000 units, batches of 2000, start 0.001, 40 000 instead of 500 000 steps. In the "
    "last fifth of training the rate falls to zero, instead of being halved at times."
)
SECONDS = {"quick": 44, "paper": 40_000}
REFERENCES = _skills.REFERENCES
CONVENTION = _skills.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config(_skills.Skills):
    """What Fig. 4B is computed from."""

    width: int = 1000
    sizes: tuple[int, ...] = (500, 1000, 2000, 4000, 8000, 16_000, 40_000)
    batch_size: int = 2000
    initial_std: float = 0.001
    last_step: int = 40_000


PRESETS = {
    "quick": Config(
        num_bits=15, width=128, sizes=(100, 200, 400, 800, 1600, 3200, 6400, 12_800), batch_size=96,
        initial_std=0.1, last_step=10_000, num_seeds=8, seeds_per_chunk=4,
    ),
    "paper": Config(seeds_per_chunk=1),
}  # fmt: skip


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Trained networks and the model calibrated on their first skill."""
    steps, sizes = simulate.even_steps(config.last_step, 10), np.asarray(config.sizes)
    strength = _skills.trained(
        config,
        context,
        steps,
        widths=[config.width] * sizes.size,
        sizes=config.sizes,
        decay_from=0.8,
    )[:, :, -1]
    first, p = strength.mean("seed").values[:, 0], _skills.task(config).frequencies
    model = theory.calibrate_emergence(p, 1.0, data=(sizes, first))
    scale = _printed_scale(sizes * p[0], first)
    result = _skills.dataset(
        strength, ("samples", sizes), model.modes_from_data, samples_needed=float(model.samples_needed),
        printed=(("samples", "skill"), _printed(sizes[:, None] * p / scale)), printed_samples_needed=scale,
    )  # fmt: skip
    fine = result.point_at.values[:, None]
    return result.assign(printed_curve=(("point", "skill"), _printed(fine * p / scale)))


def _printed(share: Any) -> Any:
    """The law of the overlay as printed, of the share of the samples that are needed."""
    return 1 - np.sqrt(np.maximum(0, 1 - share))


def _printed_scale(samples: np.ndarray, strengths: np.ndarray) -> float:
    """D_c with which the printed law is nearest to the first skill."""
    tried = np.geomspace(samples[0] / 4, samples[-1] * 4, 2000)
    misfits = np.sum((_printed(samples / tried[:, None]) - strengths) ** 2, axis=1)
    return float(tried[np.argmin(misfits)])


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Order, numbers of samples, overlay."""
    seeds = result.sizes["seed"]
    (gap, error), (other, other_error) = (
        _skills.largest_gap(result, name) for name in ("predicted", "printed")
    )
    return require_seeds([
        _skills.order_claim(result, "Less frequent skills need more data (share of runs and neighbours)",
                            "Sec. 4.3, App. D.4, Fig. 4b"),
        *_skills.place_claims(result, config, "The number of samples at which a skill emerges",
                              "App. D.4, Eq. 60, Fig. 4b", tolerance=0.3, power=0.15),
        Claim("Strengths agree with the model calibrated on the first skill (largest difference, k ≥ 2)",
              "Fig. 4b", 0.3, gap, "at-most", uncertainty=error, num_seeds=seeds),
        Claim("Strengths agree with the law as printed, calibrated alike (largest difference, k ≥ 2)",
              "Fig. 4b", 0.3, other, "at-most", uncertainty=other_error, num_seeds=seeds),
    ], 8)  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Strengths over the number of samples."""
    also = {"printed_curve": "law as printed"}
    return _skills.figure(result, "number of samples $D$", TITLE, also)
