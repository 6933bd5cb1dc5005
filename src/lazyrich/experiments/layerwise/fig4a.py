"""Fig. 4A: skills emerge with training time."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import simulate, theory
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._times import value_at
from lazyrich.experiments.layerwise import _skills

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig4a"
TITLE = "Emergence of skills with time"
CAPTION = (
    "Strength of five parities over training time. Dashed: mean over ReLU networks with biases trained on "
    "multitask sparse parity by descent on fresh samples; bands: standard deviation over seeds. Solid: the "
    "diagonal linear network with the skills as features, its rate and start fitted to the first skill only. "
    "Bits are 0 or 1, and p_k ∝ k^−1.6. Quick: 15 bits, 256 units, batches of 256, rate 0.05, start 0.05; "
    "paper: 32 bits, 1000 units, batches of 4000, rate 0.02, start 0.01."
)
SECONDS = {"quick": 15, "paper": 8000}
REFERENCES = _skills.REFERENCES
CONVENTION = _skills.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config(_skills.Skills):
    """What Fig. 4A is computed from."""

    width: int = 1000
    learning_rate: float = 0.02
    num_records: int = 60


PRESETS = {
    "quick": Config(
        num_bits=15, width=256, batch_size=256, learning_rate=0.05, initial_std=0.05, last_step=8000,
        num_seeds=8, seeds_per_chunk=4,
    ),
    "paper": Config(),
}  # fmt: skip


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Trained networks and the model calibrated on their first skill."""
    steps = simulate.log_steps(config.last_step, config.num_records, first=config.last_step / 100)
    strength = _skills.trained(config, context, steps, widths=[config.width])[:, 0]
    mean = strength.mean("seed").values
    task = _skills.task(config)
    model = theory.calibrate_emergence(task.frequencies, 1.0, time=(steps, mean[:, 0]))
    # the model of strengths R/S: its rate times S is that of R
    return _skills.dataset(
        strength, ("time", steps), model.modes,
        effective_rate=float(model.learning_rate) / (2 * config.target_scale * config.learning_rate),
        effective_start=float(model.start) * config.target_scale,
    )  # fmt: skip


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Order, times, overlay, and that skills come in stages."""
    seeds = result.sizes["seed"]
    gap, error = _skills.largest_gap(result)
    before, before_error = _skills.jackknife(
        result.strength, lambda mean: _learned_before(result, mean)
    )
    return require_seeds([
        _skills.order_claim(result, "Skills emerge in the order of their frequency (share of runs and pairs)",
                            "Sec. 4.3, Fig. 4a"),
        *_skills.place_claims(result, config, "The emergence time", "Sec. 4.3, Eq. 9, 11, Fig. 4a",
                              tolerance=0.25, power=0.15),
        Claim("Strengths agree with the model calibrated on the first skill (largest difference, k ≥ 2)",
              "Fig. 4a", 0.25, gap, "at-most", uncertainty=error, num_seeds=seeds),
        Claim("Stage-like: a skill is mostly learned when the next emerges (smallest R_k/S at that time)",
              "Sec. 4.1, 4.4", 0.7, before, "at-least", uncertainty=before_error, num_seeds=seeds),
    ], 8)  # fmt: skip


def _learned_before(result: "xarray.Dataset", mean: np.ndarray) -> float:
    """Smallest strength that a skill has when the next one emerges."""
    times = _skills.emergence(result.time, mean)
    return float(np.min(value_at(result.time, mean.T[:-1], times[1:])))


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Strengths over time."""
    first = float(result.time[1])
    return _skills.figure(result, "time $t$ (steps)", TITLE, xlim=(first, float(result.time[-1])))
