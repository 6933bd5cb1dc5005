"""Claims and the verdicts on them."""

import dataclasses
import enum
import math
from typing import Any

import numpy as np

from lazyrich.core._arguments import choice, count, items
from lazyrich.core._errors import argument_error
from lazyrich.core._json import jsonable


class Verdict(enum.StrEnum):
    """What became of a claim or check."""

    HOLDS = "holds"
    CORRECTED = "corrected"
    DEPARTS = "departs"
    NOT_APPLICABLE = "not-applicable"
    FAILS = "fails"


@dataclasses.dataclass(frozen=True)
class Departure:
    """A sound reproduction that does not show what is printed: the reason, and the value we find.

    The found value is pinned, so that a later change of it does not hide behind the departure.
    """

    reason: str
    pinned: float
    tolerance: float

    def __post_init__(self) -> None:
        for field in ("pinned", "tolerance"):
            object.__setattr__(self, field, a_number(field, getattr(self, field)))


@dataclasses.dataclass(frozen=True)
class Correction:
    """A printed value or form that is wrong: what it says, and what is wrong with it."""

    printed: float
    reason: str
    erratum: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "printed", a_number("printed", self.printed))


@dataclasses.dataclass(frozen=True)
class Claim:
    """A sentence from a paper turned into a record that passes or fails.

    The verdict is computed from the numbers, never given.

    Attributes:
        statement: the claim in words.
        source: where the paper says so.
        expected: the value the claim (with `correction`: the corrected claim) predicts.
        measured: the value found.
        comparison: how to compare: `relative` |m/e − 1| ≤ tolerance, `absolute` |m − e| ≤ tolerance,
            `at-most` m ≤ e + tolerance, `at-least` m ≥ e − tolerance.
        tolerance: finite and ≥ 0; see `comparison`; the experiment says where it comes from.
        uncertainty: standard error of `measured`, where it is an estimate.
        num_seeds: the number of independent runs behind `measured`; None where nothing is random.
        departure: set where the printed claim is known not to hold here.
        correction: set where the printed value is wrong and `expected` is the right one.
        needs: set where this preset or machine lacks what the claim needs; says what.
    """

    statement: str
    source: str
    expected: float
    measured: float
    comparison: str = "relative"
    tolerance: float = 0.0
    uncertainty: float | None = None
    num_seeds: int | None = None
    departure: Departure | None = None
    correction: Correction | None = None
    needs: str | None = None

    def __post_init__(self) -> None:
        for field in ("expected", "measured", "tolerance"):
            object.__setattr__(self, field, a_number(field, getattr(self, field)))
        if self.uncertainty is not None:
            error = a_number("uncertainty", self.uncertainty)  # a single run has none
            object.__setattr__(self, "uncertainty", None if math.isnan(error) else error)
        choice("comparison", self.comparison, _COMPARE)
        if self.num_seeds is not None:
            count("num_seeds", self.num_seeds, at_least=0, advice="None: nothing is random.")
        for field, kind in (("departure", Departure), ("correction", Correction), ("needs", str)):
            if not isinstance(getattr(self, field), kind | None):
                words = f"be a {kind.__name__}, or None"
                raise argument_error(field, words, getattr(self, field))
        if not 0 <= self.tolerance < math.inf:
            raise argument_error("tolerance", "be finite and ≥ 0", self.tolerance)

    @property
    def verdict(self) -> Verdict:
        """Computed from the numbers; see `reason`."""
        return self._judge()[0]

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, in words."""
        return self._judge()[1]

    def agrees(self, value: float | None = None) -> bool:
        """Whether the measured value satisfies the claim for this expected value."""
        expected = self.expected if value is None else a_number("value", value)
        return _COMPARE[self.comparison](self.measured, expected, self.tolerance)

    def _judge(self) -> tuple[Verdict, str]:
        if self.needs is not None:
            return Verdict.NOT_APPLICABLE, f"needs {self.needs}"
        if not math.isfinite(self.measured) and self.measured != self.expected:
            return Verdict.FAILS, f"the measured value is {self.measured}"
        if self.departure is not None:
            return self._judge_departure(self.departure)
        if self.correction is not None:
            return self._judge_correction(self.correction)
        return (Verdict.HOLDS, "") if self.agrees() else (Verdict.FAILS, "outside the tolerance")

    def _judge_departure(self, departure: Departure) -> tuple[Verdict, str]:
        if self.agrees():
            return Verdict.FAILS, "recorded as a departure, but the printed claim holds"
        away = abs(self.measured - departure.pinned)
        if not away <= departure.tolerance < math.inf:  # catches NaN too
            return Verdict.FAILS, (
                f"departs as recorded, but not at the recorded value "
                f"{departure.pinned:g} ± {departure.tolerance:g}"
            )
        return Verdict.DEPARTS, departure.reason

    def _judge_correction(self, correction: Correction) -> tuple[Verdict, str]:
        if not self.agrees():
            return Verdict.FAILS, "the corrected value does not hold either"
        if self.agrees(correction.printed):
            return Verdict.FAILS, "recorded as an erratum, but the printed value holds"
        return Verdict.CORRECTED, correction.reason

    def to_json(self) -> dict[str, Any]:
        """A plain record, verdict and reason included; non-finite numbers become strings."""
        record = dataclasses.asdict(self)
        record |= {"verdict": str(self.verdict), "reason": self.reason}
        return jsonable(record)


def require_seeds(claims: list[Claim], minimum: int) -> list[Claim]:
    """The claims, with those that rest on fewer runs than they need marked not applicable."""
    minimum = count("minimum", minimum, at_least=0)
    for claim in items("claims", claims):
        if not isinstance(claim, Claim):
            raise argument_error("claims", "be claims", claim)
    return [
        dataclasses.replace(claim, needs=f"at least {minimum} seeds")
        if claim.num_seeds is not None and claim.num_seeds < minimum
        else claim
        for claim in claims
    ]


def a_number(name: str, value: Any) -> float:
    """Any real number, infinite and undefined ones too: the verdict judges them."""
    try:
        if isinstance(value, str) or np.ndim(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise argument_error(name, "be a single real number", value) from None


_COMPARE = {
    # ∞ ≤ tolerance · ∞ must not let every number agree with an infinite one
    "relative": lambda m, e, tolerance: m == e or abs(m - e) <= tolerance * abs(e) < math.inf,
    "absolute": lambda m, e, tolerance: m == e or abs(m - e) <= tolerance,
    "at-most": lambda m, e, tolerance: m <= e + tolerance,
    "at-least": lambda m, e, tolerance: m >= e - tolerance,
}
