"""Fig. 1E: a ReLU convolution."""

from typing import TYPE_CHECKING

from lazyrich import models, simulate, tasks
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments.saddles import _panels, _walks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig1e"
TITLE = "ReLU convolutional network"
CAPTION = (
    "Above: the loss of every run (grey) and of one (blue), the run whose intermediate plateau lasts for the "
    "median time. Below: its kernels at the marked moments: one ray, then two."
)
SECONDS = {"quick": 5, "paper": 8}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
Config = _panels.Config
EARLY = (
    "with the settings as printed both drops come 14 to 18 % early; initial weights eight times smaller "
    "would "
    "explain both, see the claims that follow"
)
PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def training(config: Config) -> "simulate.Supervised":
    """The network of Eq. 68 on four orthogonal inputs."""
    network = models.Convolution(4, config.width, kernel=2, stride=2, activation="relu")
    return simulate.Supervised(network, tasks.orthogonal_patches(), config.initial)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every seed, at the printed initial scale and at one eight times smaller."""
    return _panels.run(training, config, context, small=(1 / 8, config.last_step))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 says about Fig. 1E."""
    found = _walks.walks(result, training(config).network.kinds[0])
    later = _walks.drop_times(_panels.from_small(result).loss)
    return require_seeds(
        [
            *_walks.walk_claims(result, found, "proportional", "Fig. 1E"),
            *_walks.time_claims(
                found,
                "Fig. 1E, animation",
                (700, 1170),
                [Departure(EARLY, 604, 20), Departure(EARLY, 963, 30)],
            ),
            *[
                _walks.mean(
                    f"From weights eight times smaller the {word} drop comes at step {step:g}",
                    "Fig. 1E, animation",
                    step,
                    [times[i] for times in later],
                    0.1,
                )
                for i, (word, step) in enumerate(zip(("first", "second"), (700, 1170), strict=True))
            ],
        ],
        8,
    )


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Loss above, units below."""
    return _panels.figure(
        result, TITLE, training(config).network.kinds[0], names=("kernel $u_1$", "kernel $u_2$")
    )


def frames(result: "xarray.Dataset", config: Config) -> "Iterator[Figure]":
    """The same moment by moment."""
    return _panels.frames(
        result, TITLE, training(config).network.kinds[0], names=("kernel $u_1$", "kernel $u_2$")
    )
