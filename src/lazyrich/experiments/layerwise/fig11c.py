"""Fig. 11c: a larger target makes up for the delay."""

from lazyrich.experiments import _digits
from lazyrich.experiments.layerwise import _grokking, _rescaled

PAPER, ID = "layerwise", "fig11c"
TITLE = "A larger target removes the delay"
CAPTION = _rescaled.caption(
    "left: weights five times those of LeCun, target 3; right: target 3 to 30"
)
SECONDS = {"quick": 5, "paper": 2400}
REFERENCES = _rescaled.REFERENCES
CONVENTION = _grokking.CONVENTION
Config = _rescaled.Config
PRESETS = _rescaled.PRESETS
PANEL = _rescaled.Panel(_rescaled.Setting("larger target", target=30.0), "Target 3 → 30")

data_fingerprint = _digits.data_fingerprint
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
