"""Sec. 6.2, 6.3 and App. F.3: layer imbalance decides which layer learns, and when a network groks."""

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Convention, Departure, require_seeds
from lazyrich.experiments import _digits
from lazyrich.experiments._claims import mean_claim, share_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments._times import ratio_of_times, time_to
from lazyrich.experiments.layerwise import _grokking, _rescaled

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "imbalance-grokking"
TITLE = "Layer imbalance and grokking"
CAPTION = (
    "Left: training (dashed) and test accuracy of a one-layer transformer on modular addition, its token "
    "embeddings at the start times a factor; bold: mean over seeds. Middle: when training and test "
    "accuracy pass 0.9, every seed and medians. Third: distance of the tangent kernel from that at the "
    "start for a two-layer ReLU network on digits of which one layer learns, and for a linear one. Right: "
    "test accuracy of the tanh network of Fig. 11, of each preset's size, with its first layer at the start "
    "times ½, and with its last layer times 2 as well. The "
    "text gives no settings and no sizes: modulus 23, 48 dimensions, 128 ReLU units, seven tenths of the "
    "pairs, cross-entropy, full batch, AdamW at rate 1e-2 with decay 1. A network that has only found that "
    "addition commutes is right on seven tenths of the test pairs, less than the level. `quick` has fewer "
    "scales and steps than `paper`. The settings were found by trial, and not every seed follows. Without "
    "MNIST the small digits set that comes with the install takes its place."
)
SECONDS = {"quick": 100, "paper": 7500}
REFERENCES = ("layerwise", "get-rich-quick", "grokking-lazy-rich")
CONVENTION = Convention(
    loss="transformer: mean over samples of the cross-entropy; one layer: mean squared error, no ½",
    time="t counts steps of the optimizer",
    time_unit="steps",
)
SOURCE = "App. F.3, Sec. 6.3"
LEVEL = 0.9
MOST = 0.75
"""Most seeds: of 16 that go either way by chance, twelve or more go one way in one case of 26."""
FEWEST_SEEDS = 8
"""Runs differ by factors: four would not do."""
LAZY = 1e-20
"""Rounding in float64 leaves kernel distances of its square, 1e-32."""
ARRAYS = {"first": (0, 2), "last": (1, 3)}
"""Matrix and bias of each layer of a two-layer network, as numbered among its weights."""
CASES = (("linear", "first"), ("linear", "last"), ("relu", "last"), ("relu", "first"))
KERNEL_RECORDS = 15
IMBALANCES = {
    "even": (1.0, 1.0, 1.0, 1.0),
    "lighter first layer": (0.5, 1.0, 1.0, 1.0),
    "upstream": (0.5, 1.0, 1.0, 2.0),
}
"""Factors of the four layers of the network of Fig. 11."""
DEEP_SHARE = 0.8
"""The level is this share of the test accuracy with which the even network ends."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What the figure is computed from."""

    embedding_scales: tuple[float, ...] = (4.0, 1.0, 0.5)
    order: int = 23
    train_fraction: float = 0.7
    dimension: int = 48
    heads: int = 4
    width: int = 128
    learning_rate: float = 1e-2
    weight_decay: float = 1.0
    last_step: int = 4000
    num_records: int = 120
    layer_width: int = 100
    num_samples: int = 100
    num_test: int = 10
    side: int = 28
    layer_last_step: int = 1000
    kernel_samples: int = 10
    deep_preset: str = "paper"
    deep_width: int = 512
    deep_last_step: int = 14_000
    num_seeds: int = 16
    seeds_per_chunk: int = 4


