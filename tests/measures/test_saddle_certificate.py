"""Certificates of fixed points, on functions whose Hessians are known."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from landscapes import linear_case, quadratic_form, regression

from lazyrich.core import ArgumentError, AssumptionError, Status
from lazyrich.measures import saddle_certificate

LINEAR_CASES = [
    (inputs, outputs, width, modes)
    for inputs, outputs, width in [(3, 2, 3), (2, 3, 4), (4, 3, 3), (5, 1, 2)]
    for rank in range(min(inputs, outputs, width) + 1)
    for modes in itertools.combinations(range(min(inputs, outputs)), rank)
]


# known spectra


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([-3.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 2.0, 5.0]), min_size=1, max_size=12),
    st.integers(0, 100),
)  # fmt: skip
def test_quadratic_forms(eigenvalues, seed):
    gradient, product, _ = quadratic_form(eigenvalues, seed)
    w = 0.09 * np.random.default_rng(seed).uniform(-1, 1, len(eigenvalues)) / 4
    found = saddle_certificate(gradient, product, w)
    negative, zero = np.sum(np.less(eigenvalues, 0)), np.sum(np.equal(eigenvalues, 0))
    assert (found.index, found.num_flat, found.index_is_exact) == (negative, zero, True)
    assert abs(found.lowest - min(eigenvalues)) <= found.lowest_error
    assert abs(found.highest - max(eigenvalues)) <= found.highest_error
    np.testing.assert_allclose(found.rates, -np.sort(np.array(eigenvalues))[:negative], rtol=1e-9)
    if max(eigenvalues) < 0:
        expected = "maximum"
    elif negative:
        expected = "saddle"
    else:
        expected = "degenerate" if zero else "minimum"
    assert found.verdict == expected


LARGE = {
    "several negative, some equal": (
        [-3, -2, -2, -2, -1, -0.5, -0.1], np.linspace(1, 10, 4993), 7, "saddle"),
    "flat directions": ([-1, -1, -0.01], np.append(np.zeros(3000), np.linspace(0.1, 5, 1997)), 3, "saddle"),
    "no gap at zero": ([-0.5, -0.5], np.linspace(0, 1, 4998), 2, "saddle"),
    "none negative": ([], np.linspace(0.5, 9, 5000), 0, "minimum"),
    "zero": ([], np.zeros(5000), 0, "degenerate"),
}  # fmt: skip


@pytest.mark.parametrize("case", LARGE)
def test_large_without_the_matrix(case):
    negative, rest, index, verdict = LARGE[case]
    D = np.append(negative, rest)
    gradient, product, reflect = quadratic_form(D)
    w = 1e-3 * np.random.default_rng(1).standard_normal(5000)
    found = saddle_certificate(gradient, product, w)
    assert (found.index, found.index_is_exact, found.verdict) == (index, True, verdict)
    assert found.num_flat is None
    assert abs(found.lowest - D.min()) <= found.lowest_error
    assert abs(found.highest - D.max()) <= found.highest_error
    assert found.lowest_error <= 1e-4 * max(D.max(), 1)
    if index:
        np.testing.assert_allclose(found.rates, -np.array(negative), atol=1e-5)
        # the amounts along equal rates depend on the basis, their length does not
        along = np.linalg.norm(reflect(w)[: len(negative)])
        assert np.linalg.norm(found.displacements) == pytest.approx(along, rel=1e-3)


def test_large_with_more_negative_ones_than_are_looked_for():
    gradient, product, _ = quadratic_form(np.append(-np.linspace(1, 2, 60), np.ones(440)))
    found = saddle_certificate(gradient, product, np.zeros(500), max_dense=0, max_index=9)
    assert (found.index, found.index_is_exact, found.verdict) == (9, False, "saddle")
    assert "at least 9 of 500" in repr(found)
    assert found.lowest == pytest.approx(-2, abs=found.lowest_error)


def test_large_maximum():
    gradient, product, _ = quadratic_form(-np.linspace(1, 2, 300))
    found = saddle_certificate(gradient, product, np.zeros(300), max_dense=0)
    assert (found.verdict, found.index, found.index_is_exact) == ("maximum", 300, True)


def test_both_ways_to_eigenvalues_agree():
    points, (gradient, product, w) = linear_case(3, 6, 3, 12, [0])
    dense = saddle_certificate(gradient, product, w)
    assert dense.index == points.hessian_index([0], 12) == 22
    few = saddle_certificate(gradient, product, w, max_dense=0)
    assert (few.index, few.index_is_exact) == (20, False)
    all_of_them = saddle_certificate(gradient, product, w, max_dense=0, max_index=22)
    assert (all_of_them.index, all_of_them.index_is_exact) == (22, True)
    np.testing.assert_allclose(all_of_them.rates, dense.rates, atol=2 * all_of_them.tolerance)


# linear networks


@pytest.mark.parametrize(("inputs", "outputs", "width", "modes"), LINEAR_CASES)
def test_linear_networks(inputs, outputs, width, modes):
    points, (gradient, product, w) = linear_case(len(modes), inputs, outputs, width, modes)
    found = saddle_certificate(gradient, product, w)
    assert found.distance < 1e-10
    assert found.index == points.hessian_index(modes, width)
    assert found.verdict == ("saddle" if found.index else "degenerate")
    if len(modes) < min(width, points.num_modes):  # a unit is left, and something to learn for it
        assert found.lowest == pytest.approx(-points.escape_rate(modes), rel=1e-9)
        assert found.e_folding_time == pytest.approx(1 / points.escape_rate(modes), rel=1e-9)


def test_mixing_the_units_keeps_the_index():
    mixing = np.eye(4) + 0.3 * np.random.default_rng(0).standard_normal((4, 4))
    for modes in [(0,), (1,), (0, 1)]:
        points, (gradient, product, w) = linear_case(1, 4, 3, 4, modes, mixing)
        assert saddle_certificate(gradient, product, w).index == points.hessian_index(modes, 4)


@pytest.mark.parametrize("modes", [(), (0,), (1,), (0, 1), (0, 1, 2)])
def test_from_a_plateau_to_its_saddle(modes):
    """Weights that are 1e-3 off in every direction: the gradient is far from zero, the index as before."""
    points, (gradient, product, w) = linear_case(5, 4, 3, 4, modes)
    step = 1e-3 * np.random.default_rng(0).standard_normal(w.size)
    found = saddle_certificate(gradient, product, w + step)
    assert found.gradient_norm > 1e-4
    assert found.index == points.hessian_index(modes, 4)
    assert np.linalg.norm(gradient(found.fixed_point)) < 1e-8 * found.gradient_norm
    assert 0 < found.distance < 2 * np.linalg.norm(step)


def test_escape_time_is_that_of_gradient_flow():
    from scipy.integrate import solve_ivp

    _, (gradient, product, w) = linear_case(2, 3, 2, 3, ())
    w = w + 1e-4 * np.random.default_rng(0).standard_normal(w.size)
    found = saddle_certificate(gradient, product, w)
    H = np.stack([product(np.zeros_like(w), e) for e in np.eye(w.size)])
    lam, Q = np.linalg.eigh(H)

    def growing_part(t, w):
        return np.linalg.norm(Q[:, lam < -1e-9].T @ w) - 0.05

    growing_part.terminal = True
    flow = solve_ivp(
        lambda t, w: -gradient(w), (0, 1e3), w, events=growing_part, rtol=1e-9, atol=1e-12
    )
    [[expected]] = flow.t_events
    assert found.escape_time(0.05).time == pytest.approx(expected, rel=5e-3)
    assert found.hessian_change < 1e-3 * found.rates[0]
    # the flow leaves along the directions of the largest rate, on the side that is given
    leading = Q[:, lam < -found.rates[0] * (1 - 1e-6)]
    np.testing.assert_allclose(
        leading @ (leading.T @ found.escape_direction), found.escape_direction, atol=1e-6
    )
    assert found.escape_direction @ flow.y_events[0][0] > 0


# escape


@given(st.floats(1e-6, 0.05), st.floats(-0.05, 0.05), st.floats(0.1, 5), st.floats(0.06, 100))
def test_escape_time_solves_its_equation(first, second, rate, size):
    gradient, product, reflect = quadratic_form([-2.0, -rate, 1.0])
    found = saddle_certificate(gradient, product, reflect(np.array([first, second, 0.01])))
    time, status = found.escape_time(size)
    if np.hypot(first, second) >= size:
        assert (time, status) == (0, Status.AT_START)
    else:
        assert status == Status.REACHED
        reached = np.hypot(first * np.exp(2 * time), second * np.exp(rate * time))
        assert reached == pytest.approx(size, rel=1e-8)


def test_escape_from_the_saddle_itself():
    gradient, product, reflect = quadratic_form([-1.0, 2.0])
    for w in (
        np.zeros(2),
        reflect(np.array([0.0, 0.05])),
    ):  # at it, and displaced only where it is stable
        time, status = saddle_certificate(gradient, product, w).escape_time()
        assert (time, status) == (np.inf, Status.NEVER)


def test_escape_direction_is_on_the_side_of_the_weights():
    gradient, product, reflect = quadratic_form([-1.0, 2.0, 3.0])
    for side in (1, -1):
        found = saddle_certificate(gradient, product, reflect(np.array([side * 0.01, 0.01, 0])))
        np.testing.assert_allclose(found.escape_direction, side * reflect(np.eye(3)[0]), atol=1e-9)


def test_no_escape_without_a_fixed_point():
    gradient, product, _ = quadratic_form([-1.0, 2.0])
    found = saddle_certificate(gradient, product, [5.0, 5.0], radius=0.1)
    assert found.verdict == "neither"
    with pytest.raises(
        AssumptionError, match="`escape_time` needs a fixed point, and none was found"
    ):
        found.escape_time()
    with pytest.raises(ArgumentError, match="`size` must be a finite real number > 0, got -1"):
        saddle_certificate(gradient, product, [0.0, 0.0]).escape_time(-1)


# degenerate points


def monkey(w):
    x, y = w
    return np.array([3 * x**2 - 3 * y**2, -6 * x * y])


def monkey_product(w, v):
    (x, y), (p, q) = w, v
    return np.array([6 * x * p - 6 * y * q, -6 * y * p - 6 * x * q])


@pytest.mark.parametrize("scale", [0, 1e-8, 1e-4, 1e-2])
def test_cubic_saddle(scale):
    """x³ − 3xy²: at zero the Hessian vanishes, and near it both signs appear, which mean nothing."""
    found = saddle_certificate(monkey, monkey_product, scale * np.array([1.0, 0.5]))
    assert (found.verdict, found.index, found.num_flat) == ("degenerate", 0, 2)
    assert found.distance == pytest.approx(scale * np.sqrt(1.25), rel=1e-3)


@pytest.mark.parametrize("scale", [0, 1e-5, 1e-2])
def test_quartic_saddle(scale):
    """X⁴ − y⁴."""
    sign = np.array([1.0, -1.0])
    found = saddle_certificate(
        lambda w: 4 * sign * w**3, lambda w, v: 12 * sign * w**2 * v, scale * np.array([1.0, 2.0])
    )
    assert found.verdict == "degenerate"


@pytest.mark.parametrize("scale", [0, 1e-3])
def test_zero_of_a_network_of_rectified_units(scale):
    """Kinks bar Newton's method the way to zero, and there is no Hessian."""
    rng = np.random.default_rng(0)
    # with positive targets every unit, whatever its direction, has something to learn
    x, y = rng.standard_normal((20, 3)), rng.uniform(1, 2, 20)

    def split(w):
        return w[:12].reshape(3, 4), w[12:]

    def gradient(w):
        U, v = split(w)
        h = np.maximum(x @ U, 0)
        e = (h @ v - y) / 20
        return np.append((x.T @ (e[:, None] * (h > 0) * v)).ravel(), h.T @ e)

    def product(w, direction):
        (U, v), (dU, dv) = split(w), split(direction)
        h = np.maximum(x @ U, 0)
        dh, e = (h > 0) * (x @ dU), (h @ v - y) / 20
        de = (dh @ v + h @ dv) / 20
        first = x.T @ ((h > 0) * (de[:, None] * v + e[:, None] * dv))
        return np.append(first.ravel(), dh.T @ e + h.T @ de)

    w = scale * rng.standard_normal(16)
    found = saddle_certificate(gradient, product, w)
    assert (found.verdict, found.num_flat) == ("degenerate", 16)
    assert found.distance == pytest.approx(np.linalg.norm(w))
    far = saddle_certificate(gradient, product, rng.standard_normal(16))
    assert far.verdict == "neither"


