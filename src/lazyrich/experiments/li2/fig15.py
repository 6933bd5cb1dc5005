"""Fig. 15: zero-init against the usual start, M = 41."""

from lazyrich.experiments.li2 import _training, _zero_init

PAPER, ID = "li2", "fig15"
TITLE = "Zero-init, M = 41"
CAPTION = _zero_init.caption(order=41, quick=23)
SECONDS = {"quick": 16, "paper": 110}
REFERENCES = _zero_init.REFERENCES
CONVENTION = _training.CONVENTION
Config = _zero_init.Config
PANEL = _zero_init.Panel("Fig. 15")
PRESETS = {
    "quick": Config(
        order=23, width=256, train_fractions=(0.6, 0.7, 0.85), last_epochs=(1000, 600, 100),
        zero_epochs=0.9, num_records=40, seeds_per_chunk=8,
    ),
    "paper": Config(order=41, train_fractions=(0.4, 0.6, 0.85), last_epochs=(1000, 400, 100)),
}  # fmt: skip
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
