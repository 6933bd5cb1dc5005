"""Does a larger output scale β speed grokking up, as App. E says, or slow it down, as `layerwise` says?"""

import dataclasses
from typing import TYPE_CHECKING, Any

from lazyrich.core import Claim, Departure
from lazyrich.experiments._claims import geometric_claim
from lazyrich.experiments.li2._setting import Setting
from lazyrich.experiments.li2._when_runs import draw_epochs, log_axes, ratio

if TYPE_CHECKING:
    import xarray

SOURCE = "App. E"
OTHER = "layerwise, Fig. 8"
FIXED = {
    "weights": "Adam's rate and the weights at the start are the same",
    "function": "Adam's rate and the outputs at the start are the same",
    "speed": "the outputs at the start and the speed at which they move are the same, Adam",
    "sgd speed": "the outputs at the start and the speed at which they move are the same, SGD",
    "small": "Adam's rate and the weights at the start are the same, the latter a tenth of the usual ones",
}
"""What does not depend on β."""
FOUND = {
    "weights": (2.74, 0.4),
    "function": (1.48, 0.35),
    "speed": (3.5, 0.8),
    "sgd speed": (9.0, 3.5),
}
"""Epochs at the largest β over those at the smallest, found, and within which this must stay."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the study is computed from."""

    speed_outputs: tuple[float, ...] = (0.5, 1.0, 2.0)


def settings(config: Any) -> dict[str, Setting]:
    """Every scale with everything that may be held fixed."""
    return {
        f"{kind} {beta:g}": _setting(kind, beta) for kind in FIXED for beta in config.speed_outputs
    }  # fmt: skip


def _setting(kind: str, beta: float) -> Setting:
    epochs = {"sgd speed": (500, 1500), "small": (100, 100)}.get(kind, (300, 600))[int(beta > 1)]
    usual = Setting(epochs, 3e-4, output_scale=beta)
    change: dict[str, Any] = {
        "weights": {},
        "function": {"top_scale": 1 / beta},
        "speed": {"top_scale": 1 / beta, "rate": usual.rate / beta},
        "sgd speed": {
            "top_scale": 1 / beta,
            "rate": 0.8 / beta**2,
            "optimizer": "sgd",
            "decay": 1e-3,
        },
        "small": {"initial_scale": 0.1},
    }[kind]
    return dataclasses.replace(usual, **change)


def _ends(config: Any, kind: str) -> tuple[str, str]:
    low, high = min(config.speed_outputs), max(config.speed_outputs)
    return f"{kind} {high:g}", f"{kind} {low:g}"


def claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    """What either paper says, for everything that may be held fixed."""
    low, high = min(config.speed_outputs), max(config.speed_outputs)
    between = f"β = {high:g} over β = {low:g}, geometric mean"
    reason = (
        "A larger output scale makes training lazier: the training set is fitted by smaller changes of the "
        "weights, and what is left of the gradient is that of a decay η/β² (erratum to Eq. 69). The larger "
        "first signal lasts only until the readout fits, which is sooner by as much (erratum to Eq. 68)."
    )
    found = []
    for kind, fixed in FIXED.items():
        more: dict[str, Any] = {}
        if kind in FOUND:
            more = {"departure": Departure(reason, *FOUND[kind])}
        found += [
            geometric_claim(f"A larger output scale makes grokking faster where {fixed} (epochs, {between})",
                            SOURCE, 1.0, ratio(data, *_ends(config, kind)), "at-most", **more),
            geometric_claim(f"It makes grokking more delayed where {fixed} (epochs to test accuracy 0.9 over "
                            f"those to the same training accuracy, {between})", OTHER, 1.0,
                            ratio(data, *_ends(config, kind), relative=True), "at-least"),
        ]  # fmt: skip
    return found


def panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    """Epochs over β, a colour for everything that may be held fixed."""
    labels = ("weights", "function", "speed", "speed, SGD", r"weights, $\alpha=0.1$")
    for colour, (kind, label) in enumerate(zip(FIXED, labels, strict=True)):
        draw_epochs(
            axes, data, {f"{kind} {beta:g}": beta for beta in config.speed_outputs}, label, colour
        )
    log_axes(axes, config.speed_outputs, r"output scale $\beta$", "Output scale")
    axes.legend(fontsize=6)
