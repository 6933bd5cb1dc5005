"""Fig. 7: features in function space, rich and lazy."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, plotting
from lazyrich.core import Claim, Context, Convention, Correction, argument_error, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._over_seeds import over_parts
from lazyrich.experiments.layerwise import _function_space
from lazyrich.experiments.layerwise._function_space import DIRECTION, Config

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig7"
TITLE = "Features in function space, rich and lazy"
CAPTION = (
    "Linear networks with two whitened inputs and one output; an arrow is the linear function that a "
    "feature adds to the output (Eq. 24). Top: before training, dotted: the direction in which each feature "
    "moves first. Bottom: after. Blue: features aligned with the target, orange: anti-aligned; black, "
    "dashed: the output, their sum; dot: the target. (a) Two small features, far from the target. (b) The "
    "same start, a target of a tenth of a feature. (c) NTK initialisation. Shown is the run with the median "
    "ratio of the aligned to the anti-aligned feature in (a). Right: root mean square by which features "
    "move under NTK initialisation, over the distance from the first output to the target; circles: "
    "training, black: Theorem H.1 with one input."
)
SECONDS = {"quick": 3, "paper": 8}
REFERENCES = ("layerwise",)
CONVENTION = Convention(
    loss="squared length of the error in function space (mean squared error on whitened inputs), no ½",
    time="t counts gradient-descent steps",
    time_unit="steps",
)


PRESETS = {"quick": Config(), "paper": Config(num_seeds=64)}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Trainings of two features on a large and a small target, of many features, and the closed form."""
    import xarray

    if config.num_features not in config.widths:
        raise argument_error(
            "num_features", f"be one of the widths {config.widths}", config.num_features
        )
    lengths = {"rich": config.target_length, "downscaled": config.small_target}
    pairs = over_parts(
        {name: functools.partial(_function_space.pair, length) for name, length in lengths.items()},
        config, context, "two features",
    )  # fmt: skip
    many = over_parts(
        {f"many-{width}": functools.partial(_function_space.many, width) for width in config.widths},
        config, context, "many features",
    )  # fmt: skip
    shown = many[f"many-{config.num_features}"].rename(feature="many")
    names = ("moved", "unscaled_moved", "relative_moved", "scalar_moved", "relative", "final_share")
    slopes = xarray.concat([one[list(names)] for one in many.values()], "width", data_vars="all")
    parts = [
        piece.rename({name: f"{label}_{name}" for name in piece.data_vars})
        for label, piece in (pairs | {"ntk": shown.drop_vars(names[:-1])}).items()
    ]
    result = xarray.merge([*parts, slopes.assign_coords(width=list(config.widths))])
    return result.assign_attrs(CONVENTION.attributes())


def _powers(values: "xarray.DataArray") -> np.ndarray:
    """Powers of the width, by seed."""
    sizes = np.abs(values.transpose("seed", "width"))
    return measures.power_law(values.width, sizes).exponent


def _lengths(result: "xarray.Dataset", label: str) -> "xarray.DataArray":
    return (result[f"{label}_features"] ** 2).sum("axis") ** 0.5


