"""Fig. 5: features of a linear network collapse to a simplex."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting, simulate, theory
from lazyrich.core import Claim, Context, Convention, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._over_seeds import over_cases

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig5"
TITLE = "Neural collapse to a simplex"
CAPTION = (
    "Top: features of three classes (dots), their means (arrows) and the global mean (black), at the start "
    "(enlarged) and at the end, in the space of the last layer's weights: features that are free to move, "
    "and a linear network with bias whose labels are random. Right and bottom: loss, the four conditions of "
    "App. E and the features' rank. Thin: seeds; bold: their median; dashed: theory of unconstrained "
    "features, without a fit. From small weights the features collapse, also on random labels; from large "
    "ones they do not. "
    "Without bias the class means are orthogonal and so are the last layer's weights, which leaves Eq. 67 at "
    "0.61; dotted: with the weights' mean taken out. 10 samples a class, 60 inputs, 12 units; exact gradient "
    "flow. The paper draws an illustration without numbers."
)
SECONDS = {"quick": 12, "paper": 50}
REFERENCES = ("layerwise", "neural-collapse", "unconstrained-features")
CONVENTION = Convention(
    loss="½ mean over samples of the squared norm of the error",
    time="t = learning rate × step",
    time_unit="learning rate × step",
)
CASES: dict[str, dict[str, Any]] = {
    "free features": {"unconstrained": True, "balanced": True},
    "white inputs": {"whitened": True},
    "white inputs, bias": {"whitened": True, "bias": True},
    "clusters, bias": {"bias": True},
    "random labels, bias": {"bias": True, "random_labels": True},
    "large weights, bias": {"bias": True},
}
FREE, WHITE, BIASED, CLUSTERS, RANDOM, LARGE = CASES
NUMBERS = ("within_class", "simplex", "duality", "duality_centred", "disagreement")


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 5 is computed from; the second start is a large one."""

    input_dimension: int = 60
    num_classes: int = 3
    samples_per_class: int = 10
    width: int = 12
    separation: float = 0.5
    initial_std: float = 1e-3
    large_initial_std: float = 1.0
    last_time: float = 1000.0
    num_records: int = 40
    num_seeds: int = 8
    seeds_per_chunk: int = 8


PRESETS = {"quick": Config(), "paper": Config(num_seeds=64, num_records=80)}


def _training(config: Config, case: str) -> "simulate.LinearClassifier":
    std = config.large_initial_std if case == LARGE else config.initial_std
    return simulate.LinearClassifier(
        config.input_dimension, config.num_classes, config.samples_per_class, config.width,
        initial_std=std, separation=config.separation, **CASES[case],
    )  # fmt: skip


