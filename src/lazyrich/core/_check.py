"""Checks: one for each theorem or numbered formula, against something that does not use it."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from lazyrich.core._arguments import count
from lazyrich.core._errors import argument_error
from lazyrich.core._verdict import Verdict, a_number


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """The largest error found, and what follows from it.

    Attributes:
        error: largest error of the form this library ships.
        tolerance: the error up to which the formula counts as holding.
        num_cases: how many instances were compared.
        printed_error: largest error of the form that is printed, where that differs.
        correction: what is wrong with the printed form, and by what factor.
        departure: why a sound reproduction does not show what is printed.
    """

    error: float
    tolerance: float
    num_cases: int
    printed_error: float | None = None
    correction: str = ""
    departure: str = ""

    def __post_init__(self) -> None:
        numbers = ["error", "tolerance"] + ["printed_error"] * (self.printed_error is not None)
        for field in numbers:  # NumPy's numbers are no JSON
            object.__setattr__(self, field, a_number(field, getattr(self, field)))
        object.__setattr__(self, "num_cases", count("num_cases", self.num_cases, at_least=0))
        for field in ("correction", "departure"):
            if not isinstance(getattr(self, field), str):
                raise argument_error(field, "be a sentence", getattr(self, field))

    @property
    def verdict(self) -> Verdict:
        """Computed from the errors."""
        return self._judge()[0]

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, in words."""
        return self._judge()[1]

    def _judge(self) -> tuple[Verdict, str]:
        if self.num_cases < 1:
            return Verdict.FAILS, "nothing was compared"
        if math.isinf(self.tolerance):
            return Verdict.FAILS, "the tolerance must be finite"
        if self.error < 0:
            return Verdict.FAILS, f"the error {self.error:.2g} is negative, which no error is"
        if not self.error <= self.tolerance:  # catches NaN too
            return (
                Verdict.FAILS,
                f"error {self.error:.2g} exceeds the tolerance {self.tolerance:.2g}",
            )
        why = self.departure or self.correction
        if self.printed_error is None and not why:
            return Verdict.HOLDS, ""
        if self.printed_error is None or math.isnan(self.printed_error):
            return Verdict.FAILS, "recorded as wrong in print, but the printed form has no error"
        if self.printed_error <= self.tolerance:
            return Verdict.FAILS, "recorded as wrong in print, but the printed form holds"
        if not why:
            return Verdict.FAILS, "the printed form does not hold, and nothing says why"
        return Verdict.DEPARTS if self.departure else Verdict.CORRECTED, why


@dataclasses.dataclass(frozen=True)
class Check:
    """One printed item of a paper, tested numerically.

    Attributes:
        id: `paper/item`, such as `linear-grokking/eq8`.
        title: what the item says.
        against: the oracle, which does not use the item.
        run: computes the result; takes nothing, chooses nothing.
        seconds: expected duration.
    """

    id: str
    title: str
    against: str
    run: Callable[[], CheckResult]
    seconds: float = 1.0

    @property
    def paper(self) -> str:
        """The paper's name, which is also its key in the bibliography."""
        return self.id.partition("/")[0]

    def record(self, result: CheckResult) -> dict[str, Any]:
        """A plain record of this check and its result."""
        if not isinstance(result, CheckResult):
            raise argument_error("result", "be a CheckResult", result, "Pass what `run()` returns.")
        return {
            "id": self.id, "title": self.title, "against": self.against,
            **dataclasses.asdict(result), "verdict": str(result.verdict), "reason": result.reason,
        }  # fmt: skip


def check(id: str, title: str, *, against: str, seconds: float = 1.0) -> Callable[..., Check]:
    """Turn a function that returns a `CheckResult` into a `Check`."""
    return lambda run: Check(id, title, against, run, seconds)
