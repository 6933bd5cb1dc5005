"""Fig. 2A: the effect of the number of units."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import models, plotting, simulate, tasks
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.saddles import _spectra, _walks

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

PAPER, ID = "saddles", "fig2a"
TITLE = "The effect of network width"
CAPTION = (
    "The loss of every run (thin) and of the run that rests for the median time on its way (bold). More "
    "units hardly change linear networks, as the staircase predicts (circles, without a fit), but shorten "
    "the plateaus of linear self-attention. Right: where one unit can express the solution there is one "
    "drop only. Dotted: losses of fixed points. Linear networks: three inputs of covariance 1, three "
    "outputs, W* = diag(6, 3, 2)/11, ε = 1e-6, rate 0.01 as in Fig. 1B. Attention: D = 3, N = 32, heads "
    "of rank one, Λ such that NΛ² has these singular values, ε = 0.005 as in Fig. 1F, rate 0.1. The paper "
    "leaves open widths, rates, ε and the length of runs."
)
SECONDS = {"quick": 14, "paper": 60}
CONVENTION = _spectra.CONVENTION
REFERENCES = _spectra.REFERENCES
ONE_UNIT = ("one output", "one input", "merged key and query")
"""Networks that learn their task with one unit (Sec. 7)."""


@dataclasses.dataclass(frozen=True)
class Config(_spectra.Both):
    """What Fig. 2A is computed from; `width` and `heads` are those where one unit suffices."""

    widths: tuple[int, ...] = (10, 30, 100, 300)
    compared_heads: tuple[int, ...] = (5, 10, 25, 100)
    merged_learning_rate: float = 0.01
    one_unit_last_step: int = 2000


PRESETS = {
    "quick": Config(),
    "paper": Config(population=False, num_seeds=64),
}


def run(config: Config, context: Context) -> "xarray.Dataset":
    """Gradient descent of all networks from every seed."""
    wide = [dataclasses.replace(config, width=width) for width in config.widths]
    many = [dataclasses.replace(config, heads=heads) for heads in config.compared_heads]
    linear = _spectra.train(
        "linear", "width", {c.width: _spectra.linear(c) for c in wide},
        simulate.even_steps(config.last_step, _spectra.NUM_RECORDS), config.learning_rate, config, context,
    )  # fmt: skip
    attention = _spectra.train(
        "attention", "heads", {c.heads: _spectra.attention(c) for c in many},
        simulate.even_steps(config.attention_last_step, _spectra.NUM_RECORDS),
        config.attention_learning_rate, config, context,
    )  # fmt: skip
    single = _spectra.train(
        "one-unit", "network", dict(zip(ONE_UNIT, _one_unit(config), strict=True)),
        simulate.even_steps(config.one_unit_last_step, _spectra.NUM_RECORDS),
        config.merged_learning_rate, config, context,
    )  # fmt: skip
    seeds = range(config.num_seeds)
    saddles = context.keep("saddles", _spectra.sampled_saddles, _spectra.attention(config), seeds)
    stairs = [_spectra.staircase(c).drop_times for c in wide]
    return linear.rename(loss="linear_loss").assign(
        attention_loss=attention.loss.rename(time="attention_time"),
        one_unit_loss=single.loss.rename(time="one_unit_time"),
        saddle_loss=saddles.saddle_loss,
        predicted_drop=(("width", "drop"), np.array(stairs)),
    ).assign_attrs(CONVENTION.attributes())  # fmt: skip


def _one_unit(config: Config) -> "list[simulate.Supervised]":
    """Inputs of variance s with equal weights for one output; one input for three outputs; attention."""
    s = _spectra.strengths(1.0)

    def ones(x: Any) -> Any:
        return x.sum(axis=1, keepdims=True)

    one_output = tasks.GaussianRegression(np.diag(s), ones, config.num_samples)
    one_input = tasks.GaussianRegression(1, lambda x: x * s, config.num_samples)
    return [
        _spectra.linear(config, network=models.TwoLayer(s.size, config.width), task=one_output),
        _spectra.linear(config, network=models.TwoLayer(1, config.width, s.size), task=one_input),
        _spectra.attention(config, merged=True),
    ]


def claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    """What Sec. 6 says of the width, and the special case of Sec. 7."""
    return require_seeds(
        [*_linear_claims(result, config), *_attention_claims(result), *_one_unit_claims(result)], 8
    )


def _linear_claims(result: "xarray.Dataset", config: Config) -> list[Claim]:
    levels = _spectra.linear_levels()
    found = _spectra.walks(result.linear_loss)
    times = _spectra.learning_times(result.linear_loss, levels)
    drops, predicted = _spectra.drop_times(result.linear_loss, levels), result.predicted_drop.values
    words = f"from {config.widths[0]} to {config.widths[-1]} units"
    (faster, error), (later, late_error) = (
        _spectra.ratio(x[-1], x[0]) for x in (times, drops[..., -1])
    )
    return [
        _walks.share("Linear networks of all widths learn in three drops", "Fig. 2A",
                      [_spectra.falls_in(p, 3, levels) for case in found for p in case]),
        Claim(f"Linear networks: width has little effect (share by which learning is faster {words})",
              "Sec. 6, Fig. 2A", 0.2, 1 - faster, "at-most", uncertainty=error, num_seeds=times.shape[1]),
        Claim(f"Linear networks: the last drop comes earlier as the staircase says (ratio {words})",
              "Sec. 5.1, 6", predicted[-1, -1] / predicted[0, -1], later, "relative", 0.02,
              uncertainty=late_error, num_seeds=times.shape[1]),
        _spectra.drop_claim(drops, predicted, "Sec. 5.1"),
        *_spectra.level_claims(found, "Fig. 2A, Lemma 6", levels, "Linear networks"),
    ]  # fmt: skip


def _attention_claims(result: "xarray.Dataset") -> list[Claim]:
    levels = _spectra.attention_levels()
    found = _spectra.walks(result.attention_loss)
    times = _spectra.learning_times(result.attention_loss, levels)
    first = np.array([[p.ends[0] for p in case] for case in found])
    few, many = result.heads.values[[0, -1]]
    slower, error = _spectra.ratio(times[0], times[-1])
    return [
        *_spectra.trend("Linear attention: the more heads, the shorter the time on intermediate plateaus",
                        "Sec. 6, Fig. 2A", _spectra.resting(found)),
        *_spectra.trend("Linear attention: the more heads, the shorter the first plateau",
                        "Sec. 6, Fig. 2A", first),
        Claim(f"Linear attention: more heads speed up learning (median time, {few} over {many} heads)",
              "Sec. 6, Fig. 2A", 1.5, slower, "at-least", uncertainty=error, num_seeds=times.shape[1]),
        _spectra.saddle_claim(found, "Linear attention", "Fig. 2A", [result.saddle_loss.values] * len(found)),
    ]  # fmt: skip


def _one_unit_claims(result: "xarray.Dataset") -> list[Claim]:
    s, best = _spectra.strengths(1.0), _spectra.attention_levels()
    levels = (np.array([s.sum(), 0]), np.array([s @ s, 0]), best[[0, -1]])
    words = ("Linear networks with one output", "Linear networks with one input",
             "Linear attention with merged key and query")  # fmt: skip
    return [
        _walks.share(f"{text} learn in a single drop: one unit suffices", "Sec. 7",
                      [_spectra.falls_in(p, 1, known) for p in case])
        for text, case, known in zip(words, _spectra.walks(result.one_unit_loss), levels, strict=True)
    ]  # fmt: skip


def figure(result: "xarray.Dataset", config: Config) -> "Figure":
    """Linear networks, linear attention, and networks for which one unit suffices."""
    picture, axes = plotting.new_figure(3, panel=(3.7, 3.1))
    left, middle, right = axes[0]
    levels = _spectra.linear_levels()
    for i, colour in enumerate(_spectra.SHADES[: len(config.widths)]):
        _spectra.draw_runs([left], result.linear_loss[i], colour, f"H = {config.widths[i]}")
        _spectra.draw_drops(left, result.predicted_drop[i], levels, colour)
    for i, colour in enumerate(_spectra.SHADES[: len(config.compared_heads)]):
        label = f"H = {config.compared_heads[i]}"
        _spectra.draw_runs([middle], result.attention_loss[i], colour, label)
    for i, name in enumerate(ONE_UNIT):
        share = result.one_unit_loss[i] / result.one_unit_loss[i, :, :1].values
        _spectra.draw_runs([right], share, plotting.COLOURS[i], name)
    _spectra.draw_levels(left, levels)
    _spectra.draw_levels(middle, _spectra.attention_levels())
    left.set(title="Linear network", ylabel="loss")
    middle.set(title="Linear self-attention", ylabel="loss")
    right.set(title="One unit suffices", ylabel="loss / initial loss")
    for panel in axes[0]:
        panel.set(xlabel="time $t$ (steps)", xlim=(0, None), ylim=(0, None))
        panel.legend()
    return picture
