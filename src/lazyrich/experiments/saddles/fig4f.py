"""Fig. 4F: z tanh z."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4f"
TITLE = "z tanh z"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    f"Order 2: one unit after the other. {_teachers.SCALED}",
)
SECONDS = {"quick": 8, "paper": 600}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
TIES = "in a quarter of the runs two of ten units grow together, as their starts are nearly tied"
SLOW = (
    "a single unit of this kind comes to rest slowly, along a flat direction; the network leaves the plateau "
    "while the loss still creeps towards the saddle"
)
PRESETS = {
    "quick": Config(10, 0.005, 0.02, 8000, population=24, num_seeds=16),
    "paper": Config(10, 0.005, 0.02, 8000, num_seeds=16),
}
PANEL = _panels.Panel(TITLE, _teachers.student("z-tanh", _teachers.LONG))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4F."""
    found = PANEL.walks(result, config)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            *_walks.walk_claims(
                result,
                found,
                "zero",
                "Fig. 4F",
                every=False,
                departures={
                    "rests": Departure(TIES, 0.75, 0.2),
                    "level": Departure(SLOW, 1.13, 0.08),
                },
            ),
        ],
        8,
    )
