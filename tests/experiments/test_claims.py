"""Claims over seeds, and times read off curves with names."""

import numpy as np
import pytest
import xarray

from lazyrich.core import Departure
from lazyrich.experiments import _claims
from lazyrich.experiments._times import time_to, value_at
from lazyrich.experiments.saddles import _spectra

WORDS = ("a statement", "Fig. 0")
VALUES = np.array([1.0, 2.0, 6.0])


def test_means_come_with_their_number_and_uncertainty():
    found = _claims.mean_claim(*WORDS, 3.0, xarray.DataArray(VALUES, dims="seed"), "absolute", 0.1)
    assert (found.measured, found.num_seeds, found.tolerance) == (3, 3, 0.1)
    assert found.uncertainty == pytest.approx(np.std(VALUES, ddof=1) / np.sqrt(3))
    found = _claims.geometric_claim(*WORDS, 2.0, VALUES, "at-least")
    assert found.measured == pytest.approx(12 ** (1 / 3))
    assert found.uncertainty == pytest.approx(found.measured * np.log(VALUES).std(ddof=1) / 3**0.5)
    assert _claims.mean_claim(*WORDS, 1.0, VALUES[:1]).uncertainty is None


def test_no_values_and_infinite_ones_fail():
    never = [np.inf, 1.0]
    for claim in (
        _claims.mean_claim(*WORDS, 1.0, []), _claims.share_claim(*WORDS, []),
        _claims.mean_claim(*WORDS, 1.0, never, "at-least"),
        _claims.geometric_claim(*WORDS, 1.0, never, "at-least"),
        _claims.delay_claim(*WORDS, [1.0, 1.0], never),
        _claims.worst_claim(*WORDS, 1.0, [[1.0, 1.0], [np.nan, 1.0]], "at-least"),
        _claims.deviation_claim(*WORDS, 1.0, [[1.0, 1.0], [np.nan, 1.0]]),
    ):  # fmt: skip
        assert claim.verdict == "fails"


def test_a_trend_needs_a_fall_and_no_rise():
    noise = np.random.default_rng(0).standard_normal(8)
    cases = {
        ("holds", "holds"): [900 + noise, 400 - noise, 0 * noise, 0 * noise],
        ("fails", "holds"): np.zeros((4, 8)),
        ("holds", "fails"): [900 + noise, 100 + noise, 400 + noise],
        ("fails", "fails"): [noise, noise[::-1] + 9],
    }
    for verdicts, values in cases.items():
        found = _spectra.trend(*WORDS, np.array(values))
        assert tuple(claim.verdict for claim in found) == verdicts


def test_smooth_losses_have_no_trend_of_plateaus():
    time = np.linspace(0, 4000, 401)
    smooth = np.broadcast_to(0.4 * np.exp(-time / 500), (4, 8, time.size))
    losses = xarray.DataArray(smooth, {"time": time}, ("case", "seed", "time"))
    assert _spectra.trend(*WORDS, _spectra.resting(_spectra.walks(losses)))[0].verdict == "fails"


def test_beyond_a_level_by_more_than_chance():
    error = np.std(VALUES, ddof=1) / np.sqrt(3)
    found = _claims.clear_claim("more (mean)", "Fig. 0", -1.0, VALUES)
    assert found.measured == pytest.approx(3 - 2 * error)
    assert found.statement == "more (mean, less two standard errors)"
    assert found.verdict == "holds"
    assert _claims.clear_claim("more (mean)", "Fig. 0", 0.0, VALUES).verdict == "fails"  # 3 ± 1.5
    found = _claims.clear_claim("less (mean)", "Fig. 0", 7.0, VALUES, "at-most")
    assert found.measured == pytest.approx(3 + 2 * error)
    assert found.statement == "less (mean, plus two standard errors)"
    assert _claims.clear_claim("equal (mean)", "Fig. 0", 1.0, np.ones(3)).verdict == "fails"
    assert _claims.clear_claim("all (mean)", "Fig. 0", 0.0, np.ones(3)).verdict == "holds"
    assert _claims.clear_claim("none (mean)", "Fig. 0", 0.0, []).verdict == "fails"


def test_shares():
    found = _claims.share_claim(*WORDS, [True, True, False, True], 0.5)
    assert (found.measured, found.comparison, found.num_seeds) == (0.75, "at-least", 4)
    assert found.uncertainty == pytest.approx(np.sqrt(0.75 * 0.25 / 4))
    departure = Departure("why", 0.0, 0.1)
    found = _claims.share_claim(
        *WORDS, [False] * 6, uncertainty=None, num_seeds=3, departure=departure
    )
    assert (found.uncertainty, found.num_seeds, found.verdict) == (None, 3, "departs")


@pytest.mark.parametrize(
    ("comparison", "worst"), [("at-most", 2), ("at-least", 0), ("relative", 2), ("absolute", 2)]
)
def test_the_case_that_agrees_least(comparison, worst):
    values = np.array([[0.8, 1.0], [1.0, 1.1], [1.3, 1.5]])
    found = _claims.worst_claim(*WORDS, 1.0, values, comparison)
    assert found.measured == pytest.approx(values[worst].mean())
    assert found.num_seeds == 2


def test_largest_relative_difference():
    values = xarray.DataArray([[2.0, 2.2], [3.0, 3.6]], dims=("case", "seed"))
    found = _claims.deviation_claim(*WORDS, 0.2, values, xarray.DataArray([2.0, 3.0], dims="case"))
    assert (found.measured, found.uncertainty) == pytest.approx((0.1, 0.1))
    assert found.verdict == "holds"
    assert _claims.deviation_claim(*WORDS, 0.2, values / 3).measured == pytest.approx(0.3)


def test_ratio_of_means():
    found = _claims.ratio_claim(*WORDS, 2.0, 2 * VALUES, VALUES, "at-most")
    assert (found.measured, found.uncertainty, found.num_seeds) == (2, 0, 3)
    assert found.verdict == "holds"


def test_runs_that_never_get_there_count_as_the_end():
    found = _claims.delay_claim(*WORDS, [10.0, 10.0], [40.0, np.inf], end=160.0, least=7.9)
    assert (found.measured, found.expected, found.verdict) == (pytest.approx(8), 7.9, "holds")


def test_times_of_named_curves():
    time = np.array([1.0, 2.0, 4.0, 8.0])
    rising = np.array([[0.0, 0.5, 1.0, 1.0], [0.0, 1.0, 0.0, 0.2]])
    curves = xarray.DataArray(rising.T, {"epoch": time}, ("epoch", "seed"))
    found = time_to(curves, 0.75, along="epoch")
    assert found[0] == pytest.approx(np.sqrt(8))
    assert found[1] == np.inf  # it falls back
    ends = curves.isel(epoch=-1)
    np.testing.assert_array_equal(time_to(-curves, -ends / 2, along="epoch", falling=True),
                                  time_to(curves, ends / 2, along="epoch"))  # fmt: skip
    np.testing.assert_array_equal(value_at(time, rising, [3.0, np.inf]), [0.75, 0.2])
    np.testing.assert_array_equal(value_at(time, rising, 1.5), [0.25, 0.5])
