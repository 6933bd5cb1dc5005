"""Runs of the studies on what becomes of features: records of weights, continued runs, nodes and energies."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, measures, models, simulate, tasks
from lazyrich.core import Claim, Departure

if TYPE_CHECKING:
    import xarray

CURVES = ("train_accuracy", "test_accuracy")
NODES = (
    "random",
    "memorising",
    "generalising",
    "energy",
    "memorising_energy",
    "generalising_energy",
    "live",
)
"""What `with_nodes` adds to a run."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A run: share of the pairs, last epoch, decay and rate of Adam, M and K."""

    fraction: float
    epochs: int
    decay: float
    rate: float = 5e-3
    early_rate: float = 0.0  # if not 0, the rate up to epoch `switch`
    switch: int = 0
    start: float = 1.0  # factor of all weights
    order: int = 17
    width: int = 128


def stretched(setting: Setting, factor: float) -> Setting:
    """The same run with a multiple of its epochs, at least two."""
    return dataclasses.replace(setting, epochs=max(int(setting.epochs * factor), 2))


def sized(config: Any, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Settings with the configuration's network and length."""
    return {
        name: dataclasses.replace(
            stretched(setting, config.fate_stretch), order=config.fate_order, width=config.fate_width
        )
        for name, setting in settings.items()
    }  # fmt: skip


@functools.cache
def _class() -> Any:
    """`FeatureLearning` that can begin at given weights: JAX must not be imported with this module."""

    @dataclasses.dataclass(frozen=True)
    class Continued(simulate.FeatureLearning):
        weights: Any = dataclasses.field(default=None, compare=False)

        def start(self, seed: int) -> tuple[Any, Any]:
            fresh, data = simulate.FeatureLearning.start(self, seed)
            return (fresh if self.weights is None else self.weights[seed]), data

    return Continued


def training_of(setting: Setting, weights: Any = None) -> Any:
    """What a setting trains. Of a seed, pairs of a smaller share are among those of a larger one."""
    M = setting.order
    return _class()(
        models.PairNetwork(M, setting.width, activation="quadratic"),
        tasks.GroupArithmetic(groups.cyclic(M), setting.fraction),
        # one compiled step for all small networks; large ones have one setting each
        padded_samples=int(0.7 * M**2) if setting.fraction <= 0.7 else None,
        records=("weights",), initial_scale=setting.start, weights=weights,
    )  # fmt: skip


@functools.cache
def _falling(early: float, late: float, switch: int) -> Any:
    """Adam whose rate falls once."""
    import optax

    return optax.adam(optax.piecewise_constant_schedule(early, {switch: late / early}))


def train(setting: Setting, seeds: range, records: int, weights: Any = None) -> "xarray.Dataset":
    """Accuracies and weights of a setting, over `seed` and `time`, evenly in the logarithm of epochs."""
    epochs = _grid(setting.epochs, records)
    by: dict[str, Any] = {"optimizer": "adam", "learning_rate": setting.rate}
    if setting.early_rate:
        by = {"optimizer": _falling(setting.early_rate, setting.rate, setting.switch)}
    return simulate.gradient_descent(
        training_of(setting, weights), epochs, seeds=seeds, weight_decay=setting.decay, **by
    ).drop_attrs()  # fmt: skip


def _grid(last: int, num: int) -> np.ndarray:
    """The start and `num` later epochs, fewer if there are not as many: runs are joined by record."""
    found = np.round(np.geomspace(1, last, num)).astype(int) if num > 1 else np.array([last])
    for i in range(1, num):  # rounding must not make two of one
        found[i] = max(found[i], found[i - 1] + 1)
    return np.concatenate([[0], found])


def train_pairs(setting: Setting, seed: int) -> np.ndarray:
    """The pairs that a seed trains on."""
    data = training_of(setting).start(seed)[1]
    return np.asarray(data.pairs)[np.asarray(data.share) > 0]


def last_weights(run: "xarray.Dataset") -> dict[int, Any]:
    """Weights at the end, by seed, for a run that goes on."""
    return {
        int(seed): models.PairWeights(
            run["first"].sel(seed=seed).values[-1].astype(np.float32), (),
            run["second"].sel(seed=seed).values[-1].astype(np.float32),
        )
        for seed in run.seed.values
    }  # fmt: skip


def with_nodes(run: "xarray.Dataset", setting: Setting) -> "xarray.Dataset":
    """Accuracies, and what the nodes are, over `seed` and `time`.

    Shares are of live nodes. `energy` is the mean of 𝓔(w/‖w‖) on the training pairs over nodes, weighted by
    their squared lengths; the other energies are medians over the nodes of a kind, NaN where there are none.
    """
    import xarray

    group = groups.cyclic(setting.order)
    rows = []
    for seed in run.seed.values:
        pairs = train_pairs(setting, int(seed))
        nodes = measures.node_features(run["first"].sel(seed=seed).values, group, pairs=pairs)
        rows.append(_summary(nodes))
    found = {name: (("seed", "time"), np.stack([row[name] for row in rows])) for name in NODES}
    return xarray.merge([run[list(CURVES)], xarray.Dataset(found)])


def _summary(nodes: Any) -> dict[str, np.ndarray]:
    weight = nodes.norm**2
    found = {kind: np.asarray(nodes.share(kind)) for kind in NODES[:3]}
    found["energy"] = np.sum(nodes.energy * weight, axis=-1) / np.sum(weight, axis=-1)
    for kind in ("memorising", "generalising"):
        chosen = np.ma.masked_array(nodes.energy, nodes.kind != kind)
        found[f"{kind}_energy"] = np.ma.median(chosen, axis=-1).filled(np.nan)
    found["live"] = nodes.live.sum(axis=-1).astype(float)
    return found


def over(runs: "Mapping[str, xarray.Dataset]", dimension: str) -> "xarray.Dataset":
    """Runs side by side; `epoch` has the epochs of records, of which all must have as many."""
    import xarray

    found = [run.rename(time="record").drop_vars("record") for run in runs.values()]
    epochs = np.array([run.time.values for run in runs.values()], float)
    joined = xarray.concat(found, dimension).assign_coords({dimension: list(runs)})
    return joined.assign(epoch=((dimension, "record"), epochs))


def one(data: "xarray.Dataset", **place: str) -> "xarray.Dataset":
    """The runs at a place, over `seed` and `time`."""
    found = data.sel(place)
    return found.rename(record="time").assign_coords(time=("time", found.epoch.values))


def mean_and_error(values: Any) -> tuple[float, float]:
    """Over seeds; seeds that have none do not count."""
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if known.size == 0:
        return np.nan, np.nan
    error = known.std(ddof=1) / np.sqrt(known.size) if known.size > 1 else np.nan
    return float(known.mean()), float(error)


def claim(
    text: str, source: str, expected: float, values: Any, comparison: str, departure: Departure | None = None
) -> Claim:  # fmt: skip
    """A claim on the mean over seeds."""
    mean, error = mean_and_error(values)
    return Claim(
        text, source, expected, mean, comparison, uncertainty=error, num_seeds=int(np.size(values)),
        departure=departure,
    )  # fmt: skip
