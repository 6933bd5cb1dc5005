"""Distances to invariant manifolds, against brute force, closed forms and training."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from lazyrich.core import ArgumentError
from lazyrich.measures import manifold_distance

NAMES = ("zero", "equal", "proportional", "dependent")


def drawn(seed, units=6, inputs=3, outputs=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((units, inputs)), rng.standard_normal((units, outputs))


def distance(theta, manifold, **options):
    """The first column is the outgoing weight, the others the incoming ones."""
    return float(manifold_distance(theta[:, 1:], theta[:, 0], manifold, **options).distance)


# brute force: all ways to put units into groups; in a group all subsets that a ray may hold


def in_groups(num_units, number):
    for labels in itertools.product(range(number), repeat=num_units):
        yield [tuple(i for i, label in enumerate(labels) if label == k) for k in set(labels)]


def off_a_point(x):
    return np.sum((x - x.mean(axis=0)) ** 2)


def off_a_line(x):
    return np.sum(x**2) - np.linalg.norm(x, 2) ** 2


def off_a_ray(x):
    """At the best ray the units in its half space have it as first singular vector."""
    subsets = (
        x[list(s)] for k in range(1, len(x) + 1) for s in itertools.combinations(range(len(x)), k)
    )
    lines = [np.linalg.svd(s)[2][0] for s in subsets]
    held = [np.sum(np.maximum(sign * x @ d, 0) ** 2) for d in lines for sign in (1, -1)]
    return np.sum(x**2) - max(held)


def brute_force(theta, number, cost):
    one = functools.cache(lambda group: cost(theta[list(group)]))
    totals = [sum(one(g) for g in groups) for groups in in_groups(len(theta), number)]
    return np.sqrt(max(min(totals), 0))


EXACT = [(1, 5), (4, 5)]  # effective width and units for which the answer is exact


@pytest.mark.parametrize(("number", "units"), EXACT)
@pytest.mark.parametrize(
    ("manifold", "either_sign", "cost"),
    [("equal", False, off_a_point), ("proportional", False, off_a_ray), ("proportional", True, off_a_line)],
)  # fmt: skip
def test_against_all_groups(manifold, either_sign, cost, number, units):
    for seed in range(8):
        theta = np.random.default_rng(seed).standard_normal((units, 4))
        found = distance(theta, manifold, width=number, either_sign=either_sign)
        assert found == pytest.approx(brute_force(theta, number, cost), rel=1e-9)


@pytest.mark.parametrize(
    ("manifold", "cost"), [("equal", off_a_point), ("proportional", off_a_ray)]
)
def test_the_search_is_a_bound_and_a_good_one(manifold, cost):
    ratios = []
    for seed in range(12):
        theta = np.random.default_rng(seed).standard_normal((5, 4))
        found = distance(theta, manifold, width=2)
        ratios.append(found / brute_force(theta, 2, cost))
    assert min(ratios) > 1 - 1e-9
    assert max(ratios) < 1.1
    assert np.median(ratios) < 1 + 1e-9


def test_dependent_against_optimisation():
    theta = np.random.default_rng(0).standard_normal((5, 4))

    def misfit(w):
        left, right = w[:10].reshape(5, 2), w[10:].reshape(2, 4)
        return np.sum((theta - left @ right) ** 2)

    starts = np.random.default_rng(1).standard_normal((5, 18))
    best = min(minimize(misfit, start, tol=1e-12).fun for start in starts)
    assert distance(theta, "dependent", width=2) == pytest.approx(np.sqrt(best), rel=1e-6)


def test_one_relation_between_two_units():
    u, v = [[3.0, 0.0], [0.0, 4.0], [-1.0, 0.0]], [0.0, 0.0, 0.0]
    assert manifold_distance(u, v, "zero", units=1).distance == 4
    assert manifold_distance(u, v, "equal", units=(0, 1)).distance == pytest.approx(5 / np.sqrt(2))
    assert manifold_distance(u, v, "proportional", units=(0, 1)).distance == 3
    assert manifold_distance(u, v, "proportional", units=(0, 1)).relative == pytest.approx(3 / 5)
    assert manifold_distance(u, v, "proportional", units=(0, 2)).distance == 1  # opposite rays
    assert manifold_distance(u, v, "proportional", units=(0, 2), either_sign=True).distance == 0
    assert manifold_distance(u, v, "dependent", units=(0, 1)).distance == 3
    assert manifold_distance(u, v, "dependent").distance == 0  # three units in a plane


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("manifold", NAMES)
def test_on_the_manifold_it_is_no_more_than_the_noise(manifold, noise):
    rng = np.random.default_rng(3)
    few = rng.standard_normal((3, 5))
    which = np.array([0, 1, 2, 0, 1, 2, 2, 1])
    theta = {
        "zero": np.concatenate([few, np.zeros((5, 5))])[rng.permutation(8)],
        "equal": few[which],
        "proportional": rng.uniform(0.2, 2, (8, 1)) * few[which],
        "dependent": rng.standard_normal((8, 3)) @ few,
    }[manifold]
    added = noise * rng.standard_normal(theta.shape)
    found = distance(theta + added, manifold, width=3)
    assert found <= np.linalg.norm(added) + 1e-14
    assert found >= 0.3 * np.linalg.norm(added)
    assert distance(theta + added, manifold, width=2) > 0.1


@given(st.integers(0, 10**6), st.integers(2, 7))
@settings(max_examples=10)
def test_larger_manifolds_are_nearer(seed, units):
    u, v = drawn(seed, units)
    options = [("zero", {}), ("equal", {}), ("proportional", {}),
               ("proportional", {"either_sign": True}), ("dependent", {})]  # fmt: skip
    table = np.array([
        [manifold_distance(u, v, name, width=r, **more).distance for r in range(1, units + 1)]
        for name, more in options
    ])  # fmt: skip
    assert np.all(np.diff(table, axis=1) <= 1e-12)  # with the width
    zero, equal, rays, lines, dependent = table
    for small, large in ((zero, rays), (equal, rays), (rays, lines), (lines, dependent)):
        assert np.all(large <= small + 1e-12)
    np.testing.assert_array_equal(table[:, -1], 0)


@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.sampled_from([1e-200, 1e-3, 1.0, 1e200]))
@settings(max_examples=40)
def test_order_and_unit_of_the_weights_do_not_matter(seed, manifold, scale):
    u, v = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(u))
    found = manifold_distance(u, v, manifold, width=1)
    other = manifold_distance(scale * u[order], scale * v[order], manifold, width=1)
    assert other.distance == pytest.approx(scale * found.distance, rel=1e-9)
    assert other.relative == pytest.approx(found.relative, rel=1e-9)
    weights = np.concatenate([u, v], axis=1)
    assert found.relative == pytest.approx(found.distance / np.linalg.norm(weights), rel=1e-12)


@given(st.integers(0, 10**6), st.sampled_from(NAMES))
@settings(max_examples=20)
def test_the_axes_do_not_matter(seed, manifold):
    u, v = drawn(seed)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    found = manifold_distance(u, v, manifold, width=1).distance
    assert manifold_distance(u @ turn, v, manifold, width=1).distance == pytest.approx(
        found, rel=1e-9
    )


@pytest.mark.parametrize(
    ("manifold", "activation", "keeps"),
    [
        ("equal", "tanh", True),
        ("zero", "tanh", True),
        ("proportional", "relu", True),
        ("proportional", "tanh", False),
        ("dependent", "linear", True),
        ("dependent", "relu", False),
    ],
)
def test_descent_stays_where_the_theorem_says_so(manifold, activation, keeps):
    """Theorem 3. Descent, too, moves units that are related in the same way."""
    rng = np.random.default_rng(0)
    sigma, slope = {
        "tanh": (np.tanh, lambda a: 1 - np.tanh(a) ** 2),
        "relu": (lambda a: np.maximum(a, 0), lambda a: (a > 0).astype(float)),
        "linear": (lambda a: a, np.ones_like),
    }[activation]
    x, y = rng.standard_normal((40, 3)), rng.standard_normal((40, 2))
    theta = rng.standard_normal((4, 5))
    theta[3] = {"equal": theta[0], "zero": 0 * theta[0], "proportional": 0.4 * theta[0],
                "dependent": 0.4 * theta[0] - 0.7 * theta[1]}[manifold]  # fmt: skip
    units = {"zero": 3, "dependent": (0, 1, 3)}.get(manifold, (0, 3))
    v, u = theta[:, :2].copy(), theta[:, 2:].copy()
    start = manifold_distance(u, v, manifold, units=units).relative
    assert start < 1e-14
    for _ in range(200):
        a = x @ u.T
        error = (sigma(a) @ v - y) / len(x)
        u, v = u - 0.1 * ((error @ v.T) * slope(a)).T @ x, v - 0.1 * sigma(a).T @ error
    found = manifold_distance(u, v, manifold, units=units).distance
    assert found < 1e-12 if keeps else found > 0.01


def test_no_weights_and_few_units():
    for name in NAMES:
        assert manifold_distance(np.zeros((3, 2)), np.zeros(3), name, width=1) == (0, 0)
        assert manifold_distance([[1.0]], [1.0], name, width=1) == (0, 0)
        assert manifold_distance([[1.0], [2.0]], [1.0, 5.0], name, width=9) == (0, 0)
    assert manifold_distance([[3.0]], [4.0], "zero") == (5, 1)
    u, v = drawn(0)
    for name in ("proportional", "dependent"):
        assert manifold_distance(u, v, name, width=0).relative == pytest.approx(1)
    with_zero = manifold_distance(
        [[1.0], [0.0], [0.0]], [1.0, 0.0, 0.0], "proportional", units=(1, 2)
    )
    assert with_zero == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1.0]], [1.0], "flat"), {}, "`manifold` must be one of zero, equal, proportional, dependent, got"),
        (([[1.0]], [1.0], "equal"), {}, "`units` must be two or more to be equal, got 1"),
        (([[1.0]], [1.0], "equal"), {"width": 0}, "`width` must be a whole number ≥ 1"),
        (([[1.0]], [1.0], "zero"), {"width": -1}, "`width` must be a whole number ≥ 0"),
        (([[1.0]], [1.0], "zero"), {"units": 1}, "`units` must be a whole number ≥ 0 and ≤ 0"),
        (([[1.0], [1.0]], [1.0, 1.0], "equal"), {"units": (1, 1)}, "`units` must be one or several"),
        (([[1.0]], [1.0], "zero"), {"either_sign": True}, "`either_sign` must be False but for proportional"),
        (([[1.0]], [1.0, 2.0], "zero"), {}, r"`outgoing` must have the shape \(1, N_v\)"),
        (([[np.inf]], [1.0], "zero"), {}, r"`incoming\[0, 0\]` must be a finite real number"),
    ],
)  # fmt: skip
def test_bad_input(arguments, options, message):
    with pytest.raises(ArgumentError, match=message):
        manifold_distance(*arguments, **options)
