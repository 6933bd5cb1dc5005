"""What the figures of trained networks share: runs over seeds, epochs to generalise, and bands."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import models, plotting, simulate, tasks
from lazyrich.core import Context, Convention
from lazyrich.experiments._over_seeds import part_of

if TYPE_CHECKING:
    import xarray

    from lazyrich import groups

CONVENTION = Convention(
    loss="mean over samples of the squared norm of the residual, centred over classes, no ½",
    time="t counts epochs: full batch, one step of the optimizer each",
    time_unit="epochs",
)
LEVEL = 0.9
"""Test accuracy from which on a network counts as one that generalises."""
LONG = 3e11
"""Multiplications from which on a run has checkpoints, some seconds of them; shorter ones are run again."""


def training(
    group: "groups.Group", train_fraction: float, width: int, *, activation: str = "quadratic",
    middle_layers: int = 0, complex_weights: bool = False, output_scale: float = 1.0, **options: Any,
) -> "simulate.FeatureLearning":  # fmt: skip
    """A network that learns the products of a group; options are those of `FeatureLearning`."""
    network = models.PairNetwork(
        group.order, width, activation=activation, middle_layers=middle_layers,
        complex_weights=complex_weights, output_scale=output_scale,
    )  # fmt: skip
    return simulate.FeatureLearning(
        network, tasks.GroupArithmetic(group, train_fraction), **options
    )


def descend(
    training: "simulate.FeatureLearning", epochs: Any, seeds: Any, config: Any, context: Context, *,
    optimizer: str = "adam", learning_rate: Any = None, weight_decay: Any = None,
) -> "xarray.Dataset":  # fmt: skip
    """A run of every seed, at the configuration's rate and decay unless others are given."""
    return simulate.gradient_descent(
        training, epochs, seeds=seeds, optimizer=optimizer, context=context,
        checkpoint=checkpoint(training, epochs),
        learning_rate=config.learning_rate if learning_rate is None else learning_rate,
        weight_decay=config.weight_decay if weight_decay is None else weight_decay,
    ).drop_attrs()  # fmt: skip


def checkpoint(training: "simulate.FeatureLearning", epochs: Any) -> str | None:
    """What the checkpoints of a run are called in the context of its piece; none where it is short."""
    network, n = training.network, training.task.num_samples
    layers = 3 * network.width * (network.num_symbols + network.middle_layers * network.width)
    return "descent" if n * layers * float(np.max(epochs)) >= LONG else None


def parts(context: Context, names: Iterable[Any]) -> Iterator[tuple[Any, Context]]:
    """Names of runs that a piece makes one after another, each with a context of its own."""
    every = list(names)
    for number, name in enumerate(every):
        yield name, part_of(context, f"{number}", "training", number, len(every))


def draw_band(
    axes: Any, curves: "xarray.DataArray", colour: str, label: str = "", **line: Any
) -> None:
    """Median over seeds, and a band that holds the middle eight tenths of them."""
    values = curves.transpose("seed", "time").values
    band = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
    time = plotting.log_time(curves.time)
    plotting.plot_band(axes, time, *band, colour=colour, label=label, **line)


def kind_colour(kind: str) -> str:
    """The colour of `train` or of `test` curves."""
    return plotting.COLOURS[("train", "test").index(kind)]


def accuracy_axes(axes: Any, title: str, ylabel: str = "accuracy") -> None:
    """Labels of a panel of accuracies over epochs."""
    axes.set(xscale="log", xlabel="epoch", ylabel=ylabel, ylim=(-0.02, 1.04), title=title)