def _times(config: Config) -> np.ndarray:
    return np.concatenate([[0.0], np.geomspace(1, config.last_time, config.num_records)])


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The flow of every case, what becomes of its features, and the theory of free ones."""
    together = over_cases({"case": list(CASES)}, _case, config, context, "gradient flow")
    exact = context.keep("theory", _theory, config)
    return together.merge(exact).assign_attrs(CONVENTION.attributes())


def _case(config: Config, case: str, seeds: range) -> "xarray.Dataset":
    import xarray

    training = _training(config, case)
    flow = simulate.gradient_flow(training, _times(config), seeds=seeds)
    found = [_collapse(training, flow.sel(seed=seed), seed) for seed in seeds]
    pictures = np.array([_in_space(flow.sel(seed=seed)) for seed in seeds])
    predicted = [_predicted(training, flow.sel(seed=seed), seed) for seed in seeds]
    return xarray.Dataset(
        {
            **{
                n: (("seed", "time"), np.array([one[n] for one in found]))
                for n in (*NUMBERS, *RANKS)
            },
            "loss": (("seed", "time"), flow.loss.values),
            "test_accuracy": (("seed",), flow.test_accuracy.values[:, -1]),
            "predicted_simplex": (("seed",), [one.simplex for one in predicted]),
            "predicted_duality": (("seed",), [one.duality for one in predicted]),
            "picture": (("seed", "moment", "sample", "axis"), pictures),
            "label": (("seed", "sample"), [training.labels(seed) for seed in seeds]),
        },
        {"seed": list(seeds), "time": flow.time.values, "moment": ["start", "end"]},
    )


RANKS = ("feature_rank", "centred_rank")


def _collapse(
    training: "simulate.LinearClassifier", flow: "xarray.Dataset", seed: int
) -> dict[str, Any]:
    labels = training.labels(seed)
    layers = zip(flow.features.values, flow.last_layer.values, flow.bias.values, strict=True)
    found = [measures.neural_collapse(h, labels, w, b) for h, w, b in layers]
    numbers = {name: [getattr(one, name) for one in found] for name in NUMBERS}
    ranks = [
        measures.feature_rank(flow.features.values, centring=c).numerical
        for c in ("none", "samples")
    ]
    return numbers | dict(zip(RANKS, ranks, strict=True))


def _in_space(flow: "xarray.Dataset") -> np.ndarray:
    """Features at the start and at the end along three directions of the last layer's weights at the end."""
    frame = np.linalg.svd(flow.last_layer.values[-1])[0][:, :3]
    return np.stack([flow.features.values[i] @ frame for i in (0, -1)])


def _predicted(
    training: "simulate.LinearClassifier", flow: "xarray.Dataset", seed: int
) -> "measures.NeuralCollapse":
    """That of the balanced factors of the smallest map that fits the labels: HHᵀ = X(AAᵀ)^½Xᵀ."""
    data, bias = training.start(seed)[1], flow.bias.values[-1]
    A = np.linalg.pinv(data.inputs) @ (data.targets - bias)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    first, last = U * np.sqrt(s), np.sqrt(s)[:, None] * Vt
    return measures.neural_collapse(data.inputs @ first, training.labels(seed), last, bias)