PRESETS = {
    "quick": Config(
        embedding_scales=(4.0, 0.5), last_step=1500, num_records=60, layer_width=40, num_samples=40, side=14,
        layer_last_step=300, kernel_samples=5, deep_preset="quick", deep_width=64, deep_last_step=2500,
    ),
    "paper": Config(),
}  # fmt: skip
data_fingerprint = _digits.data_fingerprint


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The transformer at every scale of its embeddings, and networks of which one layer learns."""
    scales = {f"embeddings × {scale:g}": scale for scale in config.embedding_scales}
    found = over_cases({"setting": scales}, _transformer, config, context, name="embeddings")
    task = _grokking.digits_task(config, context.data_folder)
    cases = {f"{kind}, {layer} layer": (kind, layer) for kind, layer in CASES}
    one_layer = functools.partial(_one_layer, task)
    layers = over_cases({"case": cases}, one_layer, config, context, "one layer", name="one-layer")
    return (
        found.merge(layers)
        .merge(_imbalanced(config, context))
        .assign_attrs(CONVENTION.attributes() | _digits.attributes(task.digits))
    )


def _transformer(config: Config, embedding_scale: float, seeds: range) -> "xarray.Dataset":
    network = models.ModularTransformer(config.order, config.dimension, config.heads, config.width)
    training = simulate.Classification(
        network, tasks.GroupArithmetic(groups.cyclic(config.order), config.train_fraction),
        network.lecun(embedding_scale=embedding_scale), objective="cross-entropy",
    )  # fmt: skip
    # as is usual for modular addition, the mean of squares forgets after 50 steps
    return simulate.gradient_descent(
        training, simulate.log_steps(config.last_step, config.num_records), seeds=seeds,
        optimizer=simulate.adam(decoupled=True, memory=0.98), learning_rate=config.learning_rate,
        weight_decay=config.weight_decay, dtype="float32",
    )  # fmt: skip


def _one_layer(
    task: "tasks.DigitClassification", config: Config, case: tuple[str, str], seeds: range
) -> "xarray.Dataset":
    activation, layer = case
    frozen = ARRAYS["last" if layer == "first" else "first"]
    network = models.MLP((task.input_dimension, config.layer_width, 10), activation)
    training = simulate.Classification(
        network, task, network.lecun(), kernel_samples=config.kernel_samples, frozen=frozen
    )
    steps = simulate.log_steps(config.layer_last_step, KERNEL_RECORDS)
    found = simulate.gradient_descent(training, steps, learning_rate=0.1, seeds=seeds)
    return found[["kernel_distance"]].rename(time="layer_time")


def _imbalanced(config: Config, context: Context) -> "xarray.Dataset":
    """The deep network of Fig. 11 with layers of unequal weight."""
    setup = dataclasses.replace(
        _rescaled.PRESETS[config.deep_preset],
        width=config.deep_width,
        last_step=config.deep_last_step,
    )
    task = _grokking.digits_task(setup, context.data_folder, _rescaled.DEFAULT.target)
    widths = (task.input_dimension, *[setup.width] * setup.hidden_layers, 10)
    network = models.MLP(widths, "tanh")

    def train(config: Config, factors: tuple[float, ...], seeds: range) -> "xarray.Dataset":
        initial = network.lecun(_rescaled.DEFAULT.weights, factors)
        found = _grokking.train(simulate.Classification(network, task, initial), setup, seeds)
        return found[["test_accuracy"]].rename(time="deep_time", test_accuracy="deep_accuracy")

    label = "layers of unequal weight"
    return over_cases({"imbalance": IMBALANCES}, train, config, context, label, name="layers")


def _times(result: "xarray.Dataset") -> _grokking.Delays:
    return _grokking.delays(result, level=LEVEL)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Smaller embeddings shorten grokking; the last layer alone is lazy, the first alone is not."""
    found, num, names = _times(result), result.sizes["seed"], result.setting.values
    end = float(result.time[-1])  # a run that never gets there counts as if it did then
    between = f"at {names[-1]} than at {names[0]}"
    grokking = [
        Claim(f"{names[0]}: the transformer groks (test over training time at accuracy {LEVEL:g}, median)",
              SOURCE, 2, float(np.median(found.ratio[0])), "at-least", num_seeds=num),
        _grokking.falling_claim(
            f"The time to generalise is shorter {between} (test time, the one over the other", SOURCE,
            ratio_of_times(found.test[-1], found.test[0], end)),
        share_claim(f"So it is for most seeds (share with a shorter time {between})", SOURCE,
                    found.test[-1] < found.test[0], MOST),
        _grokking.falling_claim(
            f"The delay is shorter {between} (ratio of test to training time, one over the other", SOURCE,
            ratio_of_times(found.test[-1], found.train[-1], end)
            / ratio_of_times(found.test[0], found.train[0], end)),
    ]  # fmt: skip
    deep = require_seeds(_deep_claims(result), FEWEST_SEEDS)
    # on the few, small pictures of the packaged set upstream and even layers are about alike
    return [
        *require_seeds([*grokking, *_kernel_claims(result)], FEWEST_SEEDS),
        *_digits.require_mnist(deep, result),
    ]


def _deep_claims(result: "xarray.Dataset") -> list[Claim]:
    curves = result.deep_accuracy
    level = DEEP_SHARE * float(curves.sel(imbalance="even").isel(deep_time=-1).mean())
    times = {
        name: time_to(curves.sel(imbalance=name), level, along="deep_time") for name in IMBALANCES
    }

    def earlier(name: str) -> np.ndarray:
        return times[name] < times["even"]

    late = Departure(
        "In a tanh network of large weights the last layer alone sets the size of the output. Heavier, it "
        "raises the weight-to-target ratio, as in Fig. 11e the other way round, and this delays more than "
        "the lighter first layer gains. Alone, a lighter first layer shortens the delay.",
        pinned=0.0, tolerance=0.2,
    )  # fmt: skip
    shown = (
        "deep tanh network on digits: share of seeds that generalise earlier than with even layers"
    )
    return [
        share_claim(f"A lighter first layer shortens grokking ({shown})", SOURCE,
                    earlier("lighter first layer"), MOST),
        share_claim(f"Upstream layers, the first lighter and the last heavier, shorten grokking ({shown})",
                    "Sec. 6.3", earlier("upstream"), MOST, departure=late),
    ]  # fmt: skip


