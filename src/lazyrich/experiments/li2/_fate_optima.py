"""Where training ends: the cases of App. E told apart, and how flat the optima are (App. I)."""

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, measures, plotting, quantities
from lazyrich.core import Claim, Context, Departure
from lazyrich.experiments._claims import clear_claim, mean_claim, share_claim
from lazyrich.experiments.li2 import _fate_runs, _training
from lazyrich.experiments.li2._setting import Setting
from lazyrich.experiments.li2._study import Study

if TYPE_CHECKING:
    import xarray

CASES = {
    "grokked": Setting(600, 1e-3, fraction=0.6),
    "stuck lazy": Setting(600, 0.0, fraction=0.6),
    "memorising features": Setting(600, 1e-3, fraction=0.3),
    "features early": Setting(80, 1e-4, 2e-2, fraction=0.95, width=28, initial_scale=0.3),
}
MOST_PAIRS = 1500
"""Of the training pairs, how many at most are looked at for stages."""
SHARES = ("random", "memorising", "generalising")


def _settings(config: Any) -> dict[str, Setting]:
    """`features early` has many pairs and few nodes: otherwise networks can overfit first, and do."""
    early = CASES["features early"]
    found = _fate_runs.sized(config, CASES)
    found["features early"] = dataclasses.replace(early, order=config.fate_early_order)
    return found


def _runs(setting: Setting, seeds: range, records: int, context: Context) -> "xarray.Dataset":
    """Both studies look at the same runs; the context is that of the first that does."""
    place = _place(setting, seeds, records)
    if not place:
        place.append(_fate_runs.train(setting, seeds, records, context))
    return place[0]


@functools.lru_cache(maxsize=64)
def _place(setting: Setting, seeds: range, records: int) -> "list[xarray.Dataset]":
    """Where a run is remembered."""
    return []


# The cases, told apart by the measures.


def _cases(config: Any, seeds: range, context: Context) -> "xarray.Dataset":
    import xarray

    settings, found = _settings(config), []
    for name, inside in _training.parts(context, settings):
        setting = settings[name]
        run = _runs(setting, seeds, config.fate_records, inside)
        rows = [
            _diagnosis(run.sel(seed=seed), setting, int(seed), name) for seed in run.seed.values
        ]
        columns = {name: ("seed", np.array([row[name] for row in rows])) for name in rows[0]}
        found.append(xarray.Dataset(columns, {"seed": run.seed}))
    return xarray.concat(found, "case").assign_coords(case=list(_settings(config)))


