"""Fig. 4F: z tanh z."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments.saddles import _animations, _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4f"
TITLE = "z tanh z"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    f"Order 2: one unit after the other. {_teachers.SCALED}",
)
SECONDS = {"quick": 17, "paper": 110}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
TIES = "in a quarter of the runs two of ten units grow together, as their starts are nearly tied"
SLOW = (
    "a single unit of this kind comes to rest slowly, along a flat direction; the network leaves the plateau "
    "while the loss still creeps towards the saddle"
)
PRESETS = {
    "quick": Config(10, 0.005, 0.02, 8000, population=True, nodes=24, num_seeds=16),
    "paper": Config(10, 0.005, 0.02, 8000, num_seeds=16),
}
PANEL = _panels.Panel(TITLE, _teachers.student("z-tanh", _teachers.LONG))
UNIT = dataclasses.replace(PANEL, training=_teachers.student("z-tanh", _teachers.SHORT))
figure, frames = PANEL.figure, PANEL.frames
ANIMATION = _animations.source("4F", chosen=True)
TEACHER = (
    "the printed teacher does not give the animation's loss: its longer unit carries nearly all of it, "
    "whatever the rate; two teachers of length 1 and the rate 0.04, as in "
    "Fig. 1G, give loss and times, see the claims that follow"
)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The panel, and the same with teacher and rate of Fig. 1G, for half as many steps."""
    fast = dataclasses.replace(
        config, learning_rate=2 * config.learning_rate, last_step=config.last_step // 2
    )
    return PANEL.run(config, context).merge(UNIT.again("unit", fast, context))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4F, and what the animation shows."""
    found, again = (PANEL.walks(one, config) for one in (result, _panels.condition(result, "unit")))
    rests = {"rests": Departure(TIES, 0.75, 0.2), "level": Departure(SLOW, 1.13, 0.08)}
    when = ", with teacher and rate of Fig. 1G"
    departures = [Departure(TEACHER, *pin) for pin in ((1435, 130), (3900, 1000), (0.09, 0.01))]
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            *_walks.walk_claims(result, found, "zero", "Fig. 4F", every=False, departures=rests),
            *_walks.time_claims(found, ANIMATION, _animations.DROPS["4F"], departures),
            _level(found, departures[2]),
            *_walks.spread_claims(again, ANIMATION, _animations.DROPS["4F"], when=when),
            _level(again, when=when),
        ],
        8,
    )


def _level(
    found: Sequence[_walks.Walk], departure: Departure | None = None, when: str = ""
) -> Claim:
    levels = [walk.plateaus.levels[1] for walk in found if walk.has_intermediate]
    return mean_claim(f"The loss rests at 0.26 to 0.24{when}", ANIMATION,
                      _animations.Z_TANH_LEVEL, levels, tolerance=0.1, departure=departure)  # fmt: skip
