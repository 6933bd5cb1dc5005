"""Invariant manifolds: geometry by brute force, and flows that leave where the theorem does not apply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.checks.saddles.manifolds import flow_residual
from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.models import TwoLayer, Units
from lazyrich.theory import (
    DependentManifold,
    DependentUnit,
    EqualManifold,
    ProportionalManifold,
    ProportionalUnit,
    SplitUnit,
    ZeroManifold,
    ZeroUnit,
)

NAMES = ("linear", "relu", "tanh", "sigmoid", "quadratic")
KINDS = {name: TwoLayer(2, 1, activation=name).kinds[0] for name in NAMES}


def units_of(seed, num_units=4):
    rng = np.random.default_rng(seed)
    return Units(rng.standard_normal((num_units, 3)), rng.standard_normal((num_units, 2)))


def theta(units):
    return np.concatenate([units.outgoing, units.incoming], axis=1)


MANIFOLDS = [
    (EqualManifold(0), lambda t: t[3] - t[0]),
    (EqualManifold(2, unit=1), lambda t: t[1] - t[2]),
    (ZeroManifold(1), lambda t: t[1]),
    (ProportionalManifold(-1.7, of=0, unit=2), lambda t: t[2] + 1.7 * t[0]),
    (ProportionalManifold(0.0, of=0), lambda t: t[3]),
    (DependentManifold([1, -2, 0.5]), lambda t: t[3] - t[0] + 2 * t[1] - 0.5 * t[2]),
    (DependentManifold([1, -2, 0.5], unit=0), lambda t: t[0] - t[1] + 2 * t[2] - 0.5 * t[3]),
]


@pytest.mark.parametrize(("manifold", "constraint"), MANIFOLDS)
@given(st.integers(0, 1000))
def test_residual_is_the_length_of_the_constraint(manifold, constraint, seed):
    units = units_of(seed)
    assert manifold.residual(units) == pytest.approx(np.linalg.norm(constraint(theta(units))))


@pytest.mark.parametrize(("manifold", "constraint"), MANIFOLDS)
def test_projection_is_the_nearest_point(manifold, constraint):
    """The rows of the constraint's matrix, found by probing it, give the nearest point by pseudo-inverse."""
    start = theta(units_of(0))
    C = np.array([constraint(e.reshape(start.shape)) for e in np.eye(start.size)]).T
    nearest = start.ravel() - np.linalg.pinv(C) @ (C @ start.ravel())
    projected = manifold.project(units_of(0))
    np.testing.assert_allclose(theta(projected).ravel(), nearest, atol=1e-12)
    assert projected.incoming.shape == (4, 3)
    assert manifold.residual(projected) < 1e-14
    np.testing.assert_allclose(theta(manifold.project(projected)), theta(projected), atol=1e-14)


def apply(units, X):
    return np.maximum(X @ units.incoming.T, 0) @ units.outgoing


def test_reductions_are_those_of_the_appendix():
    equal = EqualManifold(0).project(units_of(1))
    found = EqualManifold(0).reduce(equal, KINDS["sigmoid"])
    np.testing.assert_array_equal(found.incoming, equal.incoming[:3])
    np.testing.assert_allclose(found.outgoing[0], 2 * equal.outgoing[0])
    np.testing.assert_allclose(found.outgoing[1:], equal.outgoing[1:3])
    manifold = ProportionalManifold(3.0, of=2, unit=0)
    units = manifold.project(units_of(2))
    found = manifold.reduce(units, KINDS["relu"])
    np.testing.assert_allclose(found.outgoing[1], 10 * units.outgoing[2])
    X = np.random.default_rng(0).standard_normal((9, 3))
    np.testing.assert_allclose(apply(found, X), apply(units, X), rtol=1e-12, atol=1e-12)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=4), st.integers(0, 50), st.data())
def test_a_dependent_unit_can_be_taken_away(gamma, seed, data):
    manifold = DependentManifold(gamma, data.draw(st.integers(-len(gamma) - 1, len(gamma))))
    units = manifold.project(units_of(seed, len(gamma) + 1))
    less = manifold.reduce(units, KINDS["linear"])
    assert less.incoming.shape[0] == len(gamma)
    np.testing.assert_allclose(
        less.incoming.T @ less.outgoing, units.incoming.T @ units.outgoing, atol=1e-12
    )


