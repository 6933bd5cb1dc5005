"""Fig. 2: the number of outputs slows learning and blunts the accuracy."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting, simulate, theory
from lazyrich.core import Claim, Context, Correction, require_seeds
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig2"
TITLE = "Grokking and the output dimension"
CAPTION = (
    "Losses and accuracies at λ = 0.9 for 1, 50 and 700 outputs, and the delay against the number of "
    "outputs. Colours: gradient descent, mean over seeds with its standard error; black and lines: theory "
    "without a fit, for the number of inputs there are. Dotted: Eq. 12, which takes that number for "
    "infinite. The paper leaves open the λ of the right panel."
)
SECONDS = {"quick": 44, "paper": 600}
REFERENCES = ("linear-grokking", "omnigrok")
CONVENTION = _curves.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 2 is computed from."""

    input_dimension: int = 1000
    delay_input_dimension: int = 1000
    aspect_ratio: float = 0.9
    curve_outputs: tuple[int, ...] = (1, 50, 700)
    delay_ratios: tuple[float, ...] = (0.5, 0.7, 0.9)
    delay_outputs: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    threshold: float = 1e-3
    learning_rate: float = 0.01
    num_test: int = 1000
    num_curve_seeds: tuple[int, ...] = (64, 16, 8)
    num_seeds: int = 16
    seeds_per_chunk: int = 4


PRESETS = {
    "quick": Config(
        input_dimension=400, delay_input_dimension=200, num_curve_seeds=(128, 16, 16),
        delay_ratios=(0.7, 0.9), delay_outputs=(1, 4, 16, 64, 256), num_test=400,
    ),
    "paper": Config(),
}  # fmt: skip
CURVE_STEPS = simulate.log_steps(3e6, 45, start=False)
DELAY_STEPS = simulate.log_steps(3e6, 60, first=30, start=False)
FINE_OUTPUTS = np.unique(np.round(np.geomspace(1, 2000, 50)))


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Descend for every number of outputs; evaluate the theory beside it."""
    import xarray

    cases = [_curves.Case(config.aspect_ratio, outputs) for outputs in config.curve_outputs]
    curves = _curves.curves(cases, config, CURVE_STEPS, context, config.num_curve_seeds)
    points = [
        _curves.Case(ratio, outputs)
        for ratio in config.delay_ratios
        for outputs in config.delay_outputs
    ]
    smaller = dataclasses.replace(config, input_dimension=config.delay_input_dimension)
    delays = _curves.delays(
        "delays", points, smaller, DELAY_STEPS, (config.threshold,), _curves.LEVEL, context
    )
    delays = delays.squeeze("threshold", drop=True)
    train, test = _curves.finite_accuracies(cases, config, CURVE_STEPS)
    exact = {
        "train_accuracy_printed": curves.train_accuracy_theory,
        "test_accuracy_printed": curves.test_accuracy_theory,
        "train_accuracy_theory": (("case", "time"), train),
        "test_accuracy_theory": (("case", "time"), test),
        "delay_printed": delays.delay_theory,
    } | _finite(smaller, points)
    return xarray.merge([curves, delays], compat="override").assign(exact | _infinite(smaller)).assign_coords(
        outputs=("case", list(config.curve_outputs)),
        point_ratio=("point", [point.aspect_ratio for point in points]),
        point_outputs=("point", [point.output_dimension for point in points]),
        fine_ratio=list(config.delay_ratios), fine_outputs=FINE_OUTPUTS,
    ).assign_attrs(CONVENTION.attributes())  # fmt: skip


FINE = ("fine_ratio", "fine_outputs")


def _infinite(config: Config) -> dict[str, Any]:
    """Delays against the number of outputs, for infinitely many inputs."""
    ratio = np.array(config.delay_ratios)[:, None]
    solution = theory.LinearGrokking(
        ratio, config.learning_rate, config.threshold, output_dimension=FINE_OUTPUTS
    )
    return {"delay_fine": (FINE, solution.grokking_delay(_curves.LEVEL).time)}


def _finite(config: Config, points: list[_curves.Case]) -> dict[str, Any]:
    """Delays for the number of inputs there are, at the points and against the number of outputs."""
    ratios = config.delay_ratios
    fine = [_curves.Case(ratio, int(outputs)) for ratio in ratios for outputs in FINE_OUTPUTS]
    delays = _curves.finite_delays([*points, *fine], config, _curves.LEVEL)
    return {
        "delay_theory": (("point",), delays[: len(points)]),
        "delay_fine_finite": (FINE, delays[len(points) :].reshape(len(ratios), -1)),
    }


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3.3.1 says about Fig. 2."""
    found = []
    for index, outputs in enumerate(config.curve_outputs):
        label = f"{outputs} output{'s' if outputs > 1 else ''}"
        floor = config.threshold / 4 / outputs
        found += _curves.loss_claims(result, index, label, "Fig. 2 left, Eq. 12", floor)
        found.append(_curves.accuracy_claim(result, index, label, "Fig. 2 centre"))
    found += [
        _accuracy_claim(result, config),
        _delay_claim(result),
        *_maximum_claims(result, config),
    ]
    return require_seeds([*found, _slowing_claim(result)], 8)