def _theory(config: Config) -> "xarray.Dataset":
    """Unconstrained features from the starts that were simulated."""
    import xarray

    training, curves = _training(config, FREE), []
    for seed in range(config.num_seeds):
        (first, second, _), data = training.start(seed)
        model = theory.UnconstrainedFeatures(training.labels(seed), data.inputs @ first, second)
        functions = (model.within_class, model.simplex, model.duality)
        curves.append([function(_times(config)) for function in functions])
    names = (f"{name}_theory" for name in NUMBERS[:3])
    return xarray.Dataset(
        {n: (("seed", "time"), c) for n, c in zip(names, np.swapaxes(curves, 0, 1), strict=True)}
    )


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 5.2, App. E and I.1 say."""
    found = [*_theory_claims(result), *_rank_claims(result, config)]
    for case in (FREE, WHITE, BIASED, CLUSTERS, RANDOM):
        found += _condition_claims(result, config, case)
    return require_seeds([*found, *_other_claims(result, config)], 8)


def _theory_claims(result: "xarray.Dataset") -> list[Claim]:
    free, words = result.sel(case=FREE), ("NC1", "NC2", "NC3")
    found = []
    for name, word, source in zip(NUMBERS, words, ("Eq. 65", "Eq. 66", "Eq. 67"), strict=False):
        exact = result[f"{name}_theory"]
        off = abs(free[name] / exact - 1).where(
            exact > 1e-6, 0
        )  # below, the flow's tolerance shows
        found.append(
            Claim(f"Free features: {word} is that of theory (largest relative difference above 1e-6)",
                  source, 1e-3, float(off.max()), "at-most", num_seeds=result.sizes["seed"])
        )  # fmt: skip
    return found


def _rank_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    c, end = config.num_classes, result.isel(time=-1)
    full = min(config.width, c * config.samples_per_class)
    start = result.feature_rank.sel(case=WHITE).isel(time=0)
    rows = (
        ("Linear network: rank of the features at the start", "Sec. 5.2", full, start),
        ("Linear network: rank of the features at the end", "Sec. 5.2, Eq. 13", c,
         end.feature_rank.sel(case=WHITE)),
        ("The same without the mean over samples", "Fig. 5", c - 1, end.centred_rank.sel(case=WHITE)),
        ("Linear network with bias: rank at the end", "Eq. 61", c - 1, end.feature_rank.sel(case=BIASED)),
        ("Random labels: rank without the mean over samples", "App. I.1", c - 1,
         end.centred_rank.sel(case=RANDOM)),
        ("Large weights: the features keep their rank", "Sec. 5.2", full, end.feature_rank.sel(case=LARGE)),
    )  # fmt: skip
    return [
        mean_claim(text, source, expected, values, "absolute")
        for text, source, expected, values in rows
    ]


def _condition_claims(result: "xarray.Dataset", config: Config, case: str) -> list[Claim]:
    """NC1 to NC4 at the end; zero is up to ten times the scale of the weights at the start."""
    end = result.sel(case=case).isel(time=-1)
    source = "App. I.1" if case == RANDOM else "Sec. 5.2, App. E"
    words = {
        "within_class": "NC1, spread within classes",
        "simplex": "NC2, angles of a simplex",
        "duality": "NC3, self-duality",
        "disagreement": "NC4, disagreement with the nearest class mean",
    }
    return [
        mean_claim(f"{case.capitalize()}: {text}, tends to 0", source, 10 * config.initial_std, end[name],
                   "at-most", departure=_departure(case, name, config, end))
        for name, text in words.items()
    ]  # fmt: skip


def _departure(case: str, name: str, config: Config, end: "xarray.Dataset") -> Departure | None:
    if name == "duality" and case in (FREE, WHITE):
        reason = (
            "Without bias the last layer's weights are orthogonal, while centred class means form a simplex, "
            "so that Eq. 67 ends at the root of 2 − 2√(1 − 1/c). With bias, or with the weights' mean over "
            "classes taken out, it tends to 0."
        )
        return Departure(reason, np.sqrt(2 - 2 * np.sqrt(1 - 1 / config.num_classes)), 0.01)
    if name in ("simplex", "duality") and case in (CLUSTERS, RANDOM):
        reason = (
            "Class means have the Gram matrix of X(AAᵀ)^½Xᵀ, A being the smallest map that fits the labels. "
            "It is a simplex for white inputs; for others it is off by the inputs' own correlations."
        )
        pinned = float(end[f"predicted_{name}"].mean())  # on the same data
        return Departure(reason, pinned, config.initial_std)  # what the start leaves
    return None


def _other_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    end = result.isel(time=-1)
    clusters, random = (end.test_accuracy.sel(case=case) for case in (CLUSTERS, RANDOM))
    bound = end.sel(case=[CLUSTERS, RANDOM])
    off = [abs(bound[n] / bound[f"predicted_{n}"] - 1).max("case") for n in ("simplex", "duality")]
    return [
        mean_claim("Free features: NC3 tends to 0 with the weights' mean taken out", "Eq. 67",
                   10 * config.initial_std, end.duality_centred.sel(case=FREE), "at-most"),
        *(mean_claim(f"Clusters and random labels: {word} is that of the smallest map (relative difference)",
                     "Sec. 5.2", 0.05, each, "at-most")
          for word, each in zip(("NC2", "NC3"), off, strict=True)),
        mean_claim("Clusters: fresh inputs are put into their classes (share)", "App. I.1", 0.9, clusters,
                   "at-least"),
        mean_claim("Random labels collapse as well, but fresh inputs are at chance (share)", "App. I.1",
                   1 / config.num_classes, random, "absolute", 0.1),
        mean_claim("Large weights: the labels are fitted (loss, share of the first)", "Sec. 5.2", 1e-3,
                   (end.loss / result.loss.isel(time=0)).sel(case=LARGE), "at-most"),
        mean_claim("Large weights: classes do not collapse (NC1)", "Sec. 5.2", 0.5,
                   end.within_class.sel(case=LARGE), "at-least"),
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Features in space above, the conditions over time below."""
    picture, axes = plotting.new_figure(5, 2, panel=(2.9, 2.9))
    spaces = zip(axes[0], (FREE, FREE, RANDOM, RANDOM), (0, 1, 0, 1), strict=False)
    for panel, case, moment in spaces:
        place = panel.get_subplotspec()
        panel.remove()
        _draw_space(picture.add_subplot(place, projection="3d"), result, case, moment)
    for panel, name in zip((axes[0, 4], *axes[1]), LABELS, strict=True):
        _draw_curves(panel, result, name)
        title, label = LABELS[name]
        panel.set(title=title, xlabel="time $t$", ylabel=label, xscale="log")
    for panel, floor in zip((axes[0, 4], *axes[1, :3]), FLOORS, strict=True):
        panel.set(yscale="log", ylim=(floor, 100))
    handles, labels = axes[1, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=7)
    return picture


