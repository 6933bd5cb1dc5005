"""What Fig. 6 and 10 share: how far kernels of linear networks move, over grids of starts."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, models, simulate, tasks, theory
from lazyrich.core import Claim, Convention

if TYPE_CHECKING:
    import xarray

CONVENTION = Convention(
    loss="½ mean over samples of the squared norm of the error",
    time="t = learning rate × step",
    time_unit="learning rate × step",
)
REFERENCES = ("layerwise", "lazy-to-rich", "braun", "kernel-distance", "get-rich-quick")
FINER = 10
"""By what factor steps are smaller where descent is compared with the flow."""
FLOOR = 1e-6
"""Added to kernel distances before their logarithm is drawn, as in the paper."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """A network, its data and its training; what App. F.2 states."""

    input_dimension: int = 2
    width: int = 2
    output_dimension: int = 2
    num_samples: int = 10
    learning_rate: float = 0.01
    last_step: int = 4000
    num_seeds: int = 8
    seeds_per_chunk: int = 4

    @property
    def end(self) -> float:
        """The time at which training stops."""
        return self.learning_rate * self.last_step


@dataclasses.dataclass(frozen=True)
class Balanced(Shape):
    """λ-balanced starts: a grid of λ and of the size of the product, and cells to solve exactly."""

    largest_imbalance: float = 9.0
    num_imbalances: int = 40
    largest_scale: float = 20.0
    num_scales: int = 40
    num_exact: int = 4

    @property
    def imbalances(self) -> np.ndarray:
        """λ, evenly spaced, from minus to plus its largest size."""
        return np.linspace(-self.largest_imbalance, self.largest_imbalance, self.num_imbalances)

    @property
    def scales(self) -> np.ndarray:
        """Norms of the first product, evenly spaced from 1."""
        return np.linspace(1, self.largest_scale, self.num_scales)


def balanced_runs(
    config: Any, seeds: range, imbalances: Any, scales: Any, steps: Any
) -> "xarray.Dataset":
    """Loss and kernel distance of whitened, λ-balanced networks over seeds, λ, scales and times."""
    import xarray

    starts, data = _starts(config, seeds, np.asarray(imbalances)[:, None], np.asarray(scales))
    first, second = _stacked(starts)
    correlation, covariance, _ = (array[:, None, None] for array in _stacked(data))
    runs = simulate.linear_network_descent(
        correlation, covariance, first, second, steps, learning_rate=config.learning_rate
    )
    dims = ("seed", "imbalance", "scale", "time")
    return xarray.Dataset(
        {"loss": (dims, runs.loss), "kernel_distance": (dims, runs.kernel_distance)},
        {"seed": list(seeds), "imbalance": np.asarray(imbalances), "scale": np.asarray(scales),
         "time": config.learning_rate * np.asarray(steps)},
    )  # fmt: skip


def exact_runs(
    config: Any, seeds: range, imbalances: Any, scales: Any, times: Any
) -> "xarray.Dataset":
    """The same by the matrix solution."""
    import xarray

    found = np.empty((2, len(seeds), len(imbalances), len(scales), len(times)))
    starts, data = _starts(config, seeds, np.asarray(imbalances)[:, None], np.asarray(scales))
    for index in np.ndindex(found.shape[1:4]):
        start, moments = starts[index[0]], data[index[0]]
        network = theory.BalancedNetwork(
            moments.correlation, start.first[index[1:]], start.second[index[1:]],
            covariance=moments.covariance,
        )  # fmt: skip
        found[(0, *index)] = network.loss(times)
        found[(1, *index)] = network.kernel_distance(times)
    dims = ("seed", "imbalance", "scale", "time")
    return xarray.Dataset(
        {"exact_loss": (dims, found[0]), "exact_distance": (dims, found[1])},
        {"seed": list(seeds), "imbalance": np.asarray(imbalances), "scale": np.asarray(scales),
         "time": np.asarray(times)},
    )  # fmt: skip


def _starts(
    config: Any, seeds: range, imbalance: Any, scale: Any
) -> tuple[list["models.TwoLayerWeights"], list["tasks.RegressionMoments"]]:
    """Weights for every λ and scale, and data, of each seed; cells of a seed share directions and data."""
    import jax

    task = tasks.RandomRegression(
        config.num_samples, config.input_dimension, config.output_dimension
    )
    keys = [jax.random.split(jax.random.key(seed)) for seed in seeds]
    shape = (config.input_dimension, config.width, config.output_dimension)
    starts = [
        models.balanced_weights(weights, *shape, imbalance=imbalance, scale=scale)
        for weights, _ in keys
    ]
    return starts, [task.moments(data) for _, data in keys]


def same_side(config: Any, seeds: range) -> np.ndarray:
    """Whether a square network's first product and its task have determinants of one sign."""
    starts, data = _starts(config, seeds, 0.0, 1.0)
    return np.array([
        np.linalg.det(start.first @ start.second) * np.linalg.det(moments.correlation) > 0
        for start, moments in zip(starts, data, strict=True)
    ])  # fmt: skip


def _stacked(each: Any) -> list[np.ndarray]:
    return [np.stack(arrays) for arrays in zip(*each, strict=True)]


def grid_piece(config: Any, seeds: range) -> "xarray.Dataset":
    """The end of training in all cells; in some also by smaller steps and by the exact solution."""
    end = balanced_runs(config, seeds, config.imbalances, config.scales, [config.last_step])
    lam, scale = (
        values[np.linspace(0, values.size - 1, config.num_exact).round().astype(int)]
        for values in (config.imbalances, config.scales)
    )
    small = dataclasses.replace(
        config, learning_rate=config.learning_rate / FINER, last_step=config.last_step * FINER
    )
    fine = balanced_runs(small, seeds, lam, scale, [small.last_step]).kernel_distance
    exact = exact_runs(config, seeds, lam, scale, [config.end]).exact_distance
    names = {"imbalance": "exact_imbalance", "scale": "exact_scale"}
    return end.isel(time=0, drop=True).assign(
        fine_distance=fine.isel(time=0, drop=True).rename(names),
        exact_distance=exact.isel(time=0, drop=True).rename(names),
    )


def exact_claim(result: "xarray.Dataset") -> Claim:
    """Descent and the matrix solution in the cells that were solved."""
    gap = np.abs(result.fine_distance - result.exact_distance).mean("seed")
    # the solution is that of the flow: at the rate of the paper, steps × curvature is 0.5 at the largest
    # scale and distances differ by up to 0.02; at a tenth of it by a tenth
    return Claim(
        f"Descent at 1/{FINER} of the rate moves the kernel as the matrix solution says (largest difference, "
        "mean over seeds)",
        "Theorem F.2, App. F.2", 0.003, float(gap.max()), "at-most", num_seeds=result.sizes["seed"],
    )  # fmt: skip


def draw_map(picture: Any, axes: Any, distance: "xarray.DataArray", x: str, y: str) -> None:
    """The heat map of log₁₀(kernel distance + 1e−6), mean over seeds; red is rich, blue lazy."""
    mean, _ = measures.seed_mean(distance)
    values = np.log10(mean.transpose(y, x).values + FLOOR)
    field = axes.pcolormesh(
        mean[x], mean[y], values, cmap="RdYlBu_r", shading="nearest", rasterized=True
    )
    picture.colorbar(field, ax=axes, label="log₁₀(kernel distance + 1e−6)")
    axes.grid(visible=False)
