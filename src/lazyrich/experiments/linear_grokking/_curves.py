"""What the paper's figures share: losses and accuracies of linear students, theory over descent."""

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting, simulate, tasks, theory
from lazyrich.core import Claim, Context, Convention
from lazyrich.experiments._over_seeds import over_cases

if TYPE_CHECKING:
    import xarray

CONVENTION = Convention(
    loss="mean over samples and outputs of the squared error, no ½",
    time="t counts gradient-descent steps; theory is gradient flow at time η·t",
    time_unit="steps",
)
MANY_SEEDS = 128
"""Late losses rest on a few modes, so that single runs scatter by 40 % near λ = 1. The mean of 16 has a
standard error of 10 %, as large as what is claimed; that of 128 has one of 3.5 %."""
LEVEL = math.erf(math.sqrt(2))
"""About 0.954, the accuracy that defines the grokking time: a loss of ε/4."""
KINDS = ("train", "test")
WORDS = {"train": "Training", "test": "Test"}
NAMES = ("train_loss", "test_loss", "train_accuracy", "test_accuracy")


@dataclasses.dataclass(frozen=True)
class Case:
    """One student: where it differs from one output, no decay, no noise and scale 1."""

    aspect_ratio: float
    output_dimension: int = 1
    weight_decay: float = 0.0
    label_noise: float = 0.0

    def task(self, input_dimension: int) -> Any:
        """The task with the nearest whole number of samples."""
        num_samples = round(input_dimension / self.aspect_ratio)
        return tasks.TeacherStudent(
            input_dimension, num_samples, self.output_dimension, self.label_noise
        )

    def solution(self, input_dimension: int, learning_rate: float, threshold: Any) -> Any:
        """The theory for the aspect ratio that the whole number of samples gives."""
        return theory.LinearGrokking(
            self.task(input_dimension).aspect_ratio, learning_rate, threshold,
            output_dimension=self.output_dimension, weight_decay=self.weight_decay,
            label_noise=self.label_noise,
        )  # fmt: skip


def descend(
    case: Case, config: Any, steps: Any, thresholds: Sequence[float], seeds: range
) -> "xarray.Dataset":
    """Exact gradient descent of one case for some seeds."""
    return simulate.linear_descent(
        case.task(config.input_dimension), steps, learning_rate=config.learning_rate, seeds=seeds,
        weight_decay=case.weight_decay, thresholds=thresholds, num_test=config.num_test,
    )  # fmt: skip


def curves(
    cases: Sequence[Case], config: Any, steps: Any, context: Context,
    num_seeds: Sequence[int] = (), name: str = "curves",
) -> "xarray.Dataset":  # fmt: skip
    """Descent and theory of every case at the recorded steps, over `case`, `seed` and `time`.

    With `num_seeds` cases have different numbers of seeds, and NaN for those that others have more;
    `one_case` leaves them out.
    """

    def compute(config: Any, case: Case, seeds: range) -> "xarray.Dataset":
        return descend(case, config, steps, (config.threshold,), seeds).squeeze(
            "threshold", drop=True
        )

    descent = over_cases(
        {"case": dict(enumerate(cases))}, compute, config, context, "losses and accuracies", name=name,
        num_seeds=num_seeds,
    ).drop_vars("case")  # fmt: skip
    solution = _jointly(cases, config, config.threshold)
    exact = {f"{name}_theory": (("case", "time"), getattr(solution, name)(steps)) for name in NAMES}
    return descent.assign(exact)


def delays(
    name: str, cases: Sequence[Case], config: Any, steps: Any, thresholds: Sequence[float],
    level: float, context: Context,
) -> "xarray.Dataset":  # fmt: skip
    """Delays read off descent, and exact ones, over `point`, `delay_seed` and `threshold`."""
    measured = measured_delays(name, cases, config, steps, thresholds, level, context)
    measured = measured.rename(seed="delay_seed")  # curves have more seeds
    exact = _jointly(cases, config, np.array(thresholds)).grokking_delay(level).time
    return measured.assign({"delay_theory": (("point", "threshold"), exact)})


def measured_delays(
    name: str, cases: Sequence[Case], config: Any, steps: Any, thresholds: Sequence[float],
    level: float, context: Context,
) -> "xarray.Dataset":  # fmt: skip
    """Delays read off descent, over `point`, `seed` and `threshold`."""

    def compute(config: Any, case: Case, seeds: range) -> "xarray.Dataset":
        return _delay(case, config, steps, thresholds, level, seeds)

    points = {"point": dict(enumerate(cases))}
    label = "grokking times"
    return over_cases(points, compute, config, context, label, name=name).drop_vars("point")


FINE_STEPS = np.geomspace(1, 1e8, 400)


def _jointly(cases: Sequence[Case], config: Any, threshold: Any) -> Any:
    """One solution for all cases, down the first of two axes: one call of it is compiled, not one each."""

    def column(name: str) -> Any:
        values = [getattr(case, name) for case in cases]
        return values[0] if len(set(values)) == 1 else np.array(values)[:, None]

    ratios = np.array([[case.task(config.input_dimension).aspect_ratio] for case in cases])
    names = ("output_dimension", "weight_decay", "label_noise")
    return theory.LinearGrokking(
        ratios, config.learning_rate, threshold, **{name: column(name) for name in names}
    )


def finite_accuracies(cases: Sequence[Case], config: Any, steps: Any) -> tuple[Any, Any]:
    """Exact training and test accuracies for the number of inputs there are, over `case` and `time`."""
    return _jointly(cases, config, config.threshold).finite_accuracies(
        steps, config.input_dimension
    )


