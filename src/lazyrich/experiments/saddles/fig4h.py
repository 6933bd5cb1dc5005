"""Fig. 4H: z² tanh z."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4h"
TITLE = "z² tanh z"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Order 3: one unit after the other; the paper preset follows the flow, the quick one descent from "
    "0.02 in place of 0.005. Spikes: where one unit rests, curvature times rate is 3.9, so that descent "
    "cannot stay. The activation is not named in the text; z² tanh z is one of its order. "
    f"{_teachers.SCALED}",
)
SECONDS = {"quick": 18, "paper": 100}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
SMALL = 0.005
TIES = (
    "in one run of eight two of ten units grow together, as their starts are nearly tied; from weights of "
    f"{SMALL:g}, as in the paper, in none of 16"
)
PRESETS = {
    "quick": Config(10, 0.02, 0.02, 20_000, population=True, nodes=20, num_seeds=16),
    "paper": Config(
        10, SMALL, 0.02, 400_000, population=True, nodes=24, flow=True, implicit=True, num_seeds=16
    ),
}
PANEL = _panels.Panel(TITLE, _teachers.student("z2-tanh", _teachers.SHORT))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4H."""
    found = PANEL.walks(result, config)
    ties = {"rests": Departure(TIES, 0.875, 0.15)} if config.initial_std > SMALL else {}
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            *_walks.walk_claims(result, found, "zero", "Fig. 4H", every=False, departures=ties),
        ],
        8,
    )
