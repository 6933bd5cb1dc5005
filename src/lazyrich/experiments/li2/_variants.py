"""What Fig. 11 to 14 share: one network for modular addition, with real or complex weights or a ridge top."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context
from lazyrich.experiments._over_seeds import over_seeds
from lazyrich.experiments.li2 import _training

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

ALL_ORDERS = (23, 41, 89, 127)
"""The sizes M of the paper."""
SETTINGS = (
    "Modular addition by σ(XW)V with σ(x) = x², K = 256, 80 % of the pairs, Adam at rate 5e-3, coupled "
    "decay 5e-5"
)
COMPLEX_SHARE = 0.6
"""Of the epochs, for how many complex weights are trained."""
QUICK = "`quick` has only M = 23 and 41."


@dataclasses.dataclass(frozen=True)
class Config:
    """What one of the figures is computed from."""

    orders: tuple[int, ...] = ALL_ORDERS
    last_epochs: tuple[int, ...] = (400, 60, 60, 60)
    width: int = 256
    train_fraction: float = 0.8
    learning_rate: float = 5e-3
    weight_decay: float = 5e-5
    num_records: int = 40
    num_seeds: int = 8
    seeds_per_chunk: int = 2


PRESETS = {
    "quick": Config(orders=(23, 41), last_epochs=(400, 60), seeds_per_chunk=8),
    "paper": Config(),
}


class Kind:
    """Names of ways to train the network."""

    REAL, WIDE, COMPLEX, RIDGE = "real", "real, 2K nodes", "complex", "ridge"


def run(kinds: Sequence[str], config: Config, context: Context) -> "xarray.Dataset":
    """Every kind at every order from every seed, over `kind`, `order`, `seed` and `record`.

    Not all are trained for as many epochs: `epoch` says at which epochs records are.
    """
    import xarray

    # twice the nodes only at the first order: it tells whether the number of weights matters
    numbers = {kind: range(1 if kind == Kind.WIDE else len(config.orders)) for kind in kinds}
    cases = [(kind, number) for kind in kinds for number in numbers[kind]]

    def train(index: int, seeds: range) -> "xarray.Dataset":
        return _train(config, *cases[index], seeds)

    counts = [config.num_seeds] * len(cases)
    runs = over_seeds("modular addition", "run", counts, config, train, context)
    rows = []
    for kind in kinds:
        own = [run for run, case in zip(runs, cases, strict=True) if case[0] == kind]
        row = xarray.concat(own, "order").assign_coords(order=list(config.orders[: len(own)]))
        rows.append(row.reindex(order=list(config.orders)))
    found = xarray.concat(rows, "kind").assign_coords(kind=list(kinds))
    epochs = [
        [_epochs(config, kind, number) for number in range(len(config.orders))] for kind in kinds
    ]
    return found.assign(epoch=(("kind", "order", "record"), np.array(epochs, float))).assign_attrs(
        _training.CONVENTION.attributes()
    )


def _epochs(config: Config, kind: str, number: int) -> np.ndarray:
    """When to record: as often in every run, though the shortest has fewer epochs than records are wished."""
    shortest = round(COMPLEX_SHARE * min(config.last_epochs))
    last = config.last_epochs[number]
    # a complex step costs several real ones, and complex weights are done sooner
    last = round(COMPLEX_SHARE * last) if kind == Kind.COMPLEX else last
    return _training.even_epochs(last, min(config.num_records, shortest))


def _train(config: Config, kind: str, number: int, seeds: range) -> "xarray.Dataset":
    order = config.orders[number]
    network = models.PairNetwork(
        order, config.width * (2 if kind == Kind.WIDE else 1), activation="quadratic",
        complex_weights=kind == Kind.COMPLEX,
    )  # fmt: skip
    task = tasks.GroupArithmetic(groups.cyclic(order), config.train_fraction)
    ridge = config.weight_decay if kind == Kind.RIDGE else None
    found = simulate.gradient_descent(
        simulate.FeatureLearning(network, task, ridge=ridge), _epochs(config, kind, number), seeds=seeds,
        optimizer="adam", learning_rate=config.learning_rate, weight_decay=config.weight_decay,
    )  # fmt: skip
    kept = found[["train_loss", "test_loss", "train_accuracy", "test_accuracy"]]
    return kept.drop_attrs().rename(time="record").drop_vars("record")


def one(result: "xarray.Dataset", kind: str, order: int) -> "xarray.Dataset":
    """The runs of a kind at an order, over `seed` and `time`."""
    found = result.sel(kind=kind, order=order)
    return found.rename(record="time").assign_coords(time=("time", found.epoch.values))


def epochs(
    result: "xarray.Dataset", kind: str, order: int, curve: str = "test_accuracy"
) -> np.ndarray:
    """Epochs of every seed until an accuracy passes the level for good."""
    return _training.epochs_to(one(result, kind, order), curve=curve)


def for_orders(result: "xarray.Dataset", orders: Sequence[int], claim: Any) -> list[Claim]:
    """`claim(order)` for every order; not applicable for those that are not trained at."""
    there = set(result.order.values.tolist())
    shown = next(iter(order for order in orders if order in there), None)
    found = []
    for order in orders:
        if order in there:
            found.append(claim(order))
        elif shown is not None:
            model = claim(shown)
            text = model.statement.replace(f"M = {shown}:", f"M = {order}:")
            needs = f"M = {order}, which `paper` has (the number here is that of M = {shown})"
            found.append(dataclasses.replace(model, statement=text, needs=needs))
    return found


def groks(result: "xarray.Dataset", kind: str, order: int, source: str) -> Claim:
    """All runs come to generalise."""
    share = float(np.mean(np.isfinite(epochs(result, kind, order))))
    return Claim(
        f"M = {order}: with {_WORDS[kind]} the test accuracy reaches {_training.LEVEL:g} for good (share of "
        "seeds)",
        source, 1.0, share, "at-least", num_seeds=result.sizes["seed"],
    )  # fmt: skip


_WORDS = {
    Kind.REAL: "real weights", Kind.WIDE: "twice as many nodes", Kind.COMPLEX: "complex weights",
    Kind.RIDGE: "the ridge top layer",
}  # fmt: skip


def delayed(result: "xarray.Dataset", kind: str, order: int, source: str, least: float) -> Claim:
    """The test accuracy follows the training accuracy late."""
    test, train = (epochs(result, kind, order, f"{part}_accuracy") for part in ("test", "train"))
    found = _training.ratio_of_epochs(test, train, float(result.epoch.sel(order=order).max()))
    return Claim(
        f"M = {order}: with {_WORDS[kind]} generalisation is delayed (epochs to test accuracy "
        f"{_training.LEVEL:g} over those to the same training accuracy, geometric mean)",
        source, least, found.ratio, "at-least", uncertainty=found.error, num_seeds=result.sizes["seed"],
    )  # fmt: skip


def speed(
    result: "xarray.Dataset", kinds: tuple[str, str], order: int, source: str, comparison: str, **more: Any
) -> Claim:  # fmt: skip
    """One kind needs fewer epochs than another (`at-most`) or more (`at-least`)."""
    own, other = (epochs(result, kind, order) for kind in kinds)
    found = _training.ratio_of_epochs(own, other, float(result.epoch.sel(order=order).max()))
    word = {"at-most": "faster", "at-least": "slower"}[comparison]
    return Claim(
        f"M = {order}: grokking is {word} with {_WORDS[kinds[0]]} than with {_WORDS[kinds[1]]} (epochs to "
        f"test accuracy {_training.LEVEL:g} of the one over those of the other, geometric mean)",
        source, 1.0, found.ratio, comparison, uncertainty=found.error, num_seeds=result.sizes["seed"], **more,
    )  # fmt: skip


def figure(result: "xarray.Dataset", kinds: Sequence[str]) -> "Figure":
    """Accuracies and losses for each order, side by side for a single one; a line style for each kind."""
    orders = result.order.values.tolist()
    shape = (len(orders), 2) if len(orders) > 1 else (2, 1)
    picture, rows = plotting.new_figure(*shape, panel=(3.2, 2.4))
    panels = rows.reshape(2, len(orders))
    for column, order in enumerate(orders):
        for axes, name in zip(panels[:, column], ("accuracy", "loss"), strict=True):
            for kind, style in zip(kinds, ("-", "--", ":"), strict=False):
                runs = one(result, kind, order)
                if bool(runs.train_loss.notnull().all()):
                    _draw(axes, runs, name, kind, style)
            axes.set(xlabel="epoch", ylabel=name, xlim=(0, None), title=f"$M={order}$")
        panels[1, column].set(yscale="log")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=len(kinds))
    return picture


def _draw(axes: Any, runs: "xarray.Dataset", name: str, kind: str, style: str) -> None:
    for part in ("train", "test"):
        curves, colour = runs[f"{part}_{name}"], _training.kind_colour(part)
        _training.draw_band(axes, curves, colour, f"{part}, {kind}", linestyle=style)