def _kernel_claims(result: "xarray.Dataset") -> list[Claim]:
    moved = result.kernel_distance.isel(layer_time=-1)
    num = result.sizes["seed"]
    stays = "the kernel stays (largest distance)"
    lazy = {
        "linear, first layer": f"Linear network, only the first layer learns: {stays}",
        "linear, last layer": f"Linear network, only the last layer learns: {stays}",
        "relu, last layer": f"ReLU network, only the last layer learns: linear dynamics, {stays}",
    }
    return [
        *(
            Claim(text, "Sec. 6.2", LAZY, float(moved.sel(case=case).max()), "at-most", num_seeds=num)
            for case, text in lazy.items()
        ),
        mean_claim("ReLU network, only the first layer learns: features are learned, the kernel moves (mean "
                   "distance)", "Sec. 6.2", 0.01, moved.sel(case="relu, first layer"), "at-least"),
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Accuracies, the times read off them, and kernels."""
    picture, (row,) = plotting.new_figure(4, panel=(3.1, 3.0))
    _draw_accuracies(row[0], result, config)
    _draw_times(row[1], _times(result), config)
    looks = (("-", 2.6), ("--", 1.6), (":", 1.6), ("-", 1.6))
    for case, (style, width) in zip(CASES, looks, strict=True):
        name = f"{case[0]}, {case[1]} layer"
        colour = (
            plotting.COLOURS[1]
            if case == ("relu", "first")
            else "black"
            if style != "-"
            else "#bbbbbb"
        )
        curve = result.kernel_distance.sel(case=name).mean("seed")
        row[2].plot(
            result.layer_time[1:], curve[1:], style, color=colour, linewidth=width, label=name
        )
    row[2].set(xscale="log", xlabel="time $t$ (steps)", ylabel="kernel distance $S(t)$",
               title="One layer learns")  # fmt: skip
    row[2].legend(loc="lower right", bbox_to_anchor=(1, 0.06))
    _draw_imbalances(row[3], result)
    return picture


def _draw_imbalances(axes: Any, result: "xarray.Dataset") -> None:
    time = plotting.log_time(result.deep_time)
    for name, colour in zip(IMBALANCES, plotting.COLOURS, strict=False):
        runs = result.deep_accuracy.sel(imbalance=name).values
        plotting.plot_runs(axes, time, runs, runs.mean(axis=0), colour=colour, label=name)
    axes.set(xscale="log", xlabel="time $t$ (steps)", ylabel="test accuracy", ylim=(0, 1.03),
             title="Layers of unequal weight")  # fmt: skip
    axes.legend(loc="upper left")


def _draw_accuracies(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    time = plotting.log_time(result.time)
    for index, scale in enumerate(config.embedding_scales):
        one, colour = result.isel(setting=index), plotting.COLOURS[index]
        runs = one.test_accuracy.values
        plotting.plot_runs(axes, time, runs, runs.mean(axis=0), colour=colour, label=f"× {scale:g}")
        axes.plot(time, one.train_accuracy.mean("seed"), color=colour, linestyle="--", linewidth=1)
    axes.axhline(LEVEL, color="#999999", linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="time $t$ (steps)", ylabel="accuracy (dashed: training)", ylim=(0, 1.03),
             title="Scale of the token embeddings")  # fmt: skip
    axes.legend(loc="center left")


def _draw_times(axes: Any, found: _grokking.Delays, config: Config) -> None:
    scales = np.array(config.embedding_scales)
    for times, colour, label in ((found.test, 1, "test"), (found.train, 0, "training")):
        colour = plotting.COLOURS[colour]
        for index, scale in enumerate(scales):
            axes.plot(
                [scale] * len(times[index]),
                times[index],
                "o",
                color=colour,
                markersize=3,
                alpha=0.5,
            )
        axes.plot(
            scales,
            np.median(times, axis=1),
            color=colour,
            marker="_",
            label=label,
        )
    axes.set(xscale="log", yscale="log", xlabel="scale of the embeddings", ylabel="time $t$ (steps)",
             title=f"Accuracy {LEVEL:g} reached")  # fmt: skip
    axes.set_xticks(scales, [f"{scale:g}" for scale in scales])
    axes.minorticks_off()
    axes.legend(loc="center right")
