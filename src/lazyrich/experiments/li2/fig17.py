"""Fig. 17: zero-init against the usual start, M = 127."""

from lazyrich.experiments.li2 import _training, _zero_init

PAPER, ID = "li2", "fig17"
TITLE = "Zero-init, M = 127"
CAPTION = _zero_init.caption(order=127, quick=31)
SECONDS = {"quick": 30, "paper": 1500}
REFERENCES = _zero_init.REFERENCES
CONVENTION = _training.CONVENTION
Config = _zero_init.Config
PANEL = _zero_init.Panel("Fig. 17")
PRESETS = {
    "quick": Config(
        order=31, width=256, train_fractions=(0.5, 0.6, 0.72), last_epochs=(1300, 650, 100),
        zero_epochs=0.9, num_records=40, seeds_per_chunk=8,
    ),
    "paper": Config(order=127, train_fractions=(0.25, 0.29, 0.36), last_epochs=(1000, 400, 100)),
}  # fmt: skip
run, claims, figure = PANEL.run, PANEL.claims, PANEL.figure
