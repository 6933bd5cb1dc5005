"""Fig. 4: a hidden layer, linear and tanh."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting, simulate, theory
from lazyrich.core import Claim, Context, Correction, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig4"
TITLE = "Two-layer networks and nonlinearities"
CAPTION = (
    "Losses and accuracies of two-layer students with five outputs at λ = 0.9, for two widths, linear and "
    "tanh. Colours: gradient flow, mean over seeds with its standard error; black: theory at the kernel of "
    "the start, for tanh redefined by its Gaussian moments, without a fit. The paper leaves open the number "
    "of training samples. Descent at its learning rate is the flow to within the claim made below."
)
SECONDS = {"quick": 50, "paper": 1500}
REFERENCES = ("linear-grokking",)
CONVENTION = _curves.CONVENTION
LEVEL = 0.95
NUM_RECORDS = 71


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 4 is computed from."""

    input_dimension: int = 1000
    aspect_ratio: float = 0.9
    widths: tuple[int, ...] = (50, 200)
    activations: tuple[str, ...] = ("linear", "tanh")
    output_dimension: int = 5
    threshold: float = 1e-4
    learning_rate: float = 0.01
    last_step: float = 2.5e5
    compared_last_step: int = 500
    num_test: int = 2000
    num_seeds: int = 16
    seeds_per_chunk: int = 4

    @property
    def num_samples(self) -> int:
        """The nearest whole number of training samples."""
        return round(self.input_dimension / self.aspect_ratio)

    @property
    def cases(self) -> list[tuple[str, int]]:
        """Activations and widths, in the order of the curves."""
        return [(activation, width) for activation in self.activations for width in self.widths]


PRESETS = {"quick": Config(input_dimension=200, num_test=1000, num_seeds=8), "paper": Config()}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Flow from every start; evaluate the theory beside it."""
    times = np.concatenate([[0], np.geomspace(10, config.last_step, NUM_RECORDS - 1)])

    def compute(config: Config, case: tuple[str, int], seeds: range) -> "xarray.Dataset":
        return _flow(config, case, times, seeds).squeeze("threshold", drop=True)

    cases, label = {"case": dict(enumerate(config.cases))}, "losses and accuracies"
    flow = over_cases(cases, compute, config, context, label).drop_vars("case")
    solutions = [_solution(config, *case) for case in config.cases]
    exact: dict[str, Any] = {
        f"{name}_theory": (("case", "time"), np.stack([getattr(m, name)(times) for m in solutions]))
        for name in _curves.NAMES
    }
    linear = [m for m in solutions if m.activation == "linear"]
    exact["kernel_theory"] = (("linear_case", "time"), np.stack([m.kernel(times) for m in linear]))
    exact["delay_theory"] = (("case",), np.array([m.grokking_delay(LEVEL).time for m in solutions]))
    narrow = (config.activations[-1], config.widths[0])
    exact["descent_gap"] = ((), _descent_gap(config, narrow))
    return flow.assign(exact).assign_attrs(CONVENTION.attributes())


def _student(config: Config, activation: str, width: int) -> "simulate.TwoLayerStudent":
    return simulate.TwoLayerStudent(
        config.input_dimension, config.num_samples, width, config.output_dimension, activation,
        (config.threshold,), config.num_test,
    )  # fmt: skip


def _solution(config: Config, activation: str, width: int) -> "theory.TwoLayerGrokking":
    return theory.TwoLayerGrokking(
        config.input_dimension / config.num_samples, width, config.learning_rate, config.threshold,
        output_dimension=config.output_dimension, activation=activation,
    )  # fmt: skip


def _flow(config: Config, case: tuple[str, int], times: Any, seeds: range) -> "xarray.Dataset":
    return simulate.gradient_flow(
        _student(config, *case),
        times,
        seeds=seeds,
        learning_rate=config.learning_rate,
        tolerance=1e-6,
    )


def _descent_gap(config: Config, case: tuple[str, int]) -> float:
    """Largest relative difference of the training loss between descent and flow, over the first steps."""
    steps = simulate.log_steps(config.compared_last_step, 12, start=False)
    student, rate = _student(config, *case), config.learning_rate
    descent = simulate.gradient_descent(student, steps, learning_rate=rate, seeds=[0])
    # as many times and seeds as elsewhere, though fewer would do: the compiled flow is used again
    rest = steps[-1] + np.arange(1, NUM_RECORDS - steps.size + 1)
    seeds = range(min(config.seeds_per_chunk, config.num_seeds))
    flow = simulate.gradient_flow(
        student, np.concatenate([steps, rest]), learning_rate=rate, seeds=seeds
    ).isel(seed=[0], time=slice(steps.size))
    return float(np.abs(descent.train_loss / flow.train_loss - 1).max())


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 4 says about Fig. 4."""
    found = []
    for index, (activation, width) in enumerate(config.cases):
        label = f"{activation}, width {width}"
        source = "Fig. 4 left, Eq. 18" if activation == "linear" else "Fig. 4 right, Sec. 4.2"
        floor = config.threshold / 20
        found += _curves.loss_claims(result, index, label, source, floor, "gradient flow")
        # what a finite width lacks: 48 seeds at width 50 give 0.05, 32 at width 200 give 0.015
        allowed = max(0.05, config.output_dimension / width)
        found.append(_curves.accuracy_claim(result, index, label, source, allowed, "gradient flow"))
        found.append(_delay_claim(result, index, label))
    found += [
        _size_claim(result, config),
        *_kernel_claims(result, config),
        _descent_claim(result, config),
    ]
    return require_seeds(found, 8)


