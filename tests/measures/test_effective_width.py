"""Effective widths of weights built by Eq. 4–7, of random ones, and of trained ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from lazyrich.core import ArgumentError
from lazyrich.measures import effective_width, manifold_distance
from lazyrich.models import Attention, activation_kind

INPUTS, OUTPUTS = 6, 3
RELU, LINEAR, QUADRATIC = (activation_kind(name) for name in ("relu", "linear", "quadratic"))


def narrow(rng, units):
    """Units of one scale whose directions differ by more than 45 degrees, up to sign."""
    while True:
        u, v = rng.standard_normal((units, INPUTS)), rng.standard_normal((units, OUTPUTS))
        u, v = (w / np.linalg.norm(w, axis=1, keepdims=True) for w in (u, v))
        cosines = [np.abs(w @ w.T - np.eye(units)).max() for w in (u, v)]
        if max(cosines) < 0.7:
            return rng.uniform(0.7, 1.3, (units, 1)) * u, v


# the four constructions of Theorem 1, one unit at a time, as they are printed


def equal(rng, u, v):
    i, g = rng.integers(len(u)), rng.uniform(0.3, 0.7)
    grown_v = np.concatenate([v, g * v[i : i + 1]])
    grown_v[i] = (1 - g) * v[i]
    return np.concatenate([u, u[i : i + 1]]), grown_v


def zero(rng, u, v):
    return np.concatenate([u, np.zeros((1, INPUTS))]), np.concatenate([v, np.zeros((1, OUTPUTS))])


def proportional(rng, u, v):
    i, gu = rng.integers(len(u)), rng.choice([0.5, 1.7])
    gv = rng.uniform(0.3, 0.7) / gu
    grown_v = np.concatenate([v, gv * v[i : i + 1]])
    grown_v[i] = (1 - gu * gv) * v[i]
    return np.concatenate([u, gu * u[i : i + 1]]), grown_v


def dependent(rng, u, v):
    gu, gv = rng.standard_normal(len(u)) / np.sqrt(len(u)), 0.5 * rng.standard_normal(len(u))
    new = gv @ v
    return np.concatenate([u, [gu @ u]]), np.concatenate([v - np.outer(gu, new), [new]])


def dependent_on_the_manifold(rng, u, v, more):
    """All units at once: F.4 taken twice leaves the manifold, see below."""
    A = np.concatenate(
        [
            np.eye(len(u)),
            rng.choice([-1, 1], (more, len(u))) * rng.uniform(0.5, 1.5, (more, len(u))),
        ]
    )
    return A @ u, A @ np.linalg.inv(A.T @ A) @ v


CONSTRUCTIONS = {
    "equal": (equal, np.tanh),
    "zero": (zero, np.tanh),
    "proportional": (proportional, lambda a: np.maximum(a, 0)),
    "dependent": (dependent_on_the_manifold, lambda a: a),
    "any coefficients": (dependent, lambda a: a),
}


def built(name, few, many, seed, noise=0.0):
    """A wide network; with it the map of the narrow one and its own."""
    rng = np.random.default_rng([seed, few, many])
    grow, sigma = CONSTRUCTIONS[name]
    u, v = narrow(rng, few)
    x = rng.standard_normal((20, INPUTS))
    before = sigma(x @ u.T) @ v
    while len(u) < many:
        all_at_once = [many - few] if name == "dependent" else []
        u, v = grow(rng, u, v, *all_at_once)
    order = rng.permutation(many)
    u, v = u[order], v[order]
    np.testing.assert_allclose(sigma(x @ u.T) @ v, before, atol=1e-12)  # the construction itself
    return u + noise * rng.standard_normal(u.shape), v + noise * rng.standard_normal(v.shape)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize(("few", "many"), [(1, 2), (1, 8), (2, 3), (2, 8), (3, 4), (3, 8)])
@pytest.mark.parametrize("name", ["equal", "zero", "proportional", "dependent"])
def test_constructions_are_recognised_from_the_weights_alone(name, few, many, noise):
    for seed in range(5):
        found = effective_width(*built(name, few, many, seed, noise))
        count = {"equal": "by_groups", "zero": "by_units", "proportional": "by_rays",
                 "dependent": "by_rank"}[name]  # fmt: skip
        assert getattr(found, count) == found.width == few
        if (name, few) == ("dependent", 1):  # one line: with one sign it is a ray
            assert found.construction in ("dependent", "proportional")
        else:
            assert found.construction == name
        assert found.localised == (name == "zero")
        if name == "zero":
            assert len(found.prunable) == many - few


@pytest.mark.parametrize(("few", "many"), [(1, 2), (2, 6), (3, 9)])
def test_eq_7_with_any_coefficients_needs_both_layers_ranks(few, many):
    for seed in range(5):
        found = effective_width(*built("any coefficients", few, many, seed, 1e-3), kind=LINEAR)
        assert found.width == found.by_layers == few
        assert few == 1 or found.construction == "dependent"  # two units on a line may be on a ray
        assert (
            found.by_rank > few or many == few + 1
        )  # off the invariant manifold θ has a higher rank


def test_f4_taken_twice_leaves_the_manifold():
    """The second unit changes outgoing weights that the first one's relation is about."""
    rng, (u, v) = np.random.default_rng(0), narrow(np.random.default_rng(0), 2)
    distances, factors = [], []
    for _ in range(2):
        gu = rng.uniform(0.5, 1.5, len(u))
        new = gu @ v / (1 + gu @ gu)
        u, v = np.concatenate([u, [gu @ u]]), np.concatenate([v - np.outer(gu, new), [new]])
        distances.append(manifold_distance(u, v, "dependent", width=2).relative)
        factors.append(gu)
    first, second = factors
    broken = (first @ second[:2] - second[2]) * v[3]  # from v_i → v_i - γ_i v_4 in v_3 = Σ γ_j v_j
    np.testing.assert_allclose(v[2] - first @ v[:2], broken, rtol=1e-12)
    assert np.linalg.norm(broken) > 0.1 * np.linalg.norm(v[2])
    assert distances[0] < 1e-14
    assert distances[1] > 1e10 * distances[0]
    assert effective_width(u, v, kind=LINEAR).width == 2  # the map is still that of two units


