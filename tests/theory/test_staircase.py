"""Predicted staircases, against gradient flow of all units and against hand-made formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import digamma, polygamma

from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.theory import LinearFixedPoints, Staircase


def task(seed, inputs=4, outputs=3, condition=5.0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((inputs, inputs)))[0]
    C = Q * condition ** np.linspace(0, 1, inputs) @ Q.T
    C *= inputs / np.trace(C)
    return rng.standard_normal((outputs, inputs)) @ C / np.sqrt(inputs), C


def start(shape, scale, width, seed=0):
    rng = np.random.default_rng(seed)
    outputs, inputs = shape
    return {
        "first": scale * rng.standard_normal((inputs, width)),
        "second": scale * rng.standard_normal((width, outputs)),
    }


def flow(S, C, first, second, stop):
    """Times, losses and maps of Eq. 9, unit by unit; the loss without Tr Σ_yy / 2."""
    cut, shapes = first.size, (first.shape, second.shape)

    def velocity(_, x):
        U, V = x[:cut].reshape(shapes[0]), x[cut:].reshape(shapes[1])
        rest = S - V.T @ U.T @ C
        return np.concatenate([(rest.T @ V.T).ravel(), (rest @ U).T.ravel()])

    times = np.linspace(0, stop, 2000)
    begin = np.concatenate([first.ravel(), second.ravel()])
    x = solve_ivp(velocity, (0, stop), begin, "DOP853", times, rtol=1e-9, atol=1e-13).y.T
    U, V = x[:, :cut].reshape(-1, *shapes[0]), x[:, cut:].reshape(-1, *shapes[1])
    W = (U @ V).swapaxes(1, 2)
    return times, -np.sum(W * S, axis=(1, 2)) + np.sum(W @ C * W, axis=(1, 2)) / 2, W


def true_times(S, C, weights, stairs):
    times, loss, W = flow(S, C, **weights, stop=1.3 * stairs.drop_times[-1])
    levels = (stairs.levels[1:] + stairs.levels[:-1]) / 2
    return np.interp(-levels, -loss - stairs.levels[0], times), times, W


@pytest.mark.parametrize("seed", range(3))
def test_white_inputs(seed):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((3, 4)) + 2 * np.eye(3, 4)
    weights = start(S.shape, 1e-4, 12, seed)
    stairs = Staircase(S, np.eye(4), **weights)
    true, _, _ = true_times(S, np.eye(4), weights, stairs)
    np.testing.assert_allclose(stairs.drop_times, true, rtol=2e-3)


@pytest.mark.parametrize(("seed", "share"), [(0, 0.15), (2, 0.15), (3, 0.15), (4, 0.15), (1, 1.0)])
def test_correlated_inputs(seed, share):
    """Errors are a small share of a drop's width; task 1 starts out between two modes, and it shows."""
    S, C = task(seed)
    weights = start(S.shape, 1e-5, 12, seed)
    stairs = Staircase(S, C, **weights)
    assert (stairs.alignment.min() < 0.7) == (seed == 1)
    true, times, W = true_times(S, C, weights, stairs)
    assert np.all(np.abs(stairs.drop_times - true) < share * stairs.drop_widths)
    points = LinearFixedPoints(S, C)
    for r, modes in enumerate(stairs.modes[1:-1], start=1):
        if stairs.durations[r] > 4 * stairs.drop_widths[r - 1 : r + 1].max():
            target = points.map(modes)
            during = (times > stairs.drop_times[r - 1]) & (times < stairs.drop_times[r])
            gaps = np.linalg.norm(W[during] - target, axis=(1, 2))
            assert gaps.min() < 0.05 * np.linalg.norm(target)


@pytest.mark.parametrize("seed", [2, 4])
def test_errors_do_not_grow_with_the_times(seed):
    S, C = task(seed)
    errors = []
    for scale in (1e-5, 1e-9):
        weights = start(S.shape, scale, 12, seed)
        stairs = Staircase(S, C, **weights)
        true, _, _ = true_times(S, C, weights, stairs)
        errors.append((stairs.drop_times - true) / stairs.drop_widths)
    np.testing.assert_allclose(errors[0], errors[1], atol=0.01)


