"""Studies that one experiment is composed of, and how their runs are compared."""

import numpy as np
import pytest
import xarray

from lazyrich.core import Claim, Context
from lazyrich.experiments.li2 import (
    _study,
    _variants,
    _when_no_decay,
    _when_runs,
    _when_speed,
    fig11,
    fig12,
    fig13,
    fig14,
)  # fmt: skip


class Config:
    num_seeds = 3
    seeds_per_chunk = 2
    speed_records = 12
    speed_stretch = 1.0


def _counting(name, factor):
    def compute(config, seeds):
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
        assert part.identical(study.compute(None, range(3)))
        assert float(part.scale) == factor


@pytest.mark.parametrize("epochs", [2, 7, 12, 100, 2000])
def test_epochs_of_records_increase_and_are_as_many_for_every_setting(epochs):
    found = _when_runs._epochs(Config(), _when_runs.Setting(epochs, 0.0))
    assert found[0] == 0
    assert len(found) == Config.speed_records + 1
    assert np.all(np.diff(found) > 0)
    assert found[-1] == max(epochs, Config.speed_records)


def _steps(jumps, last=100, train=5):
    """Runs whose test accuracies jump to one at given epochs, or never; training accuracies at `train`."""
    epoch = np.arange(last + 1.0)
    test = np.array([[np.where(epoch >= jump, 1.0, 0.0) for jump in row] for row in jumps.values()])
    fit = np.broadcast_to(np.where(epoch >= train, 1.0, 0.0), test.shape)
    dims = ("setting", "seed", "record")
    return xarray.Dataset(
        {"test_accuracy": (dims, test), "train_accuracy": (dims, fit)}
        | {"epoch": (("setting", "record"), np.tile(epoch, (len(jumps), 1)))},
        {"setting": list(jumps)},
    )


def test_ratio_of_epochs_counts_what_is_never_reached_as_the_end():
    data = _steps({"slow": [80, np.inf], "fast": [20, 20], "never": [np.inf, np.inf]})
    assert _when_runs.share(data, "slow") == 0.5
    assert _when_runs.share(data, "slow", "fast") == 0.75
    found = _when_runs.ratio(data, "slow", "fast")
    # a jump is crossed within the last epoch before it
    assert found.ratio == pytest.approx(np.sqrt(80 / 20 * 100 / 20), rel=0.02)
    assert _when_runs.ratio(data, "never", "fast").ratio == pytest.approx(5, rel=0.02)
    relative = _when_runs.ratio(data, "slow", "fast", relative=True)
    assert relative.ratio == pytest.approx(found.ratio)


def test_exponent_of_epochs_by_decay():
    decays = (1.0, 0.5, 0.25, 0.125)
    exact = {f"adamw {decay:g}": [400 / decay, 800 / decay] for decay in decays}
    slope, error = _when_speed._slope(_steps(exact, last=8000), "adamw", decays)
    assert slope == pytest.approx(-1, abs=0.01)
    assert error < 0.01


def test_large_rates_that_do_not_grok_fail_the_claim():
    class Rates(Config):
        speed_rates = (0.001, 0.03)

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