# what is no fixed point


def test_regression():
    gradient, product, best = regression()
    found = saddle_certificate(gradient, product, best)
    assert (found.verdict, found.index, found.e_folding_time) == ("minimum", 0, np.inf)
    assert found.gradient_norm <= 4 * found.gradient_noise
    near = saddle_certificate(gradient, product, best + 0.02)
    assert (near.verdict, near.distance) == ("minimum", pytest.approx(0.04))
    far = saddle_certificate(gradient, product, best + 1)
    assert (far.verdict, far.distance, far.fixed_point) == ("neither", np.inf, None)
    assert saddle_certificate(gradient, product, best + 1, radius=3).verdict == "minimum"


def test_small_gradients_in_a_valley_are_no_fixed_point():
    """Rosenbrock's valley: the first step takes the gradient from 20 to 1, and there it stays."""

    def gradient(w):
        x, y = w
        return np.array([-400 * x * (y - x**2) - 2 * (1 - x), 200 * (y - x**2)])

    def product(w, v):
        x, y = w
        H = np.array([[1200 * x**2 - 400 * y + 2, -400 * x], [-400 * x, 200.0]])
        return H @ v

    assert saddle_certificate(gradient, product, [0.2, 0.13]).verdict == "neither"
    assert saddle_certificate(gradient, product, [0.99, 0.98]).verdict == "minimum"


