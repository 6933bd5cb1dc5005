"""Fig. 4H: z² tanh z."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig4h"
TITLE = "z² tanh z"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue). Below: the first-layer weights of its units at "
    "the "
    "marked moments. Order 3: one unit after the other; the paper preset follows the flow, the quick one "
    "descent from 0.02 in place of 0.005. The activation is not named in the "
    "text; z² tanh z is one of its order. "
    "The paper does not say how targets are scaled; they are divided so that the loss starts at 1, as in the "
    "animations: "
    "with the cubic teacher as printed, descent at rate 0.02 would diverge."
)
SECONDS = {"quick": 8, "paper": 120}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
TIES = "in one run of eight two of ten units grow together, as their starts are nearly tied"
PRESETS = {
    "quick": Config(10, 0.02, 0.02, 20_000, population=20, num_seeds=16),
    "paper": Config(10, 0.005, 0.02, 400_000, num_seeds=16, population=24, flow=True),
}


def training(config: Config) -> "simulate.Supervised":
    """A student with the teacher's activation."""
    network = models.TwoLayer(2, config.width, activation="z2-tanh")
    task = _teachers.teacher_task("z2-tanh", _teachers.SHORT, config.num_samples)
    return simulate.Supervised(network, task, config.initial, config.population)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Every seed."""
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4H."""
    found = _walks.walks(result, training(config).network.kinds[0])
    return require_seeds(
        [
            _walks.order_claim(result, training(config).network.kinds[0], "App. B.1"),
            *_walks.walk_claims(
                result,
                found,
                "zero",
                "Fig. 4H",
                every=False,
                departures={"rests": Departure(TIES, 0.875, 0.15)},
            ),
        ],
        8,
    )


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, training(config).network.kinds[0])
