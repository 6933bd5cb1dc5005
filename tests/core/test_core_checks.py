"""Checks and their results."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import Check, CheckResult, Verdict, check

ANY = st.floats()
WORDS = st.sampled_from(["", "a factor 2"])


@pytest.mark.parametrize(
    ("result", "verdict", "reason"),
    [
        ({}, "holds", ""),
        ({"error": 1e-10}, "holds", ""),
        ({"error": 1.1e-10}, "fails", "error 1.1e-10 exceeds the tolerance 1e-10"),
        ({"error": math.nan}, "fails", "error nan exceeds the tolerance 1e-10"),
        ({"error": math.inf}, "fails", "error inf exceeds the tolerance 1e-10"),
        ({"tolerance": math.nan}, "fails", "error 1e-12 exceeds the tolerance nan"),
        ({"num_cases": 0}, "fails", "nothing was compared"),
        ({"printed_error": 0.5, "correction": "a factor 2"}, "corrected", "a factor 2"),
        ({"printed_error": math.inf, "correction": "a factor 2"}, "corrected", "a factor 2"),
        ({"printed_error": 0.5, "departure": "only if centred"}, "departs", "only if centred"),
        ({"printed_error": 0.5}, "fails", "the printed form does not hold, and nothing says why"),
        ({"printed_error": 1e-12, "correction": "a factor 2"}, "fails",
         "recorded as wrong in print, but the printed form holds"),
        ({"printed_error": math.nan, "correction": "a factor 2"}, "fails",
         "recorded as wrong in print, but the printed form has no error"),
        ({"departure": "only if centred"}, "fails",
         "recorded as wrong in print, but the printed form has no error"),
        ({"error": -1}, "fails", "the error -1 is negative, which no error is"),
        ({"error": 1, "printed_error": 0.5, "correction": "a factor 2"}, "fails",
         "error 1 exceeds the tolerance 1e-10"),
    ],
)  # fmt: skip
def test_verdict_and_reason(result, verdict, reason):
    found = CheckResult(**{"error": 1e-12, "tolerance": 1e-10, "num_cases": 3} | result)
    assert (found.verdict, found.reason) == (verdict, reason)


@given(ANY, ANY, st.integers(0, 3), st.none() | ANY, WORDS, WORDS)
def test_nothing_passes_by_accident(error, tolerance, cases, printed, correction, departure):
    found = CheckResult(error, tolerance, cases, printed, correction, departure)
    if found.verdict != Verdict.FAILS:
        assert error <= tolerance
        assert cases > 0
        assert found.verdict == Verdict.HOLDS or (printed > tolerance and found.reason)
        assert (found.verdict == Verdict.HOLDS) == (printed is None)
    assert (found.reason == "") == (found.verdict == Verdict.HOLDS)


def test_the_record_is_json_whatever_numbers_a_check_returns():
    result = CheckResult(np.float32(0.5), np.array(1.0), np.int64(7), np.float64(2), "a factor 2")
    record = Check("li2/eq1", "Energy", "quadrature", lambda: result).record(result)
    assert json.loads(json.dumps(record)) == {
        "id": "li2/eq1", "title": "Energy", "against": "quadrature", "error": 0.5, "tolerance": 1.0,
        "num_cases": 7, "printed_error": 2.0, "correction": "a factor 2", "departure": "",
        "verdict": "corrected", "reason": "a factor 2",
    }  # fmt: skip


def test_the_decorator_makes_a_check():
    @check("li2/eq1", "Energy", against="quadrature", seconds=3)
    def energy():
        return CheckResult(0, 1, 1)

    assert isinstance(energy, Check)
    assert (energy.id, energy.paper, energy.title, energy.seconds) == (
        "li2/eq1",
        "li2",
        "Energy",
        3,
    )
    assert energy.run().verdict == Verdict.HOLDS
