"""Fig. 11e: a smaller output makes up for the delay."""

from lazyrich.experiments import _digits
from lazyrich.experiments.layerwise import _grokking, _rescaled

PAPER, ID = "layerwise", "fig11e"
TITLE = "A smaller output removes the delay"
CAPTION = _rescaled.caption(
    "left: weights five times those of LeCun, target 3; right: output 1 to 0.1"
)
SECONDS = {"quick": 5, "paper": 2400}
REFERENCES = _rescaled.REFERENCES
CONVENTION = _grokking.CONVENTION
Config = _rescaled.Config
PRESETS = _rescaled.PRESETS
PANEL = _rescaled.Panel(_rescaled.Setting("smaller output", output=0.1), "Output 1 → 0.1")

data_fingerprint = _digits.data_fingerprint
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
