"""Fig. 16: zero-init against the usual start, M = 89."""

from lazyrich.experiments.li2 import _training, _zero_init

PAPER, ID = "li2", "fig16"
TITLE = "Zero-init, M = 89"
CAPTION = _zero_init.caption(order=89, quick=29)
SECONDS = {"quick": 25, "paper": 1000}
REFERENCES = _zero_init.REFERENCES
CONVENTION = _training.CONVENTION
Config = _zero_init.Config
PANEL = _zero_init.Panel("Fig. 16")
PRESETS = {
    "quick": Config(
        order=29, width=256, train_fractions=(0.52, 0.6, 0.75), last_epochs=(1300, 650, 100),
        zero_epochs=0.9, num_records=40, seeds_per_chunk=8,
    ),
    "paper": Config(order=89, train_fractions=(0.31, 0.36, 0.47), last_epochs=(1500, 600, 100)),
}  # fmt: skip
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
