"""Fig. 2C: the effect of the structure of the initial weights."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import core, measures, models, plotting, simulate
from lazyrich.core import Claim, Context, Departure, require_seeds
from lazyrich.experiments._claims import mean_claim
from lazyrich.experiments._times import time_to
from lazyrich.experiments.saddles import _spectra, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig2c"
TITLE = "The effect of the initial weights' structure"
CAPTION = (
    "The loss of linear networks of 100 units from different starts: every run (thin) and the one that "
    "rests for the median time (bold), on two scales. Near an invariant manifold but away from its "
    "saddles there is no plateau at the start; the later ones are those of a small start. A few runs "
    "start so near to a saddle of another mode that they visit it, too. Near the manifold of as many "
    "effective units as are needed the loss falls exponentially, as from a large isotropic start, but the "
    "weights learned have rank 3, not 6. The paper leaves open the starts. Here a low-rank one has u_i = "
    "v_i = B g_i for every unit: r random orthogonal columns B, each of a length uniform in 0.5 to 0.9, "
    "so that W = B B^T is about as large as W*; normal g_i of variance 1/H; and weights of 1e-6 added. "
    "Large isotropic: standard deviation 0.1. Other settings as in Fig. 2A."
)
SECONDS = {"quick": 20, "paper": 20}
CONVENTION = _spectra.CONVENTION
REFERENCES = _spectra.REFERENCES
Config = _spectra.Config
PRESETS = {
    "quick": Config(num_seeds=64, seeds_per_chunk=64),
    "paper": Config(population=False, num_seeds=64),
}
APART = "large, rank 3, layers apart"
STARTS = (
    "small, isotropic",
    "large, rank 1",
    "large, rank 2",
    "large, rank 3",
    "large, isotropic",
    APART,
)
SMALL, RANK_1, RANK_2, RANK_3, ISOTROPIC, _ = STARTS
LARGE = 0.1
WINDOW = (1e-7, 1e-12)
"""Losses between which the rate of the last exponential is measured; before, faster ones are mixed in."""
SPREAD = 0.125
"""Two standard errors of a share of a half of 64 runs."""
SOURCE = "Sec. 6, Fig. 2C"
DETERMINANT = (
    "with layers drawn apart W starts with a negative determinant in half of the runs; near the manifold "
    "it then cannot pass through a singular matrix, and the network comes to rest at a saddle of fewer "
    "effective units"
)


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent from every start and seed; the units of the end."""
    low_rank = [{"initial_weights": _low_rank(config, rank)} for rank in (1, 2, 3)]
    apart = {"initial_weights": _low_rank(config, 3, apart=True)}
    starts = [{"initial_std": config.initial_std}, *low_rank, {"initial_std": LARGE}, apart]
    trainings = {
        name: _spectra.linear(config, records=("units",), **start)
        for name, start in zip(STARTS, starts, strict=True)
    }
    steps = simulate.even_steps(config.last_step, 800)
    found = _spectra.train(
        "runs", "start", trainings, steps, config.learning_rate, config, context, _kept
    )
    return found.assign_attrs(CONVENTION.attributes())


def _kept(record: Any) -> Any:
    """The loss, the determinant of W at the start, and the units at the end."""
    first = record.isel(time=0, drop=True)
    W = np.einsum("sho,shi->soi", first.outgoing.values, first.incoming.values)
    units = record[["incoming", "outgoing"]].isel(time=-1, drop=True)
    return record[["loss"]].merge(units).assign(determinant=("seed", np.linalg.det(W)))


def _low_rank(config: Config, rank: int, apart: bool = False) -> "Callable[[int], Any]":
    """Small weights plus large ones of a rank; with the layers `apart`, each with directions of its own."""
    import jax

    H, D = config.width, _spectra.NUM_MODES

    def initial(seed: int) -> Any:
        keys = jax.random.split(simulate.weights_key(seed), 6)
        shared = core.standard_normal(keys[0], (H, rank)) / np.sqrt(H)
        lengths = 0.5 + 0.4 * np.asarray(jax.random.uniform(keys[1], (rank, 1)), dtype=float)
        read = _orthogonal(keys[2], D)[:rank]
        write = _orthogonal(keys[3], D)[:rank] if apart else read
        small = [config.initial_std * core.standard_normal(k, (H, D)) for k in keys[4:]]
        first, second = (shared @ (lengths * rows) for rows in (read, write))
        return models.TwoLayerWeights((first + small[0]).T, second + small[1])

    return initial