def test_a_gradient_that_vanishes_only_at_infinity():
    def gradient(w):
        return -np.exp(-w)

    found = saddle_certificate(gradient, lambda w, v: np.exp(-w) * v, [30.0])
    assert found.gradient_norm < 1e-12
    assert found.verdict == "neither"


# precision


def test_float32_functions():
    """A coarser dtype: gradients are not zero, flat directions not flat, the answer is the same."""
    for modes in [(), (0,), (0, 1)]:
        points, (gradient, product, w) = linear_case(4, 4, 3, 4, modes)

        def coarse(function):
            return lambda *arrays: function(*(a.astype("f4") for a in arrays)).astype("f4")

        found = saddle_certificate(coarse(gradient), coarse(product), w)
        assert found.index == points.hessian_index(modes, 4)
        assert found.fixed_point is not None
        assert 1e-7 < found.tolerance / found.highest < 1e-3
        fine = saddle_certificate(gradient, product, w)
        assert fine.tolerance < 1e-6 * found.tolerance
        assert abs(found.lowest - fine.lowest) <= found.lowest_error


def test_products_from_finite_differences():
    """Products of float64 that are only good to 1e-8: the asymmetry tells."""
    points, (gradient, _, w) = linear_case(4, 4, 3, 4, (0,))

    def product(w, v):
        return (gradient(w + 1e-6 * v) - gradient(w - 1e-6 * v)) / 2e-6

    found = saddle_certificate(gradient, product, w)
    assert found.index == points.hessian_index((0,), 4)
    assert found.tolerance > 1e-12


