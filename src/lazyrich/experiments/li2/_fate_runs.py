"""Runs of the studies on what becomes of features: records of weights, continued runs, nodes and energies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, measures, models, simulate
from lazyrich.core import Context
from lazyrich.experiments._records import by_record
from lazyrich.experiments.li2 import _setting
from lazyrich.experiments.li2._setting import Setting

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


def sized(config: Any, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Settings with the configuration's network and length."""
    return _setting.sized(settings, config.fate_order, config.fate_width, config.fate_stretch)


def training_of(setting: Setting, weights: Any = None) -> "simulate.FeatureLearning":
    """What a setting trains, from weights by seed if there are any."""
    # one compiled step for all small networks; large ones have one setting each
    rows = int(0.7 * setting.order**2) if setting.fraction <= 0.7 else None
    initial = None if weights is None else weights.__getitem__
    return _setting.training(
        setting, padded_samples=rows, records=("weights",), initial_weights=initial
    )


def train(
    setting: Setting, seeds: range, records: int, context: Context, weights: Any = None
) -> "xarray.Dataset":
    """Accuracies and weights of a setting, over `seed` and `time`, evenly in the logarithm of epochs."""
    epochs = simulate.log_steps(setting.epochs, records, exact=True)  # runs are joined by record
    return _setting.descend(training_of(setting, weights), setting, epochs, seeds, context)


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

    group, training = groups.cyclic(setting.order), training_of(setting)
    rows = []
    for seed in run.seed.values:
        pairs = training.train_pairs(int(seed))
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
    """Runs side by side, by record, of which all must have as many."""
    import xarray

    found = [by_record(run) for run in runs.values()]
    return xarray.concat(found, dimension).assign_coords({dimension: list(runs)})
