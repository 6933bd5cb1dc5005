"""Fig. 8: accuracy against training loss, in the linear model and in modular addition."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, measures, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments._records import by_record
from lazyrich.experiments._times import value_at
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig8"
TITLE = "The linear model and modular addition"
CAPTION = (
    "Accuracy against training loss for linear students at several λ, for Gromov's network on addition "
    "modulo p at several shares α of training pairs, and that network's delay against λ = 2/αp with a fit "
    "of the form (λ* − λ)⁻². Colours: gradient descent, mean over seeds; black: theory. Time is counted in "
    "steps of the paper's learning rate 500; descent takes longer steps along the same flow, which a claim "
    "checks."
)
SECONDS = {"quick": 31, "paper": 2700}
REFERENCES = ("linear-grokking", "gromov")
CONVENTION = _curves.CONVENTION
PAPER_RATE = 500.0
LEVEL = 0.95


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 8 is computed from."""

    input_dimension: int = 1000
    aspect_ratios: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9)
    threshold: float = 1e-3
    learning_rate: float = 0.01
    num_test: int = 2000
    num_linear_seeds: int = 16
    order: int = 48
    width: int = 400
    train_fractions: tuple[float, ...] = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
    network_learning_rate: float = 60_000.0
    network_last_steps: tuple[int, ...] = (6000, 4500, 3500, 3000, 2500, 2200, 2200, 2200, 2200)
    num_seeds: int = 8
    seeds_per_chunk: int = 4


PRESETS = {
    "quick": Config(
        input_dimension=400, order=29, width=96, train_fractions=(0.5, 0.6, 0.7, 0.8, 0.9),
        network_learning_rate=12_000.0, network_last_steps=(3500, 2000, 1600, 1400, 1300), num_seeds=4,
    ),
    "paper": Config(),
}  # fmt: skip
NUM_RECORDS = 100
LINEAR_STEPS = simulate.log_steps(1e5, 70, start=False)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Descend in both systems."""
    import xarray

    cases = [_curves.Case(ratio) for ratio in config.aspect_ratios]
    linear_config = dataclasses.replace(config, num_seeds=config.num_linear_seeds)
    linear = _curves.curves(cases, linear_config, LINEAR_STEPS, context)
    linear = linear.rename(
        {name: f"linear_{name}" for name in linear.data_vars}
        | {"time": "linear_time", "seed": "linear_seed"}
    )

    shares = {"fraction": {share: i for i, share in enumerate(config.train_fractions)}}
    label = "modular addition"
    addition = over_cases(shares, _descend, config, context, label, name="addition")
    slow = context.keep("addition-slow", _slow, config)
    return xarray.merge([linear, addition, slow]).assign_coords(
        aspect_ratio=("case", list(config.aspect_ratios)),
        network_ratio=(
            "fraction",
            [2 * config.order / _task(config, i).num_samples for i in range(len(config.train_fractions))],
        ),
    ).assign_attrs(CONVENTION.attributes())  # fmt: skip


def _task(config: Config, index: int) -> "tasks.GroupArithmetic":
    return tasks.GroupArithmetic(groups.cyclic(config.order), config.train_fractions[index])


def training(config: Config, index: int) -> "simulate.FeatureLearning":
    """Gromov's network, f = W₂(W₁x/√(2p))²/width from standard normal weights (Eq. 43).

    Its loss (Eq. 44) is a mean over outputs, 1/p of that of the training, and its rate p times as large.
    """
    p, width = config.order, config.width
    network = models.PairNetwork(p, width, activation="quadratic", output_scale=1 / (2 * p * width))

    def standard_normal(seed: int) -> "models.PairWeights":
        first, second = models.TwoLayer(2 * p, width, p).init(simulate.weights_key(seed), 1.0)
        return models.PairWeights(first, (), second)

    return simulate.FeatureLearning(
        network, _task(config, index), centring="none", initial_weights=standard_normal
    )


def _descend(config: Config, index: int, seeds: range, slower: int = 1) -> "xarray.Dataset":
    """Descent of one share of training pairs, its times in steps of the paper's learning rate."""
    rate = config.network_learning_rate / slower
    last = config.network_last_steps[index]
    steps = simulate.log_steps(last, NUM_RECORDS, first=20, start=False, exact=True) * slower
    run = simulate.gradient_descent(
        training(config, index),
        steps,
        learning_rate=rate / config.order,
        seeds=seeds,
        dtype="float64",
    )
    losses = {name: run[name] / config.order for name in ("train_loss", "test_loss")}
    return by_record(run.assign(losses).assign_coords(time=run.time.values * rate / PAPER_RATE))


