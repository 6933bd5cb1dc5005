"""What the authors' animations of Fig. 1 show, read off them.

The paper prints no times. Its Fig. 1 has a video version, in the supplementary material: 2000 full-batch
steps, from a loss of 1.00. Steps were read to about ±5 to 10, losses to ±0.01. So a claim that a drop comes
within 10 % of the step read leaves more than half of that to how runs differ.

What the paper leaves open was chosen so that the loss starts at 1.00 and, of linear networks, drops when the
animation does. Agreement is to this extent by construction, which `CHOSEN` says in the source of a claim:

- 1B: the target map, W*ΣW*ᵀ = 1, and a loss that is a mean over both outputs;
- 1F: the covariance of the inputs, 1/D, and no 1/N in the attention;
- 1G: the target over √8;
- 4D and 4F: the scale of the targets, and in conditions that say so a fitted variance and another teacher.

`docs/theory/saddles.md` says the same to readers.
"""

LAST_STEP = 2000
LOSS_ERROR = 0.01
"""To which losses were read."""
DROPS = {
    "1B": (545, 1465),
    "1C": (670, 1170),
    "1D": (555, 1110),
    "1E": (700, 1170),
    "1F": (580, 885),
    "1G": (795, 1610),
    "4F": (640, 1270),
}
"""The steps at which the loss drops for the first and for the second time."""
TANH_DROP, TANH_LEVEL, TANH_LAST = 250, 0.16, 0.03
"""Fig. 4D: the step of the first drop, the loss at which it ends, and that at the last step."""
Z_TANH_LEVEL = 0.25
"""Fig. 4F: the loss on the intermediate plateau, which falls from 0.26 to 0.24."""
CHOSEN = "settings partly chosen by it"


def source(panel: str, *, chosen: bool = False) -> str:
    """The source of a claim on a panel; `chosen` where settings were chosen to match."""
    figure = f"Fig. {panel}" if panel.startswith("1") else "Fig. 1"
    return f"{figure}, animation" + f"; {CHOSEN}" * chosen