def _diagnosis(run: "xarray.Dataset", setting: Setting, seed: int, name: str) -> dict[str, float]:
    """Whether the measures find what the case is called, 1 or 0, and shares of nodes at the end."""
    pairs = _fate_runs.training_of(setting).train_pairs(seed)
    group = groups.cyclic(setting.order)
    some = pairs[:: -(-len(pairs) // MOST_PAIRS)]
    (a, b), first = some.T, run["first"].values
    stages = measures.training_stage(
        first, run["second"].values, lambda W: (W[a] + W[setting.order + b]) ** 2, group.table[a, b],
        inputs=some, start=first[0], group=group,
    )  # fmt: skip
    train, test = run.train_accuracy.values, run.test_accuracy.values
    case = measures.grokking_case(run.time.values, train, test, stages)
    fitted = int(np.argmax(train >= 0.99)) if np.any(train >= 0.99) else -1
    kinds = measures.memorisation_kind(first[[fitted, -1]], group, pairs)
    shares = {kind: float(getattr(kinds, kind)[-1]) for kind in SHARES}
    return shares | {
        "named": float(case.case == name), "gap": float(case.gap), "test_accuracy": float(test[-1]),
        "random_when_fitted": float(kinds.kind[0] == "random features"),
        "memorises": float(kinds.kind[-1] == "memorising features"),
    }  # fmt: skip


def _cases_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    texts = {
        "grokked": "Grokking: training is lazy for a while, then learns features",
        "stuck lazy": "No grokking, situation (1): without decay training stays lazy",
        "features early": "No grokking, situation (2): features are learned early, the gap is always small",
        "memorising features": "No grokking, situation (3): features converge to ones that do not generalise",
    }
    found = [
        share_claim(f"{text} (share of seeds that `measures.grokking_case` calls so)", "App. E",
                    data.named.sel(case=name), 0.85)
        for name, text in texts.items()
    ]  # fmt: skip
    before = data.random_when_fitted.sel(case="grokked")
    scarce = data.memorises.sel(case="memorising features")
    return [
        *found,
        share_claim("The memorisation before grokking is overfitting on random features (share of seeds so "
                    "called by `measures.memorisation_kind` when the training pairs are first fitted)",
                    "App. I", before, 0.85),
        share_claim("With limited data the features themselves memorise (share of seeds so called at the "
                    "end)", "App. I, Theorem 5", scarce, 0.85),
    ]  # fmt: skip


def _cases_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    place, low = np.arange(data.sizes["case"]), np.zeros(data.sizes["case"])
    for kind, colour in zip(SHARES, ("0.7", plotting.COLOURS[3], plotting.COLOURS[2]), strict=True):
        height = data[kind].mean("seed").values
        axes.bar(place, height, 0.6, bottom=low, color=colour, label=f"{kind} nodes")
        low = low + height
    axes.plot(
        place,
        data.test_accuracy.mean("seed"),
        "D",
        color=plotting.COLOURS[1],
        label="test accuracy",
    )
    for x, name in zip(place, data.case.values, strict=True):
        share = float(data.named.sel(case=name).mean())
        axes.text(x, 1.03, f"{share:.0%}", ha="center", va="bottom", fontsize=7)
    labels = [str(name).replace(" ", "\n", 1) for name in data.case.values]
    axes.set(xlabel="case (%: seeds so diagnosed)", ylabel="share at the end", ylim=(0, 1.45),
             yticks=[0, 0.5, 1], title="cases of App. E")  # fmt: skip
    axes.set_xticks(place, labels, fontsize=6)
    axes.legend(loc="upper center", ncols=2, fontsize=6)


# How flat the optima are.

OPTIMA = ("random features", "overfitted", "memorising", "grokked")
ZERO = 0.05
"""Eigenvalues of a node's Hessian up to this share of the largest count as zero."""


def _flat(config: Any, seeds: range, context: Context) -> "xarray.Dataset":
    import xarray

    settings = _settings(config)
    places = {
        "overfitted": settings["stuck lazy"], "memorising": settings["memorising features"],
        "grokked": settings["grokked"],
    }  # fmt: skip
    runs = {
        name: _runs(places[name], seeds, config.fate_records, inside)
        for name, inside in _training.parts(context, places)
    }
    rows, flat = [], []
    for seed in seeds:
        weights = {name: _fate_runs.last_weights(run)[seed] for name, run in runs.items()}
        weights["random features"] = _ridge(settings["grokked"], seed)
        places["random features"] = settings["grokked"]
        rows.append([_sharpness(places[name], weights[name], seed) for name in OPTIMA])
        flat.append(_flat_directions(weights["grokked"].first, config.fate_order))
    top, trace, readout = np.moveaxis(np.array(rows), -1, 0)
    place = ("seed", "optimum")
    return xarray.Dataset(
        {"top": (place, top), "trace": (place, trace), "readout": (place, readout), "flat": ("seed", flat)},
        {"seed": list(seeds), "optimum": list(OPTIMA)},
    )  # fmt: skip


def _ridge(setting: Setting, seed: int) -> Any:
    """The optimum of stage I: the first layer of the start, with its ridge readout for the same decay."""
    training = dataclasses.replace(_fate_runs.training_of(setting), top_decay=setting.decay)
    weights, data = training.start(seed)
    import jax

    return jax.tree.map(np.asarray, training.with_top(weights, jax.tree.map(_single, data)))


def _single(values: Any) -> Any:
    """In the precision of descent."""
    given = np.asarray(values)
    return given.astype(np.float32) if given.dtype == np.float64 else given


def _sharpness(setting: Setting, weights: Any, seed: int) -> list[float]:
    """Of the training loss's Hessian: largest eigenvalue, trace times ‖θ‖² over the number of weights, and
    largest eigenvalue of the readout's block.
    """
    import jax

    training = _fate_runs.training_of(setting)
    arrays = jax.tree.map(_single, (weights, training.start(seed)[1]))
    place = training, *jax.device_put(arrays)  # once, not with every product
    product, readout = _curvatures()
    flat = np.concatenate([np.ravel(w) for w in jax.tree.leaves(weights)])
    found = measures.sharpness(lambda _, direction: product(*place, _single(direction)), flat)
    return [found.largest, found.trace * float(flat @ flat) / flat.size, float(readout(*place))]


@functools.cache
def _curvatures() -> Any:
    """Hessian times direction, and the largest eigenvalue of the readout's block; compiled once each."""
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    def product(training: Any, weights: Any, data: Any, direction: Any) -> Any:
        flat, tree = ravel_pytree(weights)
        slope = jax.grad(lambda x: training.loss(tree(x), data))
        return jax.jvp(slope, (flat,), (direction,))[1]

    def readout(training: Any, weights: Any, data: Any) -> Any:
        F = training.features(weights, data)
        return 2 * jnp.linalg.norm(jnp.sqrt(data.share)[:, None] * F, ord=2) ** 2

    return jax.jit(product, static_argnums=0), jax.jit(readout, static_argnums=0)


def _flat_directions(first: Any, order: int) -> float:
    """Directions on the sphere in which the energy on all pairs is flat; median over the longest nodes."""
    W = np.asarray(first, float)
    norm = np.linalg.norm(W, axis=0)
    w = (W / norm).T[np.argsort(norm)[-16:]]
    pairs = np.indices((order, order)).reshape(2, -1).T
    energy = quantities.FeatureEnergy(pairs, pairs.sum(axis=1) % order, num_weights=2 * order)
    along = np.einsum("kd,kd->k", w, energy.gradient(w))
    one = np.eye(2 * order)
    across = one - w[:, :, None] * w[:, None, :]
    values = np.linalg.eigvalsh(across @ (energy.hessian(w) - along[:, None, None] * one) @ across)
    size = np.abs(values)
    # one zero is that of the direction w itself, which leaves the sphere
    return float(np.median(np.sum(size <= ZERO * size.max(axis=1, keepdims=True), axis=1) - 1))


def _flat_claims(data: "xarray.Dataset", config: Any) -> list[Claim]:
    top, trace = (
        {name: found.sel(optimum=name) for name in OPTIMA} for found in (data.top, data.trace)
    )
    source = "App. I, flat versus sharp optima"
    return [
        clear_claim("Overfitting on random features is sharp, learned features are flat (largest eigenvalue "
                    "of the Hessian, overfitted without decay over grokked)", source, 1.0,
                    top["overfitted"] / top["grokked"]),
        clear_claim("So it is for small relative changes of the weights (trace times squared length, "
                    "overfitted without decay over grokked)", source, 1.0,
                    trace["overfitted"] / trace["grokked"]),
        clear_claim("So it is for the optimum of stage I with decay, the ridge readout of random features "
                    "(trace times squared length, over grokked)", source, 1.0,
                    trace["random features"] / trace["grokked"]),
        mean_claim("This optimum of stage I is sharp also in absolute terms (largest eigenvalue, over "
                   "grokked)", source, 1.0, top["random features"] / top["grokked"], "at-least",
                   departure=Departure(
                       "Largest eigenvalues follow the size of the features: of the readout's block, 2FᵀF/n, "
                       "it is 0.1 with the weights of the start and 1.4 with those of a grokked network, "
                       "which are longer.", 0.24, 0.06)),
        mean_claim("Optima of memorising features are less flat (trace times squared length, memorising over "
                   "grokked, same decay)", source, 1.0, trace["memorising"] / trace["grokked"], "at-least",
                   departure=Departure(
                       "With fewer pairs features are smaller, on average over them: the largest eigenvalue "
                       "of the readout's block is 0.9 instead of 1.4. Networks that memorise few pairs are "
                       "the flatter ones here.", 0.59, 0.1)),
        mean_claim("Maxima of 𝓔 that grokked nodes are at have flat directions (number of them on all pairs, "
                   "median over the longest nodes; theory: 2, the phases of both halves)", "Corollary 1", 2,
                   data.flat, "absolute"),
    ]  # fmt: skip


def _flat_panel(axes: Any, data: "xarray.Dataset", config: Any) -> None:
    place = np.arange(len(OPTIMA))
    for shift, name, colour, label in (
        (-0.12, "top", 0, "largest eigenvalue"), (0.12, "trace", 1, r"trace $\cdot\,\|\theta\|^2$ / weights"),
    ):  # fmt: skip
        values = data[name].sel(optimum=list(OPTIMA)).transpose("seed", "optimum").values
        for row in values:
            axes.plot(place + shift, row, "o", color=plotting.COLOURS[colour], markersize=2.5)
        axes.plot(place + shift, np.median(values, axis=0), "_", color=plotting.COLOURS[colour],
                  markersize=12, label=label)  # fmt: skip
    axes.set(
        xlabel="optimum", ylabel="of the Hessian", ylim=(0, None), title="flat and sharp optima"
    )
    axes.set_xticks(place, [name.replace(" ", "\n") for name in OPTIMA], fontsize=6)
    axes.legend(loc="upper right", fontsize=6)


STUDIES = (
    Study("cases", _cases, _cases_claims, _cases_panel),
    Study("flatness", _flat, _flat_claims, _flat_panel),
)
