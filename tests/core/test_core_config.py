"""Configurations and presets."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import experiments
from lazyrich.core import ArgumentError, config_from_json, config_to_json, jsonable

LEAVES = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8)
REAL = [experiments.get(id) for id in experiments.ids()]


@dataclasses.dataclass(frozen=True)
class Config:
    one: object = 1
    two: object = (0.1, ("a", True))


@given(VALUES, VALUES)
def test_survives_json(one, two):
    config = Config(one, two)
    assert config_from_json(Config, json.loads(json.dumps(config_to_json(config)))) == config


@pytest.mark.parametrize("experiment", REAL, ids=lambda e: e.id)
@pytest.mark.parametrize("preset", ["quick", "paper"])
def test_presets_of_experiments_survive_json(experiment, preset):
    config = experiment.config(preset)
    record = json.loads(json.dumps(config_to_json(config), allow_nan=False))
    assert config_from_json(type(config), record) == config
    hash(config)  # frozen, and so are its values


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"one": 1}, r"got unknown \[\] and missing \['two'\]. It was written by another version"),
        ({"one": 1, "two": 2, "three": 3}, r"got unknown \['three'\] and missing \[\]"),
    ],
)
def test_other_fields_are_refused(record, message):
    with pytest.raises(ArgumentError, match=message):
        config_from_json(Config, record)


@pytest.mark.parametrize("experiment", REAL, ids=lambda e: e.id)
def test_number_of_seeds(experiment):
    quick = experiment.config("quick")
    fewer = experiment.config("quick", 3)
    if hasattr(quick, "num_seeds"):
        assert fewer.num_seeds == 3
    counts = {name for name in vars(quick) if name.startswith("num_") and name.endswith("seeds")}
    for name in set(vars(quick)) - counts:
        assert getattr(fewer, name) == getattr(quick, name)
    for bad in (0, -1, "3", 1.5, True):
        with pytest.raises(
            ArgumentError, match=rf"`seeds` must be a whole number ≥ 1, got {bad!r}\."
        ):
            experiment.config("quick", bad)
    with pytest.raises(ArgumentError, match=r"`preset` must be one of quick, paper, got 'fast'\."):
        experiment.config("fast")


def test_bad_seeds_are_refused_even_where_nothing_is_random():
    exact = dataclasses.replace(REAL[0], presets={"quick": Config()})
    assert exact.config("quick", 3) == Config()
    with pytest.raises(ArgumentError, match="`seeds` must be a whole number ≥ 1, got 0"):
        exact.config("quick", 0)


@pytest.mark.parametrize("experiment", REAL, ids=lambda e: e.id)
def test_experiments_describe_themselves(experiment):
    assert experiment.id == f"{experiment.paper}/{experiment.item}"
    assert set(experiment.presets) == set(experiment.seconds) == {"quick", "paper"}
    assert experiment.title
    assert experiment.caption.endswith(".")
    assert all(experiment.convention.attributes().values())


def test_records_are_made_of_what_json_has():
    record = {
        "a": np.float64(math.nan), "b": [np.int64(2), (math.inf, -math.inf)], "c": np.float32(0.5),
        "d": True, "e": None, "f": "nan", "g": 10**30,
    }  # fmt: skip
    plain = jsonable(record)
    assert plain == {
        "a": "nan", "b": [2, ["inf", "-inf"]], "c": 0.5, "d": True, "e": None, "f": "nan", "g": 10**30,
    }  # fmt: skip
    assert plain["d"] is True
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