def test_kind_says_which_constructions_hold():
    u, v = np.array([[1.0, 2.0], [-1.0, -2.0], [2.0, 4.0]]), np.array([1.0, 0.7, 0.5])
    assert effective_width(u, v, kind=RELU).width == 2  # two opposite rays
    assert effective_width(u, v, kind=LINEAR).width == 1
    assert effective_width(u, v, kind=QUADRATIC).width == 1
    assert effective_width(u, v, kind=activation_kind("tanh")).construction == "none"
    found = effective_width(u, v)
    assert (found.width, found.construction) == (2, "proportional")


def test_units_that_speak_at_zero_are_pruned_by_what_they_write():
    u, v = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0, 0.0])
    found = effective_width(u, v, kind=activation_kind("sigmoid"))
    assert (found.by_groups, found.width) == (2, 2)


def test_random_weights_are_as_wide_as_they_are():
    found = [
        effective_width(1e-4 * rng.standard_normal((30, 40)), 1e-4 * rng.standard_normal((30, 5)))
        for rng in map(np.random.default_rng, range(50))
    ]
    assert [one.by_units for one in found] == [30] * 50
    assert np.mean([one.construction == "none" and one.width == 30 for one in found]) >= 0.95


def test_in_few_dimensions_random_weights_are_no_evidence():
    """50 directions in a plane are dependent, and closer than the tolerance, whatever they are."""
    found = [
        effective_width(rng.standard_normal((50, 2)), rng.standard_normal(50))
        for rng in map(np.random.default_rng, range(50))
    ]
    assert all(one.by_rank == 3 and one.by_rays < 30 for one in found)
    assert np.mean([one.construction == "none" for one in found]) >= 0.9
    assert min(one.width for one in found) >= 48


@pytest.mark.parametrize("rest", [0.0, 1e-4, 1e-3, 1e-2, 0.03, 0.1])
def test_a_rest_up_to_a_tenth_is_left_out(rest):
    sizes = np.array([1.0, 0.6, *np.full(8, rest)])
    rng = np.random.default_rng(0)
    u, v = (sizes[:, None] * (w / np.linalg.norm(w, axis=1, keepdims=True))
            for w in (rng.standard_normal((10, 6)), rng.standard_normal((10, 2))))  # fmt: skip
    found = effective_width(u, v)
    assert (found.by_units, found.construction, found.localised) == (2, "zero", True)
    smaller = rest * 0.6**-1 < 0.1  # else the rest together is more than may be pruned
    if smaller:
        assert set(found.prunable) == set(range(2, 10))


