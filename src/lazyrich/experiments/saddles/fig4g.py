"""Fig. 4G: Cubic network."""

from typing import TYPE_CHECKING

import numpy as np

from lazyrich import adapters, measures, models, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray

PAPER, ID = "saddles", "fig4g"
TITLE = "Cubic network"
CAPTION = _panels.caption(
    "the first-layer weights of its units",
    "Order 3: one unit after the other, with longer plateaus; the paper preset follows the flow, the "
    f"quick one descent from 0.01 in place of 0.005. {_teachers.SCALED}",
)
SECONDS = {"quick": 3, "paper": 12}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(10, 0.01, 0.02, 80_000, population=True, nodes=4),
    "paper": Config(10, 0.005, 0.02, 400_000, num_seeds=16, population=True, nodes=4, flow=True),
}
PANEL = _panels.Panel(TITLE, _teachers.student("cubic", _teachers.SHORT))
figure, frames = PANEL.figure, PANEL.frames


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The panel, and how curved the loss with the printed teacher is at its solution."""
    return PANEL.run(config, context).assign(printed_curvature=_printed_curvature())


def _printed_curvature() -> float:
    """The largest curvature where one balanced unit stands for each of the unscaled teacher's."""
    task = tasks.GaussianRegression(2, lambda x: (x**3).sum(axis=1, keepdims=True))
    training = simulate.Supervised(
        models.TwoLayer(2, 2, activation="cubic"), task, 0.0, population=4
    )
    size = 3 ** (1 / 8)  # |u|² = 3v², which the flow keeps, and v|u|³ = 1
    weights = models.TwoLayerWeights(size * np.eye(2), np.full((2, 1), size**-3))
    data = training.data(None)
    found = adapters.derivatives(lambda w: training.loss(w, data), weights)
    return measures.saddle_certificate(*found).highest


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4G."""
    found = PANEL.walks(result, config)
    return require_seeds(
        [
            PANEL.order_claim(result, config, "App. B.1"),
            *_walks.walk_claims(result, found, "zero", "Fig. 4G", every=False),
            Claim(
                "With the teacher as printed a solution of two units is too curved for descent at the stated "
                "rate (largest curvature × rate, stable below 2)",
                "Fig. 4G",
                2.0,
                float(result.printed_curvature) * config.learning_rate,
                "at-least",
            ),
        ],
        8,
    )
