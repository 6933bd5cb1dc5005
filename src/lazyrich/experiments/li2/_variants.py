"""What Fig. 11 to 14 share: one network for modular addition, with real or complex weights or a ridge top."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, plotting, simulate
from lazyrich.core import Claim, Context
from lazyrich.experiments._claims import delay_claim, geometric_claim, share_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments._records import by_record, by_time
from lazyrich.experiments._times import ratio_of_times, time_to
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


@dataclasses.dataclass(frozen=True)
class Panel:
    """Ways to train the network that are drawn beside each other."""

    kinds: tuple[str, ...]

    def run(self, config: Config, context: Context) -> "xarray.Dataset":
        """Every kind at every order from every seed, over `kind`, `order`, `seed` and `record`.

        Not all are trained for as many epochs.
        """
        import xarray

        rows = []
        for number, kind in enumerate(self.kinds):
            # twice the nodes only at the first order: it tells whether the number of weights matters
            orders = config.orders[:1] if kind == Kind.WIDE else config.orders
            axes = {"kind": [kind], "order": {order: i for i, order in enumerate(orders)}}
            text = f"modular addition, {kind}"
            row = over_cases(axes, _train, config, context, text, name=f"{number}", resume=True)
            rows.append(row.reindex(order=list(config.orders)))
        return xarray.concat(rows, "kind").assign_attrs(_training.CONVENTION.attributes())

    def figure(self, result: "xarray.Dataset", config: Config) -> "Figure":
        """Accuracies and losses for each order, side by side for a single one; a line style for each kind."""
        orders = result.order.values.tolist()
        shape = (len(orders), 2) if len(orders) > 1 else (2, 1)
        picture, rows = plotting.new_figure(*shape, panel=(3.2, 2.4))
        panels = rows.reshape(2, len(orders))
        for column, order in enumerate(orders):
            for axes, name in zip(panels[:, column], ("accuracy", "loss"), strict=True):
                for kind, style in zip(self.kinds, ("-", "--", ":"), strict=False):
                    runs = by_time(result, kind=kind, order=order)
                    if bool(runs.train_loss.notnull().all()):
                        _draw(axes, runs, name, kind, style)
                axes.set(xlabel="epoch", ylabel=name, xlim=(0, None), title=f"$M={order}$")
            panels[1, column].set(yscale="log")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=len(self.kinds))
        return picture


def _epochs(config: Config, kind: str, number: int) -> np.ndarray:
    """When to record: as often in every run, though the shortest has fewer epochs than records are wished."""
    shortest = round(COMPLEX_SHARE * min(config.last_epochs))
    last = config.last_epochs[number]
    # a complex step costs several real ones, and complex weights are done sooner
    last = round(COMPLEX_SHARE * last) if kind == Kind.COMPLEX else last
    return simulate.even_steps(last, min(config.num_records, shortest))


def _train(
    config: Config, kind: str, number: int, seeds: range, context: Context
) -> "xarray.Dataset":
    training = _training.training(
        groups.cyclic(config.orders[number]), config.train_fraction,
        config.width * (2 if kind == Kind.WIDE else 1), complex_weights=kind == Kind.COMPLEX,
        top_decay=config.weight_decay if kind == Kind.RIDGE else None,
    )  # fmt: skip
    found = _training.descend(training, _epochs(config, kind, number), seeds, config, context)
    kept = found[["train_loss", "test_loss", "train_accuracy", "test_accuracy"]]
    return by_record(kept)


def epochs(
    result: "xarray.Dataset", kind: str, order: int, curve: str = "test_accuracy"
) -> np.ndarray:
    """Epochs of every seed until an accuracy passes the level for good."""
    return time_to(by_time(result, kind=kind, order=order)[curve], _training.LEVEL)


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
            found.append(
                dataclasses.replace(
                    model, statement=text, measured=float("nan"), uncertainty=None,
                    needs=f"M = {order}, which `paper` has",
                )
            )  # fmt: skip
    return found


def groks(result: "xarray.Dataset", kind: str, order: int, source: str) -> Claim:
    """All runs come to generalise."""
    return share_claim(
        f"M = {order}: with {_WORDS[kind]} the test accuracy reaches {_training.LEVEL:g} for good (share of "
        "seeds)", source, np.isfinite(epochs(result, kind, order)),
    )  # fmt: skip


_WORDS = {
    Kind.REAL: "real weights", Kind.WIDE: "twice as many nodes", Kind.COMPLEX: "complex weights",
    Kind.RIDGE: "the ridge top layer",
}  # fmt: skip


def delayed(result: "xarray.Dataset", kind: str, order: int, source: str, least: float) -> Claim:
    """The test accuracy follows the training accuracy late."""
    test, train = (epochs(result, kind, order, f"{part}_accuracy") for part in ("test", "train"))
    return delay_claim(
        f"M = {order}: with {_WORDS[kind]} generalisation is delayed (epochs to test accuracy "
        f"{_training.LEVEL:g} over those to the same training accuracy, geometric mean)",
        source, train, test, end=float(result.recorded_time.sel(order=order).max()), least=least,
    )  # fmt: skip


def speed(
    result: "xarray.Dataset", kinds: tuple[str, str], order: int, source: str, comparison: str, **more: Any
) -> Claim:  # fmt: skip
    """One kind needs fewer epochs than another (`at-most`) or more (`at-least`)."""
    own, other = (epochs(result, kind, order) for kind in kinds)
    last = float(result.recorded_time.sel(order=order).max())
    word = {"at-most": "faster", "at-least": "slower"}[comparison]
    return geometric_claim(
        f"M = {order}: grokking is {word} with {_WORDS[kinds[0]]} than with {_WORDS[kinds[1]]} (epochs to "
        f"test accuracy {_training.LEVEL:g} of the one over those of the other, geometric mean)",
        source, 1.0, ratio_of_times(own, other, last), comparison, **more,
    )  # fmt: skip


def _draw(axes: Any, runs: "xarray.Dataset", name: str, kind: str, style: str) -> None:
    for part in ("train", "test"):
        curves, colour = runs[f"{part}_{name}"], _training.kind_colour(part)
        _training.draw_band(axes, curves, colour, f"{part}, {kind}", linestyle=style)
