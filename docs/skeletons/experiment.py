"""Fig. 0: the loss of descent and of its flow."""

import dataclasses
from typing import TYPE_CHECKING

from lazyrich import measures, plotting, simulate, tasks, theory
from lazyrich.core import Claim, Context, Convention, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._over_seeds import over_seeds

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig0"
TITLE = "Descent and theory"
CAPTION = "The test loss of a linear student. Colour: mean over seeds; black: theory without a fit."
SECONDS = {"quick": 5, "paper": 20}
REFERENCES = ("linear-grokking",)
CONVENTION = Convention(
    loss="mean over samples of the squared error, no ½",
    time="t counts gradient-descent steps",
    time_unit="steps",
)


@dataclasses.dataclass(frozen=True)
class Config:
    """What the figure is computed from: numbers, words, booleans, tuples of them."""

    input_dimension: int = 200
    aspect_ratio: float = 0.5
    learning_rate: float = 0.01
    num_seeds: int = 8
    seeds_per_chunk: int = 4


PRESETS = {"quick": Config(input_dimension=40, num_seeds=64), "paper": Config(num_seeds=64)}
STEPS = simulate.log_steps(1e3, 20, start=False)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Everything that is drawn and claimed, in pieces that are reported and survive an interruption."""
    descent = over_seeds(_piece, config, context, "gradient descent")
    ratio = _task(config).aspect_ratio
    exact = theory.LinearGrokking(ratio, config.learning_rate).test_loss(STEPS)
    result = descent[["test_loss"]].assign(test_loss_theory=("time", exact))
    return result.assign_attrs(CONVENTION.attributes())


def _task(config: Config) -> tasks.TeacherStudent:
    return tasks.TeacherStudent(
        config.input_dimension, round(config.input_dimension / config.aspect_ratio)
    )


def _piece(config: Config, seeds: range) -> "xarray.Dataset":
    return simulate.linear_descent(
        _task(config), STEPS, learning_rate=config.learning_rate, seeds=seeds
    )


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What the paper says about the figure; compares, computes nothing expensive."""
    ratio = (result.test_loss / result.test_loss_theory).sel(time=50, method="nearest")
    # three standard errors of 64 runs in 40 dimensions: lengths of starts and spectra differ by a third.
    # Say where a tolerance comes from, and look at what would pass with no effect.
    claim = mean_claim(
        "after 50 steps the test loss is that of theory (ratio)",
        "Fig. 0",
        1.0,
        ratio,
        "relative",
        0.15,
    )
    return require_seeds([claim], 8)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Draws; may measure, never trains."""
    picture, axes = plotting.new_figure()
    mean, _ = measures.seed_mean(result.test_loss)
    axes[0, 0].plot(result.time, mean)
    axes[0, 0].plot(result.time, result.test_loss_theory, color="black", linewidth=0.8)
    axes[0, 0].set(xscale="log", xlabel="time $t$ (steps)", ylabel="test loss", title=TITLE)
    return picture
