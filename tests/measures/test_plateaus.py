"""Plateaus and drops, on curves whose levels and times are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.measures import plateaus

STEPS = np.arange(0, 2001, 10.0)
WIDTH = 1.85  # from 90 % to 10 % of (1 − logistic(2 s t))², in units of 1/s
HALF = -np.log(1 / (1 - np.sqrt(0.5)) - 1) / 2  # where it is ½, in units of 1/s


def modes(time, sizes, times, rates):
    """Losses of decoupled modes that grow as logistic functions: Σ a (1 − w)²."""
    s, T = np.array(rates)[:, None], np.array(times)[:, None]
    w = 1 / (1 + np.exp(-np.clip(2 * s * (time - T), -700, 700)))
    return np.array(sizes) @ (1 - w) ** 2


def two_steps(time=STEPS):
    return modes(time, [0.5, 0.5], [545, 1465], [0.01, 0.01])


def kind(found):
    """Plateaus, drops, and whether the curve starts and ends on a plateau."""
    return found.num_plateaus, found.num_drops, found.starts_on_plateau, found.ends_on_plateau


@pytest.mark.parametrize(
    ("sizes", "times", "rates"),
    [
        ([1.0], [900], [0.01]),
        ([0.5, 0.5], [545, 1465], [0.01, 0.01]),
        ([0.9, 0.1], [500, 1200], [0.01, 0.02]),
        ([0.06, 0.94], [500, 1200], [0.02, 0.01]),
        ([0.5, 0.3, 0.2], [400, 900, 1500], [0.02, 0.01, 0.01]),
        ([0.4, 0.3, 0.2, 0.1], [300, 700, 1100, 1500], [0.02, 0.02, 0.02, 0.02]),
        ([0.25, 0.25, 0.25, 0.25], [300, 600, 900, 1200], [0.05, 0.02, 0.02, 0.02]),
    ],
)
def test_modes_in_steps(sizes, times, rates):
    found = plateaus(STEPS, modes(STEPS, sizes, times, rates))
    assert kind(found) == (len(sizes) + 1, len(sizes), True, True)
    np.testing.assert_allclose(found.levels, 1 - np.cumsum([0, *sizes]), atol=3e-3)
    np.testing.assert_allclose(found.drop_sizes, sizes, atol=3e-3)
    exact = np.array(times) + HALF / np.array(rates)
    assert np.all(np.abs(found.drop_times - exact) < 2 * found.drop_time_uncertainties)
    assert np.all(found.drop_time_uncertainties < 5)
    assert np.all((found.starts < found.ends)[1:])
    assert np.all((found.ends[:-1] < found.drop_times) & (found.drop_times < found.starts[1:]))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_well_separated_modes(data):
    number = data.draw(st.integers(1, 4))
    cut = sorted(data.draw(st.lists(st.floats(0, 1), min_size=number - 1, max_size=number - 1)))
    sizes = 0.05 + (1 - 0.05 * number) * np.diff([0, *cut, 1])
    widths = [data.draw(st.floats(1, 60)) for _ in range(number)]
    times, now = [], 0.0
    for i, width in enumerate(widths):
        wider = max(width, widths[i - 1]) if i else width
        now += (1.4 * width + data.draw(st.floats(2, 10)) * wider) + (
            0.4 * widths[i - 1] if i else 0
        )
        times.append(now)
    end = now + 8 * max(widths)
    time = np.linspace(0, end, int(np.ceil(end / min(widths))) * 2 + 10)
    scale = 10.0 ** data.draw(st.integers(-12, 12))
    rates = WIDTH / np.array(widths)
    found = plateaus(time, scale * modes(time, sizes, times, rates))
    assert kind(found) == (number + 1, number, True, True)
    np.testing.assert_allclose(found.drop_sizes / scale, sizes, atol=0.02)
    errors = np.abs(found.drop_times - np.array(times) - HALF / rates)
    assert np.all(errors < 3 * found.drop_time_uncertainties)


def test_drops_spread_over_decades():
    time = np.geomspace(1, 1e6, 120)
    rates = np.array([0.5, 5e-3, 5e-5])
    found = plateaus(time, modes(time, [0.4, 0.3, 0.3], [10, 1e3, 1e5], rates))
    assert kind(found) == (4, 3, True, True)
    np.testing.assert_allclose(found.drop_times, [10, 1e3, 1e5] + HALF / rates, rtol=0.01)


def test_a_plateau_that_only_log_time_shows():
    time = np.geomspace(0.01, 1e5, 150)
    apart = plateaus(time, 0.5 * np.exp(-time) + 0.5 * np.exp(-time / 1e3))
    assert kind(apart) == (2, 2, False, True)
    np.testing.assert_allclose(apart.levels[1], 0.5, atol=0.01)
    near = plateaus(time, 0.5 * np.exp(-time) + 0.5 * np.exp(-time / 10))
    assert kind(near) == (1, 1, False, True)


@pytest.mark.parametrize(("apart", "drops"), [(100, 1), (200, 1), (300, 2), (500, 2)])
def test_modes_merge_when_closer_than_their_widths(apart, drops):
    loss = modes(STEPS, [0.5, 0.5], [800, 800 + apart], [0.01, 0.01])
    assert kind(plateaus(STEPS, loss)) == (drops + 1, drops, True, True)


@pytest.mark.parametrize("floor", [0.0, 1e-30, 0.2])
@pytest.mark.parametrize("time", [STEPS / 100, np.geomspace(1e-3, 100, 100)])
def test_an_exponential_decay_rests_only_at_its_end(time, floor):
    found = plateaus(time, floor + (1 - floor) * np.exp(-2 * time))
    assert kind(found) == (1, 1, False, True)
    assert found.levels[-1] == pytest.approx(floor, abs=1e-4)
    assert found.drop_times[0] == pytest.approx(np.log(2) / 2, abs=0.03)
    assert found.starts[0] == found.ends[0] == time[0]


def test_a_decay_that_goes_on():
    time = np.linspace(0, 3, 100)
    found = plateaus(time, np.exp(-time))
    assert kind(found) == (0, 1, False, False)
    np.testing.assert_allclose(found.levels, [1, np.exp(-3)], atol=1e-3)
    assert found.starts[-1] == found.ends[-1] == 3


def test_a_power_law_has_no_plateau_until_little_is_left():
    time = np.geomspace(1, 100, 200)
    assert kind(plateaus(time, time**-0.5)) == (0, 1, False, False)
    time = np.geomspace(1, 1e6, 200)
    assert kind(plateaus(time, time**-0.5)) == (1, 1, False, True)


@pytest.mark.parametrize("value", [0.0, 3.0, -1.0, 1e-300, 1e300])
def test_a_constant_curve(value):
    found = plateaus(STEPS, np.full(STEPS.size, value))
    assert kind(found) == (1, 0, True, True)
    np.testing.assert_array_equal(found.levels, [value])
    assert (found.starts[0], found.ends[0]) == (0, 2000)


def test_a_steady_fall():
    assert kind(plateaus(STEPS, 1 - STEPS / 4000)) == (0, 1, False, False)


def test_a_fast_fall_before_the_first_plateau():
    loss = 0.5 * np.exp(-STEPS / 20) + modes(STEPS, [0.3, 0.2], [700, 1500], [0.02, 0.02])
    found = plateaus(STEPS, loss)
    assert kind(found) == (3, 3, False, True)
    np.testing.assert_allclose(found.levels, [1, 0.5, 0.2, 0], atol=2e-3)


def test_a_late_drop_is_not_the_end():
    early = STEPS <= 1480
    found = plateaus(STEPS[early], two_steps()[early])
    assert kind(found) == (2, 2, True, False)


def test_a_slow_drift_is_one_plateau():
    loss = modes(STEPS, [0.66, 0.29], [795, 1610], [0.01, 0.01]) + 0.05 * (1 - STEPS / 2000)
    found = plateaus(STEPS, loss)
    assert kind(found) == (3, 2, True, True)
    assert 0.31 < found.levels[1] < 0.34


def test_rises_are_negative_drops():
    found = plateaus(STEPS, 1 - two_steps())
    assert kind(found) == (3, 2, True, True)
    np.testing.assert_allclose(found.drop_sizes, [-0.5, -0.5], atol=2e-3)
    assert "rise" in str(found)


def test_coarse_grid_and_a_drop_within_one_cell():
    found = plateaus(STEPS[::10], two_steps(STEPS[::10]))
    assert kind(found) == (3, 2, True, True)
    exact = np.array([545, 1465]) + HALF / 0.01
    assert np.all(np.abs(found.drop_times - exact) < found.drop_time_uncertainties)
    sharp = plateaus(np.arange(12), [1.0] * 4 + [0.4] * 4 + [0.0] * 4)
    np.testing.assert_allclose(sharp.levels, [1, 0.4, 0])
    np.testing.assert_allclose(sharp.drop_times, [3.5, 7.5], atol=0.1)


@pytest.mark.parametrize("factor", [0.0, 0.5, 20.0])
def test_single_spikes_do_not_matter(factor):
    loss = two_steps()
    loss[[20, 50, 100, 146, 180]] *= factor
    assert kind(plateaus(STEPS, loss)) == (3, 2, True, True)


def test_a_burst_does_not_split_a_plateau():
    loss = two_steps()
    loss[100:109] += 0.3 * (1 - np.abs(np.arange(-4, 5)) / 5)
    found = plateaus(STEPS, loss)
    np.testing.assert_allclose(found.levels, [1, 0.5, 0], atol=2e-3)


def test_jitter_in_time():
    rng = np.random.default_rng(0)
    for _ in range(10):
        loss = two_steps(STEPS + 10 * rng.standard_normal(STEPS.size))
        assert kind(plateaus(STEPS, loss)) == (3, 2, True, True)


@pytest.mark.parametrize(("relative", "absolute"), [(0.05, 0), (0.1, 0), (0, 0.05), (0.05, 0.02)])
def test_noise(relative, absolute):
    """Right counts, and stated uncertainties that hold and are not wasteful."""
    rng = np.random.default_rng(1)
    exact, levels = np.array([545, 1465]) + HALF / 0.01, np.array([1, 0.5, 0])
    times, losses, right = [], [], 0
    for _ in range(40):
        noise = rng.standard_normal((2, STEPS.size))
        found = plateaus(STEPS, two_steps() * (1 + relative * noise[0]) + absolute * noise[1])
        if kind(found) == (3, 2, True, True):
            right += 1
            times.append((found.drop_times - exact) / found.drop_time_uncertainties)
            losses.append((found.levels - levels)[:2] / found.level_uncertainties[:2])
    assert right >= 37
    for pulls in (np.abs(times), np.abs(losses)):
        assert np.mean(pulls < 3) > 0.95
        assert np.sqrt(np.mean(pulls**2)) > 0.3


def test_noise_alone_is_no_drop():
    rng = np.random.default_rng(2)
    found = [plateaus(STEPS, 1 + 0.1 * rng.standard_normal(STEPS.size)) for _ in range(60)]
    assert sum(kind(f) == (1, 0, True, True) for f in found) >= 59
    pulls = [(f.levels[0] - 1) / f.level_uncertainties[0] for f in found if f.num_drops == 0]
    assert np.mean(np.abs(pulls) < 3) > 0.95


def test_a_noisy_fall_has_no_plateaus_within():
    rng = np.random.default_rng(3)
    for loss in (np.exp(-STEPS / 100), 1 - STEPS / 2100, (1 + STEPS) ** -0.5):
        noisy = [loss * (1 + 0.05 * rng.standard_normal(STEPS.size)) for _ in range(20)]
        assert sum(plateaus(STEPS, y).num_drops == 1 for y in noisy) >= 19


def random_staircase(rng, fewest=10, rises=False, least=100):
    """Ramps, tanh steps and sudden exponential decays, with noise, on uneven and on logarithmic grids.

    Rests have at least `fewest` records; there are at least `least` in all. With `rises` some stairs go up.
    """
    shapes = [
        lambda z: 0.5 * (1 - np.tanh(2.2 * z)),
        lambda z: np.clip(0.5 - 0.8 * z, 0, 1),
        lambda z: np.exp(-2.3 * np.clip(z + 0.3, 0, 300)),
    ]
    while True:
        number, size = int(rng.integers(1, 5)), int(rng.integers(least, 4 * least))
        sizes = rng.dirichlet(np.full(number, 3.0))
        if rng.random() < 0.5:
            time = np.unique(np.round(np.geomspace(1, 10 ** rng.uniform(3, 6), size)))
            times = time[-1] ** np.sort(rng.uniform(0.1, 0.9, number))
            widths = times * rng.uniform(0.1, 0.5, number)
        else:
            time = np.sort(rng.uniform(0, 1, size))
            times = np.sort(rng.uniform(0.1, 0.9, number))
            widths = 10 ** rng.uniform(-2.5, -1.2, number)
        begins, stops = np.append(times - widths, time[-1]), np.append(time[0], times + widths)
        resting = np.searchsorted(time, begins) - np.searchsorted(time, stops)
        wider = np.maximum(np.append(widths, widths[-1]), np.append(widths[0], widths))
        noise = rng.choice([0, rng.uniform(0.01, 0.1)]) if fewest >= 10 else 0.0
        heights = 1 - np.cumsum(sizes) + sizes
        signs = rng.choice([-1, 1], number) if rises else np.ones(number)
        if (
            sizes.min() > 0.06
            and np.all(sizes > 3 * noise * heights)
            and resting.min() >= fewest
            and np.all(begins - stops > np.append(2 * wider[:-1], 5 * wider[-1]))
        ):
            loss = sum(
                a * (shapes[rng.integers(3)]((time - T) / w) + (sign < 0)) * sign
                for a, T, w, sign in zip(sizes, times, widths, signs, strict=True)
            )
            return time, loss * (1 + noise * rng.standard_normal(time.size)), number


def test_random_staircases():
    rng = np.random.default_rng(4)
    cases = [random_staircase(rng) for _ in range(100)]
    right = sum(kind(plateaus(time, loss)) == (n + 1, n, True, True) for time, loss, n in cases)
    assert right >= 97


@pytest.mark.parametrize(
    ("fewest", "least", "rises"), [(3, 30, False), (3, 30, True), (10, 100, True)]
)
def test_random_staircases_with_few_records_and_rises(fewest, least, rises):
    rng = np.random.default_rng(4)
    cases = [random_staircase(rng, fewest, rises, least) for _ in range(100)]
    right = sum(kind(plateaus(time, loss)) == (n + 1, n, True, True) for time, loss, n in cases)
    assert right >= 97


def test_a_linear_network_visits_the_saddles():
    """Weights of a two-layer network in gradient flow; levels are those of fixed points of lower rank."""
    from scipy.integrate import solve_ivp

    target = np.diag([2.0, 1.0, 0.0])

    def flow(_, weights):
        first, second = weights.reshape(2, 3, 3)
        error = target - second @ first
        return np.stack([second.T @ error, error @ first.T]).ravel()

    start = 1e-4 * np.random.default_rng(5).standard_normal(18)
    time = np.linspace(0, 20, 401)
    path = solve_ivp(flow, (0, 20), start, t_eval=time, rtol=1e-9, atol=1e-12).y.T
    outputs = path[:, 9:].reshape(-1, 3, 3) @ path[:, :9].reshape(-1, 3, 3)
    found = plateaus(time, 0.5 * np.sum((target - outputs) ** 2, axis=(1, 2)))
    assert kind(found) == (3, 2, True, True)
    np.testing.assert_allclose(found.levels, [2.5, 0.5, 0], atol=3e-3 * 2.5)
    assert np.all(np.abs(found.levels - [2.5, 0.5, 0]) < 3 * found.level_uncertainties)
    # a mode of strength s needs about ln(1/start)/s
    assert found.drop_times[1] / found.drop_times[0] == pytest.approx(2, rel=0.15)


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-6, 1e6), st.floats(1e-200, 1e200))
def test_units_do_not_matter(unit, scale):
    noisy = two_steps() * (1 + 0.03 * np.random.default_rng(6).standard_normal(STEPS.size))
    a, b = plateaus(STEPS, noisy), plateaus(unit * STEPS, scale * noisy)
    assert kind(a) == kind(b)
    np.testing.assert_allclose(b.levels, scale * a.levels, rtol=1e-6, atol=1e-12 * scale)
    np.testing.assert_allclose(b.drop_times, unit * a.drop_times, rtol=1e-6)
    np.testing.assert_allclose(
        b.drop_time_uncertainties, unit * a.drop_time_uncertainties, rtol=1e-6
    )


def test_options():
    loss = modes(STEPS, [0.95, 0.05], [545, 1465], [0.01, 0.01])
    assert plateaus(STEPS, loss).num_drops == 2
    assert plateaus(STEPS, loss, smallest_drop=0.1).num_drops == 1
    near = modes(STEPS, [0.5, 0.5], [800, 1100], [0.01, 0.01])
    assert plateaus(STEPS, near).num_drops == 2
    assert plateaus(STEPS, near, shortest=4).num_drops == 1


def test_text():
    assert str(plateaus(STEPS, two_steps())).splitlines()[:3] == [
        "3 plateaus, 2 drops of at least 0.02",
        "  plateau  from 0 to 399.2, loss 0.9999 ± 0.0001",
        "  drop     at 501 ± 3, by 0.5",
    ]
    falling = str(plateaus(STEPS, 1 - STEPS / 4000)).splitlines()
    assert falling[0] == "0 plateaus, 1 drop of at least 0.02"
    assert falling[1].startswith("  start    falling from 0, loss 1")
    assert falling[3].startswith("  end      still falling at 2000, loss 0.5")


def test_text_keeps_the_digits_of_levels_that_are_known_well():
    loss = 2.965 / (1 + np.exp((STEPS - 1000) / 20))
    assert "loss 2.965 ±" in str(plateaus(STEPS, loss)).splitlines()[1]


@pytest.mark.parametrize(
    ("time", "loss", "options", "message"),
    [
        (range(7), range(7), {}, r"`time` must have the shape \(time,\) with at least 8 entries"),
        (range(9), range(8), {}, r"`loss` must have the shape \(9,\) of `time`, got \(8,\)"),
        (range(9), np.ones((2, 9)), {}, "For many runs, call once for each"),
        ([[1.0] * 9], range(9), {}, r"`time` must have the shape \(time,\)"),
        ([*range(8), 7], range(9), {}, "increase strictly, got .*7 at index 8 after 7"),
        ([-1, *range(8)], range(9), {}, "`time.0.` must be a finite real number ≥ 0"),
        (range(9), [1.0] * 5 + [np.nan] * 4, {}, "`loss.5.` must be a finite real number, got nan"),
        (range(9), range(9), {"smallest_drop": 0}, "`smallest_drop` must be"),
        (range(9), range(9), {"smallest_drop": 1}, "`smallest_drop` must be"),
        (range(9), range(9), {"shortest": 0}, "`shortest` must be a finite real number > 0"),
    ],
)
def test_bad_input(time, loss, options, message):
    with pytest.raises(ArgumentError, match=message):
        plateaus(list(time), loss if isinstance(loss, np.ndarray) else list(loss), **options)


def test_traces_are_refused():
    import jax

    with pytest.raises(ArgumentError, match="`loss` must be known now"):
        jax.jit(lambda loss: plateaus(STEPS, loss).levels)(two_steps())


def test_a_doubtful_plateau_does_not_take_the_others_along():
    """Three modes of a linear network, some rests between them in doubt: the start still is a plateau."""
    t = np.arange(0, 4001, 10.0)
    s = np.arange(1, 4) ** -0.75
    s /= s.sum()
    for first in (480, 560, 640):
        for second in range(300, 800, 60):
            drops = (1100, 1100 + first, 1100 + first + second)
            y = sum(
                a**2 * (1 - 1 / (1 + np.exp(-0.04 * a * (t - T)))) ** 2
                for a, T in zip(s, drops, strict=True)
            )
            found = plateaus(t, y)
            assert found.starts_on_plateau, (first, second)
            assert found.ends_on_plateau, (first, second)


@pytest.mark.parametrize("records", [3, 4, 5])
@pytest.mark.parametrize(
    "levels", [(1, 0.5, 0), (1, 0.7, 0.4, 0), (0.2, 1, 0.5), (3, 2, 2.5, 0, 1)]
)
def test_stairs_of_a_few_records(levels, records):
    loss = np.repeat(levels, records)
    found = plateaus(np.arange(float(loss.size)), loss)
    assert kind(found) == (len(levels), len(levels) - 1, True, True)
    np.testing.assert_allclose(found.levels, levels, atol=1e-12)
    middles = records * np.arange(1, len(levels)) - 0.5
    np.testing.assert_allclose(found.drop_times, middles, atol=0.51)


def overfits(time):
    """Falls from 1 to 0 at 300, and rises again to 0.3 at 2000."""
    return 1 / (1 + np.exp((time - 300) / 20)) + 0.3 * np.clip((time - 400) / 1600, 0, 1)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_loss_that_rises_again_keeps_its_minimum(noise):
    rng = np.random.default_rng(0)
    found = plateaus(STEPS, overfits(STEPS) + noise * rng.standard_normal(STEPS.size))
    assert found.num_drops == 2
    exact = np.array([1, overfits(STEPS).min(), 0.3])
    assert np.all(np.abs(found.levels - exact) < 3 * found.level_uncertainties + 1e-3)
    assert np.all(found.level_uncertainties < 2 * noise + 1e-3)
    np.testing.assert_allclose(found.drop_sizes, -np.diff(found.levels), atol=1e-12)
    assert not found.ends_on_plateau
    assert found.drop_times[0] == pytest.approx(300, abs=15)
    assert "rise" in str(found)
    assert "still rising at 2000" in str(found)


def test_a_turn_is_no_plateau():
    time = np.linspace(0, 2, 201)
    found = plateaus(time, 1 + np.abs(time - 1))
    assert kind(found) == (0, 2, False, False)
    # a tip of one record is a spike, and is cut: by what the curve moves in a cell of the grid, 0.01
    np.testing.assert_allclose(found.levels, [2, 1.01, 2], atol=1e-3)
    assert found.starts[1] == found.ends[1] == pytest.approx(1, abs=0.02)
    assert str(found).splitlines()[3].startswith("  turn     at ")


def test_start_rising():
    found = plateaus(STEPS, 1 + STEPS / 2000)
    assert str(found).splitlines()[1].startswith("  start    rising from 0")
    assert "still rising" in str(found)


LONG = np.arange(0, 20001, 10.0)


def stairs(levels, times, width=20.0, time=LONG):
    """Logistic drops from level to level."""
    drops = [1 / (1 + np.exp(-np.clip((time - T) / width, -700, 700))) for T in times]
    return levels[0] + np.diff(levels) @ np.array(drops)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("levels", "times", "small"),
    [
        ([1, 0.03, 0.012], [1000, 10000], 0.018),
        ([1, 0.03, 0.012], [1000, 18000], 0.018),
        ([1, 0.03, 0.012], [1000, 3000], 0.018),
        ([30, 0.484, 0.174], [2000, 9690], 0.31),
        ([1, 0.5, 0.485, 0], [2000, 9690, 12000], 0.015),
        ([1, 0.5, 0.485, 0], [2000, 3690, 12000], 0.015),
        ([1, 0.5, 0.515, 0], [2000, 7000, 12000], 0.015),
    ],
)
def test_a_drop_too_small_to_count_is_within_the_uncertainty(levels, times, small, noise):
    exact = stairs(levels, times)
    scatter = noise * levels[0] * np.random.default_rng(7).standard_normal(LONG.size)
    found = plateaus(LONG, exact + scatter)
    i = 1  # the plateau in which it lies
    assert kind(found) == (len(levels) - 1, len(levels) - 2, True, True)
    inside = (found.starts[i] + 200 < LONG) & (found.ends[i] - 200 > LONG)
    off = np.abs(exact[inside] - found.levels[i])
    assert np.all(off < 3 * found.level_uncertainties[i])
    assert found.level_uncertainties[i] < small
    if levels[2] < levels[1]:
        assert found.strays[i] == pytest.approx(small, rel=0.4)
        assert f"moves by {found.strays[i]:.2g}" in str(found)
    others = np.delete(found.level_uncertainties, i)
    assert np.all(others < 1e-3 * levels[0])  # those around know nothing of it


@pytest.mark.parametrize("noise", [0.0, 3e-4])
@pytest.mark.parametrize("times", [(4000, 8000, 12000, 16000), (4000, 8000, 12000), (4000, 12000)])
@pytest.mark.parametrize("top", [0.1, 1.0])
def test_a_drop_in_small_steps_is_as_uncertain_as_it_is_long(top, times, noise):
    levels = [1, *(top - 0.015 * np.arange(len(times) + 1))]
    exact = stairs(levels, [1000, *times]) if top < 1 else stairs(levels[1:], times)
    found = plateaus(LONG, exact + noise * np.random.default_rng(8).standard_normal(LONG.size))
    assert found.num_drops == (2 if top < 1 else 1)
    off = np.abs(found.drop_times[-1] - np.array(times))
    assert np.all(off < 3 * found.drop_time_uncertainties[-1])
    assert found.pauses[-1] == pytest.approx(times[-1] - times[0], rel=0.1)
    assert "pauses for" in str(found)
    assert np.all(found.pauses[:-1] == 0)


def test_a_slow_drift_is_within_the_uncertainty():
    drift = 0.03 * (1 - LONG / 20000)
    found = plateaus(LONG, stairs([1, 0.5, 0], [4000, 16000]) + drift)
    assert kind(found) == (3, 2, True, True)
    exact = np.array([1, 0.5, 0])[:, None] + drift
    for i in range(3):
        inside = (found.starts[i] < LONG) & (found.ends[i] > LONG)
        off = np.abs(exact[i][inside] - found.levels[i])
        assert np.all(off < 3 * found.level_uncertainties[i])


def test_tails_of_drops_noise_and_bursts_are_no_drift():
    for i in range(5):
        found = plateaus(STEPS, modes(STEPS, [0.5, 0.5], [545, 1465], [0.01, 0.01 + 0.002 * i]))
        assert np.all(found.strays < 2e-3)
        assert np.all(found.pauses == 0)
    rng = np.random.default_rng(9)
    cases = [plateaus(*random_staircase(rng)[:2]) for _ in range(100)]
    assert sum(bool(np.any(found.pauses > 0)) for found in cases) <= 2
    assert sum("moves" in str(found) for found in cases) <= 2
    loss = two_steps()
    loss[100:109] += 0.3 * (1 - np.abs(np.arange(-4, 5)) / 5)
    burst = plateaus(STEPS, loss)
    assert burst.strays[1] < 2e-3
    assert burst.level_uncertainties[1] < 0.3 / 4  # its spread over all records


def test_modes_too_small_to_count_of_a_linear_network():
    """They get smaller from one to the next, as a convex tail does, and take long: 0.486, 0.172, 0."""
    first, second = 1e-3 * np.random.default_rng(0).standard_normal((2, 3, 3))
    target, losses = np.diag([7.0, 0.79, 0.59]), []
    for step in range(20001):
        error = target - second @ first
        if step % 10 == 0:
            losses.append(0.5 * np.sum(error**2))
        first, second = first + 0.002 * second.T @ error, second + 0.002 * error @ first.T
    found = plateaus(LONG, losses)
    assert kind(found) == (2, 1, True, True)
    inside = (found.starts[1] + 200 < LONG) & (found.ends[1] > LONG)
    off = np.abs(np.array(losses)[inside] - found.levels[1])
    assert np.all(off < 3 * found.level_uncertainties[1])
    assert found.strays[1] == pytest.approx(0.486, rel=0.1)
    assert plateaus(LONG, losses, smallest_drop=0.002).num_drops == 3