def _delay_claim(result: "xarray.Dataset", index: int, label: str) -> Claim:
    curve = result.isel(case=index)
    delay = measures.grokking_delay(curve.time, curve.train_accuracy, curve.test_accuracy, LEVEL)
    return mean_claim(
        f"Grokking occurs as without a hidden layer, {label} (delay between accuracies of {LEVEL:g}, mean "
        "over exact)", "Sec. 4.1, 4.2", 1, delay.time / float(curve.delay_theory), "relative", 0.2,
    )  # fmt: skip


def _size_claim(result: "xarray.Dataset", config: Config) -> Claim:
    start = result.test_loss.isel(time=0, case=slice(len(config.widths)))
    share = start * 2 * np.array(config.widths)[:, None] * config.output_dimension
    return mean_claim(
        "The loss starts at ‖D₀‖² times that of one layer (linear; mean over widths, in units of "
        "‖D₀‖²/d_out)",
        "Eq. 18", 1.0, share.mean("case"), "relative", 0.1,
        correction=Correction(
            config.output_dimension, "the loss is a mean over outputs (Eq. 16), so Eq. 18 lacks 1/d_out",
            "linear-grokking/eq18",
        ),
    )  # fmt: skip


def _kernel_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    found = []
    for index, width in enumerate(config.widths):
        kernel = result.kernel.isel(case=index)
        mean, error = measures.seed_mean(kernel - kernel.isel(time=0))
        dip, predicted = int(mean.argmin("time")), result.kernel_theory.isel(linear_case=index)
        share = config.output_dimension / (2 * width)
        found += [
            Claim(
                f"The kernel may be taken as fixed (linear, width {width}; largest relative change, in units "
                "of d_out/2d_h)", "Sec. 4.1", 1, float(2 * np.abs(mean).max() / share), "at-most",
                uncertainty=float(2 * error[dip] / share), num_seeds=result.sizes["seed"],
            ),
            Claim(
                f"The coupled equations give the kernel's dip (linear, width {width}; depth over that of Eq. "
                "17 with its factor mended)",
                "Eq. 17", 1, float(mean[dip] / (predicted.min() - 0.5)), "relative", 0.25,
                uncertainty=float(error[dip] / np.abs(predicted.min() - 0.5)), num_seeds=result.sizes["seed"],
                correction=Correction(
                    2.0 * config.output_dimension, "printed −8η for −4η/d_out, and without the trace",
                    "linear-grokking/eq17",
                ),
            ),
        ]  # fmt: skip
    return found


def _descent_claim(result: "xarray.Dataset", config: Config) -> Claim:
    return Claim(
        f"Gradient descent at η = {config.learning_rate:g} follows the flow (largest relative difference of "
        f"the training loss over {config.compared_last_step} steps, from one start of the narrow "
        f"{config.activations[-1]} network)",
        "Sec. 4.1", 0.005, float(result.descent_gap), "at-most",
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Four panels: losses above accuracies, linear beside tanh."""
    picture, axes = plotting.new_figure(len(config.activations), 2)
    labels = [rf"$d_h={width}$" for width in config.widths]
    shown = result.isel(time=slice(1, None))
    for column, activation in enumerate(config.activations):
        cases = [index for index, case in enumerate(config.cases) if case[0] == activation]
        losses, accuracies = axes[0][column], axes[1][column]
        _curves.draw_curves(losses, accuracies, shown.isel(case=cases), labels, config.threshold)
        losses.set(title=f"{activation}: loss", ylim=(1e-7, 5e-3))
        accuracies.set(title=f"{activation}: accuracy")
    return picture
