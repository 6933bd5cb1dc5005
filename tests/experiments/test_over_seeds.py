"""Work over seeds and cases, and runs that are recorded at different times."""

import types

import numpy as np
import pytest
import xarray

from lazyrich.core import Context
from lazyrich.experiments._over_seeds import over_cases, over_parts, over_seeds
from lazyrich.experiments._records import by_record, by_time

CONFIG = types.SimpleNamespace(num_seeds=3, seeds_per_chunk=2)


def run(config, factor, power, seeds):
    values = factor * np.add.outer(np.array(seeds), np.arange(4.0)) ** power
    coordinates = {"seed": list(seeds), "time": np.arange(4)}
    return xarray.Dataset(
        {"value": (("seed", "time"), values), "size": factor}, coordinates, {"a": 1}
    )


def test_seeds_in_kept_chunks():
    kept, reports = {}, []
    context = Context(
        report=lambda *where: reports.append(where), load=kept.get,
        save=lambda name, piece: kept.update({name: piece}),
    )  # fmt: skip
    found = over_seeds(lambda config, seeds: run(config, 2.0, 1, seeds), CONFIG, context, "label")
    assert found.identical(run(None, 2.0, 1, range(3)).drop_attrs())
    assert list(kept) == ["seeds-0", "seeds-2"]
    assert reports == [("label", 0, 2), ("label", 1, 2), ("label", 2, 2)]
    again = over_seeds(lambda config, seeds: pytest.fail("it is kept"), CONFIG, context)
    assert again.identical(found)


def test_every_case_of_a_grid():
    kept = {}
    context = Context(save=lambda name, piece: kept.update({name: piece}))
    axes = {"factor": {"one": 1.0, "two": 2.0}, "power": (1, 2, 3)}
    found = over_cases(axes, run, CONFIG, context)
    assert len(kept) == 2 * 3 * 2
    assert found.value.dims == ("factor", "power", "seed", "time")
    assert found["factor"].values.tolist() == ["one", "two"]
    assert found["size"].sel(factor="two", power=3) == 2
    for name, factor in axes["factor"].items():
        for power in axes["power"]:
            one = found.value.sel(factor=name, power=power)
            np.testing.assert_array_equal(one, run(None, factor, power, range(3)).value)


def test_cases_with_numbers_of_seeds_of_their_own():
    def compute(config, factor, seeds):
        return run(config, factor, 1, seeds)

    found = over_cases({"factor": [1.0, 2.0]}, compute, CONFIG, Context(), num_seeds=[1, 3])
    assert found.value.isel(factor=0).notnull().any("time").values.tolist() == [True, False, False]
    assert bool(found.value.isel(factor=1).notnull().all())
    with pytest.raises(ValueError, match="zip"):
        over_parts({"a": compute}, CONFIG, Context(), num_seeds=[1, 3])


def test_runs_that_are_recorded_at_different_times():
    def compute(config, last, seeds):
        one = run(config, 1.0, 1, seeds)
        return by_record(one.assign_coords(time=np.linspace(0, last, 4)))

    found = over_cases({"last": [3.0, 30.0]}, compute, CONFIG, Context())
    assert found.recorded_time.dims == ("last", "record")
    late = by_time(found, last=30.0)
    assert late.value.dims == ("seed", "time")
    assert late.time.values.tolist() == [0, 10, 20, 30]
    np.testing.assert_array_equal(late.value, run(None, 1.0, 1, range(3)).value)
    with pytest.raises(ValueError, match="dim"):
        by_time(found)


def test_a_piece_with_a_context_of_its_own():
    kept, reports = {}, []
    context = Context(
        report=lambda *where: reports.append(where), load=kept.get,
        save=lambda name, piece: kept.update({name: piece}),
    )  # fmt: skip

    def compute(config, seeds, inside):
        inside.keep("half", lambda: run(config, 1.0, 1, seeds))
        inside.report("steps", 5, 10)
        return run(config, 1.0, 1, seeds)

    over_seeds(compute, CONFIG, context, "label", resume=True)
    assert list(kept) == ["seeds-0.half", "seeds-0", "seeds-2.half", "seeds-2"]
    assert [done for _, done, _ in reports] == [0, 0.5, 1, 1.5, 2]
    assert {label for label, *_ in reports} == {"label"}
