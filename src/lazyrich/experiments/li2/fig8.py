"""Fig. 8: how many pairs of product groups and of non-Abelian groups a network needs to generalise."""

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import measures, plotting
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.li2 import _phase, _training

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "li2", "fig8"
TITLE = "The boundary of generalisation, other groups"
CAPTION = (
    "Test accuracy at the end of training on a share p of the pairs: product groups, and non-Abelian groups "
    "whose largest irrep has dimension 2 (dihedral D, dicyclic Dic, and cyclic groups with a second one "
    "whose generator inverts them), beside F20, which has one of dimension 4; mean and standard error over "
    "seeds, dotted 2.7482 ln M / M. Right: the share at which the test accuracy of a seed passes ½, over "
    "that of cyclic groups, each in units of ln M / M. Dashed: four times as far, as in Theorem 4's "
    "condition. Several of the paper's products are cyclic groups, as Z4 × Z7 and Z13 × Z11 are. Settings as "
    "in Fig. 5; `quick` has groups of order 12 and 20."
)
SECONDS = {"quick": 26, "paper": 60_000}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
GENERALISES = 0.9
"""Test accuracy from which on a run counts as one whose features can be looked at."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 8 is computed from."""

    cyclic: tuple[str, ...] = ("Z20", "Z48", "Z90")
    products: tuple[str, ...] = (
        "Z4 × Z7", "Z5 × Z6", "Z2 × Z2 × Z9", "Z13 × Z11", "Z5 × Z2 × Z2 × Z2", "Z6 × Z4 × Z2",
        "Z3 × Z2 × Z17", "Z2 × Z3 × Z3 × Z5",
    )  # fmt: skip
    larger: tuple[str, ...] = ("F20",)
    non_abelian: tuple[str, ...] = (
        "D7", "Dic5", "Z3 ⋊ Z8", "D14", "Dic9", "Z3 × D8", "D30", "Dic20", "Z3 × D17", "D60",
    )  # fmt: skip
    multiples: tuple[float, ...] = (2.0, 2.3, 2.6, 2.9, 3.5, 4.6)
    width: int = 2048
    learning_rate: float = 5e-4
    weight_decay: float = 2e-4
    last_epoch: int = 2000
    num_seeds: int = 20
    seeds_per_chunk: int = 1


QUICK = Config(
    cyclic=("Z12", "Z20"), products=("Z2 × Z6", "Z2 × Z10"), non_abelian=("D6", "D10", "Dic5"),
    multiples=(2.1, 2.5, 2.9, 3.5, 4.6), width=128, learning_rate=5e-3, weight_decay=2e-3, last_epoch=500,
    num_seeds=8, seeds_per_chunk=8,
)  # fmt: skip
PRESETS = {"quick": QUICK, "paper": Config()}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Every group at every share of its pairs from every seed; groups of one order share what is compiled."""
    names = (*config.cyclic, *config.products, *config.non_abelian, *config.larger)
    piece = functools.partial(_phase.piece, purity=True)
    return over_cases({"group": names}, piece, config, context, resume=True).assign_attrs(
        CONVENTION.attributes()
    )


@np.errstate(invalid="ignore", divide="ignore")
def _ratios(result: "xarray.Dataset", config: Config) -> np.ndarray:
    """Boundaries over the mean of those of the cyclic groups, all in units of ln M / M; (group, seed)."""
    found = _phase.boundaries(result)
    return found / found[: len(config.cyclic)].mean()


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Whether and how the boundary moves with the dimension of the irreps, and what is learned."""
    seeds, ratios = result.sizes["seed"], _ratios(result, config)
    start = len(config.cyclic)
    end = start + len(config.products)
    last = end + len(config.non_abelian)
    far, far_error = measures.seed_mean(ratios[end:last], -1)
    high = result.test_accuracy.isel(time=-1, multiple=-1, group=slice(last)).mean("seed")
    pure = _purities(result)
    found = [
        mean_claim("Product groups have the boundary of cyclic groups (ratio of the constants of ln M / M)",
                   "Fig. 8 left", 1.0, ratios[start:end].mean(axis=0), "absolute", 0.15),
        mean_claim("Non-Abelian groups with max d = 2 have it d/2 times as far, that is in the same place "
                   "(ratio of the constants)", "Fig. 8 right, dotted line", 1.0,
                   ratios[end:last].mean(axis=0), "absolute", 0.15),
        Claim("It moves with d², that is to four times the share (ratio of the constants, largest of all "
              "groups)", "Theorem 4", 4.0, float(np.max(far)), "relative", tolerance=0.25,
              uncertainty=far_error[np.argmax(far)], num_seeds=seeds, departure=Departure(
                  "Theorem 4 is a sufficient condition. The networks need no more pairs for real irreps of "
                  "dimension 2 than cyclic groups need: both kinds of features have the energy M/4. Dicyclic "
                  "groups, whose quaternionic irreps have M/8, need somewhat more. Four times the share "
                  "would be more than all pairs up to M = 37", pinned=1.2, tolerance=0.3)),
        mean_claim("Groups with a larger irrep, of dimension 4 and energy M/8, need more pairs (ratio of the "
                   "constants)", "Theorem 4", 1.2, ratios[last:].mean(axis=0), "at-least"),
        Claim("All groups of the paper's kinds are learned from the largest share (test accuracy, smallest "
              "of all groups)", "Fig. 8", 0.9, float(high.min()), "at-least", num_seeds=seeds),
        Claim("Features are single irreps (share of the dominant irrep in the nodes' power, mean of the runs "
              "that generalise, smallest of all groups)", "Theorem 2, Sec. 4.3", 0.9, float(np.min(pure)),
              "at-least", num_seeds=seeds),
    ]  # fmt: skip
    return require_seeds(found, 8)


def _purities(result: "xarray.Dataset") -> np.ndarray:
    """Mean over the runs of each group that generalise at the largest share; NaN for none."""
    last = result.isel(multiple=-1)
    kept = last.purity.where(last.test_accuracy.isel(time=-1) >= GENERALISES)
    return kept.mean("seed").values


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Test accuracies of both kinds of groups, and how far their boundaries are."""
    picture, ((left, middle, right),) = plotting.new_figure(3, panel=(3.6, 3.1))
    _phase.draw_transition(left, result, config.products, "product groups")
    both = (*config.non_abelian, *config.larger)
    _phase.draw_transition(middle, result, both, "non-Abelian groups")
    names, ratios = result.group.values, _ratios(result, config)
    parts = (
        ("cyclic", config.cyclic),
        ("product", config.products),
        ("non-Abelian, max $d_k = 2$", config.non_abelian),
        ("max $d_k = 4$", config.larger),
    )
    for (kind, chosen), colour, marker in zip(parts, plotting.COLOURS, "osD^", strict=False):
        places = np.flatnonzero(np.isin(names, chosen))
        mean, error = measures.seed_mean(ratios[places], -1)
        right.errorbar(
            mean, -places, xerr=error, color=colour, marker=marker, linestyle="none", label=kind
        )
    right.axvline(1, color="black", linewidth=0.8)
    right.axvline(4, color="black", linewidth=0.8, linestyle="--", label="$d_k^2$ of $d_k = 2$")
    right.set_yticks(-np.arange(len(names)), list(names))
    right.set(
        xlabel="boundary over that of cyclic groups",
        ylabel="group",
        xlim=(0, 4.4),
        title="boundary",
    )
    right.legend(loc="upper right")
    return picture
