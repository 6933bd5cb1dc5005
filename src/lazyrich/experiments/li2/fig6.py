"""Fig. 6: the learning rate near the boundary of generalisation."""

import dataclasses
from typing import TYPE_CHECKING

from lazyrich import groups, measures, plotting
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._claims import clear_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.li2 import _phase, _training

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "li2", "fig6"
TITLE = "Learning rate near the boundary"
CAPTION = (
    "Test accuracy at the end of training on a share p of the pairs of $Z_M$, mean and standard error over "
    "seeds, for several rates of Adam. Dotted: 2.7482 ln M / M of the paper. All rates have the same number "
    "of epochs. Decay, rates and epochs are not stated: as in Fig. 5, and rates around those of Fig. 7. "
    "`quick` has smaller M, 128 nodes, and a decay and rates that were found by trial. It depends on them: "
    "only within a few hundredths of the boundary do rates differ, and at half of the decay hardly there."
)
SECONDS = {"quick": 16, "paper": 60_000}
REFERENCES = ("li2",)
CONVENTION = _training.CONVENTION
SOURCE = "Fig. 6, Sec. 4.5"


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 6 is computed from."""

    orders: tuple[int, ...] = (23, 71, 127)
    multiples: tuple[float, ...] = (2.1, 2.3, 2.5, 2.7, 3.0)
    learning_rates: tuple[float, ...] = (1e-3, 2e-3, 5e-3, 2e-2)
    width: int = 1024
    weight_decay: float = 2e-4
    last_epoch: int = 3000
    num_seeds: int = 15
    seeds_per_chunk: int = 1


QUICK = Config(
    orders=(11, 17, 23), multiples=(2.3, 2.5, 2.7), learning_rates=(5e-3, 2e-2, 8e-2), width=128,
    weight_decay=4e-3, last_epoch=800, num_seeds=8, seeds_per_chunk=8,
)  # fmt: skip
PRESETS = {"quick": QUICK, "paper": Config()}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Every order, share of pairs and rate from every seed."""
    return over_cases({"order": config.orders}, _piece, config, context, resume=True).assign_attrs(
        CONVENTION.attributes()
    )


def _piece(config: Config, order: int, seeds: range, context: Context) -> "xarray.Dataset":
    import xarray

    rates, epochs = list(config.learning_rates), [config.last_epoch]
    counts = [_phase.num_samples(order, multiple) for multiple in config.multiples]
    group, rows = groups.cyclic(order), max(counts)
    runs = [
        _training.descend(
            _phase.training(group, samples, rows, config.width), epochs, seeds, config, inside,
            learning_rate=rates,
        )
        .isel(time=0, drop=True)[["test_accuracy", "train_accuracy"]]
        .assign(num_samples=samples)
        for samples, inside in _training.parts(context, counts)
    ]  # fmt: skip
    return xarray.concat(runs, "multiple").assign_coords(multiple=list(config.multiples))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """Small rates lead more often to solutions that generalise."""
    seeds, small, large = result.sizes["seed"], config.learning_rates[0], config.learning_rates[-1]
    gaps = _gap(result.test_accuracy)
    among = f"rate {small:g} over rate {large:g}"
    found = [
        clear_claim(f"Near the boundary small rates generalise more often: {among} (share of runs with a "
                    "test accuracy above ½, difference, mean of all M and shares)", SOURCE, 0.0,
                    _gap(result.test_accuracy > _phase.LEVEL).mean("order")),
        clear_claim(f"They have the higher test accuracy: {among} (difference, mean of all M and shares)",
                    SOURCE, 0.0, gaps.mean("order")),
        clear_claim(f"M = {config.orders[-1]}: small rates have the higher test accuracy: {among} "
                    "(difference, mean of all shares)", SOURCE, 0.0, gaps.isel(order=-1)),
        Claim("All rates learn the training pairs by heart (training accuracy, smallest of all means)",
              SOURCE, 0.95, float(result.train_accuracy.mean("seed").min()), "at-least", num_seeds=seeds),
    ]  # fmt: skip
    return require_seeds(found, 8)


def _gap(values: "xarray.DataArray") -> "xarray.DataArray":
    """The smallest rate's values less the largest one's, mean of all shares; (order, seed)."""
    mean = values.mean("multiple")
    return (mean.isel(learning_rate=0) - mean.isel(learning_rate=-1)).transpose("order", "seed")


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """A panel for each order, a curve for each rate."""
    picture, (row,) = plotting.new_figure(len(config.orders), panel=(3.3, 2.9))
    for axes, order in zip(row, config.orders, strict=True):
        one = result.sel(order=order)
        share = one.num_samples / order**2
        for rate, colour in zip(
            config.learning_rates, plotting.shades(len(config.learning_rates)), strict=True
        ):
            mean, error = measures.seed_mean(one.test_accuracy.sel(learning_rate=rate))
            axes.errorbar(
                share, mean, error, color=colour, marker="o", markersize=3, label=f"rate {rate:g}"
            )
        axes.axvline(_phase.DOTTED * _phase.unit(order), color="black", linestyle=":", linewidth=1)
        axes.set(xlabel="share of pairs $p = n/M^2$", ylabel="test accuracy at the end", title="$M = "
        f"{order}$",
                 ylim=(-0.03, 1.05))  # fmt: skip
    row[0].legend()
    return picture
