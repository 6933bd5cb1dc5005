"""What Fig. 5, 6, 7 and 8 share: networks near the smallest share of pairs from which they generalise."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import groups, measures, plotting
from lazyrich.core import Context, argument_error
from lazyrich.experiments.li2 import _training

if TYPE_CHECKING:
    import xarray

    from lazyrich import simulate

LEVEL = 0.5
"""Test accuracy at which the boundary is read off: half-way between chance and all."""
DOTTED = 2.7482
"""The paper's dotted line is this times ln M / M."""


def unit(order: Any) -> Any:
    """Shares of pairs are given in units of ln M / M."""
    return np.log(order) / order


def num_samples(order: int, multiple: float) -> int:
    """The pairs that are trained on for a share of so many times ln M / M; all but a tenth at most."""
    return int(np.floor(min(multiple * unit(order), 0.9) * order**2))


def training(
    group: "groups.Group", samples: int, rows: int, width: int, weights: bool = False
) -> "simulate.FeatureLearning":
    """A network on so many pairs; filled up to the same number of rows, trainings share what is compiled."""
    share = (samples + 0.5) / group.order**2
    records = ("weights",) if weights else ()
    return _training.training(group, share, width, padded_samples=rows, records=records)


def piece(
    config: Any, name: str, seeds: range, context: Context, *, purity: bool = False
) -> "xarray.Dataset":
    """A group at all shares of its pairs: accuracies half-way and at the end, and how pure its nodes are."""
    import xarray

    group = named_group(name)
    epochs = [config.last_epoch // 2, config.last_epoch]
    counts, found = [num_samples(group.order, multiple) for multiple in config.multiples], []
    for samples, inside in _training.parts(context, counts):
        network = training(group, samples, max(counts), config.width, weights=purity)
        run = _training.descend(network, epochs, seeds, config, inside)
        kept = run[["test_accuracy", "train_accuracy"]]
        if purity:
            kept["purity"] = (
                "seed",
                [mean_purity(W, group) for W in run.first.isel(time=-1).values],
            )
        found.append(kept.assign(num_samples=samples))
    whole = xarray.concat(found, "multiple").assign_coords(multiple=list(config.multiples))
    return whole.assign(order=group.order)


def mean_purity(first: np.ndarray, group: "groups.Group") -> float:
    """Share of the dominant irrep in a node's power, mean over nodes weighted by their power."""
    nodes = measures.node_features(first, group)
    return float(np.sum(nodes.purity * nodes.norm**2) / np.sum(nodes.norm**2))


def named_group(name: str) -> "groups.Group":
    """The group of a name such as Z23, Z4 × Z7, D10, Dic5, Z3 ⋊ Z8, a generator of which inverts, or F20.

    F of order q(q − 1) are the maps x → ax + b of the numbers modulo a prime q; they have an irrep of
    dimension q − 1.
    """
    factors = [_factor(word) for word in name.split(" × ")]
    return factors[0] if len(factors) == 1 else groups.product(*factors)


def _factor(word: str) -> "groups.Group":
    found = re.fullmatch(r"(Z|D|Dic|F)(\d+)(?: ⋊ Z(\d+))?", word)
    if found is None or (found[3] and found[1] != "Z"):
        raise argument_error("name", "be made of words such as Z4, D5, Dic3 and Z3 ⋊ Z8", word)
    order = int(found[2])
    if found[3]:
        acting = groups.cyclic(int(found[3]))
        return groups.semidirect(groups.cyclic(order), acting, lambda h, n: n * (-1) ** h % order)
    makers = {"Z": groups.cyclic, "D": groups.dihedral, "Dic": groups.dicyclic, "F": _affine}
    return makers[found[1]](order)


def _affine(order: int) -> "groups.Group":
    """The maps x → ax + b modulo a prime q, of which there are q(q − 1)."""
    q = round((1 + np.sqrt(1 + 4 * order)) / 2)
    roots = [r for r in range(2, q) if {pow(r, k, q) for k in range(q - 1)} == set(range(1, q))]
    if q * (q - 1) != order or not roots:
        raise argument_error("name", "have the order q(q − 1) of a prime q > 2", f"F{order}")
    root = roots[0]
    return groups.semidirect(
        groups.cyclic(q), groups.cyclic(q - 1), lambda h, n: n * pow(root, int(h), q) % q
    )


def boundaries(result: "xarray.Dataset", time: int = -1) -> np.ndarray:
    """The share of pairs at which the test accuracy passes ½ for good, in units of ln M / M; (group, seed).

    Interpolated between shares; infinite for a seed that does not get there.
    """
    accuracy = result.test_accuracy.isel(time=time).transpose("group", "seed", "multiple").values
    orders, samples = result.order.values, result.num_samples.transpose("group", "multiple").values
    return np.array([
        measures.crossing_time(n / (M * np.log(M)), rows, LEVEL).time
        for M, n, rows in zip(orders, samples, accuracy, strict=True)
    ])  # fmt: skip


class Law(NamedTuple):
    """The fit p = C g(M) to boundaries of several M: C, its standard error, and the scatter of ln p."""

    constant: float
    error: float
    scatter: float


# a seed that never gets there has an infinite boundary, and a claim that rests on it says so
@np.errstate(invalid="ignore", divide="ignore")
def law(orders: np.ndarray, shares: np.ndarray, shape: np.ndarray) -> Law:
    """The fit for given values g(M), by the mean of logarithms."""
    logs = np.log(shares) - np.log(shape)
    scatter = float(logs.std(ddof=1)) if orders.size > 1 else np.nan
    constant = float(np.exp(logs.mean()))
    return Law(constant, constant * scatter / np.sqrt(orders.size), scatter)


def draw_transition(axes: Any, result: "xarray.Dataset", names: Sequence[str], title: str) -> None:
    """Test accuracy at the end against the share of pairs, a curve for each group, with its boundary."""
    for name, colour in zip(names, plotting.shades(len(names)), strict=True):
        one = result.sel(group=name)
        share = one.num_samples / float(one.order) ** 2
        mean, error = measures.seed_mean(one.test_accuracy.isel(time=-1))
        axes.errorbar(share, mean, error, color=colour, marker="o", markersize=3, label=name)
        axes.axvline(DOTTED * unit(float(one.order)), color=colour, linestyle=":", linewidth=1)
    axes.set(xlabel="share of pairs $p = n/M^2$", ylabel="test accuracy at the end", title=title,
             ylim=(-0.03, 1.05))  # fmt: skip
    axes.legend()


def draw_boundary(
    axes: Any, result: "xarray.Dataset", kinds: Mapping[str, Sequence[str]], colours: Any
) -> None:
    """Boundaries of all groups over M, with the paper's dotted line."""
    found = boundaries(result)
    for (kind, names), colour, marker in zip(kinds.items(), colours, "osD^", strict=False):
        chosen = [list(result.group.values).index(name) for name in names]
        orders = result.order.values[chosen]
        means, errors = np.array(measures.seed_mean(found[chosen], -1)) * unit(orders)
        axes.errorbar(orders, means, errors, color=colour, marker=marker, markersize=4,
                      linestyle="none", label=kind)  # fmt: skip
    M = np.geomspace(result.order.min() / 1.1, result.order.max() * 1.1, 100)
    axes.plot(M, DOTTED * unit(M), color="black", linestyle=":", label=f"{DOTTED:.4g} ln M / M")


def plain_ticks(axes: Any, orders: np.ndarray, shares: np.ndarray) -> None:
    """A few round numbers on either logarithmic axis, which spans less than a decade or two."""
    across = [round(x) for x in np.geomspace(orders.min(), orders.max(), 4)]
    shares = shares[np.isfinite(shares)]
    if shares.size == 0:
        return
    up = np.unique(np.round(np.geomspace(np.min(shares), np.max(shares), 4), 2))
    axes.minorticks_off()
    axes.set_xticks(across, [str(x) for x in across])
    axes.set_yticks(up, [f"{x:g}" for x in up])
