"""A claim's two sides in words: what is expected, and what was measured."""

from typing import Any

from lazyrich.report._number import estimate, number
from lazyrich.report._text import one_line


def expected(claim: dict[str, Any]) -> str:
    """The expected value with its comparison and tolerance.

    Example:
        >>> expected({"expected": 0.95, "comparison": "relative", "tolerance": 0.02})
        '0.95 ± 2 %'
        >>> expected({"expected": 3, "comparison": "at-most", "tolerance": 0})
        '≤ 3'
    """
    value, tolerance = number(claim.get("expected")), claim.get("tolerance") or 0
    margin = number(tolerance)
    match claim.get("comparison"):
        case "at-most":
            return f"≤ {value}" + (f" (+ {margin})" if tolerance else "")
        case "at-least":
            return f"≥ {value}" + (f" (- {margin})" if tolerance else "")
        case "relative" if tolerance:
            return f"{value} ± {_fraction(tolerance)}"
        case _:
            return f"{value} ± {margin}" if tolerance else value


def measured(claim: dict[str, Any]) -> str:
    """The measured value ± its standard error.

    Nothing was measured where a claim is not applicable. A value that is not as expected gets as
    many digits as it takes to see the difference.
    """
    value, wanted = claim.get("measured"), claim.get("expected")
    if claim.get("verdict") == "not-applicable":
        return number(None)
    if claim.get("uncertainty") is not None:
        return estimate(value, claim["uncertainty"])
    if claim.get("verdict") == "holds":
        return number(value)
    enough = (digits for digits in range(4, 16) if number(value, digits) != number(wanted, digits))
    return number(value, next(enough, 4))


def seeds(claim: dict[str, Any]) -> str:
    """Such as "8 seeds"; nothing for a single run."""
    num_seeds = claim.get("num_seeds") or 1
    nothing = num_seeds == 1 or claim.get("verdict") == "not-applicable"
    return "" if nothing else f"{number(num_seeds)} seeds"


def printed(claim: dict[str, Any]) -> str:
    """Such as "printed: 2", where the printed value is wrong."""
    correction = claim.get("correction")
    return f"printed: {number(correction.get('printed'))}" if isinstance(correction, dict) else ""


def reason(record: dict[str, Any]) -> str:
    """Why the verdict of a claim or check is not `holds`, with the erratum where there is one."""
    if record.get("verdict") == "holds":
        return ""
    correction = record.get("correction")
    erratum = one_line(correction.get("erratum")) if isinstance(correction, dict) else ""
    return " ".join(
        filter(None, [one_line(record.get("reason")), erratum and f"Erratum: {erratum}"])
    )


def _fraction(tolerance: Any) -> str:
    try:
        percent = 100 * float(tolerance)
    except (TypeError, ValueError):
        return number(tolerance)
    return f"{number(percent)} %" if percent >= 0.01 else f"{number(tolerance)} relative"
