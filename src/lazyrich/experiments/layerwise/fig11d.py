"""Fig. 11d: smaller inputs make up for the delay."""

from lazyrich.experiments import _digits
from lazyrich.experiments.layerwise import _grokking, _rescaled

PAPER, ID = "layerwise", "fig11d"
TITLE = "Smaller inputs remove the delay"
CAPTION = _rescaled.caption(
    "left: weights five times those of LeCun, target 3; right: input 1 to 0.01"
)
SECONDS = {"quick": 5, "paper": 2400}
REFERENCES = _rescaled.REFERENCES
CONVENTION = _grokking.CONVENTION
Config = _rescaled.Config
PRESETS = _rescaled.PRESETS
PANEL = _rescaled.Panel(_rescaled.Setting("smaller inputs", input=0.01), "Input 1 → 0.01")

data_fingerprint = _digits.data_fingerprint
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
