"""Fig. 2B: the effect of the data's spectrum."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import plotting, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _spectra, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig2b"
TITLE = "The effect of the data's spectrum"
CAPTION = (
    "The loss of every run (thin) and of the run that rests for the median time on its way (bold), for "
    "singular values n^−κ, n = 1, 2, 3, over their sum. The closer they are, the shorter the plateaus. "
    "Equal ones leave linear networks (100 units) no plateau but the first, while most runs of linear "
    "self-attention (25 heads) still rest on their way; some do not, as two or three of their heads start "
    "alike. Circles: drops that the staircase predicts, without a fit. Settings as in Fig. 2A."
)
SECONDS = {"quick": 5, "paper": 25}
CONVENTION = _spectra.CONVENTION
REFERENCES = _spectra.REFERENCES


@dataclasses.dataclass(frozen=True)
class Config(_spectra.Both):
    """What Fig. 2B is computed from; the exponents κ fall, the last one is 0."""

    exponents: tuple[float, ...] = (1.0, 0.75, 0.5, 0.0)
    attention_last_step: int = 5000


PRESETS = {"quick": Config(), "paper": Config(population=False, num_seeds=64)}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent of all networks from every seed."""
    import xarray

    kappas = config.exponents
    linear = _spectra.train(
        "linear", "exponent", {k: _spectra.linear(config, k) for k in kappas},
        simulate.even_steps(config.last_step, _spectra.NUM_RECORDS), config.learning_rate, config, context,
    )  # fmt: skip
    attention = _spectra.train(
        "attention", "exponent", {k: _spectra.attention(config, k) for k in kappas},
        simulate.even_steps(config.attention_last_step, _spectra.NUM_RECORDS),
        config.attention_learning_rate, config, context,
    )  # fmt: skip
    seeds = range(config.num_seeds)
    saddles = [
        context.keep(
            f"saddles-{k:g}", _spectra.sampled_saddles, _spectra.attention(config, k), seeds
        )
        for k in kappas
    ]
    stairs = [_spectra.staircase(config, k).drop_times for k in kappas]
    return linear.rename(loss="linear_loss").assign(
        attention_loss=attention.loss.rename(time="attention_time"),
        saddle_loss=xarray.concat(saddles, "exponent").saddle_loss,
        predicted_drop=(("exponent", "drop"), np.array(stairs))
    ).assign_attrs(CONVENTION.attributes())  # fmt: skip


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 6 says of the data distribution."""
    return require_seeds([*_linear_claims(result, config), *_attention_claims(result, config)], 8)


def _linear_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    levels = [_spectra.linear_levels(k) for k in config.exponents]
    found = _spectra.walks(result.linear_loss)
    drops = np.array([
        _spectra.drop_times(losses, known)
        for losses, known in zip(result.linear_loss, levels, strict=True)
    ])  # fmt: skip
    return [
        *_spectra.trend("Linear networks: the smaller κ, the shorter the time on intermediate plateaus",
                        "Sec. 6, Fig. 2B", _spectra.resting(found)),
        _walks.share("Linear networks: with κ = 1 the loss falls in three drops", "Fig. 2B",
                      [_spectra.falls_in(p, 3, levels[0]) for p in found[0]]),
        _walks.share("Linear networks: with κ = 0 it falls in a single drop, without intermediate plateau",
                      "Sec. 6, Fig. 2B", [_spectra.falls_in(p, 1, levels[-1]) for p in found[-1]]),
        _spectra.drop_claim(drops, result.predicted_drop, "Sec. 5.1, 6"),
    ]  # fmt: skip


def _attention_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    levels = [_spectra.attention_levels(k) for k in config.exponents]
    found = _spectra.walks(result.attention_loss)
    rests = _spectra.resting(found)
    distinct = [i for i, k in enumerate(config.exponents) if k > 0]
    return [
        *_spectra.trend("Linear attention: the smaller κ, the shorter the time on intermediate plateaus",
                        "Sec. 6, Fig. 2B", rests),
        _walks.share("Linear attention: with κ = 0 most runs still have an intermediate plateau",
                      "Sec. 6, Fig. 2B",
                      [p.num_drops > 1 and _spectra.has_learned(p, levels[-1]) for p in found[-1]], 0.5),
        _spectra.saddle_claim([found[i] for i in distinct], "Linear attention, κ > 0", "Fig. 2B",
                              result.saddle_loss.values[distinct]),
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Linear networks and linear attention."""
    picture, axes = plotting.new_figure(2, panel=(4.0, 3.2))
    left, right = axes[0]
    for i, colour in enumerate(_spectra.SHADES[::-1][: len(config.exponents)]):
        label, levels = f"κ = {config.exponents[i]:g}", _spectra.linear_levels(config.exponents[i])
        _spectra.draw_runs([left], result.linear_loss[i], colour, label)
        _spectra.draw_runs([right], result.attention_loss[i], colour, label)
        _spectra.draw_drops(left, result.predicted_drop[i], levels, colour)
    left.set(title=f"Linear network, H = {config.width}")
    right.set(title=f"Linear self-attention, H = {config.heads}")
    for panel in axes[0]:
        panel.set(xlabel="time $t$ (steps)", ylabel="loss", xlim=(0, None), ylim=(0, None))
        panel.legend()
    return picture
