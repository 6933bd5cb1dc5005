"""Fig. 4B: Sigmoid network."""

from typing import TYPE_CHECKING

from lazyrich.core import Claim, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4b"
TITLE = "Sigmoid network"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Order 0: nothing separates; all units stay equal while the loss drops and then creeps. "
    f"{_teachers.SCALED}",
)
SECONDS = {"quick": 7, "paper": 180}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(50, 1e-06, 0.02, 8000, population=True, nodes=16),
    "paper": Config(50, 1e-06, 0.02, 8000, num_seeds=16),
}
PANEL = _panels.Panel(TITLE, _teachers.student("sigmoid", _teachers.LONG), early=True)
run, figure, frames = PANEL.run, PANEL.figure, PANEL.frames


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4B."""
    found = PANEL.walks(result, config)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            _walks.share(
                "After the first drop all units are still equal: one effective unit (Eq. 4)",
                "App. B.1",
                [w.at_plateau.width == 1 and w.at_plateau.construction == "equal" for w in found],
            ),
        ],
        8,
    )
