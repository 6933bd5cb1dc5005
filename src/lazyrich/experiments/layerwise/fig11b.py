"""Fig. 11b: smaller weights make up for the delay."""

from lazyrich.experiments import _digits
from lazyrich.experiments.layerwise import _grokking, _rescaled

PAPER, ID = "layerwise", "fig11b"
TITLE = "Smaller weights remove the delay"
CAPTION = _rescaled.caption(
    "left: weights five times those of LeCun, target 3; right: weights 5 to 1"
)
SECONDS = {"quick": 12, "paper": 2400}
REFERENCES = _rescaled.REFERENCES
CONVENTION = _grokking.CONVENTION
Config = _rescaled.Config
PRESETS = _rescaled.PRESETS
PANEL = _rescaled.Panel(_rescaled.Setting("smaller weights", weights=1.0), "Weights 5 → 1")

data_fingerprint = _digits.data_fingerprint
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
