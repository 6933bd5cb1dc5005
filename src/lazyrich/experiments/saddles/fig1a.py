"""Fig. 1A: a walk from saddle to saddle in the landscape of a real network."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import adapters, measures, models, plotting, simulate, theory
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._over_seeds import over_seeds
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig1a"
TITLE = "A walk from saddle to saddle"
CAPTION = (
    "Left: the loss of the linear network of Fig. 1B over the sizes of two units, each along one mode; "
    "darker is higher. Orange and yellow: paths on the manifolds of one and two effective units, each found "
    "by breaking one constraint at a fixed point and following the flow. Black: networks with 50 units from "
    "small weights, one for each seed, drawn at the sizes of their two modes; they keep close to both paths. "
    "Right: their losses."
)
SECONDS = {"quick": 5, "paper": 5}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 1A is computed from."""

    width: int = 50
    few: int = 3
    initial_std: float = 1e-6
    learning_rate: float = 0.01
    last_step: int = 2000
    num_points: int = 61
    num_seeds: int = 16
    seeds_per_chunk: int = 16


PRESETS = {"quick": Config(), "paper": Config(num_points=121, num_seeds=32)}


def _training(config: Config, width: int) -> "simulate.Supervised":
    task = _settings.linear_task(1)
    return simulate.Supervised(
        models.TwoLayer(2, width, 2), task, config.initial_std, population=True, mean_outputs=True
    )


def _points() -> "theory.LinearFixedPoints":
    W, C = _settings.linear_map(), _settings.CORRELATED
    return theory.LinearFixedPoints(W @ C, C)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Two connections in a network of few units, wide networks beside them, and the loss over two modes."""
    import xarray

    pieces = [
        context.keep("connections", _connections, config),
        over_seeds(_wide_runs, config, context, name="wide"),
    ]
    grid = np.linspace(-0.15, 1.25, config.num_points)
    surface = xarray.DataArray(_surface(grid), {"size0": grid, "size1": grid})
    return xarray.merge([*pieces, surface.rename("surface")]).assign_attrs(CONVENTION.attributes())


def _connections(config: Config) -> "xarray.Dataset":
    """From zero to one effective unit, and from there to two."""
    import xarray

    few = _training(config, config.few)
    weights = models.TwoLayerWeights(np.zeros((2, config.few)), np.zeros((config.few, 2)))
    indices, norms, data = [_index(few, weights)], [0.0], {}
    for unit in range(2):
        link = simulate.connect(few, weights, unit=unit)
        weights = link.weights
        indices.append(_index(few, weights))
        norms.append(link.gradient_norm)
        sizes = _sizes(link.path.incoming.values, link.path.outgoing.values)
        data[f"path{unit}"] = ((f"step{unit}", "mode"), sizes)
        data[f"path{unit}_loss"] = ((f"step{unit}",), link.path.loss.values)
        if unit == 0:
            apart = [_apart(few, weights, off) for off in (0.0, NUDGE)]
            data["apart"] = (("start", "moment"), np.array(apart))
    data |= {
        "index": (("saddle",), np.array(indices)),
        "gradient_norm": (("saddle",), np.array(norms)),
    }
    return xarray.Dataset(data)


RATIO, NUDGE = -0.7, 1e-6
"""Of two units that share a mode, and by how much of a weight the ratio is broken to see what that does."""


def _apart(training: "simulate.Supervised", weights: Any, off: float) -> list[float]:
    """How far the last unit is from a multiple of the first while another breaks away: at first and at most.

    The first unit is split in two of a fixed ratio, which leaves the map as it is. Relative to their length.
    """
    first, second = (np.array(layer, dtype=float) for layer in weights)
    share = 1 / np.hypot(1, RATIO)
    first[:, -1], second[-1] = RATIO * share * first[:, 0], RATIO * share * second[0]
    first[:, 0], second[0] = share * first[:, 0], share * second[0]
    first[0, -1] += off
    path = simulate.connect(training, models.TwoLayerWeights(first, second), unit=1).path
    theta = np.concatenate([path.incoming.values, path.outgoing.values], axis=-1)  # (time, unit, …)
    length = np.linalg.norm(theta[:, [0, -1]], axis=(1, 2))
    distance = np.linalg.norm(theta[:, -1] - RATIO * theta[:, 0], axis=1) / length
    return [float(distance[0]), float(distance.max())]


def _index(training: "simulate.Supervised", weights: Any) -> int:
    moments = training.start(0)[1]
    found = adapters.derivatives(lambda w: training.loss(w, moments), weights)
    return measures.saddle_certificate(*found).index


def _sizes(incoming: np.ndarray, outgoing: np.ndarray) -> np.ndarray:
    """How much of each mode the maps over time contain, as the size of a unit: the root of its share."""
    points = _points()
    maps = np.einsum("tio,tiu->tou", outgoing, incoming)
    whole = points.map(range(points.num_modes)) @ points.covariance
    E = np.linalg.svd(points.correlation)[
        0
    ]  # the modes' gains are equal here: growth picks the directions
    shares = np.einsum("ok,tou,pu,pk->tk", E, maps, whole, E) / points.eigenvalues
    return np.sqrt(np.maximum(shares, 0))


def _surface(grid: np.ndarray) -> np.ndarray:
    """The loss, mean over two outputs, of one unit along each mode, by the units' sizes."""
    first, second = np.meshgrid(grid, grid, indexing="ij")
    mu = _points().eigenvalues
    return (mu[0] * (1 - first**2) ** 2 + mu[1] * (1 - second**2) ** 2) / 2