def finite_delays(cases: Sequence[Case], config: Any, level: float) -> Any:
    """Exact delays for the number of inputs there are, read off finely sampled curves."""
    train, test = finite_accuracies(cases, config, FINE_STEPS)
    return measures.grokking_delay(FINE_STEPS, train, test, level).time


def _delay(
    case: Case, config: Any, steps: Any, thresholds: Sequence[float], level: float, seeds: range
) -> "xarray.Dataset":
    import xarray

    run = descend(case, config, steps, thresholds, seeds)
    train, test = (
        run[name].transpose("seed", "threshold", "time")
        for name in ("train_accuracy", "test_accuracy")
    )
    delay = measures.grokking_delay(run.time, train, test, level)
    dims = ("seed", "threshold")
    return xarray.Dataset(
        {"delay": (dims, delay.time), "delay_uncertainty": (dims, delay.uncertainty)},
        {"seed": run.seed, "threshold": run.threshold},
    )


def one_case(result: "xarray.Dataset", index: int) -> "xarray.Dataset":
    """One case, with the seeds that it has."""
    return result.isel(case=index).dropna("seed", how="all", subset=["train_loss"])


def rms_claim(statement: str, source: str, most: float, relative: "xarray.DataArray") -> Claim:
    """A claim on the root mean square over everything but seeds of mean − 1."""
    mean, error = measures.seed_mean(relative)
    rms, uncertainty = (float(np.sqrt((x**2).mean())) for x in (mean - 1, error))
    return Claim(
        statement, source, most, rms, "at-most", uncertainty=uncertainty,
        num_seeds=relative.sizes["seed"],
    )  # fmt: skip


def loss_claims(
    result: "xarray.Dataset", index: int, label: str, source: str, floor: float,
    simulated: str = "gradient descent",
) -> list[Claim]:  # fmt: skip
    """Theory and simulation agree within 10 % rms, over the range where a loss is above `floor`."""
    curve, found = one_case(result, index), []
    for kind in KINDS:
        exact = curve[f"{kind}_loss_theory"]
        relative = (curve[f"{kind}_loss"] / exact).where(exact >= floor, drop=True)
        found.append(
            rms_claim(f"{WORDS[kind]} loss at {label}: theory and {simulated} agree without a fit "
                      f"(rms relative error down to a loss of {floor:.2g})", source, 0.1, relative)
        )  # fmt: skip
    return found


def accuracy_claim(
    result: "xarray.Dataset", index: int, label: str, source: str, allowed: float = 0.05,
    simulated: str = "gradient descent",
) -> Claim:  # fmt: skip
    """Theory and simulation agree, over all times."""
    curve, candidates = one_case(result, index), []
    for kind in KINDS:
        mean, error = measures.seed_mean(curve[f"{kind}_accuracy"])
        gap = np.abs((mean - curve[f"{kind}_accuracy_theory"]).values)
        candidates.append((gap.max(), float(error[gap.argmax()])))
    worst, uncertainty = max(candidates)
    return Claim(
        f"Accuracies at {label}: theory and {simulated} agree (largest difference over time)",
        source, allowed, worst, "at-most", uncertainty=uncertainty, num_seeds=curve.sizes["seed"],
    )  # fmt: skip


def draw_curves(
    losses: Any, accuracies: Any, result: "xarray.Dataset", labels: Sequence[str], threshold: float
) -> None:
    """Two panels: losses and accuracies against time, descent in colour, theory in black."""
    for index, colour in zip(range(len(labels)), plotting.COLOURS, strict=False):
        _draw_pair(losses, one_case(result, index), "loss", colour)
        _draw_pair(accuracies, one_case(result, index), "accuracy", colour)
    losses.set(
        xscale="log",
        yscale="log",
        xlabel="time $t$ (steps)",
        ylabel="mean squared error",
        title="Loss",
    )
    accuracies.set(
        xscale="log", xlabel="time $t$ (steps)", title="Accuracy",
        ylabel=rf"share with squared error $\leq {threshold:g}$",
    )  # fmt: skip
    styles = {
        label: {"color": colour, "linewidth": 2.4}
        for label, colour in zip(labels, plotting.COLOURS, strict=False)
    }
    plotting.curves_legend(losses, styles, loc="lower left")
    plotting.curves_legend(
        accuracies,
        {"training": {"color": "0.5", "linestyle": "--", "linewidth": 2.4},
         "test": {"color": "0.5", "linewidth": 2.4},
         "theory": {"color": "black", "linewidth": 0.8}},
        loc="upper left",
    )  # fmt: skip


def draw_accuracies(axes: Any, curve: "xarray.Dataset", prefix: str, colour: str) -> None:
    """One pair of accuracies, of variables that begin with a prefix."""
    _draw_pair(axes, curve, "accuracy", colour, prefix)


def _draw_pair(
    axes: Any, curve: "xarray.Dataset", quantity: str, colour: str, prefix: str = ""
) -> None:
    for kind, dash in zip(KINDS, ((0, (3, 1.5)), "solid"), strict=True):
        mean, error = measures.seed_mean(curve[f"{prefix}{kind}_{quantity}"])
        band = mean - error, mean, mean + error
        look = {"colour": colour, "linestyle": dash, "linewidth": 2.4}
        plotting.plot_band(axes, curve.time, *band, **look)
        axes.plot(
            curve.time, curve[f"{prefix}{kind}_{quantity}_theory"], color="black", linewidth=0.8
        )


def draw_delays(axes: Any, x: Any, at: "xarray.Dataset", colour: str, label: str) -> None:
    """Delays read off descent, as points with error bars."""
    mean, error = measures.seed_mean(at.delay, "delay_seed")
    axes.errorbar(
        x, mean, error, color=colour, marker="o", markersize=3.5, linestyle="none", label=label
    )
