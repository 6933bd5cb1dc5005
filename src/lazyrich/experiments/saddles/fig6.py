"""Fig. 6: deep networks with skip connections."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich import measures, models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments._records import by_record, by_time
from lazyrich.experiments._times import time_to
from lazyrich.experiments.saddles import _panels, _settings, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig6"
TITLE = "Skip connections"
CAPTION = (
    "The loss of four-layer networks whose connections skip no, one or two layers, in linear and in "
    "logarithmic time; one run bold, the others thin. Dashed: the three-layer and the two-layer network "
    "that remain if the skipped layers are left out, from the same weights. The paper leaves open data, "
    "start and rate. Here weights start from N(0, 0.005²) and the rate is 0.02, as in Fig. 5. Linear "
    "networks: data of Fig. 1B. ReLU networks: two orthogonal inputs, (1, ½) and (−1.5, 3), each with an "
    "output of its own, 1 and 1."
)
SECONDS = {"quick": 26, "paper": 40}
CONVENTION = _panels.CONVENTION
REFERENCES = _panels.REFERENCES
ACTIVATIONS: tuple[str, ...] = ("linear", "relu")
NAMES = {"linear": "Linear", "relu": "ReLU"}
SKIPS: tuple[str, ...] = ("no skip", "skip 1", "skip 2")
SHALLOW: tuple[str, ...] = ("three layers", "two layers")
"""What remains of `skip 1` and `skip 2` without the layers they skip."""
NETWORKS: tuple[str, ...] = (*SKIPS, *SHALLOW)
LEFT = 0.05
"""A run has learned when this share of its first loss is left."""


@dataclasses.dataclass(frozen=True)
class Config:
    """What Fig. 6 is computed from; the last steps are those of networks that skip 0, 1 and 2 layers."""

    width: int = 50
    initial_std: float = 5e-3
    learning_rate: float = 0.02
    last_steps: tuple[int, ...] = (100_000, 4_000, 800)
    num_samples: int = 8192
    num_records: int = 300
    num_seeds: int = 8
    seeds_per_chunk: int = 8


PRESETS = {"quick": Config(), "paper": Config(num_seeds=32)}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """All networks from every seed."""
    axes = {"activation": ACTIVATIONS, "network": NETWORKS}
    found = over_cases(axes, _train, config, context)
    deep = found.norms.sel(network=list(SKIPS)).rename(network="skip", array="layer")
    found = found.drop_vars("norms").assign(norm=deep).assign_coords(layer=[1, 2, 3, 4])
    return found.assign_attrs(CONVENTION.attributes())


def _train(config: Config, activation: str, network: str, seeds: range) -> "xarray.Dataset":
    record = simulate.gradient_descent(
        training(activation, network, config), _steps(network, config),
        learning_rate=config.learning_rate, seeds=seeds,
    )  # fmt: skip
    # networks without the skipped layers have fewer arrays, and nobody asks for their norms
    return by_record(record[["loss", "norms"] if network in SKIPS else ["loss"]])


def _steps(network: str, config: Config) -> np.ndarray:
    """When to record: every step at first, then ever less often, for both axes of time."""
    last = dict(zip(SKIPS, config.last_steps, strict=True))
    last |= dict(zip(SHALLOW, config.last_steps[1:], strict=True))
    n = config.num_records
    return np.maximum(np.arange(n + 1), np.round(last[network] * np.linspace(0, 1, n + 1) ** 3))


def training(activation: str, network: str, config: Config) -> "simulate.Supervised":
    """A network of Eq. 18, or what is left of it without the layers that it skips."""
    H, std = config.width, config.initial_std
    if activation == "linear":
        task = _settings.linear_task(config.num_samples)
    else:
        task = tasks.GivenData([[1.0, 0.5], [-1.5, 3.0]], np.eye(2))
    skips = SHALLOW.index(network) + 1 if network in SHALLOW else SKIPS.index(network)
    deep = models.SkipNetwork(2, H, 2, skips, activation)
    options: dict[str, Any] = {"mean_outputs": activation == "linear", "records": ("norms",)}
    if network in SKIPS:
        return simulate.Supervised(deep, task, std, **options)
    two = models.TwoLayer(2, H, 2, activation)
    if network == "two layers":

        def outer(seed: int) -> Any:
            W1, _, _, W4 = deep.init(simulate.weights_key(seed), std)
            return models.TwoLayerWeights(W1, W4)

        return simulate.Supervised(two, task, initial_weights=outer, **options)
    three = models.Deep(dataclasses.replace(two, output_dimension=H), (activation,), (), 2)

    def without_second(seed: int) -> Any:
        W1, _, W3, W4 = deep.init(simulate.weights_key(seed), std)
        return models.DeepWeights(models.TwoLayerWeights(W1, W3), (W4,))

    return simulate.Supervised(three, task, initial_weights=without_second, **options)


class _Walks(NamedTuple):
    """What the networks with one activation did, from every seed."""

    rests: np.ndarray
    """Whether the loss rested once on its way, (skip, seed)."""
    times: np.ndarray
    """When a run had learned, (network, seed)."""
    grown: np.ndarray
    """Norm by which each layer had grown when the first drop was over, (skip, seed, layer)."""


def _walks_of(result: "xarray.Dataset", activation: str) -> _Walks:
    one = result.sel(activation=activation)
    rests, times, grown = [], [], []
    for network in NETWORKS:
        runs = by_time(one, network=network)
        time, losses = runs.time.values, runs.loss.values
        times.append(time_to(runs.loss, LEFT * runs.loss.isel(time=0), falling=True))
        if network in SKIPS:
            found = [measures.plateaus(time, y) for y in losses]
            rests.append([p.num_drops == 2 for p in found])
            norms = runs.norm.sel(skip=network).values
            grown.append([_grown(time, n, p) for n, p in zip(norms, found, strict=True)])
    return _Walks(np.array(rests), np.array(times), np.array(grown))


def _grown(time: np.ndarray, norms: np.ndarray, found: "measures.Plateaus") -> np.ndarray:
    """√(‖W(t)‖² − ‖W(0)‖²): layers that learn together gain the same, whatever they started from."""
    if found.num_drops == 0:
        return np.full(norms.shape[-1], np.nan)
    squares = norms[int(np.argmin(np.abs(time - found.starts[1])))] ** 2 - norms[0] ** 2
    return np.sqrt(np.maximum(squares, 0))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What App. B.3 says."""
    linear, relu = (_walks_of(result, activation) for activation in ACTIVATIONS)
    return require_seeds([
        *_speed(linear, "Linear"), *_speed(relu, "ReLU"), _shallower(linear),
        *_layers(linear, "Linear", Departure(GROWS, 0.3, 0.05)),
        *_layers(relu, "ReLU", Departure(GROWS, 0.19, 0.06)),
        _balance(linear),
    ], 8)  # fmt: skip