def test_a_tolerance_can_be_given():
    sizes = np.array([1.0, 0.3, 0.1, 0.03, 0.01])[:, None]
    for tolerance, units in ((0.2, 2), (0.05, 3), (0.02, 4), (0.005, 5)):
        found = effective_width(sizes * np.eye(5), sizes * np.eye(5), tolerance=tolerance)
        assert found.by_units == found.by_rank == found.by_layers == found.by_rays == units
        assert found.tolerance == (tolerance,) * 3


# training


def descend(x, y, units, activation, *, scale, rate, records, seed):
    sigma, slope = {
        "linear": (lambda a: a, np.ones_like),
        "relu": (lambda a: np.maximum(a, 0), lambda a: (a > 0).astype(float)),
        "quadratic": (lambda a: a**2, lambda a: 2 * a),
    }[activation]
    rng = np.random.default_rng(seed)
    u, v = (
        scale * rng.standard_normal((units, x.shape[1])),
        scale * rng.standard_normal((units, y.shape[1])),
    )
    kept = {}
    for step in range(max(records) + 1):
        a = x @ u.T
        error = (sigma(a) @ v - y) / len(x)
        if step in records:
            kept[step] = (u, v)
        u, v = u - rate * ((error @ v.T) * slope(a)).T @ x, v - rate * sigma(a).T @ error
    return kept


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_network_learns_one_rank_after_the_other(seed):
    x = np.random.default_rng(9).standard_normal((50, 3))
    x = np.linalg.qr(x)[0] * np.sqrt(50)  # white: the modes learn at rates 2 and 0.5
    target = np.zeros((3, 3))
    target[0, 0], target[1, 1] = 2.0, 0.5
    kept = descend(
        x, x @ target, 20, "linear", scale=1e-4, rate=0.05, records=(0, 150, 2000), seed=seed
    )
    found = {step: effective_width(*weights) for step, weights in kept.items()}
    assert found[0].construction == "none"
    assert (
        [found[t].by_rank for t in (150, 2000)] == [found[t].width for t in (150, 2000)] == [1, 2]
    )
    assert found[2000].construction == "dependent"
    assert not found[2000].localised


@pytest.mark.parametrize("seed", range(3))
def test_a_relu_network_learns_one_ray_after_the_other(seed):
    """Two groups of inputs at right angles: each is learned by a ray of its own."""
    x, y = np.eye(2), np.array([[2.0], [-0.5]])
    kept = descend(x, y, 30, "relu", scale=1e-4, rate=0.05, records=(0, 400, 3000), seed=seed)
    for step, rays in ((400, 1), (3000, 2)):
        found = effective_width(*kept[step])
        assert (found.by_rays, found.width, found.construction) == (rays, rays, "proportional")
        assert effective_width(*kept[step], kind=RELU).width == rays


@pytest.mark.parametrize("seed", range(4))
def test_a_quadratic_network_learns_one_unit_after_the_other(seed):
    """Two features of opposite sign: the loss tells on which plateau the network is, if on any."""
    x = np.random.default_rng(9).standard_normal((50, 3))
    y = x[:, :1] ** 2 - 0.4 * x[:, 1:2] ** 2
    best_of_one = min(
        minimize(lambda w: np.mean((w[3] * (x @ w[:3]) ** 2 - y[:, 0]) ** 2), start).fun
        for start in ([1.0, 0, 0, 1], [0, 1.0, 0, -1])
    )
    records = range(0, 6001, 250)
    kept = descend(x, y, 6, "quadratic", scale=0.01, rate=0.03, records=records, seed=seed)
    seen = set()
    for u, v in kept.values():
        loss = np.mean(((x @ u.T) ** 2 @ v - y) ** 2)
        units = 2 if loss < 1e-6 else 1 if abs(loss / best_of_one - 1) < 1e-3 else None
        if units:
            for found in (effective_width(u, v), effective_width(u, v, kind=QUADRATIC)):
                assert (found.by_units, found.construction, found.localised) == (
                    units,
                    "zero",
                    True,
                )
                assert len(found.prunable) == 6 - units
            seen.add(units)
    assert 1 in seen  # and both, where the second feature is learned in time
    assert effective_width(*kept[0]).by_units == 6


# what must always hold