FLOORS = (1e-13, 1e-12, 1e-9, 1e-6)
LABELS = {
    "loss": ("Loss", "loss"),
    "within_class": ("NC1: spread within classes", r"tr $\Sigma_W$ / tr $\Sigma_B$"),
    "simplex": ("NC2: angles of a simplex", "largest deviation of a cosine"),
    "duality": ("NC3: self-duality", "largest difference of directions"),
    "disagreement": ("NC4: nearest class mean", "share of samples that differ"),
    "feature_rank": ("Rank of the features", "rank"),
}


def _draw_curves(panel: Any, result: "xarray.Dataset", name: str) -> None:
    later = result.isel(time=slice(1, None))
    for case, colour in zip(CASES, plotting.COLOURS, strict=True):
        curves = later[name].sel(case=case)
        runs = curves.transpose("seed", "time")
        plotting.plot_runs(panel, later.time, runs, runs.median("seed"), colour=colour, label=case)
        if name == "duality" and case in (FREE, WHITE):
            centred = later.duality_centred.sel(case=case).median("seed")
            panel.plot(later.time, centred, ":", color=colour)
    if f"{name}_theory" in result:
        exact = later[f"{name}_theory"].median("seed")
        panel.plot(
            later.time, exact, "--", color="black", linewidth=0.9, label="theory of free features"
        )


def _draw_space(axes: Any, result: "xarray.Dataset", case: str, moment: int) -> None:
    one = result.isel(seed=0).sel(case=case)
    points = one.picture.values[moment]
    points = points / np.abs(points).max()
    means = [points[one.label.values == k] for k in np.unique(one.label.values)]
    for k, cloud in enumerate(means):
        colour = plotting.COLOURS[k]
        axes.scatter(*cloud.T, color=colour, s=14, depthshade=False, linewidths=0)
        axes.quiver(
            0, 0, 0, *cloud.mean(axis=0), color=colour, arrow_length_ratio=0.12, linewidth=1.8
        )
    centre = np.mean([cloud.mean(axis=0) for cloud in means], axis=0)
    axes.quiver(0, 0, 0, *centre, color="black", arrow_length_ratio=0.2, linewidth=1.2)
    labels = {f"{x}label": f"direction {i + 1}" for i, x in enumerate("xyz")}
    axes.set(title=f"{case}, {('start', 'end')[moment]}", **labels)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_ticklabels([])
        axis.labelpad = -12
    corners = np.concatenate([points, np.zeros((1, 3))])
    middle = (corners.max(axis=0) + corners.min(axis=0)) / 2
    reach = (
        1.05 * np.ptp(corners, axis=0).max() / 2
    )  # one scale on all axes: what is flat looks flat
    axes.set(**{f"{x}lim": (m - reach, m + reach) for x, m in zip("xyz", middle, strict=True)})
    axes.set_box_aspect((1, 1, 1), zoom=1.05)