@settings(max_examples=15)
@given(st.floats(1e-6, 1e6))
def test_the_unit_of_the_loss_does_not_matter(unit):
    points, (gradient, product, w) = linear_case(5, 3, 2, 3, (0,))
    w = w + 1e-3
    one = saddle_certificate(gradient, product, w)
    other = saddle_certificate(lambda w: unit * gradient(w), lambda w, v: unit * product(w, v), w)
    assert one.index == other.index == points.hessian_index((0,), 3)
    np.testing.assert_allclose(other.rates, unit * one.rates, rtol=1e-6)
    assert other.distance == pytest.approx(one.distance, rel=1e-2)


def test_functions_may_write_into_what_they_get():
    gradient, product, best = regression()

    def careless(w):
        found = gradient(w)
        w[:] = 7
        return found

    weights = best.copy()
    assert saddle_certificate(careless, product, weights).verdict == "minimum"
    np.testing.assert_array_equal(weights, best)


# text


def test_text():
    gradient, product, _ = quadratic_form([-2.0, 0.0, 1.0])
    assert repr(saddle_certificate(gradient, product, np.zeros(3), tolerance=1e-9)).splitlines()[
        :2
    ] == [
        "saddle: the loss falls in 1 of 3 directions, 1 are flat",
        "gradient 0, at a fixed point",
    ]
    lines = repr(saddle_certificate(gradient, product, [5.0, 5.0, 5.0])).splitlines()
    assert lines[1].endswith("no fixed point is near")
    assert len(lines) == 3
    # x²y near (0, -3e-3): the curvature of a fixed point is gone a little further
    found = saddle_certificate(
        lambda w: np.array([2 * w[0] * w[1], w[0] ** 2]),
        lambda w, v: np.array([2 * w[1] * v[0] + 2 * w[0] * v[1], 2 * w[0] * v[0]]),
        [1e-3, -3e-3],
    )
    assert found.verdict == "saddle"
    assert "from there to here: the times are guesses" in repr(found)


