"""Fig. 4: the landscape of the energy for a linear activation, a quadratic one, and few data."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import groups, measures, plotting, quantities, simulate, theory
from lazyrich.core import Claim, Context, Convention, Correction, require_seeds
from lazyrich.experiments._claims import mean_claim

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "li2", "fig4"
TITLE = "The landscape of the energy"
CAPTION = (
    "The fate of many ascents of the energy of a node, on the sphere. First: a linear activation on half of "
    "the products of Z_M: all starts reach the same node. Second: σ(x) = x² on all products of S₄: every "
    "start reaches one of the predicted energies (lines), that of a single irrep. Third: some products of "
    "Z_M only: share of ascents that end in a single frequency, from random starts and from the maxima for "
    "all products. Fourth: energies there. With few products memorising ends lie far above features of one "
    "frequency (solid line: p²M/4). Dashed: nodes on a single element, p(1 − p)M/2, higher for p < 2/3."
)
SECONDS = {"quick": 9, "paper": 900}
REFERENCES = ("li2",)
CONVENTION = Convention(
    loss="none: ascent of 𝓔 = ½‖Ỹᵀσ(Xw)‖² over nodes of norm 1",
    time="ascents run until they have arrived",
    time_unit="steps",
)
PURE = 0.5
"""Share of the squared norm in one irrep from which a node counts as generalising."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 4 is computed from."""

    order: int = 47
    letters: int = 4
    train_fractions: tuple[float, ...] = (
        0.1,
        0.2,
        0.3,
        0.4,
        0.45,
        0.5,
        0.55,
        0.6,
        0.65,
        0.7,
        0.8,
        0.9,
        1.0,
    )
    num_ascents: int = 2000
    num_starts: int = 40
    num_seeds: int = 16


PRESETS = {
    "quick": Config(
        order=23, train_fractions=(0.1, 0.3, 0.45, 0.55, 0.65, 0.75, 0.9, 1.0), num_ascents=1000,
        num_starts=16, num_seeds=8,
    ),
    "paper": Config(),
}  # fmt: skip


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Three landscapes, the last one subset by subset."""
    import xarray

    work = ["linear", "all", *(f"subset-{seed}" for seed in range(config.num_seeds))]
    pieces = {}
    for name in context.track(work, "landscapes"):
        compute = {"linear": _linear, "all": _all}.get(name)
        if compute is None:
            pieces[name] = context.keep(name, _subset, config, int(name.split("-")[1]))
        else:
            pieces[name] = context.keep(name, compute, config)
    subsets = xarray.concat([pieces[name] for name in work[2:]], "seed")
    return xarray.merge([pieces["linear"], pieces["all"], subsets]).assign_attrs(
        CONVENTION.attributes()
    )


def _pairs(group: "groups.Group") -> tuple[np.ndarray, np.ndarray]:
    a, b = np.divmod(np.arange(group.order**2), group.order)
    return np.stack([a, b], 1), group.table[a, b]


def _kept(size: int, share: float, seed: int) -> np.ndarray:
    """Which products are known: the first ones of a fixed random order, so that subsets are nested."""
    kept = np.zeros(size)
    kept[np.random.default_rng(seed).permutation(size)[: round(share * size)]] = 1
    return kept


def _linear(config: Config) -> "xarray.Dataset":
    """Ends of linear ascents on halves of the products, over the top eigenvalue, and on all of them."""
    import xarray

    group = groups.cyclic(config.order)
    pairs, labels = _pairs(group)
    starts = np.random.default_rng(1).standard_normal((config.num_starts, 2 * config.order))
    ratios, overlaps = [], []
    for seed in range(config.num_seeds):
        kept = _kept(len(pairs), 0.5, seed)
        energy = quantities.FeatureEnergy(pairs, labels, "linear", sample_weights=kept)
        ends = simulate.energy_ascent(energy, starts)
        value, vector = _top(pairs, labels, kept)
        ratios.append(ends.energy / (value / 2))
        overlaps.append(np.abs(ends.weights @ vector))
    unit = starts / np.linalg.norm(starts, axis=1, keepdims=True)
    whole = quantities.feature_energy(unit, pairs, labels, "linear")
    return xarray.Dataset(
        {
            "linear_energy": (("seed", "start"), np.array(ratios)),
            "linear_overlap": (("seed", "start"), np.array(overlaps)),
            "linear_energy_all": ("start", whole),
        },
        {"seed": np.arange(config.num_seeds)},
    )


def _top(pairs: np.ndarray, labels: np.ndarray, kept: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of XᵀỸỸᵀX and its eigenvector, from dense matrices."""
    M, chosen = labels.max() + 1, kept > 0
    X = np.concatenate([np.eye(M)[pairs[chosen, 0]], np.eye(M)[pairs[chosen, 1]]], axis=1)
    Y = np.eye(M)[labels[chosen]]
    B = X.T @ (Y - Y.mean(0))
    values, vectors = np.linalg.eigh(B @ B.T)
    return float(values[-1]), vectors[:, -1]