def _slow(config: Config) -> "xarray.Dataset":
    """One run of the largest share at half the learning rate: descent that is a flow does not notice."""
    last = len(config.train_fractions) - 1
    run = _descend(config, last, range(1), slower=2)
    kept = run[["train_accuracy", "test_accuracy"]].isel(seed=0, drop=True)
    return kept.rename({name: f"slow_{name}" for name in kept.data_vars})


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Appendix G says about Fig. 8."""
    delays = _delays(result)
    return require_seeds(
        [
            *_function_claims(result, config), *_later_claims(result), _fall_claim(result, delays),
            *_fit_claims(result, delays), _rate_claim(result),
        ], 4,
    )  # fmt: skip


def _delays(result: "xarray.Dataset") -> "xarray.DataArray":
    """Delay of every share and seed."""
    rows = [
        measures.grokking_delay(
            one.recorded_time, one.train_accuracy, one.test_accuracy, LEVEL
        ).time
        for one in (result.isel(fraction=index) for index in range(result.sizes["fraction"]))
    ]
    return result.train_accuracy.isel(record=0, drop=True).copy(
        data=np.reshape(rows, (-1, result.sizes["seed"]))
    )


def _function_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """The accuracy is a function of the loss: theory and descent agree as curves over the training loss."""
    found = []
    for index, ratio in enumerate(config.aspect_ratios):
        curve = result.isel(case=index)
        accuracy = curve.linear_test_accuracy.rename(linear_seed="seed")
        mean, error = measures.seed_mean(accuracy)
        gap = np.abs((mean - curve.linear_test_accuracy_theory).values)
        found.append(
            Claim(
                f"Test accuracy along the training loss, linear model at λ = {ratio:g}: theory and "
                "gradient descent "
                "agree (largest difference)", "Fig. 8 top left", 0.05, float(gap.max()), "at-most",
                uncertainty=float(error[int(gap.argmax())]), num_seeds=result.sizes["linear_seed"],
            )
        )  # fmt: skip
    return found


def _half_loss(time: Any, losses: Any, accuracies: Any) -> float:
    """Mean over seeds of log₁₀ of the training loss where the test accuracy passes one half for good."""
    halves = measures.crossing_time(time, accuracies, 0.5).time
    return float(np.mean(value_at(time, np.log10(losses), halves)))


def _later_claims(result: "xarray.Dataset") -> list[Claim]:
    """With fewer samples the training loss is lower when the test accuracy rises, in both systems."""
    linear = [
        _half_loss(
            result.linear_time.values, one.linear_train_loss.values, one.linear_test_accuracy.values
        )
        for one in (result.isel(case=index) for index in range(result.sizes["case"]))
    ]
    addition = [
        _half_loss(one.recorded_time.values, one.train_loss.values, one.test_accuracy.values)
        for one in (result.isel(fraction=index) for index in range(result.sizes["fraction"]))
    ]
    text = "The fewer samples, the smaller the training loss at which half the test set is right"
    decades = "(decades per step, the smallest; positive is as stated)"
    return [
        Claim(f"{text}: linear model {decades}", "Fig. 8 top, Appendix G", 0,
              float(np.min(-np.diff(linear))), "at-least", num_seeds=result.sizes["linear_seed"]),
        Claim(f"{text}: modular addition {decades}", "Fig. 8 top, Appendix G", 0,
              float(np.min(np.diff(addition))), "at-least", num_seeds=result.sizes["seed"]),
    ]  # fmt: skip


def _fall_claim(result: "xarray.Dataset", delays: "xarray.DataArray") -> Claim:
    mean, error = measures.seed_mean(delays)
    steps = mean.values[:-1] / mean.values[1:]
    return Claim(
        "Modular addition: the fewer training pairs, the longer the grokking time (ratio of mean delays at "
        "neighbouring shares, the smallest)", "Fig. 8 bottom", 1, float(steps.min()), "at-least",
        uncertainty=float((error / mean).max()), num_seeds=result.sizes["seed"],
    )  # fmt: skip


def fit(
    result: "xarray.Dataset", delays: "xarray.DataArray", power: float
) -> tuple[float, float, float]:
    """Scale A, place λ* and rms relative error of Δt = A(λ* − λ)^(−power).

    A line is fitted to Δt^(−1/power), each point weighted by its standard error.
    """
    mean, error = (part.values for part in measures.seed_mean(delays))
    x, y = result.network_ratio.values, mean ** (-1 / power)
    weight = (mean / np.maximum(error, 1e-9 * mean) / y) ** 2  # of y: the inverse of its variance
    weight /= weight.sum()
    centre, height = weight @ x, weight @ y
    slope = weight @ ((x - centre) * (y - height)) / (weight @ (x - centre) ** 2)
    predicted = (height + slope * (x - centre)) ** -power
    misfit = np.sqrt(np.mean((predicted / mean - 1) ** 2))
    return float((-slope) ** -power), float(centre - height / slope), float(misfit)


def _fit_claims(result: "xarray.Dataset", delays: "xarray.DataArray") -> list[Claim]:
    _, place, misfit = fit(result, delays, 2)
    largest = float(result.network_ratio.max())
    mean, error = measures.seed_mean(delays)
    noise = float(np.sqrt(np.mean((error / mean) ** 2)))
    return [
        Claim(
            "Modular addition: the grokking time depends on λ as (λ* − λ)⁻² (rms relative deviation from "
            "the fit, two constants)", "Fig. 8 bottom", 0.2, misfit, "at-most", uncertainty=noise,
            num_seeds=result.sizes["seed"],
        ),
        Claim(
            "The fitted λ* lies beyond the largest λ that groks (λ* over it)",
            "Fig. 8 bottom", 1, place / largest, "at-least", num_seeds=result.sizes["seed"],
        ),
    ]  # fmt: skip


def _rate_claim(result: "xarray.Dataset") -> Claim:
    one, changes = result.isel(fraction=-1, seed=0), []
    for kind in _curves.KINDS:
        fast = measures.crossing_time(one.recorded_time, one[f"{kind}_accuracy"], LEVEL).time
        slow = measures.crossing_time(one.recorded_time, one[f"slow_{kind}_accuracy"], LEVEL).time
        changes.append(abs(slow / fast - 1))
    return Claim(
        "The large learning rate does not matter (relative change of the training and test time at half the "
        "rate, in rate × step; the larger of the two, one run)",
        "Appendix G, footnote 2", 0.05, max(changes), "at-most",
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Three panels: accuracies against training loss, twice, and the delay."""
    picture, axes = plotting.new_figure(3)
    linear, addition, delay = axes[0]
    _draw_linear(linear, result, config)
    _draw_addition(addition, result, config)
    _draw_delay(delay, result)
    return picture


