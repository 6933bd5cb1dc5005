"""When does grokking happen? App. E, Sec. 4.5 and App. I as experiments."""

import dataclasses
from typing import TYPE_CHECKING

from lazyrich import plotting
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.li2 import _study, _training, _when_fate, _when_speed

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "li2", "when"
TITLE = "When does grokking happen?"
CAPTION = f"{_when_speed.CAPTION} {_when_fate.CAPTION}".strip()
SECONDS = {"quick": 80, "paper": 3600}
REFERENCES = ("li2", "layerwise", "grokking-lazy-rich")
CONVENTION = _training.CONVENTION
STUDIES = (*_when_speed.STUDIES, *_when_fate.STUDIES)
COLUMNS = 4


@dataclasses.dataclass(frozen=True)
class Config(_when_speed.Settings, _when_fate.Settings):
    """What all studies are computed from."""

    num_seeds: int = 8
    seeds_per_chunk: int = 2


PRESETS = {
    "quick": Config(**_when_speed.QUICK, **_when_fate.QUICK, seeds_per_chunk=8),
    "paper": Config(),
}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """One study after another."""
    found = _study.run_studies(STUDIES, config, context)
    return found.assign_attrs(CONVENTION.attributes())


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. E, Sec. 4.5 and App. I say, study by study."""
    found = [
        claim for study in STUDIES for claim in study.claims(_study.part_of(result, study), config)
    ]
    return require_seeds(found, 8)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """A panel for each study."""
    rows = -(-len(STUDIES) // COLUMNS)
    picture, axes = plotting.new_figure(COLUMNS, rows, panel=(3.0, 2.5))
    for panel, study in zip(axes.flat, STUDIES, strict=False):
        study.panel(panel, _study.part_of(result, study), config)
    for panel in axes.flat[len(STUDIES) :]:
        panel.remove()
    return picture
