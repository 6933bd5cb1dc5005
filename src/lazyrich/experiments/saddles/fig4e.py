"""Fig. 4E: 1 − cos z."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4e"
TITLE = "1 − cos z"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Order 2: one unit after the other. The activation is not named in the text; 1 − cos z is one of "
    f"its order. {_teachers.SCALED}",
)
SECONDS = {"quick": 14, "paper": 270}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(10, 0.005, 0.02, 12000, population=True, nodes=16),
    "paper": Config(10, 0.005, 0.02, 12000, num_seeds=16),
}
PANEL = _panels.Panel(TITLE, _teachers.student("versine", _teachers.LONG))
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4E."""
    found = PANEL.walks(result, config)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            *_walks.walk_claims(result, found, "zero", "Fig. 4E", every=False),
        ],
        8,
    )