def _draw_linear(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    ratios = np.array(config.aspect_ratios)
    order = np.argsort(-ratios)  # blue: fewest samples
    for colour, index in zip(plotting.shades(len(order)), order, strict=True):
        curve = result.isel(case=int(index))
        loss = curve.linear_train_loss.mean("linear_seed")
        axes.plot(loss, curve.linear_test_accuracy.mean("linear_seed"), color=colour, linewidth=2.4,
                  label=rf"$\lambda={ratios[index]:g}$")  # fmt: skip
        axes.plot(
            curve.linear_train_loss_theory,
            curve.linear_test_accuracy_theory,
            color="black",
            linewidth=0.8,
        )
        axes.plot(
            loss,
            curve.linear_train_accuracy.mean("linear_seed"),
            color=colour,
            linewidth=1,
            linestyle=":",
        )
    axes.set(
        xscale="log", xlim=(3, 1e-8), xlabel="training loss", ylabel="accuracy (dotted: training)",
        title="Teacher–student",
    )  # fmt: skip
    axes.legend(loc="lower right")


def _draw_addition(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    for colour, share in zip(
        plotting.shades(result.sizes["fraction"]), result.fraction.values, strict=True
    ):
        curve = result.sel(fraction=share)
        loss = np.exp(np.log(curve.train_loss).mean("seed"))
        axes.plot(
            loss,
            curve.test_accuracy.mean("seed"),
            color=colour,
            linewidth=2.4,
            label=rf"$\alpha={share:g}$",
        )
        axes.plot(loss, curve.train_accuracy.mean("seed"), color=colour, linewidth=1, linestyle=":")
    axes.set(
        xscale="log", xlim=(float(result.train_loss.max()) * 1.3, float(result.train_loss.min())),
        xlabel="training loss", ylabel="accuracy (dotted: training)",
        title=f"Addition modulo {config.order}",
    )  # fmt: skip
    axes.legend(loc="center right")


def _draw_delay(axes: Any, result: "xarray.Dataset") -> None:
    delays = _delays(result)
    mean, error = measures.seed_mean(delays)
    ratio = result.network_ratio
    axes.errorbar(ratio, mean, error, color=plotting.COLOURS[0], marker="o", markersize=4, linestyle="none",
                  label="gradient descent")  # fmt: skip
    scale, place, _ = fit(result, delays, 2)
    fine = np.linspace(float(ratio.min()), float(ratio.max()), 200)
    axes.plot(fine, scale * (place - fine) ** -2.0, color="black", linestyle="--", linewidth=1,
              label=rf"$\propto(\lambda^*-\lambda)^{{-2}}$, $\lambda^*={place:.3f}$")  # fmt: skip
    axes.set(yscale="log", xlabel=r"$\lambda=2/\alpha p$", ylabel=r"delay (steps of $\eta=500$)",
             title="Grokking time, modular addition")  # fmt: skip
    axes.legend(loc="upper left")
