"""Numbers, comparisons and durations as people read them."""

import doctest

import pytest

from lazyrich.core import Claim
from lazyrich.report import _comparison, _number, _summary
from lazyrich.report._comparison import expected, measured, seeds
from lazyrich.report._number import duration, estimate, number


@pytest.mark.parametrize("module", [_number, _comparison, _summary])
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (-0.0, "0"),
        (0.95, "0.95"),
        (-1 / 3, "-0.3333"),
        (9.99996, "10"),
        (2000, "2000"),
        (123456, "123456"),
        (12345.6, "12346"),
        (123456.7, "1.23e5"),
        (0.001, "0.001"),
        (0.00012345, "1.23e-4"),
        (1.2e-15, "1.2e-15"),
        (1e300, "1e300"),
        ("inf", "∞"),
        ("-inf", "-∞"),
        (float("nan"), "nan"),
        (None, "—"),
        ("not a number", "not a number"),
    ],
)
def test_number(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "uncertainty", "shown"),
    [
        (0.95, None, "0.95"),
        (0.02127, 0.00021, "0.02127 ± 0.00021"),
        (489.2, 6.1, "489.2 ± 6.1"),
        (5.1034e-7, 3e-9, "5.1e-7 ± 3e-9"),
        (0.0, 0.1, "0 ± 0.1"),
        ("nan", "nan", "nan ± nan"),
    ],
)
def test_estimate(value, uncertainty, shown):
    assert estimate(value, uncertainty) == shown


@pytest.mark.parametrize(
    ("comparison", "tolerance", "shown"),
    [
        ("relative", 0.02, "0.95 ± 2 %"),
        ("relative", 1e-8, "0.95 ± 1e-8 relative"),
        ("relative", 0.0, "0.95"),
        ("absolute", 0.01, "0.95 ± 0.01"),
        ("at-most", 0.0, "≤ 0.95"),
        ("at-most", 0.1, "≤ 0.95 (+ 0.1)"),
        ("at-least", 0.1, "≥ 0.95 (- 0.1)"),
    ],
)
def test_expected(comparison, tolerance, shown):
    claim = Claim("", "", 0.95, 0.95, comparison=comparison, tolerance=tolerance)
    assert expected(claim.to_json()) == shown


def test_measured_shows_the_difference_that_makes_a_claim_fail():
    fails = Claim("", "", 1.0, 1.0000213, tolerance=1e-5).to_json()
    assert measured(fails) == "1.00002"
    holds = Claim("", "", 1.0, 1.0000213, tolerance=1e-3).to_json()
    assert measured(holds) == "1"


def test_nothing_is_measured_where_a_claim_is_not_applicable():
    claim = Claim("", "", 1.0, 0.0, needs="a data set", num_seeds=8).to_json()
    assert (measured(claim), seeds(claim)) == ("—", "")


def test_duration_of_nonsense():
    assert duration(None) == duration("soon") == duration("inf") == "unknown duration"
