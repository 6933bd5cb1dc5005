"""What groks without decay: large rates, SGD, and a softmax that is slow to saturate (App. E, I)."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich.core import Claim
from lazyrich.experiments._claims import mean_claim, share_claim
from lazyrich.experiments.li2._setting import Setting
from lazyrich.experiments.li2._when_runs import (
    draw_curves,
    final,
    generalise,
    last_epoch,
    reached,
)

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True)
class Settings:
    """What these studies are computed from."""

    speed_learning_rates: tuple[float, ...] = (1e-3, 3e-3, 1e-2, 3e-2)


def rates(config: Any) -> dict[str, Setting]:
    """A run for each rate."""
    return {f"{rate:g}": Setting(1000, 0.0, rate) for rate in config.speed_learning_rates}


def rate_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    """Only the largest rate groks."""
    *smaller, largest = list(rates(config))
    source = "App. E, after Gromov"
    return [
        share_claim(f"Without decay a large rate groks ({largest}, share of seeds)", source,
                    generalise(data, largest)),
        share_claim(f"Without decay smaller rates do not, in as many epochs ({', '.join(smaller)}, share of "
                    "runs)", source, generalise(data, *smaller), 0.0, "at-most", 0.1,
                    num_seeds=data.sizes["seed"]),
    ]  # fmt: skip


def rate_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    """Test accuracies for each rate."""
    draw_curves(axes, data, {name: f"rate {name}" for name in rates(config)}, r"Rate, $\eta=0$")


def optimizers(config: Any) -> dict[str, Setting]:
    """SGD at a rate near the largest stable one, and Adam."""
    return {
        "SGD": Setting(800, 0.0, 1.0, optimizer="sgd", fraction=0.85),
        "Adam": Setting(800, 0.0, fraction=0.85),
    }


def optimizer_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    """SGD fits later and generalises better."""
    source = "App. E, after Kumar et al."
    fitted = [
        np.minimum(reached(data, name, "train"), last_epoch(data, name)) for name in ("SGD", "Adam")
    ]
    return [
        share_claim("SGD without decay groks (share of seeds, 85 % of the pairs)", source,
                    generalise(data, "SGD")),
        mean_claim("SGD without decay gets further than Adam without decay (test accuracy at the end, "
                   "difference of the means)", source, 0.05, final(data, "SGD") - final(data, "Adam"),
                   "at-least"),
        Claim("SGD takes longer to fit the training set (epochs to training accuracy 0.9 over those of "
              "Adam, the smallest over seeds)", source, 2.0, float(np.min(fitted[0] / fitted[1])),
              "at-least", num_seeds=data.sizes["seed"]),
    ]  # fmt: skip


def optimizer_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    """Test accuracies of both."""
    names = {"SGD": "SGD, rate 1", "Adam": "Adam, rate 0.005"}
    draw_curves(axes, data, names, r"Optimizer, $\eta=0$, $p=0.85$")


def objectives(config: Any) -> dict[str, Setting]:
    """Cross-entropy with the stable softmax and with the usual one."""
    kinds = {"stable": "stable-softmax", "usual": "cross-entropy"}
    return {
        name: Setting(1000, 0.0, 2e-3, objective=kind, fraction=0.9) for name, kind in kinds.items()
    }


def objective_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    """The stable softmax generalises better."""
    source = "App. E, App. I, after Prieto et al."
    return [
        share_claim("Without decay the stable softmax groks (share of seeds, 90 % of the pairs)", source,
                    generalise(data, "stable")),
        mean_claim("Without decay the stable softmax gets further than the usual one (test accuracy at the "
                   "end, difference of the means)", source, 0.05,
                   final(data, "stable") - final(data, "usual"), "at-least"),
    ]  # fmt: skip


def objective_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    """Test accuracies of both."""
    names = {"stable": "stable softmax", "usual": "softmax"}
    draw_curves(axes, data, names, r"Loss, $\eta=0$, $p=0.9$")
