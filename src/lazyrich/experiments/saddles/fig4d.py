"""Fig. 4D: Tanh network."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _panels, _teachers, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig4d"
TITLE = "Tanh network"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue). Below: the first-layer weights of its units at "
    "the "
    "marked moments. Order 1: the first drop leaves weights in one direction, which is no manifold of one "
    "effective unit. "
    "The paper does not say how targets are scaled; they are divided so that the loss starts at 1, as in the "
    "animations: "
    "with the cubic teacher as printed, descent at rate 0.02 would diverge."
)
SECONDS = {"quick": 8, "paper": 120}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {
    "quick": Config(50, 1e-06, 0.02, 4000, population=24),
    "paper": Config(50, 1e-06, 0.02, 4000, num_seeds=16),
}


def training(config: Config) -> "simulate.Supervised":
    """A student with the teacher's activation."""
    network = models.TwoLayer(2, config.width, activation="tanh")
    task = _teachers.teacher_task("tanh", _teachers.LONG, config.num_samples)
    return simulate.Supervised(network, task, config.initial, config.population)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Every seed."""
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.1 says about Fig. 4D."""
    found = _walks.walks(result, training(config).network.kinds[0], early=True)
    return require_seeds(
        [
            _walks.order_claim(result, training(config).network.kinds[0], "App. B.1"),
            *_walks.rank_one_claims(found, "Fig. 4D"),
        ],
        8,
    )


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, training(config).network.kinds[0], early=True)
