"""Fig. 4C: skills emerge with parameters."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import simulate, theory
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments.layerwise import _skills

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig4c"
TITLE = "Emergence of skills with parameters"
CAPTION = (
    "Strength of five parities in ReLU networks with few hidden units, after long training. Dashed: mean "
    "over networks trained by Adam on fresh samples; bands: standard deviation over seeds. Solid: each skill "
    "takes n_c units, the more frequent first, with n_c fitted to the first skill only. Bits are 0 or 1, and "
    "p_k ∝ k^−1.6. The rate is 0.01, falling to zero in the second half, and the start 0.3, in both presets: "
    "with the stated 0.05 for both, networks of four units reach 0.13 of the first skill in the mean. Quick: "
    "15 bits, batches of 128; paper: 32 bits, batches of 4000."
)
SECONDS = {"quick": 10, "paper": 10_000}
REFERENCES = _skills.REFERENCES
CONVENTION = _skills.CONVENTION
STUCK = Departure(
    "Small networks end in local minima. A learned skill rests on three to four units at every width, but a "
    "third (of 6 units) to a half (of 20) add less than a tenth to the strength of any skill, and less "
    "frequent skills lack them. Eight times as many steps, at a rate of 0.003 with batches of 256, do "
    "not help: with 10 units the second skill has 0.48 ± 0.12 of S, with 15 the third 0.41 ± 0.15.",
    pinned=0.55,
    tolerance=0.25,
)


@dataclasses.dataclass(frozen=True)
class Config(_skills.Skills):
    """What Fig. 4C is computed from."""

    widths: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20)
    learning_rate: float = 0.01
    initial_std: float = 0.3
    last_step: int = 50_000
    num_seeds: int = 20


PRESETS = {
    "quick": Config(
        num_bits=15, widths=(1, 2, 3, 4, 6, 8, 12, 16, 20), batch_size=128, last_step=6000, num_seeds=8,
        seeds_per_chunk=4,
    ),
    "paper": Config(),
}  # fmt: skip


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Trained networks and the model calibrated on their first skill."""
    steps, widths = simulate.even_steps(config.last_step, 10), np.asarray(config.widths)
    strength = _skills.trained(
        config, context, steps, widths=config.widths, optimizer="adam", decay_from=0.5
    )[:, :, -1]
    p, mean = _skills.task(config).frequencies, strength.mean("seed").values
    model = theory.calibrate_emergence(p, 1.0, units=(widths, mean[:, 0]))
    return _skills.dataset(
        strength,
        ("units", widths),
        model.modes_from_units,
        units_needed=float(model.units_needed),
    )


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Order and overlay."""
    seeds = result.sizes["seed"]
    gap, error = _skills.largest_gap(result)
    fit, fit_error = _skills.largest_gap(result.isel(skill=slice(0, 1)), first=0)
    ratio, ratio_error = _skills.jackknife(
        result.strength, lambda mean: _second_over_first(result, mean)
    )
    order, order_error = _skills.jackknife(result.strength, _ordered)
    return require_seeds([
        Claim("Whatever the width, more frequent skills are learned better (share of widths and pairs)",
              "App. D.4, Fig. 4c", 0.9, order, "at-least", uncertainty=order_error, num_seeds=seeds),
        Claim("Less frequent skills need more units (units of the second over those of the first)",
              "App. D.4, Eq. 60, Fig. 4c", 1.5, ratio, "at-least",
              uncertainty=ratio_error, num_seeds=seeds),
        Claim("The first skill's strength grows as units over n_c, up to 1 (largest difference)",
              "Fig. 4c", 0.25, fit, "at-most", uncertainty=fit_error, num_seeds=seeds),
        Claim("Strengths agree with the model calibrated on the first skill (largest difference, k ≥ 2)",
              "Fig. 4c", 0.3, gap, "at-most", uncertainty=error, num_seeds=seeds, departure=STUCK),
    ], 8)  # fmt: skip


def _ordered(mean: np.ndarray) -> float:
    """Share of widths and neighbouring skills in which the more frequent skill is the stronger one.

    Pairs of which neither has begun to be learned, by a tenth, say nothing.
    """
    frequent, rare = mean[:, :-1], mean[:, 1:]
    begun = np.maximum(frequent, rare) > 0.1
    return float(np.mean((frequent > rare)[begun])) if begun.any() else np.nan


def _second_over_first(result: "xarray.Dataset", mean: np.ndarray) -> float:
    places = _skills.emergence(result.units, mean)
    return float(places[1] / places[0])


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Strengths over the number of units."""
    ticks = [1, 2, 4, 8, 16]
    return _skills.figure(
        result, "number of hidden units $N$", TITLE, xticks=ticks, xticklabels=ticks
    )