def _wide_runs(config: Config, seeds: range) -> "xarray.Dataset":
    runs = simulate.gradient_descent(
        _training(config, config.width), simulate.even_steps(config.last_step, 200),
        learning_rate=config.learning_rate, seeds=seeds,
    )  # fmt: skip
    layers = list(zip(runs.incoming.values, runs.outgoing.values, strict=True))
    off = [[_off_manifold(u, v) for u, v in zip(*layer, strict=True)] for layer in layers]
    found = runs[["loss"]].rename(loss="wide_loss")
    return found.assign(
        wide=(("seed", "time", "mode"), np.array([_sizes(*layer) for layer in layers])),
        off_manifold=(("seed", "time"), np.array(off)),
    )


def _off_manifold(incoming: np.ndarray, outgoing: np.ndarray) -> float:
    """How far a layer is from the manifold of one effective unit, relative to its size."""
    return measures.manifold_distance(incoming, outgoing, "dependent", width=1).relative


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 3 and 4 say, on this network."""
    points = _points()
    found = []
    for r in (1, 2):
        found.append(
            Claim(f"The path of {r} effective unit{'s' * (r > 1)} ends at the fixed point with {r} mode"
                  f"{'s' * (r > 1)} (loss)", "Sec. 4, Lemma 6", float(points.loss(range(r))),
                  float(result[f"path{r - 1}_loss"][-1]), "absolute", 1e-9)
        )  # fmt: skip
    found += _manifold_claims(result.apart.values)
    found += [
        Claim(f"Hessian index of the fixed point with {r} modes, {config.few} units", "Lemma 6",
              points.hessian_index(range(r), config.few), int(result["index"][r]), "absolute")
        for r in range(3)
    ]  # fmt: skip
    off = [np.abs(result.wide - target).max("mode") for target in ([1, 0], [1, 1])]  # (seed, time)
    beside = result.off_manifold.isel(time=off[0].argmin("time"))
    shares = [
        ("The wide network passes close by the saddle of one mode (within 0.05 in sizes)", "Fig. 1A",
         off[0].min("time") <= 0.05),
        ("It ends at the fixed point of both (within 0.01 in sizes)", "Fig. 1A",
         off[1].isel(time=-1) <= 0.01),
        ("By the saddle it is near the manifold of one effective unit (within 0.05 of its size)", "Sec. 4",
         beside <= 0.05),
    ]  # fmt: skip
    walked = [_walks.share(text, source, hits.values.tolist()) for text, source, hits in shares]
    return [*found, *require_seeds(walked, 8)]


def _manifold_claims(apart: np.ndarray) -> list[Claim]:
    """The manifold repels by a factor of nearly 1e5, so that of rounding, 1e-16, less than 1e-10 is left."""
    kept, broken = apart
    return [
        Claim(f"Two units in the ratio {RATIO} keep it while a third breaks away (largest distance over "
              "their length)", "Theorem 3", 1e-10, kept[1], "at-most"),
        Claim("although what is off it moves away: a ratio that is broken a little is lost (growth of the "
              "distance)", "Sec. 4", 1e4, broken[1] / broken[0], "at-least"),
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """The landscape from above with the paths on it, and the wide network's loss over time."""
    picture, (row,) = plotting.new_figure(2, panel=(4.2, 3.6))
    field = row[0].contourf(
        result.size0, result.size1, result.surface.values.T, np.linspace(0, 1.3, 27), cmap="Blues"
    )
    picture.colorbar(field, ax=row[0], label="loss", ticks=[0, 0.5, 1])
    for unit, colour in ((0, plotting.COLOURS[1]), (1, plotting.COLOURS[4])):
        label = f"flow on the manifold of {('one', 'two')[unit]} effective unit{'s' * unit}"
        row[0].plot(*result[f"path{unit}"].values.T, color=colour, linewidth=5, label=label)
    for i, walk in enumerate(result.wide.values):
        label = None if i else f"{config.width} units, small start, every seed"
        row[0].plot(*walk.T, color="black", linewidth=0.8, label=label)
    for width, place in enumerate(((0, 0), (1, 0), (1, 1))):
        row[0].plot(*place, "o", color="black", markersize=7)
        row[0].annotate(f"width {width}", place, (6, 8), textcoords="offset points", fontsize=8)
    row[0].set(xlabel="size of the first mode", ylabel="size of the second mode", title=TITLE)
    row[0].grid(visible=False)
    picture.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    row[1].plot(result.time, result.wide_loss.values.T, color="black", linewidth=0.8)
    levels = (
        result.path0_loss.values[0],
        result.path0_loss.values[-1],
        result.path1_loss.values[-1],
    )
    for width, level in enumerate(levels):
        row[1].axhline(float(level), color="#999999", linewidth=0.8, linestyle="--", zorder=1)
        side, place = ("left", 0) if width == 2 else ("right", config.last_step)
        row[1].annotate(f"fixed points of width {width}", (place, float(level)), (0, 3), fontsize=8,
                        textcoords="offset points", ha=side)  # fmt: skip
    row[1].set(xlabel="time $t$ (steps)", ylabel="loss", title=f"{config.width} units from small weights",
               ylim=(-0.04, 1.1))  # fmt: skip
    return picture