def _all(config: Config) -> "xarray.Dataset":
    """Ends of ascents on all products of the symmetric group."""
    import xarray

    group = groups.symmetric(config.letters)
    features = theory.GroupFeatures(group)
    starts = np.random.default_rng(2).standard_normal((config.num_ascents, 2 * group.order))
    ends = simulate.energy_ascent(quantities.GroupEnergy(group), starts)
    found = features.classify(ends.weights)
    energies = np.array([f.energy for f in features.families])
    dimensions = np.array([float(f.dimension) for f in features.families])
    flat = features.curvature(ends.weights[: config.num_starts])
    return xarray.Dataset(
        {
            "end_energy": ("ascent", ends.energy),
            "end_share": ("ascent", found.share),
            "end_family": ("ascent", found.family),
            "end_predicted": ("ascent", energies[found.family]),
            "end_dimension": ("ascent", dimensions[found.family]),
            "end_is_maximum": ("ascent", found.is_maximum.astype(float)),
            "end_positive": ("start", flat.num_positive.astype(float)),
            "family_energy": ("family", energies),
        }
    )


def _subset(config: Config, seed: int) -> "xarray.Dataset":
    """Ends of quadratic ascents on one nested sequence of subsets: random starts, then population maxima."""
    import xarray

    group = groups.cyclic(config.order)
    features = theory.GroupFeatures(group)
    pairs, labels = _pairs(group)
    n, families = config.num_starts, len(features.families)
    random = np.random.default_rng([4, seed]).standard_normal((n, 2 * config.order))
    own = np.arange(n) % families
    maxima = np.concatenate([features.sample(int(k), 1, seed * n + i) for i, k in enumerate(own)])
    elements = np.eye(2 * config.order)[np.arange(n) * 2 * config.order // n]
    shape = (len(config.train_fractions), n)
    names = (
        "random_share",
        "random_energy",
        "random_focus",
        "kept_share",
        "kept_energy",
        "element_energy",
    )
    found = {name: np.zeros(shape) for name in names}
    for row, share in enumerate(config.train_fractions):
        kept = _kept(len(pairs), share, seed)
        energy = quantities.FeatureEnergy(pairs, labels, "quadratic", sample_weights=kept)
        # a slope of 1e-4 leaves the energy exact to 1e-8
        ends = simulate.energy_ascent(energy, np.concatenate([random, maxima]), tolerance=1e-4)
        power = features.power(ends.weights)[:, 1:]
        found["random_share"][row] = power[:n].max(1)
        found["random_energy"][row] = ends.energy[:n]
        found["random_focus"][row] = np.sum(ends.weights[:n] ** 4, axis=1)
        found["kept_share"][row] = power[n + np.arange(n), own]
        found["kept_energy"][row], found["element_energy"][row] = energy.value(
            np.stack([maxima, elements])
        )
    arrays = {name: (("fraction", "start"), value) for name, value in found.items()}
    return xarray.Dataset(arrays, {"fraction": list(config.train_fractions), "seed": seed})


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What the caption of Fig. 4 and Sec. 4.3 to 4.5 say."""
    return require_seeds(
        [*_linear_claims(result), *_all_claims(result), *_subset_claims(result, config)], 8
    )


def _linear_claims(result: "xarray.Dataset") -> list[Claim]:
    runs = result.sizes["seed"]
    return [
        Claim(
            "With a linear activation all starts reach the same energy, half the top eigenvalue of XᵀỸỸᵀX "
            "(largest relative difference)",
            "Fig. 4, left; Sec. 4.3", 0, float(np.abs(result.linear_energy - 1).max()), "absolute", 1e-9,
            num_seeds=runs,
        ),
        Claim(
            "and the same node up to its sign, the eigenvector (smallest overlap)",
            "Fig. 4, left; Sec. 4.3", 1, float(result.linear_overlap.min()), "absolute", 1e-6, num_seeds=runs,
        ),
        Claim(
            "On all products a linear node has no energy, so that it finds nothing (largest energy)",
            "Sec. 4.3", 0, float(result.linear_energy_all.max()), "absolute", 1e-12,
        ),
    ]  # fmt: skip


def _all_claims(result: "xarray.Dataset") -> list[Claim]:
    M = float(result.family_energy.max()) * 2  # the sign of a permutation has the energy M/2
    off = np.abs(result.end_energy / result.end_predicted - 1)
    normalised = float((result.end_energy * result.end_dimension / M).mean())
    families = np.unique(result.end_family.values).size
    reason = "the cross term of (u + v)² is 2uv, so that all energies are four times as large"
    return [
        Claim(
            "With σ(x) = x² every start reaches a single irrep (smallest share of the norm)",
            "Fig. 4, middle; Theorem 2", 1, float(result.end_share.min()), "absolute", 1e-9,
        ),
        Claim(
            "with the energy predicted for it (largest relative difference)",
            "Theorem 2, corrected", 0, float(off.max()), "absolute", 1e-9,
        ),
        Claim(
            "Energy at maxima in real irreps, times d_k/M (mean over ascents)",
            "Theorem 2", 0.5, normalised, "relative", 1e-9,
            correction=Correction(1 / 8, reason, "li2/thm2"),
        ),
        Claim(
            "There are many local maxima: all irreps but the trivial one are reached (number)",
            "Fig. 4, middle", result.sizes["family"], families, "absolute",
        ),
        Claim(
            "No other maximum exists (share of ascents that end at a predicted one)",
            "Theorem 2", 1, float(result.end_is_maximum.mean()), "absolute",
        ),
        Claim(
            "Ends are maxima: no positive eigenvalue of the Hessian on the sphere (largest number)",
            "Theorem 2", 0, float(result.end_positive.max()), "absolute",
        ),
    ]  # fmt: skip


def _subset_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    runs = result.sizes["seed"]
    random, kept = _shares(result)
    few, many = result.isel(fraction=0), result.isel(fraction=-1)
    gain = (few.random_energy / few.kept_energy).mean("start")
    focus = few.random_focus.mean("start") / many.random_focus.mean("start")
    level = few.kept_energy.mean("start") / (float(few.fraction) ** 2 * config.order / 4)
    p = result.fraction.isel(fraction=slice(0, -1))
    # to the next order in 1/M; at p = 1 there is nothing to compare
    exact = p * (1 - p) * (config.order - 2) / 2
    element = (result.element_energy.mean("start") / exact).mean("fraction")
    return [
        Claim(
            "With all products every ascent generalises (share)",
            "Fig. 4, right", 1, float(random.isel(fraction=-1).min()), "absolute", num_seeds=runs,
        ),
        Claim(
            f"With few products ({float(few.fraction):.0%}) no ascent ends in a single irrep (share)",
            "Fig. 4, right", 0, float(random.isel(fraction=0).max()), "absolute", num_seeds=runs,
        ),
        Claim(
            "nor does one that starts at a maximum for all products: the landscape has changed (share)",
            "Fig. 4, right", 0, float(kept.isel(fraction=0).max()), "absolute", num_seeds=runs,
        ),
        mean_claim(
            "Near the boundary both kinds of maxima coexist: more ascents stay in a frequency than find one "
            "(largest difference of the shares, mean over subsets)",
            "Sec. 4.5", 0.1, (kept - random).max("fraction"), "at-least",
        ),
        mean_claim(
            "Memorising ends have the higher energy when data are scarce (over that of single frequencies)",
            "Fig. 4, right; Fig. 7", 2, gain, "at-least",
        ),
        mean_claim(
            "and sit on few elements (fourth moment over that of single frequencies)",
            "Theorem 5", 2, focus, "at-least",
        ),
        mean_claim(
            "A node on a single element has the energy (M − 2)p(1 − p)/2, so that single frequencies are not "
            "the highest points for p < 2/3 (ratio, mean over p)",
            "beside Theorem 4", 1, element, "relative", 0.1,
        ),
        mean_claim(
            "On a share p of the products a single frequency has at least the energy p²M/4 (ratio)",
            "Eq. 31", 1, level, "at-least",
        ),
    ]  # fmt: skip


def _shares(result: "xarray.Dataset") -> "tuple[xarray.DataArray, xarray.DataArray]":
    """Shares of ascents in a single irrep, from random starts and from maxima, for every subset."""
    return (
        (result.random_share >= PURE).mean("start"),
        (result.kept_share >= PURE).mean("start"),
    )


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Four panels: linear, quadratic, share that generalises, energies."""
    picture, axes = plotting.new_figure(4, panel=(3.1, 3.0))
    _draw_linear(axes[0, 0], result, config)
    _draw_all(axes[0, 1], result, config)
    _draw_shares(axes[0, 2], result, config)
    _draw_energies(axes[0, 3], result, config)
    return picture


def _draw_linear(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    for values in result.linear_energy.values:
        axes.plot(
            np.arange(values.size), np.sort(values), ".", color=plotting.COLOURS[0], markersize=4
        )
    axes.axhline(1, color="black", linewidth=0.8)
    axes.plot(result.linear_energy_all, ".", color=plotting.COLOURS[1], markersize=4)
    axes.annotate(
        "half of the products", (0, 1), xytext=(0, -12), textcoords="offset points", fontsize=8
    )
    axes.annotate("all products", (0, 0), xytext=(0, 6), textcoords="offset points", fontsize=8)
    axes.set(ylim=(-0.1, 1.2), xlabel="ascent, sorted", ylabel=r"energy / half the top eigenvalue",
             title=rf"Linear, $\mathbb{{Z}}_{{{config.order}}}$")  # fmt: skip


def _draw_all(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    order = np.argsort(-result.end_energy.values, kind="stable")
    energy, own = result.end_energy.values[order], result.end_dimension.values[order]
    for level in np.unique(result.family_energy.values):
        axes.axhline(level, color="black", linewidth=0.8)
    for colour, d in zip(plotting.COLOURS, np.unique(own), strict=False):
        (place,) = np.nonzero(own == d)
        axes.plot(place, energy[place], ".", color=colour, markersize=4, label=f"$d_k = {d:.0f}$")
    axes.set(ylim=(0, None), xlabel="ascent, sorted", ylabel=r"energy $\mathcal{E}$ at the end",
             title=f"Quadratic, all of $S_{config.letters}$")  # fmt: skip
    axes.legend()


def _draw_shares(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    labels = ("random starts", "from maxima")
    for colour, label, share in zip(plotting.COLOURS, labels, _shares(result), strict=False):
        mean, error = measures.seed_mean(share)
        axes.errorbar(
            result.fraction, mean, error, marker="o", markersize=4, color=colour, label=label
        )
    axes.set(xlabel="share $p$ of products known", ylabel="share of ascents in one frequency",
             title=rf"Quadratic, some of $\mathbb{{Z}}_{{{config.order}}}$")  # fmt: skip
    axes.legend()


def _draw_energies(axes: Any, result: "xarray.Dataset", config: Config) -> None:
    blue, orange, *_ = plotting.COLOURS
    flat = result.random_share.values.ravel()
    p = np.broadcast_to(result.fraction.values[None, :, None], result.random_share.shape).ravel()
    energy = result.random_energy.values.ravel()
    for colour, label, chosen in (
        (orange, "memorising ends", flat < PURE),
        (blue, "generalising ends", flat >= PURE),
    ):
        side = 0.008 if colour == blue else -0.008
        axes.plot(p[chosen] + side, energy[chosen], ".", color=colour, markersize=4, label=label)
    fine = np.linspace(float(result.fraction.min()), 1, 50)
    one = fine * (1 - fine) * config.order / 2
    axes.plot(fine, fine**2 * config.order / 4, color="black", linewidth=0.8, label=r"$p^2 M/4$")
    axes.plot(fine, one, "--", color="black", linewidth=0.8, label=r"$p(1 - p)M/2$")
    axes.set(ylim=(0, 0.36 * config.order), title="Their energies")
    axes.set(xlabel="share $p$ of products known", ylabel=r"energy $\mathcal{E}$ at the end")
    axes.legend()