def _orthogonal(key: Any, size: int) -> np.ndarray:
    """A random orthogonal matrix, of either determinant."""
    Q, R = np.linalg.qr(core.standard_normal(key, (size, size)))
    return Q * np.sign(np.diag(R))


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 6 says of the structure of the initial weights."""
    found = dict(zip(STARTS, _spectra.walks(result.loss), strict=True))
    levels = _spectra.linear_levels()
    return require_seeds([
        _walks.share("A small start: a first plateau, then three drops", SOURCE,
                      [p.starts_on_plateau and _spectra.falls_in(p, 3, levels) for p in found[SMALL]]),
        *_low_rank_claims(found),
        _walks.share("A large start of the needed rank 3: no plateau at all", SOURCE,
                     _at_once(found[RANK_3], 1)),
        _rate_claim(result.loss.sel(start=RANK_3), config),
        _walks.share("It learns weights of rank 3", SOURCE, _have_rank(result, RANK_3, 3)),
        _walks.share("A large isotropic start: no plateau either", SOURCE, _at_once(found[ISOTROPIC], 1)),
        _walks.share("but the weights keep rank 6", SOURCE, _have_rank(result, ISOTROPIC, 6)),
        *_apart_claims(_at_once(found[APART], 1), result.determinant.sel(start=APART).values),
    ], 8)  # fmt: skip


def _at_once(runs: list[Any], num_drops: int) -> list[bool]:
    """Runs that fall at once and learn in so many drops."""
    levels = _spectra.linear_levels()
    return [not p.starts_on_plateau and _spectra.falls_in(p, num_drops, levels) for p in runs]


def _low_rank_claims(found: Mapping[Any, list[Any]]) -> list[Claim]:
    cases = ((RANK_1, "two", 3), (RANK_2, "one", 2))
    rests = [
        _walks.share(f"{name.capitalize()}: at first no plateau, then {words} on the way", SOURCE,
                      _at_once(found[name], num_drops), 0.8)
        for name, words, num_drops in cases
    ]  # fmt: skip
    both = [found[RANK_1], found[RANK_2]]
    known = [[_spectra.linear_saddles()] * len(case) for case in both]
    return [*rests, _spectra.saddle_claim(both, "From rank 1 and 2", f"{SOURCE}, Lemma 6", known)]


def _rate_claim(losses: "xarray.DataArray", config: Config) -> Claim:
    """W approaches W* at the rate 4ηs₃ of the slowest mode, the loss twice as fast."""
    begin, end = (time_to(losses, level, falling=True) for level in WINDOW)
    rates = np.log(WINDOW[0] / WINDOW[1]) / (end - begin)
    predicted = 8 * config.learning_rate * _spectra.strengths(1.0)[-1]
    return mean_claim("Its loss decays exponentially, in the end at the rate 8ηs₃ of the weakest mode",
                      f"{SOURCE}; Eq. 9, linearised", predicted, rates, tolerance=0.03)  # fmt: skip


def _apart_claims(falls: list[bool], determinants: np.ndarray) -> list[Claim]:
    every = _walks.share(
        "The same from rank 3 with layers drawn apart: no plateau at all", SOURCE, falls
    )
    return [
        dataclasses.replace(every, departure=Departure(DETERMINANT, 0.5, SPREAD)),
        _walks.share("There the runs with a positive determinant have no plateau, the others have one",
                      "Eq. 9: balanced layers", list(np.array(falls) == (determinants > 0)), 0.9),
    ]  # fmt: skip


def _have_rank(result: "xarray.Dataset", start: str, rank: int) -> list[bool]:
    kind, ends = models.activation_kind("linear"), result.sel(start=start)
    return [
        measures.effective_width(u, v, kind=kind).by_rank == rank
        for u, v in zip(ends.incoming.values, ends.outgoing.values, strict=True)
    ]


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """The loss on two scales."""
    picture, axes = plotting.new_figure(2, panel=(4.2, 3.3))
    colours = (plotting.COLOURS[0], *_spectra.SHADES[:3], "#777777")
    for i, colour in enumerate(colours):
        _spectra.draw_runs(axes[0], result.loss[i], colour, STARTS[i])
    for panel in axes[0]:
        _spectra.draw_levels(panel, _spectra.linear_levels()[:-1])
        panel.set(xlabel="time $t$ (steps)", ylabel="loss", xlim=(0, None))
    axes[0, 0].set(ylim=(0, 0.6), title="Linear scale")
    axes[0, 0].legend(title="initial weights", frameon=True, framealpha=1, edgecolor="none")
    axes[0, 1].set(yscale="log", ylim=(1e-6, 1), title="Logarithmic scale")
    return picture
