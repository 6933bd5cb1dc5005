"""What `theory` exports cannot be changed, and prints what it is."""

import dataclasses

import numpy as np
import pytest

from lazyrich import groups, theory
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._solution import Solution

GROUP, TWO = groups.cyclic(5), np.diag([2.0, 1.0])
OBJECTS = {
    "AttentionSaddles": lambda: theory.AttentionSaddles(TWO, context=4),
    "GroupFeatures": lambda: theory.GroupFeatures(GROUP),
    "LinearFixedPoints": lambda: theory.LinearFixedPoints(TWO, TWO),
    "Memorisation": lambda: theory.Memorisation([0.6, 0.4]),
    "ModulatedEnergy": lambda: theory.ModulatedEnergy(GROUP, (1, 4)),
    "NodesToCollect": lambda: theory.NodesToCollect([1.0, 2.0]),
    "PairFeatureGram": lambda: theory.PairFeatureGram("relu", 7),
    "QuadraticEscape": lambda: theory.QuadraticEscape(TWO, np.ones((2, 1)), [1.0]),
    "RandomFeatureGram": lambda: theory.RandomFeatureGram("relu"),
    "Staircase": lambda: theory.Staircase(TWO, np.eye(2), initial_std=1e-6, width=50),
    "TargetReconstruction": lambda: theory.TargetReconstruction(GROUP),
}
CLASSES = {
    name: value
    for name in theory.__all__
    if isinstance(value := getattr(theory, name), type) and not issubclass(value, tuple)
}


def test_every_class_is_frozen():
    loose = {
        name for name, kind in CLASSES.items()
        if not issubclass(kind, Frozen | Solution)
        and not (dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen)
    }  # fmt: skip
    assert not loose
    assert set(OBJECTS) == {name for name, kind in CLASSES.items() if issubclass(kind, Frozen)}


@pytest.mark.parametrize("name", OBJECTS)
def test_prints_and_cannot_be_changed(name):
    value = OBJECTS[name]()
    assert name in repr(value)
    assert "0x" not in repr(value)
    known = next(attribute for attribute in vars(value) if not attribute.startswith("__"))
    for attribute in ("anything", "learning_rate", known):
        with pytest.raises(AttributeError, match=f"'{attribute}'. Make a new {name}"):
            setattr(value, attribute, 5)


def test_prints_what_it_was_made_from():
    network = theory.DiagonalNetwork(1 / 3, first=0.1, second=[0.1, 0.2], variance=np.ones((4, 2)))
    assert repr(network) == (
        "DiagonalNetwork(target=0.333333, first=0.1, second=[0.1, 0.2], variance=array of shape (4, 2))"
    )
