"""Fig. 4C: Sine network."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4c"
TITLE = "Sine network"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    f"Order 1: the first drop leaves weights in one direction. {_teachers.SCALED}",
)
SECONDS = {"quick": 18, "paper": 440}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(50, 1e-06, 0.02, 4000, population=True, nodes=16),
    "paper": Config(50, 1e-06, 0.02, 4000, num_seeds=16),
}
PANEL = _panels.Panel(TITLE, _teachers.student("sine", _teachers.LONG), early=True)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4C."""
    found = PANEL.walks(result, config)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            *_walks.rank_one_claims(result, found, "Fig. 4C"),
        ],
        8,
    )