GROWS = (
    "the skipped layer stays near zero only while the others are small: its gradient is theirs times their "
    "size; in the linear network, where 1 + W₂ is balanced with W₁, it grows to √(1 + ‖W₁‖²) − 1 in each mode"
)


def _speed(found: _Walks, name: str) -> list[Claim]:
    no, one, two, three_layers, two_layers = found.times
    return [
        _walks.share(f"{name}: all networks rest once on their way, and drop twice", "Fig. 6",
                     found.rests.ravel().tolist(), 0.9),
        _smallest(f"{name}: the network that skips one layer learns faster than that without a skip",
                  "Fig. 6", no / one),
        _smallest(f"{name}: the network that skips two layers learns faster than that which skips one",
                  "Fig. 6", one / two),
        *(
            mean_claim(f"{name}: the network that skips {words} other layers alone (ratio of times)",
                       "Fig. 6", 1, ratios, tolerance=0.05)
            for words, ratios in (("one layer learns like the three", one / three_layers),
                                  ("two layers learns like the two", two / two_layers))
        ),
    ]  # fmt: skip


def _shallower(found: _Walks) -> Claim:
    four, _, _, three, two = found.times
    return _smallest("Linear: shallower networks learn faster, two layers than three, three than four",
                     "Fig. 6", np.minimum(four / three, three / two))  # fmt: skip


def _smallest(statement: str, source: str, ratios: np.ndarray) -> Claim:
    return Claim(f"{statement} (smallest ratio of times)", source, 1, ratios.min(), "at-least",
                 num_seeds=ratios.size)  # fmt: skip


def _layers(found: _Walks, name: str, departure: Departure) -> list[Claim]:
    """Which layers learn, as seen right after the first drop."""
    no, one, two = found.grown
    when = "right after the first drop"
    return [
        mean_claim(f"{name}: without a skip all four layers learn (smallest over largest growth of a norm "
                   f"{when}, mean)", "Fig. 6", 0.9, no.min(axis=1) / no.max(axis=1), "at-least"),
        *(
            mean_claim(f"{name}, skip {skips}: skipped layers stay near zero (growth of their norm over that "
                       f"of the others {when}, mean)", "Fig. 6", 0.1, _share(grown, 1 + skips), "at-most",
                       departure=departure if skips == 1 else None)
            for skips, grown in ((1, one), (2, two))
        ),
    ]  # fmt: skip


def _share(grown: np.ndarray, end: int) -> np.ndarray:
    """The largest of the layers from the second to `end` over the smallest of the others, by run."""
    others = np.concatenate([grown[:, :1], grown[:, end:]], axis=1)
    return grown[:, 1:end].max(axis=1) / others.min(axis=1)


def _balance(found: _Walks) -> Claim:
    """Eq. 18b is a four-layer network with 1 + W₂ in the second place, which starts near 1, not near 0."""
    first, second = found.grown[1, :, 0], found.grown[1, :, 1]
    return mean_claim("Linear, skip 1: the second layer grows as balance of 1 + W₂ with W₁ demands (over "
                      "√(1 + ‖W₁‖²) − 1, right after the first drop)", "Eq. 18b", 1,
                      second / (np.sqrt(1 + first**2) - 1), tolerance=0.05)  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Linear time above, logarithmic time below."""
    picture, axes = plotting.new_figure(len(ACTIVATIONS), 2, panel=(4.2, 2.6))
    for column, activation in enumerate(ACTIVATIONS):
        for panel in axes[:, column]:
            _draw(panel, result.sel(activation=activation))
            panel.set(xlabel="time $t$ (steps)", ylabel="loss", ylim=(0, None))
        axes[0, column].set(
            title=f"{NAMES[activation]} networks", xlim=(0, result.recorded_time.max())
        )
        axes[1, column].set(xscale="log", xlim=(10, result.recorded_time.max()))
    entries = {name: {"color": plotting.COLOURS[i]} for i, name in enumerate(SKIPS)}
    entries["without the skipped layers"] = {"color": "black", "linestyle": "--"}
    plotting.curves_legend(axes[0, 0], entries, loc="upper right")
    return picture


def _draw(panel: Any, one: "xarray.Dataset") -> None:
    for i, network in enumerate(SKIPS):
        curves = by_time(one, network=network)
        runs = curves.loss.transpose("seed", "time")
        plotting.plot_runs(panel, curves.time, runs, runs[0], colour=plotting.COLOURS[i])
    for network in SHALLOW:
        curves = by_time(one, network=network)
        panel.plot(curves.time, curves.loss.isel(seed=0), "--", color="black", linewidth=0.9)
