"""Fig. 6b: the ratio of weights to target, where layers are not balanced."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import measures, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments._claims import ratio_claim, share_claim
from lazyrich.experiments._over_seeds import over_seeds
from lazyrich.experiments.layerwise import _kernel_grid

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "layerwise", "fig6b"
TITLE = "Weight-to-target ratio"
CAPTION = (
    "Left: how far the tangent kernel has moved after 4000 steps, by the imbalance of the layers' "
    "standard deviations and by what the target is divided by (d = p = 20, c = 2, ten samples, not "
    "whitened; mean over seeds). Weights are Gaussian, of standard deviation 0.1 plus the imbalance's "
    "size in the second layer (right) or the first (left), and symmetrised: half of the 20 units are "
    "copies with opposite outgoing weights, so that the first output is zero. Right: cuts through "
    "the map, median and quartiles."
)
SECONDS = {"quick": 6, "paper": 36}
CONVENTION = _kernel_grid.CONVENTION
REFERENCES = _kernel_grid.REFERENCES


@dataclasses.dataclass(frozen=True)
class Config(_kernel_grid.Shape):
    """What Fig. 6b is computed from."""

    input_dimension: int = 20
    width: int = 20
    initial_std: float = 0.1
    largest_imbalance: float = 0.5
    num_imbalances: int = 40
    smallest_ratio: float = 0.1
    largest_ratio: float = 50.0
    num_ratios: int = 40
    seeds_per_chunk: int = 2

    @property
    def imbalances(self) -> np.ndarray:
        """What is added to the second layer's standard deviation, or if negative to the first's."""
        return np.linspace(-self.largest_imbalance, self.largest_imbalance, self.num_imbalances)

    @property
    def ratios(self) -> np.ndarray:
        """What the target is divided by, evenly in its logarithm."""
        return np.geomspace(self.smallest_ratio, self.largest_ratio, self.num_ratios)


PRESETS = {"quick": Config(num_imbalances=15, num_ratios=14), "paper": Config()}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """The end of training in all cells."""
    found = over_seeds(_piece, config, context, "linear networks")
    return found.assign_attrs(CONVENTION.attributes())


def _piece(config: Config, seeds: range) -> "xarray.Dataset":
    import xarray

    starts, data = zip(*(_start(config, seed) for seed in seeds), strict=True)
    moments = (np.stack(arrays)[:, None, None] for arrays in zip(*data, strict=True))
    correlation, covariance, _ = moments
    first, second = (np.stack(arrays)[:, :, None] for arrays in zip(*starts, strict=True))
    target = correlation / config.ratios[:, None, None]
    runs = simulate.linear_network_descent(
        target, covariance, first, second, [0, config.last_step], learning_rate=config.learning_rate
    )
    dims = ("seed", "imbalance", "ratio")
    left = runs.loss[..., 1] / runs.loss[..., 0]
    return xarray.Dataset(
        {"kernel_distance": (dims, runs.kernel_distance[..., 1]), "loss_left": (dims, left)},
        {"seed": list(seeds), "imbalance": config.imbalances, "ratio": config.ratios},
    )


def _start(config: Config, seed: int) -> "tuple[models.TwoLayerWeights, tasks.RegressionMoments]":
    """Symmetrised weights for every imbalance, from the same Gaussian numbers, and data."""
    import jax

    weights_key, data_key = jax.random.split(jax.random.key(seed))
    network = models.TwoLayer(config.input_dimension, config.width // 2, config.output_dimension)
    drawn = network.init(weights_key, 1.0)
    size = config.imbalances[:, None, None]
    scaled = models.TwoLayerWeights(
        (config.initial_std + np.maximum(-size, 0)) * drawn.first,
        (config.initial_std + np.maximum(size, 0)) * drawn.second,
    )
    task = tasks.RandomRegression(
        config.num_samples, config.input_dimension, config.output_dimension, whitened=False
    )
    return models.symmetrised(scaled), task.moments(data_key)


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Fig. 6 and Sec. 7 say."""
    distance, seeds = result.kernel_distance, result.sizes["seed"]
    mean, _ = measures.seed_mean(distance)
    rows = mean.transpose("imbalance", "ratio").values
    centre = rows.shape[0] // 2
    ends = np.maximum(rows[0], rows[-1])
    near, far = (distance.isel(ratio=i).values[:, centre] for i in (0, -1))
    middle = config.num_ratios // 2
    cut = distance.isel(ratio=middle).values
    return require_seeds([
        share_claim("The larger the weights are to the target, the less the kernel moves (share of steps of "
                    "the ratio, all imbalances, mean over seeds)", "Sec. 7, Fig. 6b",
                    np.diff(rows, axis=1) < 0, 0.95, uncertainty=None, num_seeds=seeds),
        ratio_claim("Without imbalance, at the largest ratio it hardly moves (over its way at the smallest)",
                    "Sec. 7, Fig. 6b", 0.01, far, near, "at-most"),
        ratio_claim("Imbalance still matters (distance at the largest imbalances over that without, ratio "
                    f"{config.ratios[middle]:.2g})", "Fig. 6b", 0.1, (cut[:, 0] + cut[:, -1]) / 2,
                    cut[:, centre], "at-most"),
        share_claim("The largest imbalance of either sign is lazier than none (share of ratios, mean over "
                    "seeds)", "Fig. 6b", ends < rows[centre], 0.95, uncertainty=None, num_seeds=seeds),
        Claim("The networks have learned (largest share of the loss that is left, mean over seeds)",
              "App. F.2", 0.05, float(result.loss_left.mean("seed").max()), "at-most", num_seeds=seeds),
    ], 8)  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """The map, and cuts at a few imbalances."""
    picture, axes = plotting.new_figure(2, panel=(3.9, 3.1))
    left, right = axes[0]
    _kernel_grid.draw_map(picture, left, result.kernel_distance, "imbalance", "ratio")
    left.set(yscale="log", xlabel="imbalance $\\sigma_2 - \\sigma_1$", title=TITLE,
             ylabel="weight-to-target ratio (target / this)")  # fmt: skip
    last = config.num_imbalances - 1
    for place, colour in zip(
        (0, last // 4, last // 2, last - last // 4, last), plotting.COLOURS, strict=False
    ):
        band = result.kernel_distance.isel(imbalance=place).quantile([0.25, 0.5, 0.75], "seed")
        label = f"{float(result.imbalance[place]):+.2f}"
        plotting.plot_band(right, result.ratio, *band, colour=colour, label=label)
    right.set(xscale="log", yscale="log", xlabel="weight-to-target ratio", ylabel="kernel distance",
              title="Cuts at given imbalances")  # fmt: skip
    right.legend(title="$\\sigma_2 - \\sigma_1$")
    return picture
