"""The contract of experiments, and each of them at a small size through every function."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
import xarray

from lazyrich import experiments, plotting
from lazyrich.core import (
    ArgumentError,
    Claim,
    Context,
    Verdict,
    config_from_json,
    config_to_json,
    papers,
)

PANEL = {"num_samples": 1000, "num_seeds": 2}
SKILLS = {"num_skills": 2, "num_bits": 4, "skill_bits": 2, "last_step": 1000} | {
    "num_seeds": 2,
    "seeds_per_chunk": 2,
}
SMALL = {
    "linear-grokking/fig1": {
        "input_dimension": 60,
        "num_seeds": 2,
        "num_curve_seeds": 2,
        "num_test": 100,
    },
    "linear-grokking/fig2": {
        "input_dimension": 40,
        "delay_input_dimension": 30,
        "num_curve_seeds": (3, 2, 2),
        "num_seeds": 2,
        "num_test": 50,
    },
    "linear-grokking/fig3": {
        "input_dimension": 40,
        "num_seeds": 2,
        "num_curve_seeds": 2,
        "num_test": 50,
        "num_floor_seeds": 3,
    },
    "linear-grokking/fig4": {
        "input_dimension": 20,
        "widths": (10,),
        "output_dimension": 2,
        "last_step": 2e4,
        "num_seeds": 2,
        "num_test": 50,
    },
    "linear-grokking/fig5": {"num_records": 20, "input_dimension": 40, "num_seeds": 2},
    "linear-grokking/fig6": {"input_dimension": 40, "num_seeds": 2, "num_test": 50},
    "linear-grokking/fig7": {
        "num_points": 8,
        "input_dimension": 40,
        "num_test": 50,
        "num_seeds": 2,
    },
    "linear-grokking/fig8": {
        "input_dimension": 40,
        "num_linear_seeds": 2,
        "num_test": 50,
        "order": 13,
        "width": 60,
        "train_fractions": (0.8, 0.9),
        "network_learning_rate": 3000.0,
        "network_last_steps": (2500, 1500),
        "num_seeds": 2,
    },
    "layerwise/fig6a": {
        "num_imbalances": 8,
        "num_scales": 3,
        "num_exact": 2,
        "course_last_step": 1000,
        "num_records": 12,
        "num_seeds": 2,
    },
    "layerwise/fig6b": {"num_imbalances": 3, "num_ratios": 3, "last_step": 500, "num_seeds": 2},
    **{
        f"layerwise/fig10{panel}": {
            "num_imbalances": 4,
            "num_scales": 3,
            "num_exact": 2,
            "course_last_step": 5000,
            "num_records": 12,
            "num_seeds": 2,
        }
        for panel in "ab"
    },
    "saddles/fig2a": {
        "width": 10,
        "heads": 5,
        "widths": (5, 10),
        "compared_heads": (5, 10),
        "num_seeds": 2,
    },
    "saddles/fig2b": {"width": 10, "heads": 10, "exponents": (1.0, 0.0), "num_seeds": 2},
    "saddles/fig2c": {"width": 10, "num_seeds": 2},
    "saddles/fig2d": {"width": 10, "num_seeds": 2},
    "saddles/fig3": {"width": 5, "learning_rate": 0.04, "num_records": 40, "num_seeds": 1},
    "saddles/fig6": {
        "width": 10,
        "initial_std": 0.01,
        "learning_rate": 0.05,
        "last_steps": (40_000, 2_000, 400),
        "num_samples": 100,
        "num_records": 120,
        "num_seeds": 2,
    },
    "saddles/fig1a": {"width": 4, "num_points": 5, "num_seeds": 2},
    **{f"saddles/fig1{panel}": PANEL for panel in "bcde"},
    **{f"saddles/fig1{panel}": PANEL | {"num_seeds": 6} for panel in "fg"},
    "saddles/fig4a": {"num_samples": 30, "num_seeds": 2},
    **{f"saddles/fig4{panel}": PANEL | {"population": True, "nodes": 8} for panel in "bcdefgh"},
    **{f"saddles/fig5{panel}": PANEL for panel in "abcdef"},
    "layerwise/fig3": {"starts": (1e-2, 1e-3, 1e-4), "num_records": 201, "steps_between": 20},
    "layerwise/fig4a": SKILLS | {"width": 64, "num_records": 20},
    "layerwise/fig4b": SKILLS | {"width": 64, "sizes": (4, 16, 64, 256), "batch_size": 64},
    "layerwise/fig4c": SKILLS | {"widths": (1, 2, 4, 12), "learning_rate": 0.02},
    "layerwise/fig5": {
        "samples_per_class": 4,
        "input_dimension": 24,
        "width": 6,
        "last_time": 200.0,
        "num_records": 8,
        "num_seeds": 2,
    },
    **{
        f"layerwise/fig11{panel}": {
            "width": 16,
            "num_samples": 50,
            "num_test": 60,
            "last_step": 1500,
            "num_records": 25,
            "num_seeds": 2,
        }
        for panel in "abcde"
    },
    "layerwise/fig8a": {
        "width": 20,
        "num_samples": 50,
        "num_test": 60,
        "last_step": 1500,
        "num_records": 25,
        "num_seeds": 2,
    },
    "layerwise/fig8b": {
        "order": 7,
        "dimension": 16,
        "heads": 2,
        "width": 32,
        "last_step": 1000,
        "num_records": 25,
        "num_seeds": 2,
    },
    "layerwise/imbalance-grokking": {
        "order": 7,
        "dimension": 16,
        "heads": 2,
        "width": 32,
        "last_step": 500,
        "num_records": 25,
        "layer_width": 8,
        "num_samples": 10,
        "layer_last_step": 30,
        "deep_width": 16,
        "deep_last_step": 300,
        "num_seeds": 2,
    },
    "saddles/table1": {"width": 5, "learning_rate": 0.04, "num_seeds": 2},
    "layerwise/fig7": {"widths": (10, 30), "num_features": 10, "num_seeds": 2},
    **{
        f"li2/fig{number}": {
            "orders": (23, 11),
            "last_epochs": (40, 40),
            "width": 48,
            "num_records": 20,
            "num_seeds": 2,
        }
        for number in (11, 12, 13)
    },
    "li2/fig14": {
        "orders": (13,),
        "last_epochs": (250,),
        "weight_decay": 1e-3,
        "width": 64,
        "num_records": 20,
        "num_seeds": 2,
    },
    "li2/fig5": {
        "primes": (7,),
        "composites": (8,),
        "multiples": (1.5, 3.2),
        "width": 48,
        "learning_rate": 0.02,
        "weight_decay": 4e-3,
        "last_epoch": 400,
        "num_seeds": 2,
    },
    "li2/fig6": {
        "orders": (7, 8),
        "multiples": (2.5, 3.0),
        "learning_rates": (0.01, 0.05),
        "width": 32,
        "last_epoch": 100,
        "num_seeds": 2,
    },
    "li2/fig7": {
        "order": 7,
        "num_samples": 30,
        "ample_samples": 40,
        "learning_rates": (0.01, 0.05),
        "width": 32,
        "last_epoch": 200,
        "num_seeds": 2,
    },
    "li2/fig8": {
        "cyclic": ("Z8",),
        "products": ("Z2 × Z4",),
        "non_abelian": ("D4",),
        "larger": ("Dic2",),
        "multiples": (1.5, 3.2),
        "width": 48,
        "learning_rate": 0.02,
        "weight_decay": 4e-3,
        "last_epoch": 400,
        "num_seeds": 2,
    },
    "li2/fig9": {"order": 7, "widths": (8,), "last_epoch": 60, "num_records": 6, "num_seeds": 2},
    "li2/fig2": {
        "order": 13,
        "width": 64,
        "train_fraction": 0.8,
        "last_epoch": 400,
        "num_records": 14,
        "num_seeds": 2,
    },
    "li2/fig3": {
        "order": 7,
        "width": 48,
        "last_epoch": 300,
        "num_records": 12,
        "num_seeds": 2,
    },
    "li2/fig10": {
        "order": 7,
        "width": 32,
        "middle_layers": (0, 1),
        "last_epoch": 200,
        "num_records": 16,
        "num_seeds": 2,
    },
    **{
        f"li2/fig{number}": {
            "order": 11,
            "width": 48,
            "train_fractions": (0.7, 0.8, 0.9),
            "last_epochs": (300, 300, 200),
            "num_records": 16,
            "num_seeds": 2,
        }
        for number in (15, 16, 17, 18)
    },
    "li2/when": {
        "speed_order": 11,
        "speed_width": 32,
        "speed_widths": (32, 40),
        "speed_coupled": (1e-3, 1e-4),
        "speed_decoupled": (0.4, 0.1),
        "speed_records": 12,
        "speed_stretch": 0.2,
        "fate_order": 11,
        "fate_width": 32,
        "fate_records": 5,
        "fate_stretch": 0.3,
        "fate_train_fractions": (0.35, 0.7),
        "fate_early_order": 13,
        "num_seeds": 2,
    },
    "li2/fig4": {
        "order": 7,
        "train_fractions": (0.3, 1.0),
        "num_ascents": 40,
        "num_starts": 3,
        "num_seeds": 2,
    },
}


@pytest.mark.parametrize("id", experiments.ids())
def test_contract(id):
    experiment = experiments.get(id)
    assert {"quick", "paper"} <= set(experiment.presets) == set(experiment.seconds)
    assert set(experiment.references) <= set(papers())
    assert experiment.paper in experiment.references
    assert experiment.title
    assert experiment.caption.endswith(".")
    for config in experiment.presets.values():
        record = json.loads(json.dumps(config_to_json(config)))
        assert config_from_json(type(config), record) == config
        field = dataclasses.fields(config)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(config, field, 0)


ENDINGS = {
    "step": r"last_steps?|steps_between",
    "fraction": r"train_fractions?",
    "initial": r"initial_(std|scale)s?",
    "std": r"initial_stds?",
}
"""How a field ends that has a word in its name: the same thing has the same name in all figures."""


@pytest.mark.parametrize(("word", "ending"), ENDINGS.items())
def test_fields_are_called_as_in_other_figures(word, ending):
    configs = {id: experiments.get(id).config("quick") for id in experiments.ids()}
    found = [
        (id, field.name)
        for id, config in configs.items()
        for field in dataclasses.fields(config)
        if word in field.name
    ]
    assert found
    assert not [one for one in found if not re.search(f"({ending})$", one[1])]


@pytest.mark.parametrize("id", experiments.ids())
def test_seeds_are_all_asked_for(id):
    """`--seeds` reaches every count of seeds, so their names must be such that it finds them."""
    experiment = experiments.get(id)
    for preset, config in experiment.presets.items():
        names = {field.name for field in dataclasses.fields(config) if "seeds" in field.name}
        counts = names - {"seeds_per_chunk"}
        if not counts:
            continue
        assert "num_seeds" in counts
        assert all(name.startswith("num_") and name.endswith("seeds") for name in counts)
        assert experiment.config(preset, config.num_seeds) == config
        few, twice = experiment.config(preset, 1), experiment.config(preset, 2 * config.num_seeds)
        for name in counts:
            before, least, more = (np.array(getattr(one, name)) for one in (config, few, twice))
            assert np.array_equal(more, 2 * before), name
            assert np.all((least >= 1) & (least <= np.ceil(before / config.num_seeds))), name


LONG = {
    *(f"saddles/fig{panel}" for panel in ("1c", "1e", "1g", "2b", "2d")),
    *(f"saddles/fig{panel}" for panel in ("4b", "4c", "4e", "4f", "4h", "5a", "5b", "5d", "5f")),
    *(f"layerwise/fig{panel}" for panel in ("10b", "11b", "11c", "11d", "11e")),
    *(f"linear-grokking/fig{number}" for number in (2, 4)),
    *(f"li2/fig{number}" for number in (16, 17)),
    "li2/when",
}
"""Panels whose code, all but their settings, others run too; and three that compile for half a minute."""
LOOP = (
    "`run` must use `over_seeds` or `over_cases`, or loop over `context.track(parts, label)` with "
    "`context.keep(name, compute, …)` in it: see `docs/skeletons/index.md`"
)


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=[pytest.mark.slow] * (id in LONG)) for id in experiments.ids()]
)
def test_small_run(id):
    assert id in SMALL, "give every experiment a small configuration in SMALL of this file"
    experiment = experiments.get(id)
    config = dataclasses.replace(experiment.presets["quick"], **SMALL[id])
    kept, labels = {}, []
    context = Context(
        report=lambda label, done, total: labels.append((done, total)),
        load=kept.get,
        save=lambda name, piece: kept.update({name: piece}),
    )
    result = experiment.run(config, context)
    assert isinstance(result, xarray.Dataset)
    assert "time_unit" in result.attrs, "assign it `CONVENTION.attributes()`"
    assert labels, LOOP
    assert labels[-1][0] == labels[-1][1], "the loop over `context.track` must run to its end"
    assert kept, LOOP
    assert experiment.run(config, context).identical(result), "from its pieces it must be the same"
    claims = experiment.claims(result, config)
    assert all(isinstance(claim, Claim) for claim in claims)
    if hasattr(config, "num_seeds"):  # two seeds are too few
        assert any(claim.verdict == Verdict.NOT_APPLICABLE for claim in claims)
    assert not _untouchable(experiment, result, config), "claims must rest on the result"
    with plotting.style():
        figure = experiment.figure(result, config)
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in panels)


def _untouchable(experiment, result, config):
    """The claims that stay the same whatever is done to the result's numbers, if they have any."""

    def numbers(result):
        return [(repr(c.measured), repr(c.expected)) for c in experiment.claims(result, config)]

    before = numbers(result)
    touched = set()
    for name, values in result.data_vars.items():
        rolled = values.roll(dict.fromkeys(values.dims, 1))
        noise = np.random.default_rng(0).standard_normal(values.shape)
        rooted = abs(values) ** 0.5  # shares stay shares
        for changed in (values * 1.7, rooted, values + 1, rolled, values * (1 + noise)):
            try:
                after = numbers(result.assign({name: changed}))
            except ArgumentError:  # nonsense, and noticed
                continue
            touched |= {i for i, pair in enumerate(before) if pair != after[i]}
    claims = experiment.claims(result, config)
    without = {i for i, c in enumerate(claims) if c.needs and math.isnan(c.measured)}
    return [claim.statement for i, claim in enumerate(claims) if i not in touched | without]


def test_claims_of_fig1_can_fail():
    """Wrong data must be noticed: losses of another λ, delays scaled by 1.3, a wrong residual."""
    experiment = experiments.get("linear-grokking/fig1")
    config = dataclasses.replace(
        experiment.presets["quick"], input_dimension=100, num_seeds=16, num_test=200
    )
    good = experiment.run(config, Context())

    def failing(result):
        return [c for c in experiment.claims(result, config) if c.verdict == Verdict.FAILS]

    before = len(failing(good))
    assert len(failing(good.assign(train_loss=good.train_loss * 1.3))) >= before + 2
    assert len(failing(good.assign(delay=good.delay * 1.6))) >= before + 2
    raised = good.test_loss.where(good.ratio < 1, 1.5 * good.test_loss)
    assert len(failing(good.assign(test_loss=raised))) > before
