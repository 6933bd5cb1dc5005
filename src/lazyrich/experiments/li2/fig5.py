"""Fig. 5: how many pairs of a cyclic group a network needs to generalise."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import measures, plotting
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.li2 import _phase, _training

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "li2", "fig5"
TITLE = "The boundary of generalisation, cyclic groups"
CAPTION = (
    "Left, middle: test accuracy at the end of training on a share p of the pairs of $Z_M$, mean and "
    "standard error over seeds; dotted, in the same colour, p = 2.7482 ln M / M of the paper. Right: the "
    "share at which the test accuracy of a seed passes ½, mean and standard error. Lines: one-parameter fits "
    "of all boundaries. The number of epochs and the list of M are not stated: 2000, after which the "
    "boundary stands still. `quick` has smaller M, 128 nodes, rate 5e-3 and decay 2e-3, which need only 500 "
    "epochs."
)
SECONDS = {"quick": 39, "paper": 60_000}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
SOURCE = "Fig. 5, Theorem 4"


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 5 is computed from."""

    primes: tuple[int, ...] = (11, 23, 41, 71, 127)
    composites: tuple[int, ...] = (12, 24, 45, 72, 125)
    multiples: tuple[float, ...] = (2.0, 2.3, 2.5, 2.7, 2.9, 3.2)
    width: int = 2048
    learning_rate: float = 5e-4
    weight_decay: float = 2e-4
    last_epoch: int = 2000
    num_seeds: int = 20
    seeds_per_chunk: int = 1


QUICK = Config(
    primes=(11, 17, 29), composites=(12, 18, 30), multiples=(2.0, 2.3, 2.6, 2.9, 3.2), width=128,
    learning_rate=5e-3, weight_decay=2e-3, last_epoch=500, num_seeds=8, seeds_per_chunk=8,
)  # fmt: skip
PRESETS = {"quick": QUICK, "paper": Config()}
LAWS = {"ln M / M": _phase.unit, "1/M": lambda M: 1 / M, "M^{-1/2}": lambda M: M**-0.5}


def _names(orders: tuple[int, ...]) -> list[str]:
    return [f"Z{order}" for order in orders]


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Every group at every share of its pairs from every seed."""
    names = _names(config.primes + config.composites)
    return over_cases({"group": names}, _phase.piece, config, context, resume=True).assign_attrs(
        CONVENTION.attributes()
    )


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """The boundary and how it scales."""
    seeds, orders = result.sizes["seed"], result.order.values.astype(float)
    shares = _phase.boundaries(result).mean(axis=1) * _phase.unit(orders)
    fit = measures.power_law(orders, shares / np.log(orders))
    fits = {name: _phase.law(orders, shares, shape(orders)) for name, shape in LAWS.items()}
    found = [
        Claim("The share at the boundary falls like ln M / M^γ (γ of the fit to all M)", SOURCE, 1.0,
              -fit.exponent, "absolute", tolerance=0.1, uncertainty=fit.uncertainty, num_seeds=seeds),
        *(
            Claim(f"ln M / M describes it better than {name} (scatter of the logarithm around the "
                  "one-parameter fit, over that of the other)", SOURCE, 0.5,
                  fits["ln M / M"].scatter / fits[name].scatter, "at-most", num_seeds=seeds)
            for name in ("1/M", "M^{-1/2}")
        ),
    ]  # fmt: skip
    parts = {"prime": slice(len(config.primes)), "composite": slice(len(config.primes), None)}
    for kind, part in parts.items():
        fit = _phase.law(orders[part], shares[part], _phase.unit(orders[part]))
        # the dotted line is drawn by eye through a map of accuracies, whose cells are not stated
        found.append(
            Claim(f"For {kind} M the constant of p = C ln M / M is that of the dotted line", "Fig. 5",
                  _phase.DOTTED, fit.constant, "relative", tolerance=0.1, uncertainty=fit.error,
                  num_seeds=seeds)
        )  # fmt: skip
    return require_seeds([*found, *_transition_claims(result)], 8)


@np.errstate(invalid="ignore", divide="ignore")
def _transition_claims(result: "xarray.Dataset") -> list[Claim]:
    seeds = result.sizes["seed"]
    low, high = (result.test_accuracy.isel(time=-1, multiple=i).mean("seed") for i in (0, -1))
    early, late = (_phase.boundaries(result, time).mean(axis=1) for time in (0, -1))
    return [
        Claim("Below the boundary nothing is learned that generalises (test accuracy at the smallest share, "
              "largest of all M)", "Fig. 5, Sec. 4.5", 0.1, float(low.max()), "at-most", num_seeds=seeds),
        Claim("Above it everything is (test accuracy at the largest share, smallest of all M)",
              "Fig. 5, Sec. 4.5", 0.9, float(high.min()), "at-least", num_seeds=seeds),
        Claim("Training twice as long does not move the boundary much (boundary half-way over that at the "
              "end, largest of all M)", "Fig. 5", 1.15, float(np.max(early / late)), "at-most",
              num_seeds=seeds),
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Test accuracies for prime and composite M, and the boundary over M with its fits."""
    picture, ((left, middle, right),) = plotting.new_figure(3, panel=(3.6, 3.1))
    kinds = {"prime M": _names(config.primes), "composite M": _names(config.composites)}
    for axes, (kind, names) in zip((left, middle), kinds.items(), strict=True):
        _phase.draw_transition(axes, result, names, kind)
    _phase.draw_boundary(right, result, kinds, plotting.COLOURS)
    orders = result.order.values.astype(float)
    shares = _phase.boundaries(result).mean(axis=1) * _phase.unit(orders)
    M = np.geomspace(orders.min() / 1.1, orders.max() * 1.1, 100)
    for (name, shape), style in zip(LAWS.items(), ("-", "--", "-."), strict=True):
        fit = _phase.law(orders, shares, shape(orders))
        right.plot(M, fit.constant * shape(M), color="grey", linestyle=style, linewidth=1,
                   label=f"{fit.constant:.3g} · ${name.replace('ln M', chr(92) + 'ln M')}$")  # fmt: skip
    right.set(
        xscale="log",
        yscale="log",
        xlabel="order $M$",
        ylabel="share $p$ at the boundary",
        title="boundary",
    )
    _phase.plain_ticks(right, orders, shares)
    right.legend(fontsize=7)
    return picture
