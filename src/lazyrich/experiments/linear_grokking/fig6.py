"""Fig. 6: label noise, as the paper has it and as gradient flow has it."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import plotting, simulate, theory
from lazyrich.core import Claim, Context, Correction, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._times import time_to
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig6"
TITLE = "Label noise"
CAPTION = (
    "Losses and accuracies at λ = 0.9 for three levels of label noise σ². Colours: gradient descent, mean "
    "over seeds with its standard error; black: theory, in which noise enters the gradient. Dotted: the "
    "training loss of Eq. 26, in which it does not. The paper leaves open the noise levels. Right: at "
    "smaller λ the noise can be tuned so that the training accuracy rises together with the test accuracy."
)
SECONDS = {"quick": 25, "paper": 90}
REFERENCES = ("linear-grokking",)
CONVENTION = _curves.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 6 is computed from."""

    input_dimension: int = 1000
    aspect_ratio: float = 0.9
    variances: tuple[float, ...] = (1e-6, 1e-4, 1e-2)
    tuned_ratio: float = 0.2
    threshold: float = 0.01
    learning_rate: float = 0.01
    num_test: int = 2000
    num_seeds: int = _curves.MANY_SEEDS
    seeds_per_chunk: int = 4


PRESETS = {"quick": Config(input_dimension=400), "paper": Config(num_test=10_000)}
STEPS = simulate.log_steps(1e6, 120, start=False)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Descend on noisy labels; evaluate both theories beside it. Then tune the noise."""
    import xarray

    cases = [
        _curves.Case(config.aspect_ratio, label_noise=variance**0.5)
        for variance in config.variances
    ]
    curves = _curves.curves(cases, config, STEPS, context)
    ratio = cases[0].task(config.input_dimension).aspect_ratio
    clean = theory.LinearGrokking(ratio, config.learning_rate, config.threshold)
    variances = np.array(config.variances)
    printed = clean.train_loss(STEPS) + variances[:, None]
    tuned, _ = _smallest_delay(config, config.tuned_ratio)
    _, closest = _smallest_delay(config, config.aspect_ratio)
    together = _curves.curves(
        [_curves.Case(config.tuned_ratio, label_noise=tuned**0.5)], config, STEPS, context, name="tuned"
    ).squeeze("case", drop=True)  # fmt: skip
    return xarray.merge([
        curves.assign(
            train_loss_printed=(("case", "time"), printed),
            test_loss_printed=(("time",), clean.test_loss(STEPS)),
            closest_delay=((), closest),
        ).assign_coords(variance=("case", variances)),
        together.rename({name: f"tuned_{name}" for name in together.data_vars}),
    ]).assign_attrs(
        CONVENTION.attributes() | {"aspect_ratio": ratio, "tuned_variance": tuned}
    )  # fmt: skip


def _smallest_delay(config: Config, ratio: float) -> tuple[float, float]:
    """The noise variance at which training and test time are closest, and their delay over the test time.

    Only noise at which both accuracies get there counts.
    """
    variances = np.geomspace(1e-3, 1, 4000) * config.threshold
    model = theory.LinearGrokking(
        ratio, config.learning_rate, config.threshold, label_noise=np.sqrt(variances)
    )
    train, test = model.train_time().time, model.test_time().time
    both = np.isfinite(train) & np.isfinite(test)
    delays = np.abs(1 - train[both] / test[both])
    return float(variances[both][delays.argmin()]), float(delays.min())


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Appendix C says about Fig. 6."""
    found = []
    for index, variance in enumerate(config.variances):
        label = f"σ² = {variance:g}"
        floor = config.threshold / 40
        found += _curves.loss_claims(result, index, label, "Fig. 6 left", floor)
        found.append(_curves.accuracy_claim(result, index, label, "Fig. 6 right"))
    tuned = [_together_claim(result, config), _apart_claim(result, config)]
    return require_seeds([*found, _train_claim(result), _test_claim(result), *tuned], 16)


def _train_claim(result: "xarray.Dataset") -> Claim:
    noisiest = result.isel(case=-1, time=-1)
    return mean_claim(
        f"The training loss ends at the noise variance (σ² = {float(noisiest.variance):g}; in units of σ²)",
        "Eq. 26, Appendix C", 1 - result.attrs["aspect_ratio"], noisiest.train_loss / noisiest.variance,
        "relative", 0.15,
        correction=Correction(
            1.0, "noise does enter the gradient, and the student fits it: least squares leaves "
            "(1 − λ)σ² of it below λ = 1, and nothing above", "linear-grokking/eq26",
        ),
    )  # fmt: skip


def _test_claim(result: "xarray.Dataset") -> Claim:
    noisiest = result.isel(case=-1, time=-1)
    lam = result.attrs["aspect_ratio"]
    return mean_claim(
        "The test loss goes to 0 at any noise (last test loss in units of σ²)",
        "Eq. 27, Appendix C", 0, noisiest.test_loss / noisiest.variance, "absolute", 0.1,
        departure=Departure(
            f"it ends at λσ²/(1 − λ), here {lam / (1 - lam):.2g} σ² for infinitely many samples: the noise "
            "that the student fits is carried to fresh inputs",
            pinned=lam / (1 - lam), tolerance=2.5,
        ),
    )  # fmt: skip


def _together_claim(result: "xarray.Dataset", config: Config) -> Claim:
    times = [
        time_to(result[f"tuned_{kind}_accuracy"].mean("seed"), _curves.LEVEL)
        for kind in _curves.KINDS
    ]
    return Claim(
        "Noise and threshold can be tuned so that the training accuracy saturates together with the test "
        f"accuracy, as if the network corrected itself (λ = {config.tuned_ratio:g}; delay over test time, "
        "from mean curves)",
        "Sec. 3.1.3", 0, float(1 - times[0] / times[1]), "absolute", 0.2,
        num_seeds=result.sizes["seed"],
    )  # fmt: skip


def _apart_claim(result: "xarray.Dataset", config: Config) -> Claim:
    return Claim(
        f"The same at the λ = {config.aspect_ratio:g} of Fig. 6 (smallest delay over test time, exact, over "
        "all noise at which both accuracies saturate)", "Sec. 3.1.3, Fig. 6", 0, float(result.closest_delay),
        "absolute", 0.2,
        departure=Departure(
            "noise spoils the test loss, which ends at λσ²/(1 − λ), more than the training loss, which ends "
            "at (1 − λ)σ², unless λ < (1 − λ)², that is λ < 0.38: above, whatever noise delays the training "
            "accuracy keeps the test accuracy from saturating at all", pinned=0.94, tolerance=0.03,
        ),
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Three panels: losses, accuracies, and accuracies at tuned noise."""
    picture, axes = plotting.new_figure(3)
    losses, accuracies, tuned = axes[0]
    powers = [f"10^{{{round(np.log10(variance))}}}" for variance in config.variances]
    _curves.draw_curves(
        losses, accuracies, result, [rf"$\sigma^2={power}$" for power in powers], config.threshold
    )
    for index in range(len(config.variances)):
        losses.plot(
            result.time, result.train_loss_printed.isel(case=index), color="0.3", linewidth=1,
            linestyle=":",
        )  # fmt: skip
    losses.set_ylim(1e-8, 3)
    _curves.draw_accuracies(tuned, result, "tuned_", plotting.COLOURS[3])
    tuned.set(
        xscale="log", xlabel="time $t$ (steps)", xlim=(1, 1e4), ylabel="accuracy",
        title=rf"Tuned: $\lambda={config.tuned_ratio:g}$, $\sigma^2={result.attrs['tuned_variance']:.2g}$",
    )  # fmt: skip
    return picture