def test_the_fastest_direction_comes_first_even_if_it_is_not_the_best_mode():
    """Mode 0 lowers the loss more, mode 1 has the larger correlation: the run visits {1}."""
    S, C = np.diag([1.0, 1.4]), np.diag([0.2, 2.0])  # μ = 5 and 0.98
    weights = start(S.shape, 1e-8, 10)
    stairs = Staircase(S, C, **weights)
    assert stairs.modes == ((), (1,), (0, 1))
    true, times, W = true_times(S, C, weights, stairs)
    np.testing.assert_allclose(stairs.drop_times, true, rtol=2e-3)
    middle = np.searchsorted(times, stairs.drop_times.mean())
    np.testing.assert_allclose(W[middle], np.diag([0, 0.7]), atol=0.02)


def test_equal_modes_drop_together():
    weights = start((3, 3), 1e-5, 20)
    stairs = Staircase(np.eye(3), np.eye(3), **weights)
    assert stairs.is_visible.tolist() == [True, False, False, True]
    true, _, _ = true_times(np.eye(3), np.eye(3), weights, stairs)
    np.testing.assert_allclose(stairs.drop_times, true, rtol=0.02)
    assert str(stairs).count("merged into one drop") == 2


@pytest.mark.parametrize("scale", [1e-6, 1e-60])
def test_uncoupled_modes_by_hand(scale):
    """w(t) of each mode is a logistic from ε²χ²/2 to s; half the loss is left at w = s(1 − 1/√2)."""
    s, H = np.array([2.0, 1.0, 0.4]), 9
    freedom = (H - np.arange(3)) / 2
    log_start = 2 * np.log(scale) + digamma(freedom)
    times = (np.log(s) - log_start - np.log1p(np.sqrt(2))) / (2 * s)
    stairs = Staircase(np.diag(s), np.eye(3), initial_std=scale, width=H)
    np.testing.assert_allclose(stairs.drop_times, times, rtol=1e-5)
    np.testing.assert_allclose(stairs.spread, np.sqrt(polygamma(1, freedom)) / (2 * s), rtol=1e-4)
    np.testing.assert_allclose(stairs.rates, s, rtol=1e-12)
    np.testing.assert_allclose(stairs.levels, [2.58, 0.58, 0.08, 0], atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_mean_and_spread_over_random_starts(seed):
    S, C = task(seed)
    drawn = [Staircase(S, C, **start(S.shape, 1e-5, 8, k)) for k in range(120)]
    over = Staircase(S, C, initial_std=1e-5, width=8)
    times = np.array([stairs.drop_times for stairs in drawn if stairs.order == over.order])
    assert len(times) > 110
    error = times.std(axis=0) / np.sqrt(len(times))
    assert np.all(np.abs(times.mean(axis=0) - over.drop_times) < 4 * error)
    np.testing.assert_allclose(over.spread, times.std(axis=0), rtol=0.25)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 10), st.floats(0.1, 10))
def test_symmetries(seed, rate, unit):
    """Rotations of outputs, inputs and units change nothing; other units of the inputs and η rescale."""
    S, C = task(seed)
    rng = np.random.default_rng(seed)
    A, B, Q = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (3, 4, 6))
    weights = start(S.shape, 1e-5, 6, seed)
    plain = Staircase(S, C, **weights)
    first, second = B @ weights["first"] @ Q, Q.T @ weights["second"] @ A.T
    C_turned = B @ C @ B.T
    C_turned = (C_turned + C_turned.T) / 2
    turned = Staircase(A @ S @ B.T, C_turned, first=first, second=second, learning_rate=rate)
    assert turned.order == plain.order
    np.testing.assert_allclose(turned.drop_times * rate, plain.drop_times, rtol=1e-6)
    # outputs times c, weights times √c: the flow is the same with time divided by c
    scaled = {name: np.sqrt(unit) * weight for name, weight in weights.items()}
    louder = Staircase(unit * S, C, **scaled)
    np.testing.assert_allclose(louder.drop_times * unit, plain.drop_times, rtol=1e-6)
    np.testing.assert_allclose(louder.levels, unit**2 * plain.levels, rtol=1e-6, atol=1e-12)


