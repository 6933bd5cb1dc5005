"""Claims: the verdict follows from the numbers, and from nothing else."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError, Claim, Correction, Departure, Verdict, require_seeds

COMPARISONS = ["relative", "absolute", "at-most", "at-least"]
ANY = st.floats()
FINITE = st.floats(allow_nan=False, allow_infinity=False)
TOLERANCES = st.floats(0, 1e300)
COMPARED = st.sampled_from(COMPARISONS)


def claim(expected, measured, comparison="relative", tolerance=0.1, **extras):
    return Claim("a statement", "Fig. 1", expected, measured, comparison, tolerance, **extras)


@pytest.mark.parametrize(
    ("comparison", "expected", "tolerance", "inside", "outside"),
    [
        ("relative", 2.0, 0.25, [2.5, 1.5, 2.0], [2.51, 1.49, -2.0]),
        ("relative", -2.0, 0.25, [-2.5, -1.5], [2.0, -2.51]),
        ("relative", 0.0, 0.25, [0.0, -0.0], [1e-300]),
        ("absolute", 2.0, 0.25, [2.25, 1.75], [2.26, 1.74]),
        ("absolute", math.inf, 0.25, [math.inf], [1e308, -math.inf]),
        ("relative", math.inf, 0.25, [math.inf], [1e308, 0.0, -math.inf]),
        ("at-most", 2.0, 0.25, [2.25, -1e300], [2.26, math.inf]),
        ("at-least", 2.0, 0.25, [1.75, 1e300], [1.74, -math.inf]),
    ],
)
def test_comparisons(comparison, expected, tolerance, inside, outside):
    for measured in inside:
        assert claim(expected, measured, comparison, tolerance).verdict == Verdict.HOLDS
    for measured in outside:
        assert claim(expected, measured, comparison, tolerance).verdict == Verdict.FAILS


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("measured", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_named(comparison, measured):
    found = claim(1.0, measured, comparison)
    assert (found.verdict, found.reason) == (Verdict.FAILS, f"the measured value is {measured}")


def test_departure():
    known = Departure("the limit is not reached", pinned=3.0, tolerance=0.5)
    assert claim(1, 3.2, departure=known).verdict == Verdict.DEPARTS
    assert claim(1, 3.2, departure=known).reason == "the limit is not reached"
    holds, moved = claim(1, 1.05, departure=known), claim(1, 3.6, departure=known)
    assert holds.verdict == moved.verdict == Verdict.FAILS
    assert holds.reason == "recorded as a departure, but the printed claim holds"
    assert moved.reason == "departs as recorded, but not at the recorded value 3 ± 0.5"


@pytest.mark.parametrize(
    "pinned", [(math.nan, 0.5), (3.0, math.nan), (math.inf, 0.5), (3.0, math.inf)]
)
def test_a_departure_without_a_pinned_value_fails(pinned):
    assert claim(1, 3.0, departure=Departure("why", *pinned)).verdict == Verdict.FAILS


def test_correction():
    known = Correction(printed=2.0, reason="a factor 2 too large", erratum="E1")
    assert claim(1, 1.05, correction=known).verdict == Verdict.CORRECTED
    assert claim(1, 1.05, correction=known).reason == "a factor 2 too large"
    neither, both = claim(1, 3.0, correction=known), claim(1, 1.5, tolerance=0.5, correction=known)
    assert neither.verdict == both.verdict == Verdict.FAILS
    assert neither.reason == "the corrected value does not hold either"
    assert both.reason == "recorded as an erratum, but the printed value holds"


def test_an_infinite_printed_value_can_be_corrected():
    wrong = Correction(printed=math.inf, reason="finite", erratum="E1")
    assert claim(1, 1.05, correction=wrong).verdict == Verdict.CORRECTED


def test_needs_come_first():
    found = claim(1, math.nan, needs="at least 16 seeds")
    assert (found.verdict, found.reason) == (Verdict.NOT_APPLICABLE, "needs at least 16 seeds")


def test_few_seeds_make_claims_not_applicable():
    claims = [claim(1, 1, num_seeds=4), claim(1, 1, num_seeds=16), claim(1, 1)]
    verdicts = [c.verdict for c in require_seeds(claims, 16)]
    assert verdicts == [Verdict.NOT_APPLICABLE, Verdict.HOLDS, Verdict.HOLDS]


@pytest.mark.parametrize("tolerance", [-0.1, math.nan, math.inf])
def test_a_tolerance_that_allows_everything_or_nothing_is_refused(tolerance):
    with pytest.raises(ArgumentError, match=r"`tolerance` must be finite and ≥ 0, got"):
        claim(1, 1, tolerance=tolerance)


def test_an_unknown_comparison_is_refused():
    with pytest.raises(
        ArgumentError, match=r"`comparison` must be one of relative, .* got 'equal'\."
    ):
        claim(1, 1, "equal")


def test_cannot_be_changed_and_takes_no_verdict():
    with pytest.raises(dataclasses.FrozenInstanceError):
        claim(1, 1).measured = 2
    with pytest.raises(TypeError, match="verdict"):
        claim(1, 2, verdict=Verdict.HOLDS)


def test_takes_arrays_of_one_number_and_forgets_an_uncertainty_that_is_nan():
    found = claim(np.float32(1), np.array(1.05), uncertainty=np.array(math.nan))
    assert type(found.measured) is float
    assert found.uncertainty is None


@given(ANY, COMPARED, TOLERANCES)
def test_nan_never_holds(expected, comparison, tolerance):
    departure = Departure("why", 1.0, 1.0)
    correction = Correction(1.0, "why", "E1")
    for extras in ({}, {"departure": departure}, {"correction": correction}):
        assert claim(expected, math.nan, comparison, tolerance, **extras).verdict == Verdict.FAILS
        if math.isnan(expected):
            assert claim(expected, 1.0, comparison, tolerance).verdict == Verdict.FAILS


@given(FINITE, FINITE, COMPARED, TOLERANCES, FINITE, TOLERANCES)
def test_a_departure_departs_or_fails(expected, measured, comparison, tolerance, pinned, width):
    plain = claim(expected, measured, comparison, tolerance)
    departs = dataclasses.replace(plain, departure=Departure("why", pinned, width))
    if plain.verdict == Verdict.HOLDS or abs(measured - pinned) > width:
        assert departs.verdict == Verdict.FAILS
    else:
        assert departs.verdict == Verdict.DEPARTS
        assert departs.reason == "why"


@given(FINITE, FINITE, COMPARED, TOLERANCES, FINITE)
def test_a_correction_is_corrected_only_if_it_holds_and_print_does_not(
    expected, measured, comparison, tolerance, printed
):
    plain = claim(expected, measured, comparison, tolerance)
    corrected = dataclasses.replace(plain, correction=Correction(printed, "why", "E1"))
    sound = plain.agrees() and not plain.agrees(printed)
    assert corrected.verdict == (Verdict.CORRECTED if sound else Verdict.FAILS)


@given(FINITE, FINITE, COMPARED, TOLERANCES, TOLERANCES)
def test_a_wider_tolerance_never_turns_holds_into_fails(expected, measured, comparison, one, two):
    narrow, wide = sorted([one, two])
    assume(math.isfinite(expected - measured))
    if claim(expected, measured, comparison, narrow).verdict == Verdict.HOLDS:
        assume(math.isfinite(wide * expected))
        assert claim(expected, measured, comparison, wide).verdict == Verdict.HOLDS


@given(ANY, ANY, COMPARED, TOLERANCES, st.none() | ANY)
def test_the_record_is_strict_json_and_says_the_verdict(
    expected, measured, comparison, tolerance, uncertainty
):
    found = claim(expected, measured, comparison, tolerance, uncertainty=uncertainty,
                  num_seeds=np.int64(4), departure=Departure("why", math.inf, 0.1))  # fmt: skip
    record = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert record["verdict"] == found.verdict
    assert record["reason"] == found.reason
    assert record["departure"]["pinned"] == "inf"
    assert float(record["measured"]) == measured or math.isnan(measured)
    assert set(record) == {field.name for field in dataclasses.fields(Claim)} | {
        "verdict",
        "reason",
    }
