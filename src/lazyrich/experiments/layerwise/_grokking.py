"""What the figures on grokking share: runs of one network at several settings, and their delays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import measures, plotting, simulate, tasks
from lazyrich.core import Claim, Convention
from lazyrich.experiments._claims import delay_claim, geometric_claim, share_claim
from lazyrich.experiments._times import ratio_of_times, time_to, value_at

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

CONVENTION = Convention(
    loss="mean over samples and outputs of the squared error, no ½",
    time="t counts steps of the optimizer",
    time_unit="steps",
)
LEVEL_SHARE = 0.8
"""The level is this share of the test accuracy with which the most delayed setting ends."""
FEWEST_SEEDS = 4
"""Delays differ by large factors: four runs tell them apart."""
ACCURACIES = ("train_accuracy", "test_accuracy")


def digits_task(config: Any, source: Any, target: float = 1.0) -> "tasks.DigitClassification":
    """Digits of as many pixels a side as the configuration asks for, or fewer."""
    pool = max(tasks.digit_images(source).images.shape[1] // config.side, 1)
    return tasks.DigitClassification(config.num_samples, config.num_test, target, pool, source)


def train(
    training: "simulate.Classification", config: Any, seeds: range, slower: float = 1.0
) -> "xarray.Dataset":
    """A run of every seed by Adam with coupled decay, its rate divided by `slower`."""
    return simulate.gradient_descent(
        training, simulate.log_steps(config.last_step, config.num_records), seeds=seeds,
        learning_rate=config.learning_rate / slower, optimizer="adam",
        weight_decay=config.weight_decay, batch_size=config.batch_size or None, dtype="float32",
    )  # fmt: skip


class Delays(NamedTuple):
    """When accuracies pass the level for good, for every setting and seed."""

    level: float
    train: np.ndarray
    test: np.ndarray

    @property
    def ratio(self) -> np.ndarray:
        """How many times later the test accuracy is there, shape (settings, seeds)."""
        return ratio_of_times(self.test, self.train)


def delays(result: "xarray.Dataset", reference: int = 0, level: float | None = None) -> Delays:
    """Crossing times at a level, or at the one that the setting `reference`, the most delayed one, gives.

    What a test accuracy can be in the end depends on the data and on how few samples are trained on. Most of
    what is reached in the end counts as learned, the same for all settings, for training and test.
    """
    if level is None:
        last = result.test_accuracy.isel(setting=reference, time=-1)
        level = LEVEL_SHARE * float(last.mean())
    train, test = (time_to(result[name], level) for name in ACCURACIES)
    return Delays(level, train, test)


def falling_claim(statement: str, source: str, values: Any, **more: Any) -> Claim:
    """Ratios, one for each seed, are below 1 on average, by more than two standard errors.

    Without any effect a mean is below 1 in half of all cases.
    """
    each = np.asarray(values, dtype=float)
    mean, error = measures.seed_geometric_mean(each)
    with np.errstate(invalid="ignore"):
        highest = float(mean * np.exp(2 * error / mean))
    return Claim(f"{statement}, geometric mean and two standard errors)", source, 1.0, highest, "at-most",
                 num_seeds=each.size, **more)  # fmt: skip


def delay_claims(result: "xarray.Dataset", source: str, reference: int = 0) -> list[Claim]:
    """The reference setting groks: it has learned its training set by heart long before it generalises."""
    found, num = delays(result, reference), result.sizes["seed"]
    curves = result.train_accuracy.isel(setting=reference)
    learned = value_at(result.time, curves, found.test[reference])
    name = str(result.setting.values[reference])
    return [
        delay_claim(
            f"{name}: generalisation is delayed (test over training time at accuracy {found.level:.2f}, "
            "geometric mean)", source, found.train[reference], found.test[reference],
        ),
        Claim(
            f"{name}: the training set is learned by heart before the test accuracy rises (training accuracy "
            "when the test accuracy passes the level, the smallest)", source, 0.98, float(np.min(learned)),
            "at-least", num_seeds=num,
        ),
    ]  # fmt: skip


def shorter_claims(
    result: "xarray.Dataset", source: str, setting: int, reference: int = 0
) -> list[Claim]:
    """A setting has a shorter delay than the reference, seed by seed."""
    found = delays(result, reference)
    own, other = found.ratio[setting], found.ratio[reference]
    name, against = (str(result.setting.values[i]) for i in (setting, reference))
    return [
        geometric_claim(
            f"{name}: the delay is shorter than that of {against} (its ratio of test to training time over "
            f"the other's, at accuracy {found.level:.2f}, geometric mean)", source, 0.5, own / other,
            "at-most",
        ),
        share_claim(
            f"{name}: so it is for every seed (share of seeds with a smaller ratio)", source, own < other
        ),
        falling_claim(
            f"{name}: the test accuracy passes the level earlier, not only the training accuracy later (its "
            f"time over that of {against}", source, found.test[setting] / found.test[reference],
        ),
    ]  # fmt: skip


def sweep_claims(result: "xarray.Dataset", source: str) -> list[Claim]:
    """From setting to setting the delay gets shorter, from the first, the laziest, to the last."""
    found, names = delays(result), result.setting.values
    steps = [
        falling_claim(
            f"The delay falls from {names[i]} to {names[i + 1]} (ratio of test to training time over the one "
            f"before, at accuracy {found.level:.2f}", source, found.ratio[i + 1] / found.ratio[i],
        )
        for i in range(len(names) - 1)
    ]  # fmt: skip
    return [*steps, *shorter_claims(result, source, setting=len(names) - 1)]


def draw_curves(
    axes: Any, result: "xarray.Dataset", found: Delays, setting: int, title: str
) -> None:
    """Training and test accuracy of a setting: every seed thin, the mean bold, and the delay between them."""
    one = result.isel(setting=setting)
    time = plotting.log_time(result.time)
    for name, colour, label in zip(
        ACCURACIES, plotting.COLOURS, ("training", "test"), strict=False
    ):
        runs = one[name].values
        plotting.plot_runs(axes, time, runs, runs.mean(axis=0), colour=colour, label=label)
    ratio, begin, end = (
        measures.seed_geometric_mean(times[setting]).mean
        for times in (found.ratio, found.train, found.test)
    )
    if np.isfinite(ratio):
        axes.plot([begin, end], [found.level] * 2, color="black", linewidth=1, marker="|")
        axes.annotate(
            f"× {ratio:.3g}", (end, found.level), (6, -10), textcoords="offset points", fontsize=8
        )
    axes.set(
        xscale="log", xlabel="time $t$ (steps)", ylabel="accuracy", ylim=(0, 1.03), title=title
    )


def figure(
    result: "xarray.Dataset", titles: Sequence[str], found: Delays | None = None
) -> "Figure":
    """A panel for each setting."""
    found = delays(result) if found is None else found
    picture, (row,) = plotting.new_figure(len(titles), panel=(3.3, 2.8))
    for setting, (axes, title) in enumerate(zip(row, titles, strict=True)):
        draw_curves(axes, result, found, setting, title)
    row[0].legend(loc="upper left")
    return picture