def test_two_constraints_take_two_units():
    pairs = (EqualManifold(0, unit=1), EqualManifold(2, unit=3))
    units = units_of(3)
    for manifold in pairs:
        units = manifold.project(units)
    assert max(manifold.residual(units) for manifold in pairs) < 1e-15
    less = pairs[0].reduce(pairs[1].reduce(units, KINDS["relu"]), KINDS["relu"])
    X = np.random.default_rng(0).standard_normal((9, 3))
    assert less.incoming.shape == (2, 3)
    np.testing.assert_allclose(apply(less, X), apply(units, X), rtol=1e-12, atol=1e-12)


def test_embeddings_are_those_of_the_appendix():
    assert EqualManifold(1).embedding() == SplitUnit(1, 0.5)
    assert ZeroManifold().embedding() == ZeroUnit()
    assert ProportionalManifold(2.0, 1).embedding() == ProportionalUnit(1, 2.0, 0.4)
    assert DependentManifold([1, 2]).embedding() == DependentUnit([1, 2], [1 / 6, 1 / 3])


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.floats(-3, 3), st.integers(0, 2))
def test_embedded_units_lie_on_their_manifold_and_reduce_to_the_narrow_ones(gamma, factor, of):
    for manifold in (
        EqualManifold(of), ZeroManifold(), ProportionalManifold(factor, of), DependentManifold(gamma)
    ):  # fmt: skip
        start = units_of(5, 3)
        wide = manifold.embedding().apply(start, KINDS["linear"])
        assert manifold.residual(wide) < 1e-12
        for found, expected in zip(manifold.reduce(wide, KINDS["linear"]), start, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("tanh", "proportional"),
        ("tanh", "dependent"),
        ("sigmoid", "zero"),
        ("quadratic", "proportional"),
        ("relu", "negative"),
        ("relu", "dependent"),
    ],
)
def test_flows_leave_what_is_not_invariant(name, form):
    """The same integration that stays within 1e-12 where Theorem 3 applies (check `saddles/thm3`)."""
    assert flow_residual(name, 0, form) > 1e-3


def test_flows_stay_where_they_should():
    assert flow_residual("tanh", 0, "split") < 1e-12
    assert flow_residual("quadratic", 0, "zero") < 1e-12


@pytest.mark.parametrize(
    ("manifold", "invariant"),
    [
        (EqualManifold(0), {"linear", "relu", "tanh", "sigmoid", "quadratic"}),
        (ZeroManifold(), {"linear", "relu", "tanh", "quadratic"}),
        (ProportionalManifold(0.5, 0), {"linear", "relu"}),
        (ProportionalManifold(-0.5, 0), {"linear"}),
        (DependentManifold([1, 2]), {"linear"}),
    ],
)
def test_which_units_keep_which_relation(manifold, invariant):
    assert {name for name, kind in KINDS.items() if manifold.is_invariant(kind)} == invariant
    units = manifold.project(units_of(0, 3))
    for name in KINDS.keys() - invariant:
        with pytest.raises(AssumptionError, match=f"`{type(manifold).__name__}` needs"):
            manifold.reduce(units, KINDS[name])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ProportionalManifold(np.nan, 0), "`factor` must be a finite real number, got nan"),
        (lambda: DependentManifold([[1.0]]), "`others` must be a list of numbers"),
        (lambda: DependentManifold([1, 2]).residual(units_of(0)), "`others` must have 3 entries"),
        (
            lambda: EqualManifold(3).residual(units_of(0)),
            "`of` must be another unit than `unit`, got 3",
        ),
        (lambda: EqualManifold(4).residual(units_of(0)), r"`of` must be .* ≤ 3, got 4"),
        (lambda: ZeroManifold(-5).project(units_of(0)), r"`unit` must be .* ≥ -4 .*, got -5"),
        (
            lambda: EqualManifold(0).reduce(units_of(0), KINDS["tanh"]),
            r"`units` must lie on the manifold, got 'a residual of .*'. Use `project` first",
        ),
        (lambda: EqualManifold(0, 1).embedding(), "`unit` must be -1, got 1. A construction adds"),
        (lambda: ZeroManifold().residual(Units([[np.nan]], [[1.0]])), "`units.*` must be a finite"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