def _accuracy_claim(result: "xarray.Dataset", config: Config) -> Claim:
    curve, gaps = _curves.one_case(result, -1), {}
    for kind in _curves.KINDS:
        printed, mean = (
            curve[f"{kind}_accuracy_printed"],
            measures.seed_mean(curve[f"{kind}_accuracy"]),
        )
        predicted = np.abs((curve[f"{kind}_accuracy_theory"] - printed).values)
        at, expected = int(predicted.argmax()), float(predicted.max())
        gaps[expected] = float(np.abs(mean.mean - printed)[at]), float(mean.uncertainty[at])
    expected = max(gaps)
    measured, uncertainty = gaps[expected]
    return Claim(
        f"The accuracy is the function of the loss in Eq. 12 ({config.curve_outputs[-1]} outputs, "
        f"{config.input_dimension} inputs; difference from it where theory expects the largest)",
        "Eq. 12, Fig. 2 centre", expected, measured, "absolute", 0.03, uncertainty=uncertainty,
        num_seeds=curve.sizes["seed"],
        correction=Correction(
            0.0, "Eq. 12 takes the outputs' errors for independent. They share their input: beside 1/d_out "
            "their mean square varies by E[f²]/d_in E[f]², which Eq. 12 leaves out and `finite_accuracies` "
            "has",
            "linear-grokking/eq12",
        ),
    )  # fmt: skip


def _delay_claim(result: "xarray.Dataset") -> Claim:
    relative = (result.delay / result.delay_theory).rename(delay_seed="seed")
    return _curves.rms_claim(
        "Grokking time against the number of outputs: theory for this number of inputs and gradient descent "
        "agree (rms relative error over all points)", "Fig. 2 right", 0.15, relative,
    )  # fmt: skip


def _maximum_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    ratio = config.delay_ratios[-1]
    exact = result.delay_fine.sel(fine_ratio=ratio)
    finite = result.delay_fine_finite.sel(fine_ratio=ratio)
    top = float(exact.fine_outputs[int(finite.argmax("fine_outputs"))])
    measured = result.isel(point=np.flatnonzero(result.point_ratio == ratio))
    mean, error = measures.seed_mean(measured.delay, "delay_seed")
    highest = int(mean.argmax("point"))
    spacing = math.log2(config.delay_outputs[1] / config.delay_outputs[0])
    return [
        Claim(
            f"The grokking time has its maximum at a number of outputs in between (λ = {ratio:g}; log₂ of "
            f"measured over exact position, {top:g} outputs; descent is sampled at every "
            f"{2**spacing:g}-fold)",
            "Sec. 3.3.1, Fig. 2 right", 0, math.log2(float(measured.point_outputs[highest]) / top),
            "absolute", spacing, num_seeds=result.sizes["delay_seed"],
        ),
        Claim(
            f"That maximum is higher than the delay for one output (λ = {ratio:g}; measured ratio)",
            "Sec. 3.3.1", 1.5, float(mean[highest] / mean[0]), "at-least",
            uncertainty=float(error[highest] / mean[0]), num_seeds=result.sizes["delay_seed"],
        ),
        Claim(
            "For very many outputs all accuracies are near 1 from the start and nothing groks (exact delay "
            f"in steps at {int(exact.fine_outputs[-1])} outputs)",
            "Sec. 3.3.1", 0, float(exact[-1]), "absolute",
        ),
    ]  # fmt: skip


def _slowing_claim(result: "xarray.Dataset") -> Claim:
    """Both times are read off mean curves, at a tenth of the start."""
    times = []
    for index in (0, 1):
        loss = measures.seed_mean(_curves.one_case(result, index).train_loss).mean
        times.append(
            measures.crossing_time(result.time, -np.log(loss / loss[0]), math.log(10)).time
        )
    outputs = result.outputs.values
    return Claim(
        "Learning slows with the number of outputs, as η/d_out (time in which the training loss falls "
        f"tenfold, {outputs[1]} outputs over {outputs[0]}, in units of that ratio)", "Sec. 3.3.1", 1,
        float(times[1] / times[0] / (outputs[1] / outputs[0])), "relative", 0.1,
        num_seeds=_curves.one_case(result, 1).sizes["seed"],
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Three panels: losses, accuracies, grokking time."""
    picture, axes = plotting.new_figure(3)
    losses, accuracies, delays = axes[0]
    labels = [rf"$d_\mathrm{{out}}={outputs}$" for outputs in config.curve_outputs]
    _curves.draw_curves(losses, accuracies, result, labels, config.threshold)
    for index, kind in ((i, kind) for i in range(len(labels)) for kind in _curves.KINDS):
        printed = result[f"{kind}_accuracy_printed"].isel(case=index)
        accuracies.plot(result.time, printed, color="0.4", linewidth=0.8, linestyle=":")
    losses.set_ylim(1e-8, 3)
    _draw_delays(delays, result, config)
    return picture


def _draw_delays(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    for colour, ratio in zip(plotting.COLOURS, config.delay_ratios, strict=False):
        for name, options in (("delay_fine_finite", {}), ("delay_fine", {"linestyle": ":"})):
            fine = result[name].sel(fine_ratio=ratio)
            axes.plot(
                result.fine_outputs, fine.where(fine > 0), color=colour, linewidth=1.2, **options
            )
        at = result.isel(point=np.flatnonzero(result.point_ratio == ratio))
        _curves.draw_delays(axes, at.point_outputs, at, colour, rf"$\lambda={ratio:g}$")
    axes.set(
        xscale="log", yscale="log", xlabel=r"number of outputs $d_\mathrm{out}$",
        ylabel="delay (steps)", title="Grokking time",
    )  # fmt: skip
    axes.legend(loc="lower left")