def exponential(w):
    """The loss e^−x of the first weight; the others do not matter."""
    return np.array([-np.exp(-w[0]), *np.zeros(w.size - 1)])


def exponential_product(w, v):
    return np.array([np.exp(-w[0]) * v[0], *np.zeros(w.size - 1)])


@pytest.mark.parametrize("others", [(), (1000.0,), (1e5, -3e4)])
def test_weights_that_do_not_matter_give_no_fixed_point_at_infinity(others):
    found = saddle_certificate(exponential, exponential_product, [1.0, *others])
    assert found.verdict == "neither"
    assert found.gradient_norm == pytest.approx(np.exp(-1))


@pytest.mark.parametrize("norm", [10.0, 1e3])
def test_separable_classes_have_no_fixed_point(norm):
    """Logistic regression on separable data, with a large weight on an input that is always 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    X[:, 2] = 0
    y = np.sign(X[:, 0] + 0.5 * X[:, 1])

    def slopes(w):
        return 1 / (1 + np.exp(y * (X @ w)))

    found = saddle_certificate(
        lambda w: -X.T @ (y * slopes(w)) / 40,
        lambda w, v: X.T @ (slopes(w) * (1 - slopes(w)) * (X @ v)) / 40,
        [1.0, 0.5, norm], radius=norm,
    )  # fmt: skip
    assert found.verdict == "neither"


@pytest.mark.parametrize("order", [3, 4, 6, 10])
def test_saddles_of_high_order_are_still_found(order):
    """The loss x^p/p: Newton's steps shrink, if slowly."""
    found = saddle_certificate(
        lambda w: w ** (order - 1), lambda w, v: (order - 1) * w ** (order - 2) * v, [0.05]
    )
    assert found.verdict == "degenerate"


def test_a_small_negative_eigenvalue_beyond_its_error_is_a_saddle():
    eigenvalues = np.linspace(0.1, 1, 3000)
    eigenvalues[0] = -5e-7
    gradient, product, _ = quadratic_form(eigenvalues)
    found = saddle_certificate(gradient, product, np.zeros(3000))
    assert found.lowest == pytest.approx(-5e-7, rel=1e-3)
    assert found.lowest_error < 1e-8
    assert found.verdict == "saddle"
    assert (found.index, found.index_is_exact) == (1, False)
    assert saddle_certificate(gradient, product, np.zeros(3000), tolerance=1e-6).index == 0