def weights(seed, units=7):
    """Weights with a bit of every relation."""
    rng = np.random.default_rng(seed)
    u, v = rng.standard_normal((units, 4)), rng.standard_normal((units, 2))
    u[1], v[1], u[2], v[3] = 2 * u[0], 0.5 * v[0], u[0], 0.01 * v[3]
    return u, v


def counts(found):
    return (found.width, found.construction, found.by_units, found.by_groups, found.by_rays,
            found.by_lines, found.by_rank, found.by_layers)  # fmt: skip


@given(st.integers(0, 10**6), st.sampled_from([None, RELU, LINEAR]))
@settings(max_examples=40)
def test_the_order_of_units_does_not_matter(seed, kind):
    u, v = weights(seed)
    order = np.random.default_rng(seed).permutation(len(u))
    found, other = effective_width(u, v, kind=kind), effective_width(u[order], v[order], kind=kind)
    assert counts(other) == counts(found)
    assert {int(order[i]) for i in other.prunable} == set(found.prunable)


@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-200, 1e-3, 1e200]),
    st.sampled_from([1e-200, 7.0, 1e200]),
)
@settings(max_examples=40)
def test_the_scale_of_either_layer_and_the_axes_do_not_matter(seed, first, second):
    u, v = weights(seed)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((4, 4)))[0]
    found, other = effective_width(u, v), effective_width(first * u @ turn, second * v)
    assert counts(other) == counts(found)
    assert other.prunable == found.prunable


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_counts_are_ordered(seed):
    found = effective_width(*weights(seed), kind=RELU)
    assert found.by_lines <= found.by_rays <= found.by_units <= 7
    assert found.width <= min(found.by_rays, found.by_units, found.by_groups)


@given(st.integers(0, 10**6), st.floats(0.01, 0.3))
@settings(max_examples=40)
def test_pruning_changes_no_more_than_it_says(seed, tolerance):
    rng = np.random.default_rng(seed)
    sizes = 10 ** rng.uniform(-3, 0, (20, 1))
    u, v = sizes * rng.standard_normal((20, 4)), sizes * rng.standard_normal((20, 2))
    gone = list(effective_width(u, v, tolerance=tolerance).prunable)
    z = rng.standard_normal((50, 4))
    change = np.linalg.norm(np.maximum(z @ u[gone].T, 0) @ v[gone], axis=1)
    bound = np.sum(np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1))
    assert np.all(change <= tolerance * np.linalg.norm(z, axis=1) * bound)
    assert gone  # three decades of sizes leave something to prune


