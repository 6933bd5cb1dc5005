"""Fig. 5: late-time forms of the losses against the exact ones."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import measures, plotting, simulate, theory
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig5"
TITLE = "Late-time forms of the losses"
CAPTION = (
    "Exact losses at λ = 0.9 and their late-time forms: Eq. 21 for the training loss, Eq. 22 and, further "
    "expanded, Eq. 10 for the test loss. Points: gradient descent, mean over seeds. Right: what each form "
    "is off by."
)
SECONDS = {"quick": 4, "paper": 60}
REFERENCES = ("linear-grokking",)
CONVENTION = _curves.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 5 is computed from."""

    aspect_ratio: float = 0.9
    learning_rate: float = 0.01
    last_step: float = 3e5
    num_records: int = 400
    threshold: float = 1e-3
    input_dimension: int = 1000
    num_test: int = 10
    num_seeds: int = _curves.MANY_SEEDS
    seeds_per_chunk: int = 4


PRESETS = {"quick": Config(input_dimension=400), "paper": Config()}
FORMS = {
    "late_train_loss": ("train_loss_exact", "Eq. 21, training"),
    "intermediate_test_loss": ("test_loss_exact", "Eq. 22, test"),
    "late_test_loss": ("test_loss_exact", "Eq. 10, test"),
}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Evaluate the losses and their late-time forms; descend beside them."""
    import xarray

    case = _curves.Case(config.aspect_ratio)
    steps = simulate.log_steps(3e4, 25, first=10, start=False)
    descent = _curves.curves([case], config, steps, context).rename(time="step")
    t = np.geomspace(10, config.last_step, config.num_records)
    m = case.solution(config.input_dimension, config.learning_rate, config.threshold)
    variables = {
        f"{name}_exact": (("time",), getattr(m, name)(t)) for name in ("train_loss", "test_loss")
    }
    late = theory.LateGrokking(m.aspect_ratio, config.learning_rate)
    variables |= {
        "late_train_loss": (("time",), late.train_loss(t)),
        "intermediate_test_loss": (("time",), late.intermediate_test_loss(t)),
        "late_test_loss": (("time",), late.test_loss(t)),
    }
    forms = xarray.Dataset(variables, {"time": t})
    return xarray.merge([forms, descent]).assign_attrs(CONVENTION.attributes())


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Appendix B and the caption say."""
    found = _curves.loss_claims(
        result.rename(step="time", time="fine"), 0, f"λ = {config.aspect_ratio:g}", "Fig. 5, Eq. 8",
        config.threshold / 4,
    )  # fmt: skip
    for form, (exact, words) in FORMS.items():
        error = np.abs((result[form] / result[exact] - 1).values)
        found.append(
            Claim(
                f"{words} loss: the form matches the exact loss at late times (relative error at the end)",
                "Fig. 5 caption",
                0.1,
                float(error[-1]),
                "at-most",
            )
        )
        found.append(
            Claim(
                f"{words} loss: the form becomes more accurate for later times (largest growth of its "
                "error from one time to the next)",
                "Appendix B",
                0,
                float(np.diff(error).max()),
                "at-most",
                1e-12,
            )
        )
    return require_seeds(found, 16)


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Losses on the left, errors of the forms on the right."""
    picture, axes = plotting.new_figure(2)
    losses, errors = axes[0]
    styles = zip(FORMS.items(), ("#D55E00", "#0072B2", "#0072B2"), ("--", "--", "-."), strict=True)
    for name, colour, words in (
        ("train_loss", "#D55E00", "exact, training"), ("test_loss", "#0072B2", "exact, test")
    ):  # fmt: skip
        exact = result[f"{name}_exact"]
        losses.plot(result.time, exact, color=colour, linewidth=4, alpha=0.35, label=words)
        mean, error = measures.seed_mean(result[name].isel(case=0))
        losses.errorbar(
            result.step,
            mean,
            error,
            color=colour,
            marker="o",
            markersize=2.5,
            linestyle="none",
            elinewidth=0.8,
        )
    for (form, (exact, words)), colour, dash in styles:
        losses.plot(result.time, result[form], color=colour, linestyle=dash, label=words)
        error = np.abs(result[form] / result[exact] - 1)
        errors.plot(result.time, error, color=colour, linestyle=dash, label=words)
    losses.set(
        xscale="log", yscale="log", ylim=(1e-16, 3), xlabel="time $t$ (steps)", title="Loss",
        ylabel="mean squared error",
    )  # fmt: skip
    errors.set(
        xscale="log",
        yscale="log",
        xlabel="time $t$ (steps)",
        ylabel="relative error",
        title="Error of the forms",
    )
    losses.legend(loc="lower left")
    errors.legend(loc="lower left")
    return picture
