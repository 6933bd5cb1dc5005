"""Fig. 6: label noise, as the paper has it and as gradient flow has it."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import measures, plotting, theory
from lazyrich.core import Claim, Context, Correction, Departure, require_seeds
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig6"
TITLE = "Label noise"
CAPTION = (
    "Losses and accuracies at λ = 0.9 for three levels of label noise σ². Colours: gradient descent, mean "
    "over seeds with its standard error; black: theory, in which noise enters the gradient. Dotted: the "
    "training loss of Eq. 26, in which it does not. The paper leaves open the noise levels."
)
SECONDS = {"quick": 5, "paper": 60}
REFERENCES = ("linear-grokking",)
CONVENTION = _curves.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 6 is computed from."""

    input_dimension: int = 1000
    aspect_ratio: float = 0.9
    variances: tuple[float, ...] = (1e-6, 1e-4, 1e-2)
    threshold: float = 0.01
    learning_rate: float = 0.01
    num_test: int = 2000
    num_seeds: int = 16
    seeds_per_chunk: int = 4


PRESETS = {"quick": Config(input_dimension=400), "paper": Config(num_test=10_000, num_seeds=32)}
STEPS = np.unique(np.round(np.geomspace(1, 1e6, 120)))


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Descend on noisy labels; evaluate both theories beside it."""
    cases = [
        _curves.Case(config.aspect_ratio, label_noise=variance**0.5)
        for variance in config.variances
    ]
    curves = _curves.curves(cases, config, STEPS, context)
    ratio = cases[0].task(config.input_dimension).aspect_ratio
    clean = theory.LinearGrokking(ratio, config.learning_rate, config.threshold)
    variances = np.array(config.variances)
    printed = clean.train_loss(STEPS) + variances[:, None]
    return curves.assign(
        train_loss_printed=(("case", "time"), printed),
        test_loss_printed=(("time",), clean.test_loss(STEPS)),
    ).assign_coords(variance=("case", variances)).assign_attrs(
        CONVENTION.attributes() | {"aspect_ratio": ratio}
    )  # fmt: skip


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Appendix C says about Fig. 6."""
    found = []
    for index, variance in enumerate(config.variances):
        label = f"σ² = {variance:g}"
        floor = config.threshold / 40
        found += _curves.loss_claims(result, index, label, "Fig. 6 left", floor)
        found.append(_curves.accuracy_claim(result, index, label, "Fig. 6 right"))
    return require_seeds([*found, _train_claim(result), _test_claim(result)], 16)


def _train_claim(result: "xarray.Dataset") -> Claim:
    noisiest = result.isel(case=-1, time=-1)
    share = measures.seed_mean(noisiest.train_loss / noisiest.variance)
    return Claim(
        f"The training loss ends at the noise variance (σ² = {float(noisiest.variance):g}; in units of σ²)",
        "Eq. 26, Appendix C", 1 - result.attrs["aspect_ratio"], float(share.mean), "relative", 0.15,
        uncertainty=float(share.error), num_seeds=result.sizes["seed"],
        correction=Correction(
            1.0, "noise does enter the gradient, and the student fits it: least squares leaves "
            "(1 − λ)σ² of it below λ = 1, and nothing above", "linear-grokking/eq26",
        ),
    )  # fmt: skip


def _test_claim(result: "xarray.Dataset") -> Claim:
    noisiest = result.isel(case=-1, time=-1)
    last = measures.seed_mean(noisiest.test_loss / noisiest.variance)
    lam = result.attrs["aspect_ratio"]
    return Claim(
        "The test loss goes to 0 at any noise (last test loss in units of σ²)",
        "Eq. 27, Appendix C", 0, float(last.mean), "absolute", 0.1,
        uncertainty=float(last.error), num_seeds=result.sizes["seed"],
        departure=Departure(
            f"it ends at λσ²/(1 − λ), here {lam / (1 - lam):.2g} σ² for infinitely many samples: the noise "
            "that the student fits is carried to fresh inputs",
            pinned=lam / (1 - lam), tolerance=2.5,
        ),
    )  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Two panels: losses and accuracies."""
    picture, axes = plotting.new_figure(2)
    losses, accuracies = axes[0]
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
    return picture
