"""Fig. 5: late-time forms of the losses against the exact ones."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import plotting, theory
from lazyrich.core import Claim, Context
from lazyrich.experiments.linear_grokking import _curves

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "linear-grokking", "fig5"
TITLE = "Late-time forms of the losses"
CAPTION = (
    "Exact losses at λ = 0.9 and their late-time forms: Eq. 21 for the training loss, Eq. 22 and, further "
    "expanded, Eq. 10 for the test loss. Right: what each form is off by."
)
SECONDS = {"quick": 2, "paper": 2}
REFERENCES = ("linear-grokking",)
CONVENTION = _curves.CONVENTION


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 5 is computed from."""

    aspect_ratio: float = 0.9
    learning_rate: float = 0.01
    last_step: float = 3e5
    num_times: int = 400


PRESETS = {"quick": Config(), "paper": Config()}
FORMS = {
    "late_train_loss": ("train_loss", "Eq. 21, training"),
    "intermediate_test_loss": ("test_loss", "Eq. 22, test"),
    "late_test_loss": ("test_loss", "Eq. 10, test"),
}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Evaluate the losses and their late-time forms."""
    import xarray

    t = np.geomspace(10, config.last_step, config.num_times)
    m = theory.LinearGrokking(config.aspect_ratio, config.learning_rate)
    names = ("train_loss", "test_loss", *FORMS)
    variables = {name: (("time",), getattr(m, name)(t)) for name in context.track(names, "curves")}
    return xarray.Dataset(variables, {"time": t}, CONVENTION.attributes())


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Appendix B and the caption say."""
    found = []
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
    return found


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Losses on the left, errors of the forms on the right."""
    picture, axes = plotting.new_figure(2)
    losses, errors = axes[0]
    styles = zip(FORMS.items(), ("#D55E00", "#0072B2", "#0072B2"), ("--", "--", "-."), strict=True)
    for name, colour, words in (
        ("train_loss", "#D55E00", "exact, training"), ("test_loss", "#0072B2", "exact, test")
    ):  # fmt: skip
        losses.plot(result.time, result[name], color=colour, linewidth=4, alpha=0.35, label=words)
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
