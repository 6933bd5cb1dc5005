"""Fig. 11a: grokking of a deep network on digits."""

from lazyrich.experiments import _digits
from lazyrich.experiments.layerwise import _grokking, _rescaled

PAPER, ID = "layerwise", "fig11a"
TITLE = "Grokking of a deep network"
CAPTION = _rescaled.caption(
    "weights five times those of LeCun, target 3: it learns by heart at once and generalises late"
)
SECONDS = {"quick": 5, "paper": 1200}
REFERENCES = _rescaled.REFERENCES
CONVENTION = _grokking.CONVENTION
Config = _rescaled.Config
PRESETS = _rescaled.PRESETS
PANEL = _rescaled.Panel()

data_fingerprint = _digits.data_fingerprint
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
