"""Studies that one experiment is composed of, and how their runs are compared."""

import numpy as np
import pytest
import xarray

from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments.li2 import (
    _study,
    _variants,
    _when_fate,
    _when_no_decay,
    _when_runs,
    _when_speed,
    fig11,
    fig12,
    fig13,
    fig14,
    when,
)  # fmt: skip


class Config:
    num_seeds = 3
    seeds_per_chunk = 2


def _counting(name, factor):
    def compute(config, seeds, context):
        values = factor * np.add.outer(np.array(seeds, float), np.arange(4.0))
        return xarray.Dataset(
            {"value": (("seed", "time"), values), "scale": factor},
            {"seed": list(seeds), "time": np.arange(4)},
        )

    return _study.Study(name, compute, lambda data, config: [], lambda axes, data, config: None)


def test_studies_come_back_as_they_were_computed():
    studies = [_counting("one", 1.0), _counting("other", 10.0)]
    kept = {}
    context = Context(load=kept.get, save=lambda name, piece: kept.update({name: piece}))
    result = _study.run_studies(studies, Config(), context)
    assert set(kept) == {"one-0", "one-2", "other-0", "other-2"}
    for study, factor in zip(studies, (1.0, 10.0), strict=True):
        part = _study.part_of(result, study)
        assert part.identical(study.compute(None, range(3), None))
        assert float(part.scale) == factor


def _steps(jumps, last=100, train=5):
    """Runs whose test accuracies jump to one at given epochs, or never; training accuracies at `train`."""
    epoch = np.arange(last + 1.0)
    test = np.array([[np.where(epoch >= jump, 1.0, 0.0) for jump in row] for row in jumps.values()])
    fit = np.broadcast_to(np.where(epoch >= train, 1.0, 0.0), test.shape)
    dims = ("setting", "seed", "record")
    return xarray.Dataset(
        {"test_accuracy": (dims, test), "train_accuracy": (dims, fit)}
        | {"recorded_time": (("setting", "record"), np.tile(epoch, (len(jumps), 1)))},
        {"setting": list(jumps)},
    )


def test_ratio_of_epochs_counts_what_is_never_reached_as_the_end():
    data = _steps({"slow": [80, np.inf], "fast": [20, 20], "never": [np.inf, np.inf]})
    assert _when_runs.generalise(data, "slow").mean() == 0.5
    assert _when_runs.generalise(data, "slow", "fast").mean() == 0.75
    found = _when_runs.ratio(data, "slow", "fast")
    # a jump is crossed within the last epoch before it
    assert found == pytest.approx([80 / 20, 100 / 20], rel=0.02)
    assert _when_runs.ratio(data, "never", "fast") == pytest.approx([5, 5], rel=0.02)
    assert _when_runs.ratio(data, "slow", "fast", relative=True) == pytest.approx(found)


def test_exponent_of_epochs_by_decay():
    decays = (1.0, 0.5, 0.25, 0.125)
    exact = {f"adamw {decay:g}": [400 / decay, 800 / decay] for decay in decays}
    slopes = _when_speed._slopes(_steps(exact, last=8000), "adamw", decays)
    assert slopes == pytest.approx([-1, -1], abs=0.01)


def test_networks_that_never_generalise_have_no_exponent():
    config = when.PRESETS["quick"]
    never = _steps({name: [np.inf] * 8 for name in _when_speed._decays(config)})
    assert [claim.verdict for claim in _when_speed._decay_claims(never, config)] == ["fails"] * 3
    some = _steps({"adamw 1": [20, 20], "adamw 0.5": [40, np.inf]})
    slopes = _when_speed._slopes(some, "adamw", (1.0, 0.5))
    assert slopes[0] == pytest.approx(-1, abs=0.05)
    assert np.isnan(slopes[1])


def test_energies_of_too_few_networks_with_nodes_of_both_kinds_say_nothing():
    dims = ("fraction", "seed")
    energy = np.full((2, 8), np.nan)
    energy[:, 0] = 1.0
    data = xarray.Dataset(
        {
            name: (dims, np.full((2, 8), 0.5))
            for name in ("test_accuracy", "memorising", "generalising")
        }
        | {"memorising_energy": (dims, energy), "generalising_energy": (dims, np.ones((2, 8)))},
        {"fraction": [0.3, 0.6]},
    )
    *_, scarce, ample = require_seeds(_when_fate._semi_claims(data, None), 8)
    for claim in (scarce, ample):
        assert (claim.num_seeds, claim.verdict) == (1, "not-applicable")
    both = data.assign(memorising_energy=data.memorising_energy.fillna(1.5).where(
        data.fraction < 0.5))  # fmt: skip
    assert float(_when_fate._last_mixed(both).fraction) == 0.3


def test_large_rates_that_do_not_grok_fail_the_claim():
    class Rates(Config):
        speed_learning_rates = (0.001, 0.03)

    good = _steps({"0.001": [np.inf] * 8, "0.03": [50] * 8})
    bad = _steps({"0.001": [50] * 8, "0.03": [np.inf] * 8})
    assert all(claim.agrees() for claim in _when_no_decay.rate_claims(good, Rates()))
    assert not any(claim.agrees() for claim in _when_no_decay.rate_claims(bad, Rates()))


def test_orders_that_are_missing_are_not_applicable():
    result = xarray.Dataset(coords={"order": [23]})
    found = _variants.for_orders(
        result, (23, 41), lambda order: Claim(f"M = {order}: text", "Fig. 11", 1, 1)
    )
    assert [claim.statement for claim in found] == ["M = 23: text", "M = 41: text"]
    assert [str(claim.verdict) for claim in found] == ["holds", "not-applicable"]
    assert "M = 41" in str(found[1].needs)


@pytest.mark.parametrize("figure", [fig11, fig12, fig13, fig14])
@pytest.mark.parametrize("preset", ["quick", "paper"])
def test_all_variants_are_recorded_equally_often(figure, preset):
    config = figure.PRESETS[preset]
    kinds = (_variants.Kind.REAL, _variants.Kind.COMPLEX)
    numbers = range(len(config.orders))
    assert len({len(_variants._epochs(config, k, i)) for k in kinds for i in numbers}) == 1
