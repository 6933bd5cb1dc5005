"""What the figures on grokking share: runs of one network at several settings, and their delays."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import measures, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Convention
from lazyrich.experiments._over_seeds import over_seeds

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


@functools.cache  # the compiled loop is found again by the optimiser's identity
def coupled_adam(weight_decay: float) -> Any:
    """Adam at rate 1 on the gradient plus `weight_decay` times the weights, as in PyTorch's `Adam`."""
    import optax

    return optax.chain(optax.add_decayed_weights(weight_decay), optax.adam(1.0))


@functools.cache
def decoupled_adam(weight_decay: float) -> Any:
    """AdamW at rate 1, as it is used for modular addition: the second moment forgets after 50 steps."""
    import optax

    return optax.adamw(1.0, b2=0.98, weight_decay=weight_decay)


def moments(last_step: int, num_records: int) -> np.ndarray:
    """When to record: at the start, then evenly in log time."""
    return np.concatenate([[0], np.unique(np.round(np.geomspace(1, last_step, num_records)))])


def digits_task(config: Any, source: Any, target: float = 1.0) -> "tasks.DigitClassification":
    """Digits of as many pixels a side as the configuration asks for, or fewer."""
    pool = max(tasks.digit_images(source).images.shape[1] // config.side, 1)
    return tasks.DigitClassification(config.num_samples, config.num_test, target, pool, source)


def train(
    training: "simulate.Classification", config: Any, seeds: range, slower: float = 1.0
) -> "xarray.Dataset":
    """A run of every seed by Adam with coupled decay, its rate divided by `slower`."""
    return simulate.gradient_descent(
        training, moments(config.last_step, config.num_records), seeds=seeds,
        learning_rate=config.learning_rate / slower, optimizer=coupled_adam(config.weight_decay),
        batch_size=config.batch_size or None, dtype="float32",
    ).drop_attrs()  # fmt: skip


def over_settings(
    names: Sequence[str], config: Any, train: "Callable[[int, range], xarray.Dataset]", context: Context
) -> "xarray.Dataset":  # fmt: skip
    """All settings from every seed, over the dimension `setting`."""
    import xarray

    counts = [config.num_seeds] * len(names)
    runs = over_seeds("training", "run", counts, config, train, context)
    return (
        xarray.concat(runs, "setting")
        .assign_coords(setting=list(names))
        .assign_attrs(CONVENTION.attributes())
    )


class Delays(NamedTuple):
    """When accuracies pass the level for good, for every setting and seed."""

    level: float
    train: np.ndarray
    test: np.ndarray

    @property
    def ratio(self) -> np.ndarray:
        """How many times later the test accuracy is there, shape (settings, seeds)."""
        return self.test / self.train


def delays(result: "xarray.Dataset", reference: int = 0, level: float | None = None) -> Delays:
    """Crossing times at a level, or at the one that the setting `reference`, the most delayed one, gives.

    What a test accuracy can be in the end depends on the data and on how few samples are trained on. Most of
    what is reached in the end counts as learned, the same for all settings, for training and test.
    """
    if level is None:
        last = result.test_accuracy.isel(setting=reference, time=-1)
        level = LEVEL_SHARE * float(last.mean())
    train, test = (
        measures.crossing_time(result.time.values, result[name].values, level).time
        for name in ACCURACIES
    )
    return Delays(level, train, test)


def log_mean(values: np.ndarray) -> tuple[float, float]:
    """Geometric mean over seeds and its standard error; infinite and NaN where a run never gets there."""
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(values)
        mean = float(np.exp(logs.mean()))
        error = float(logs.std(ddof=1) / np.sqrt(logs.size)) if logs.size > 1 else np.nan
    return mean, mean * error


def delay_claims(result: "xarray.Dataset", source: str, reference: int = 0) -> list[Claim]:
    """The reference setting groks: it has learned its training set by heart long before it generalises."""
    found, num = delays(result, reference), result.sizes["seed"]
    ratio, error = log_mean(found.ratio[reference])
    one = result.isel(setting=reference)
    learned = [
        np.interp(time, result.time, curve)
        for time, curve in zip(found.test[reference], one.train_accuracy.values, strict=True)
    ]
    name = str(result.setting.values[reference])
    return [
        Claim(
            f"{name}: generalisation is delayed (test over training time at accuracy {found.level:.2f}, "
            "geometric mean)", source, 2, ratio, "at-least", uncertainty=error, num_seeds=num,
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
    found, num = delays(result, reference), result.sizes["seed"]
    own, other = found.ratio[setting], found.ratio[reference]
    share, error = log_mean(own / other)
    name, against = (str(result.setting.values[i]) for i in (setting, reference))
    return [
        Claim(
            f"{name}: the delay is shorter than that of {against} (its ratio of test to training time over "
            f"the other's, at accuracy {found.level:.2f}, geometric mean)", source, 0.5, share, "at-most",
            uncertainty=error, num_seeds=num,
        ),
        Claim(
            f"{name}: so it is for every seed (share of seeds with a smaller ratio)", source, 1.0,
            float(np.mean(own < other)), "at-least", num_seeds=num,
        ),
        Claim(
            f"{name}: the test accuracy passes the level earlier, not only the training accuracy later (its "
            f"time over that of {against}, geometric mean)", source, 1.0,
            log_mean(found.test[setting] / found.test[reference])[0], "at-most", num_seeds=num,
        ),
    ]  # fmt: skip


def sweep_claims(result: "xarray.Dataset", source: str) -> list[Claim]:
    """From setting to setting the delay gets shorter, from the first, the laziest, to the last."""
    found, num = delays(result), result.sizes["seed"]
    names = result.setting.values
    steps = [
        Claim(
            f"The delay falls from {names[i]} to {names[i + 1]} (ratio of test to training time over the one "
            f"before, at accuracy {found.level:.2f}, geometric mean)", source, 1.0, value, "at-most",
            uncertainty=error, num_seeds=num,
        )
        for i in range(len(names) - 1)
        for value, error in [log_mean(found.ratio[i + 1] / found.ratio[i])]
    ]  # fmt: skip
    return [*steps, *shorter_claims(result, source, setting=len(names) - 1)]


def draw_curves(
    axes: Any, result: "xarray.Dataset", found: Delays, setting: int, title: str
) -> None:
    """Training and test accuracy of a setting: every seed thin, the mean bold, and the delay between them."""
    one = result.isel(setting=setting)
    time = np.maximum(result.time.values, 0.8)  # the start has a place on a log axis too
    for name, colour, label in zip(
        ACCURACIES, plotting.COLOURS, ("training", "test"), strict=False
    ):
        for row in one[name].values:
            axes.plot(time, row, color=colour, linewidth=0.5, alpha=0.5)
        axes.plot(time, one[name].mean("seed"), color=colour, label=label)
    ratio, _ = log_mean(found.ratio[setting])
    begin, end = (log_mean(times[setting])[0] for times in (found.train, found.test))
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
