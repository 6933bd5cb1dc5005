"""Fig. 1B: a fully connected linear network."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, theory
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig1b"
TITLE = "Linear fully connected network"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: the first-layer weights of its units at the marked moments: one direction, then "
    "two. "
    "The paper leaves out the target map; it is taken such that the outputs are uncorrelated with variance "
    "1, "
    "and the loss is a mean over the two outputs, as the animations need."
)
SECONDS = {"quick": 5, "paper": 8}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 65 on its data."""
    network = models.TwoLayer(2, config.width, 2)
    task = _settings.linear_task(config.num_samples)
    return simulate.Supervised(network, task, config.initial, mean_outputs=True)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed."""
    return _panels.run(training, config, context)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 and 5.1 say about Fig. 1B."""
    found = _walks.walks(result, models.activation_kind("linear"))
    W, C = _settings.linear_map(), _settings.CORRELATED
    points = theory.LinearFixedPoints(W @ C, C)
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    return require_seeds([
        *_walks.walk_claims(result, found, "dependent", "Fig. 1B"),
        _walks.mean("The plateau lies at the loss of the fixed point with the first mode (mean over two "
        "outputs)",
                     "Lemma 6", float(points.loss([0])), [p.levels[1] for p in rested], 0.03),
        *_walks.time_claims(found, "Fig. 1B, animation", (545, 1465)),
    ], 8)  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(result, TITLE, models.activation_kind("linear"))


def frames(result: "xarray.Dataset", config: Config) -> "Iterator[Figure]":
    """The same moment by moment."""
    return _panels.frames(result, TITLE, models.activation_kind("linear"))