def equal_modes(seed, mu, inputs=4, outputs=3):
    """A task with given μ in a random basis of the outputs."""
    C = task(seed, inputs, outputs)[1]
    rng = np.random.default_rng(seed)
    A, B = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (outputs, inputs))
    return A * np.sqrt(mu) @ B[:outputs] @ np.linalg.cholesky(C).T, C


def rotated(S, C, weights, seed):
    rng = np.random.default_rng(seed)
    A, B = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in S.shape)
    turned = {"first": B @ weights["first"], "second": weights["second"] @ A.T}
    return A @ S @ B.T, (B @ C @ B.T + (B @ C @ B.T).T) / 2, turned


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 1000),
    st.sampled_from([(1.0, 1, 1), (2.0, 1, 1), (1.0, 1, 0.2), (1.0, 0.97, 0.5), (1.0, 0.9, 0.85)]),
)
def test_equal_modes_in_any_basis(seed, mu):
    """Rotations of outputs and of inputs change nothing, though eigenvectors of equal μ are arbitrary."""
    S, C = equal_modes(seed, mu)
    weights = start(S.shape, 1e-5, 6, seed)
    S2, C2, weights2 = rotated(S, C, weights, seed + 1)
    small = {"initial_std": 1e-5, "width": 6}
    for one, two in [
        (Staircase(S, C, **weights), Staircase(S2, C2, **weights2)),
        (Staircase(S, C, **small), Staircase(S2, C2, **small)),
    ]:
        assert one.order == two.order
        for name in ("drop_times", "rates", "levels", "alignment"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(one.spread, two.spread, rtol=1e-4, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_equal_rates_in_any_basis(seed, is_white):
    """All directions grow alike: the axes of the start decide, whatever basis they are written in."""
    rng = np.random.default_rng(seed)
    S, C = np.linalg.qr(rng.standard_normal((3, 3)))[0], np.eye(3) if is_white else task(seed, 3)[1]
    weights = start(S.shape, 1e-5, 6, seed)
    S2, C2, weights2 = rotated(S, C, weights, seed + 1)
    one, two = Staircase(S, C, **weights), Staircase(S2, C2, **weights2)
    np.testing.assert_allclose(one.drop_times, two.drop_times, rtol=1e-6)
    small = {"initial_std": 1e-5, "width": 6}
    one, two = Staircase(S, C, **small), Staircase(S2, C2, **small)
    np.testing.assert_allclose(one.drop_times, two.drop_times, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("other", "error"), [(1.0, 0.002), (0.98, 0.002), (0.85, 0.02)])
def test_equal_modes_are_learned_in_mixtures(seed, other, error):
    """The run rests where its escape led, between the modes; a mode alone would give times 5 to 25 % off.

    Where the μ differ, the better mode pulls during the plateau, which is not predicted.
    """
    S, C = equal_modes(seed, (1.0, other), 2, 2)
    weights = start(S.shape, 1e-6, 12, seed)
    stairs = Staircase(S, C, **weights)
    true, times, W = true_times(S, C, weights, stairs)
    np.testing.assert_allclose(stairs.drop_times, true, rtol=error)
    middle = W[np.searchsorted(times, stairs.drop_times.mean())]
    loss = stairs.levels[0] - np.sum(middle * S) + np.sum(middle @ C * middle) / 2
    assert loss == pytest.approx(stairs.levels[1], abs=0.01)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([1e-2, 1e-4, 1e-8]))
def test_the_curve(seed, scale):
    S, C = task(seed)
    stairs = Staircase(S, C, 50.0, initial_std=scale, width=10, learning_rate=0.1)
    levels = (stairs.levels[1:] + stairs.levels[:-1]) / 2
    np.testing.assert_allclose(stairs.loss(stairs.drop_times), levels, rtol=1e-9)
    time = np.linspace(0, 2 * stairs.drop_times[-1], 500)
    assert np.all(np.diff(stairs.loss(time)) <= 0)
    assert stairs.loss(0.0) == pytest.approx(25, rel=0.02)
    assert stairs.loss(1e9) == pytest.approx(stairs.levels[-1])
    assert np.all(stairs.drop_times > 0)
    assert stairs.durations[:-1].sum() == pytest.approx(stairs.drop_times[-1])
    assert sorted(stairs.order) == [0, 1, 2]
    assert np.all((stairs.alignment > 1 / 3) & (stairs.alignment <= 1 + 1e-12))


def test_a_drop_alone_takes_its_width():
    stairs = Staircase([[2.0]], [[1.0]], initial_std=1e-6, width=5)
    middle, width = stairs.drop_times[0], stairs.drop_widths[0]
    time = np.linspace(middle - 2 * width, middle + 2 * width, 4001)
    inside = (stairs.loss(time) < 0.9 * 2) & (stairs.loss(time) > 0.1 * 2)
    assert time[inside].max() - time[inside].min() == pytest.approx(width, rel=2e-3)


def test_fewer_units_learn_fewer_modes():
    S = np.diag([3.0, 2.0, 1.0])
    assert Staircase(S, np.eye(3), initial_std=1e-4, width=2).order == (0, 1)
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((3, 1)), rng.standard_normal((1, 3))
    equal = {"first": 1e-4 * first @ np.ones((1, 7)), "second": 1e-4 * np.ones((7, 1)) @ second}
    assert Staircase(S, np.eye(3), **equal).order == (0,)


def test_a_mode_without_a_start_is_never_learned():
    weights = start((3, 3), 1e-4, 5)
    weights["first"][1], weights["second"][:, 1] = 0, 0
    assert Staircase(np.diag([3.0, 2.0, 1.0]), np.eye(3), **weights).order == (0, 2)


@pytest.mark.parametrize("angle", [0.0, 0.7])
@pytest.mark.parametrize("tiny", [1e-15, 1e-20, 1e-40])
def test_units_of_very_different_sizes(angle, tiny):
    """Each mode has its unit; the second one by hand: it grows alone from tiny² to 1."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    units = np.diag([1e-2, tiny])
    stairs = Staircase(turn @ np.diag([2.0, 1]), np.eye(2), first=units, second=units @ turn.T)
    expected = (-2 * np.log(tiny) - np.log1p(np.sqrt(2))) / 2
    assert stairs.order == (0, 1)
    np.testing.assert_allclose(stairs.drop_times[1], expected, rtol=1e-5)


def test_a_mode_smaller_than_the_start_comes_last():
    """It need not grow, so that it would seem to arrive first."""
    stairs = Staircase(np.diag([2.0, 1.0, 1e-4]), np.eye(3), initial_std=1e-2, width=50)
    assert stairs.order == (0, 1, 2)
    two = Staircase(np.diag([2.0, 1.0]), np.eye(2), initial_std=1e-2, width=50)
    np.testing.assert_allclose(stairs.drop_times[:2], two.drop_times, rtol=1e-4)


def test_directions_without_variance_do_not_matter():
    S, C = task(0)
    padded = np.pad(S, ((0, 0), (0, 2))), np.pad(C, (0, 2))
    stairs = Staircase(*padded, initial_std=1e-4, width=7)
    assert stairs.rank == 4
    expected = Staircase(S, C, initial_std=1e-4, width=7)
    np.testing.assert_allclose(stairs.drop_times, expected.drop_times, rtol=1e-9)
    np.testing.assert_allclose(stairs.spread, expected.spread, rtol=1e-6)


def test_text_and_immutability():
    stairs = Staircase(np.diag([2.0, 1.0]), np.eye(2), initial_std=1e-6, width=50)
    assert repr(stairs) == "<Staircase of 2 drops, modes (0, 1)>"
    assert "undecided" not in str(stairs)
    with pytest.raises(AttributeError):
        stairs.drop_times = np.zeros(2)  # pyright: ignore[reportAttributeAccessIssue]
    stairs.drop_times[:] = 0
    assert np.all(stairs.drop_times > 0)
    angle = np.pi / 4  # the fastest direction lies between two modes
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    S = turn @ np.diag([1.0, 0.5]) @ turn.T
    unclear = Staircase(S, np.diag([5.0, 0.5]), initial_std=1e-6, width=5)
    assert ("undecided" in str(unclear)) == (unclear.alignment.min() < 0.7)


GOOD = {"correlation": np.diag([2.0, 1]), "covariance": np.eye(2), "initial_std": 1e-3, "width": 5}
KNOWN = {"initial_std": None, "width": None, "first": np.ones((2, 3)), "second": np.ones((3, 2))}


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"correlation": np.ones(3)}, "`correlation` must have the shape"),
     ({"correlation": np.zeros((2, 2))}, "`correlation` must not vanish"),
     ({"correlation": [[np.inf, 0], [0, 1]]}, "`correlation"),
     ({"covariance": np.eye(3)}, r"`covariance` must .* fit `correlation`, \(outputs, inputs\)"),
     ({"correlation": np.ones((2, 3))},
      r"`correlation` must have the shape \(outputs, inputs\), with 2 inputs .*, got \(2, 3\)\. Transpose"),
     ({"covariance": [[1.0, 2], [0, 1]]}, "`covariance` must be symmetric"),
     ({"covariance": np.diag([1.0, -1])}, "`covariance` must be positive semi-definite"),
     ({"covariance": np.diag([1.0, 0])}, "`correlation` must vanish in directions without variance"),
     ({"covariance": np.full((2, 2), np.nan)}, "`covariance"),
     ({"output_power": 0.1}, "`output_power` must"),
     ({"initial_std": 0}, "`initial_std` must be a finite real number > 0"),
     ({"initial_std": -1.0}, "`initial_std` must"), ({"initial_std": np.nan}, "`initial_std` must"),
     ({"initial_std": [1e-3, 1e-4]}, "`initial_std` must be a single number"),
     ({"width": 0}, "`width` must"), ({"width": 2.5}, "`width` must"), ({"width": None}, "`width` must"),
     ({"learning_rate": 0}, "`learning_rate` must"),
     ({"initial_std": None, "width": None}, "must be given, got neither"),
     ({"first": np.ones((2, 3))}, "must be given, got both"),
     (KNOWN | {"second": None}, "`second` must"),
     (KNOWN | {"first": np.ones((3, 3))}, r"`first` must have the shape \(2, units\)"),
     (KNOWN | {"second": np.ones((2, 2))}, r"`second` must have the shape \(3, 2\)"),
     (KNOWN | {"first": np.full((2, 3), np.nan)}, "`first")],
)  # fmt: skip
def test_bad_input(changes, message):
    with pytest.raises(ArgumentError, match=message):
        Staircase(**GOOD | changes)


def test_starts_that_are_not_small():
    with pytest.raises(AssumptionError, match="The start must be small"):
        Staircase(**GOOD | {"initial_std": 1.0})
    for std in (0.15, 0.2, 0.3):
        with pytest.raises(AssumptionError, match=r"at most 0\.1 of the first mode"):
            Staircase(**GOOD | {"initial_std": std, "width": 50})
    with pytest.raises(AssumptionError, match="The start has no part"):
        Staircase(**GOOD | KNOWN | {"first": np.zeros((2, 3)), "second": np.zeros((3, 2))})


@pytest.mark.parametrize("std", [0.02, 0.05, 0.08])
def test_starts_that_are_just_small_enough(std):
    """Against the flow of many starts: errors stay below a tenth of a drop's width, the order is right."""
    S, C, H = np.diag([2.0, 1.0]), np.eye(2), 50
    stairs = Staircase(S, C, initial_std=std, width=H)
    assert stairs.order == (0, 1)
    true = [true_times(S, C, start(S.shape, std, H, seed), stairs)[0] for seed in range(6)]
    assert np.all(np.abs(np.mean(true, axis=0) - stairs.drop_times) < 0.1 * stairs.drop_widths)


@pytest.mark.parametrize("time", [-1.0, np.nan, "x"])
def test_bad_times(time):
    with pytest.raises(ArgumentError, match="`time` must"):
        Staircase(**GOOD).loss(time)