def _dominance(result: "xarray.Dataset", label: str = "rich") -> "xarray.DataArray":
    """Length of the aligned over that of the anti-aligned feature, after over before training."""
    lengths = _lengths(result, label)
    ratio = lengths.isel(feature=0) / lengths.isel(feature=1)
    return ratio.sel(moment="after") / ratio.sel(moment="before")


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What the caption of Fig. 7, Sec. 7.1 and App. B say."""
    found = [*_rich_claims(result), *_lazy_claims(result), *_slope_claims(result)]
    error = max(
        float(np.abs(_error_length(result, config, label) - result[f"{label}_loss"]).max())
        for label in ("rich", "downscaled", "ntk")
    )
    found.append(
        Claim("The features' sum is the output (largest difference of its loss from that of the network)",
              "Eq. 25", 0.0, error, "absolute", 1e-12)
    )  # fmt: skip
    return require_seeds(found, 8)


def _error_length(result: "xarray.Dataset", config: Config, label: str) -> "xarray.DataArray":
    length = config.small_target if label == "downscaled" else config.target_length
    features = result[f"{label}_features"]
    output = features.sum([name for name in ("feature", "many") if name in features.dims])
    return ((output - length * DIRECTION) ** 2).sum("axis")


def _rich_claims(result: "xarray.Dataset") -> list[Claim]:
    dominance, num_seeds = _dominance(result).values, result.sizes["seed"]
    lengths = _lengths(result, "rich").isel(feature=0)
    growth = lengths.sel(moment="after") / lengths.sel(moment="before")
    share, predicted = _aligned_share(result)
    return [
        Claim("(a) The aligned feature ends as the longer one in every run (smallest ratio)", "Fig. 7", 1.0,
              dominance.min(), "at-least", num_seeds=num_seeds),
        Claim("(a) It gains more on the other than in (b) (smallest ratio of the two gains)", "Fig. 7", 1.0,
              (dominance / _dominance(result, "downscaled").values).min(), "at-least", num_seeds=num_seeds),
        Claim("(a) It is amplified (median ratio of its length, after over before)", "Fig. 7", 10.0,
              np.median(growth.values), "at-least", num_seeds=num_seeds),
        mean_claim("(a) Its share of the output along the target, as for tiny starts", "Fig. 7",
                   float(predicted.mean()), share, "relative", 0.05),
        _fit("rich", result),
        mean_claim("(a) The weight-to-target ratio is small", "Sec. 7.1", 0.2, result.rich_ratio, "at-most"),
    ]  # fmt: skip


def _aligned_share(result: "xarray.Dataset") -> "tuple[xarray.DataArray, xarray.DataArray]":
    r"""The aligned feature's share of the output along the target in the end, and its limit for tiny starts.

    Tiny weights grow along $(\hat s, 1)$ only. A feature's part there is $(W_k \cdot \hat s + b_k)/2$, in
    proportion to $\pm(1 \pm c)$ for features of equal length at a cosine ±c to the target, and its output
    that part's square.
    """
    features = result.rich_features
    along = (features * DIRECTION).sum("axis")
    share = along.isel(feature=0) / along.sum("feature")
    before = features.sel(moment="before").isel(feature=0)
    c = (before * DIRECTION).sum("axis") / (before**2).sum("axis") ** 0.5
    return share.sel(moment="after"), (1 + c) ** 2 / ((1 + c) ** 2 + (1 - c) ** 2)


LAZY = {"downscaled": "(b) Target downscaling", "ntk": "(c) NTK initialisation"}


def _lazy_claims(result: "xarray.Dataset") -> list[Claim]:
    h = result.downscaled_features
    change = h.sel(moment="after") - h.sel(moment="before")
    squares = [(v**2).sum(["axis", "feature"]) for v in (change, h.sel(moment="before"))]
    moved = {"downscaled": (squares[0] / squares[1]) ** 0.5, "ntk": result.relative.isel(width=-1)}
    found = []
    for label, words in LAZY.items():
        most = f", {int(result.width[-1])} features" if label == "ntk" else ""
        found += [
            mean_claim(f"{words}: features barely move (root mean square over their length{most})", "Fig. 7",
                       0.1, moved[label], "at-most"),
            _fit(label, result),
            mean_claim(f"{words}: the weight-to-target ratio is large", "Sec. 7.1", 5.0,
                       result[f"{label}_ratio"], "at-least"),
        ]  # fmt: skip
    return found


def _fit(label: str, result: "xarray.Dataset") -> Claim:
    words = {"rich": "(a)"} | LAZY
    largest, num_seeds = float(result[f"{label}_final_share"].max()), result.sizes["seed"]
    return Claim(f"{words[label]}: the function fits (largest loss over that at the start)", "Fig. 7", 1e-6,
                 largest, "at-most", num_seeds=num_seeds)  # fmt: skip


def _slope_claims(result: "xarray.Dataset") -> list[Claim]:
    """Powers of p; the tolerance is that of their approach at finite p."""
    reason = (
        "a feature of Eq. 24, 25 contains 1/Z: it moves O(1/p), so that p of them sum to O(1); "
        "without 1/Z, and beside its own size, it moves O(p^−½)"
    )
    correction = Correction(-0.5, reason, "Sec. 7.1: by how much a feature moves")
    found = []
    for name, words in (
        ("moved", "training, two inputs"),
        ("scalar_moved", "Theorem H.1, one input"),
    ):
        found.append(
            mean_claim(f"NTK: a feature's movement is a power of the number of features ({words})",
                       "Sec. 7.1", -1.0, _powers(result[name]), "absolute", 0.06, correction=correction)
        )  # fmt: skip
    for name, words in (
        ("unscaled_moved", "without 1/Z"),
        ("relative_moved", "beside its size"),
    ):
        found.append(
            mean_claim(f"NTK: a feature's movement {words} (power of the number of features; training)",
                       "Sec. 7.1", -0.5, _powers(result[name]), "absolute", 0.06)
        )  # fmt: skip
    largest = result.final_share.max()
    found.append(
        Claim("NTK: networks of all widths fit (largest loss over that at the start)", "Sec. 7.1", 1e-6,
              float(largest), "at-most", num_seeds=result.sizes["seed"])
    )  # fmt: skip
    return found


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Arrows before and after for the three ways, and the movement against the number of features."""
    pattern = [["a0", "b0", "c0", "slope"], ["a1", "b1", "c1", "slope"]]
    picture, panels = plotting.new_mosaic(pattern, size=(12.5, 5.6))
    dominance = _dominance(result).values
    seed = int(np.argsort(dominance)[(dominance.size - 1) // 2])
    titles = ("(a) Rich", "(b) Lazy: target downscaling", "(c) Lazy: NTK initialisation")
    for letter, label, title in zip("abc", ("rich", "downscaled", "ntk"), titles, strict=True):
        one = {
            name: result[f"{label}_{name}"].isel(seed=seed).values for name in ("features", "drift")
        }
        target = (
            config.small_target if label == "downscaled" else config.target_length
        ) * DIRECTION
        limit = 1.3 * max(np.abs(one["features"]).max(), np.abs(target).max(),
                           np.abs(one["features"].sum(axis=1)).max())  # fmt: skip
        ratio = float(result[f"{label}_ratio"].isel(seed=seed))
        panels[f"{letter}0"].set_title(title)
        panels[f"{letter}0"].text(0.97, 0.04, f"$\\Sigma_0/S$ = {ratio:.2g}", ha="right",
                                  transform=panels[f"{letter}0"].transAxes)  # fmt: skip
        for moment in (0, 1):
            axes = panels[f"{letter}{moment}"]
            drift = one["drift"] if moment == 0 else None
            _draw_features(axes, one["features"][moment], one["features"][0], drift, target, limit)
            axes.set(xlabel="coefficient of $x_1$", ylabel="coefficient of $x_2$")
    for letter, words in (("a0", "before"), ("a1", "after")):
        panels[letter].text(
            0.03, 0.95, words, transform=panels[letter].transAxes, va="top", style="italic"
        )
    _draw_slopes(panels["slope"], result)
    return picture


def _draw_features(
    axes: Any, features: np.ndarray, first: np.ndarray, drift: "np.ndarray | None", target: np.ndarray,
    limit: float,
) -> None:  # fmt: skip
    few = len(features) <= 10
    aligned = first @ target > 0
    colours = np.where(aligned, plotting.COLOURS[0], plotting.COLOURS[1])
    style = {"angles": "xy", "scale_units": "xy", "scale": 1, "zorder": 3}
    origin = np.zeros(len(features))
    axes.quiver(origin, origin, *features.T, color=colours, width=0.013 if few else 0.005,
                alpha=1.0 if few else 0.7, **style)  # fmt: skip
    if drift is not None and few:
        scaled = 0.2 * limit * drift / np.abs(drift).max()
        for tip, step, colour in zip(features, scaled, colours, strict=True):
            _draw_arrow(axes, tip, tip + step, color=colour, linestyle=":")
    output = features.sum(axis=0)
    if np.linalg.norm(output) > 1e-9 * limit:
        _draw_arrow(axes, np.zeros(2), output, color="black", linestyle="--")
    axes.plot(*target, "o", color="black", markersize=5, zorder=6)
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")


def _draw_arrow(axes: Any, tail: np.ndarray, tip: np.ndarray, **line: Any) -> None:
    look = {"arrowstyle": "->", "linewidth": 1.2} | line
    axes.annotate("", tip, tail, zorder=5, annotation_clip=False, arrowprops=look)


def _draw_slopes(axes: Any, result: "xarray.Dataset") -> None:
    cases = (
        ("relative_moved", "over its length", 2),
        ("unscaled_moved", "without $1/Z$", 0),
        ("moved", "as in Eq. 25", 1),
    )
    widths = result.width.values
    for name, label, colour in cases:
        mean, error = measures.seed_mean(result[name])
        axes.errorbar(widths, mean, error, fmt="o", color=plotting.COLOURS[colour], markersize=5,
                      markerfacecolor="none", label=label)  # fmt: skip
    mean, _ = measures.seed_mean(result.scalar_moved)
    for factor in (1, np.sqrt(widths)):
        axes.plot(widths, factor * mean, color="black", linewidth=0.9, zorder=1)
    axes.set(xscale="log", yscale="log", xlabel="number of features $p$",
             ylabel="movement of a feature", title="NTK initialisation")  # fmt: skip
    axes.legend()