def test_eq_6_for_quadratic_units():
    """Degree 2: v_i = (1 - γ_u² γ_v) v_i* is a fixed point, too; the theorem is stated for degree 1."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 3))
    y = x[:, 0] ** 2 - 0.5 * x[:, 1] ** 2

    def gradient(u, v):
        a = x @ u.T
        error = (a**2 @ v - y) / len(x)
        return (2 * a * np.outer(error, v)).T @ x, a.T**2 @ error

    def loss(w):
        u, v = w[None, :3], w[3:]
        parts = gradient(u, v)
        return np.mean(((x @ u.T) ** 2 @ v - y) ** 2) / 2, np.concatenate(
            [p.ravel() for p in parts]
        )

    w = minimize(loss, [1.0, 0.1, 0.1, 1.0], jac=True, tol=1e-14).x
    u, v = w[None, :3], w[3:]
    gu, gv = 0.7, 0.6
    wide = np.concatenate([u, gu * u]), np.array([(1 - gu**2 * gv) * v[0], gv * v[0]])
    narrow_gradient = max(np.abs(part).max() for part in gradient(u, v))
    assert narrow_gradient < 1e-6
    assert max(np.abs(part).max() for part in gradient(*wide)) <= 2 * narrow_gradient
    printed = wide[0], np.array([(1 - gu * gv) * v[0], gv * v[0]])
    assert max(np.abs(part).max() for part in gradient(*printed)) > 0.01
    assert effective_width(*wide, kind=QUADRATIC).width == 1


def test_no_weights_one_unit_one_layer():
    nothing = effective_width(np.zeros((3, 2)), np.zeros((3, 1)))
    assert (nothing.width, nothing.construction, nothing.prunable) == (0, "zero", (0, 1, 2))
    assert counts(nothing)[2:] == (0,) * 6
    one = effective_width([[1.0, 2.0]], [3.0])
    assert (one.width, one.construction, one.prunable) == (1, "none", ())
    assert counts(one)[2:] == (1,) * 6
    silent = effective_width(np.random.default_rng(0).standard_normal((4, 5)), np.zeros(4))
    assert (silent.by_units, silent.by_rays, silent.prunable) == (4, 0, (0, 1, 2, 3))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1.0, 2.0], [1.0, 2.0]), {}, r"`incoming` must have the shape \(units, N_u\), got \(2,\)"),
        (([[1.0], [2.0]], [1.0]), {}, r"`outgoing` must have the shape \(2, N_v\) to fit `incoming`, got"),
        ((np.ones((2, 0)), np.ones(2)), {}, "`incoming` must have the shape"),
        (([[np.nan]], [1.0]), {}, r"`incoming\[0, 0\]` must be a finite real number, got nan"),
        (([[1.0]], [np.inf]), {}, r"`outgoing\[0\]` must be a finite real number, got inf"),
        (([[1.0]], [1.0]), {"tolerance": 0}, "`tolerance` must be a finite real number > 0 and < 1"),
        (([[1.0]], [1.0]), {"kind": "relu"}, "`kind` must be a UnitKind, got 'relu'"),
    ],
)  # fmt: skip
def test_bad_input(arguments, options, message):
    with pytest.raises(ArgumentError, match=message):
        effective_width(*arguments, **options)


def test_inside_a_trace():
    import jax

    with pytest.raises(ArgumentError, match="`incoming` must be known now"):
        jax.jit(lambda u: effective_width(u, np.ones(2)).width)(np.ones((2, 2)))


@pytest.mark.parametrize("tolerance", [None, 0.1, 0.3])
def test_units_that_are_heard_without_incoming_weights_are_not_prunable(tolerance):
    """Sigmoid units answer ½ to all inputs when u = 0: only those without outgoing weights add nothing."""
    u = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [2.0, 1.0]])
    v = np.array([1.0, 1.0, 1.0, 1e-4])
    for kind in (activation_kind("sigmoid"), Attention(2, 4, softmax=True).kinds[0]):
        assert effective_width(u, v, kind=kind, tolerance=tolerance).prunable == (3,)
    assert effective_width(u, v, kind=RELU).prunable == (1, 2, 3)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(["sigmoid", "relu", "tanh", "quadratic"]))
def test_pruning_changes_the_map_by_no_more_than_the_tolerance(seed, name):
    """Inputs of norm 1, and |σ(z)| ≤ |z|^p or ≤ 1: contributions bound what a unit adds."""
    rng = np.random.default_rng(seed)
    kind = activation_kind(name)
    u = rng.standard_normal((30, 3)) * 10 ** rng.uniform(-3, 0, (30, 1))
    v = rng.standard_normal((30, 2)) * 10 ** rng.uniform(-3, 0, (30, 1))
    found = effective_width(u, v, kind=kind)
    p = 0 if name == "sigmoid" else kind.degree or 1
    bound = np.linalg.norm(u, axis=1) ** p * np.linalg.norm(v, axis=1)
    assert sum(bound[list(found.prunable)]) <= found.tolerance.units * sum(bound) * (1 + 1e-9)


@pytest.mark.parametrize("kind", [None, RELU, activation_kind("tanh")])
def test_many_small_units_are_not_nothing(kind):
    """Keeping only the large unit would lose most of the map."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((1001, 20))
    sizes = np.array([1.0, *[0.09] * 1000])[:, None]
    u = sizes * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    x = rng.standard_normal((500, 20))
    parts = np.maximum(x @ u.T, 0) * sizes[:, 0]
    lost = np.sqrt(np.mean(parts[:, 1:].sum(axis=1) ** 2) / np.mean(parts.sum(axis=1) ** 2))
    found = effective_width(u, sizes, kind=kind)
    assert lost > 0.8
    assert found.width > 100
    assert found.construction != "zero" or kind is not None


def test_a_few_small_units_are_left_out():
    """As before: a rest of a tenth in a handful of units is what plateaus have."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((11, 20))
    sizes = np.array([1.0, *[0.09] * 10])[:, None]
    u = sizes * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    for kind in (None, RELU):
        found = effective_width(u, sizes, kind=kind)
        assert (found.width, found.construction) == (1, "zero")
