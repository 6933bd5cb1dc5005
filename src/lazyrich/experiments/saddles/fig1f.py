"""Fig. 1F: linear self-attention."""

from typing import TYPE_CHECKING

import numpy as np

from lazyrich import models, simulate, theory
from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments.saddles import _animations, _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig1f"
TITLE = "Linear self-attention"
CAPTION = _panels.caption(
    "the query weights of its heads",
    "One head, then two. Inputs have variance ½ in each dimension, so that the loss starts at 1 as in "
    "the animation. With ten heads the times depend on the start: see the spread.",
)
SECONDS = {"quick": 3, "paper": 6}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
EARLY = (
    "with the settings as printed all runs are earlier (64 of them drop first between steps 270 and 520); an "
    "initial scale of 0.7 to 0.8 of the printed one would explain the animation"
)
THIRD = (
    "in half of the runs that rest a third head takes part in a mode, as its start is nearly tied "
    "with another; 36 of 70 end with two heads, 31 with three"
)
TIES = (
    "in about half of the runs two of ten heads grow together, as their starts are nearly tied, and the loss "
    "falls in one drop"
)
RULE = "when the first head, growing alone to lowest order, would become infinite"
INFINITE = 10.0
"""Weights from which growth to infinity is a matter of a step or two."""
PRESETS = {
    "quick": Config(width=10, initial_std=5e-3, learning_rate=0.02, population=True, num_seeds=32),
    "paper": Config(width=10, initial_std=5e-3, learning_rate=0.02, num_seeds=128),
}


def training(config: Config) -> "simulate.Supervised":
    """The model of Eq. 69 on in-context regression."""
    network = models.Attention(3, config.width)
    task = _settings.attention_task(config.num_samples)
    return simulate.Supervised(network, task, config.initial_std, config.population)


PANEL = _panels.Panel(TITLE, training, _panels.QUERIES)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1F, the losses at its saddles, and when it leaves the first."""
    found = PANEL.walks(result, config)
    saddles = theory.AttentionSaddles(_settings.attention_task(1).covariance, 32)
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    return require_seeds(
        [
            *_walks.walk_claims(
                result,
                found,
                "zero",
                "Fig. 1F",
                departures={
                    "rests": Departure(TIES, 0.54, 0.2),
                    "plateau": Departure(THIRD, 0.76, 0.2),
                    "end": Departure(THIRD, 0.51, 0.2),
                    "construction": Departure(THIRD, 0.88, 0.1),
                },
            ),
            mean_claim(
                "The plateau lies at the loss of the saddle with one mode",
                "Fig. 1F",
                float(saddles.loss([0])),
                [p.levels[1] for p in rested],
                tolerance=0.05,
            ),
            mean_claim(
                "The loss ends at that of both modes, which no context of 32 brings to 0",
                "Fig. 1F",
                float(saddles.loss([0, 1])),
                [p.levels[-1] for p in rested],
                tolerance=0.05,
            ),
            *_walks.spread_claims(
                found,
                _animations.source("1F", chosen=True),
                _animations.DROPS["1F"],
                Departure(EARLY, 3.5, 1.2),
            ),
            *_walks.prediction_claims(
                found, "Sec. 5.2", RULE, [[time] for time in _blow_ups(result, config)], 0.05
            ),
        ],
        8,
    )


def _blow_ups(result: "xarray.Dataset", config: Config) -> np.ndarray:
    """When the first head of each run becomes infinite if all follow the lowest order of the loss, −2⟨yf⟩.

    Heads then do not see each other: v_a changes by 2η T_abc k_b q_c in a step, keys and queries likewise,
    with the correlations T of features and label. There is no closed form as of Proposition 5: a head reads
    and writes labels by two ways that share its query, so that its outgoing weights are no single number as
    in Eq. 13.
    """
    T = _settings.attention_task(1).moments().correlation
    start = result.isel(time=0)
    K, Q = np.split(start.incoming.values, 2, axis=-1)  # (seed, head, entry)
    V, times = start.outgoing.values, np.full(result.sizes["seed"], np.inf)
    for step in range(config.last_step):
        times[(np.abs([V, K, Q]).max(axis=(0, 2, 3)) > INFINITE) & np.isinf(times)] = step
        alive = np.isinf(times)[:, None, None] * 2 * config.learning_rate
        V, K, Q = (
            V + alive * np.einsum("abc,shb,shc->sha", T, K, Q),
            K + alive * np.einsum("abc,sha,shc->shb", T, V, Q),
            Q + alive * np.einsum("abc,sha,shb->shc", T, V, K),
        )
    return times
