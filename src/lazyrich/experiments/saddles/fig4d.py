"""Fig. 4D: Tanh network."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments.saddles import _animations, _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4d"
TITLE = "Tanh network"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Order 1: the first drop leaves weights in one direction, which is no manifold of one effective "
    f"unit. {_teachers.SCALED}",
)
SECONDS = {"quick": 10, "paper": 140}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(50, 1e-06, 0.02, 4000, population=True, nodes=32),
    "paper": Config(50, 1e-06, 0.02, 4000, num_seeds=16),
}
WIDE = 1.8
PANEL = _panels.Panel(TITLE, _teachers.student("tanh", _teachers.LONG), early=True)
WIDER = dataclasses.replace(
    PANEL, training=_teachers.student("tanh", _teachers.LONG, variance=WIDE)
)
figure, frames = PANEL.figure, PANEL.frames
INPUTS = (
    "no printed setting gives the animation's numbers: no rate and no initial size changes the loss after "
    "the first drop, and weights fifteen times larger would be needed for its time; a variance of the inputs "
    f"that is fitted, {WIDE} in place of 1, gives both to about what they were read to, ±10 steps and ±0.01, "
    "see the claims that follow. Other changes of the data may do so too: which one was made stays open. The "
    "loss at the end does not tell: it is read to ±0.01, and printed and fitted settings both give 0.03"
)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The panel, and for as long as the animation lasts the same from wider inputs."""
    half = dataclasses.replace(
        config, last_step=config.last_step // 2, num_records=config.num_records // 2
    )
    return PANEL.run(config, context).merge(WIDER.again("wider", half, context))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4D, and what the animation shows."""
    wider = _panels.condition(result, "wider")
    departures = Departure(INPUTS, 320, 10), Departure(INPUTS, 0.1165, 0.004)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            *_walks.rank_one_claims(result, PANEL.walks(result, config), "Fig. 4D"),
            *_animation(result, config, departures),
            *_animation(wider, config, when=f", with inputs of variance {WIDE} (fitted)"),
        ],
        8,
    )


def _animation(
    result: "xarray.Dataset", config: Config,
    departures: Sequence[Departure | None] = (None, None), when: str = "",
) -> list[Claim]:  # fmt: skip
    found = [walk.plateaus for walk in PANEL.walks(result, config)]
    source, end = _animations.source("4D", chosen=True), _animations.LAST_STEP
    step, level, last = _animations.TANH_DROP, _animations.TANH_LEVEL, _animations.TANH_LAST
    left = result.loss.sel(time=end, method="nearest")
    return [
        mean_claim(f"The first drop comes at step {step}{when}", source, step,
                   [p.drop_times[0] for p in found], tolerance=0.1, departure=departures[0]),
        mean_claim(f"It ends at a loss of {level}{when}", source, level,
                   [p.levels[1] for p in found], tolerance=0.1, departure=departures[1]),
        mean_claim(f"Slow decay follows: {last} is left at step {end}{when}; both variances give it",
                   source, last, left, "absolute", _animations.LOSS_ERROR),
    ]  # fmt: skip
