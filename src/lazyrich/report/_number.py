"""Numbers for people: a few digits, scientific only where needed."""

import math
from typing import Any


def number(value: Any, digits: int = 4) -> str:
    """A number with at most this many significant digits.

    Whole numbers below a million are shown exactly. Below 1e-3 and from 1e5 on the notation is
    scientific, with one digit less. Takes what records hold: numbers, `'inf'`, `'nan'`, `None`.

    Example:
        >>> [number(x) for x in (0.95, 1 / 3, 2000, 12345.6, 1.2e-15, "inf", None)]
        ['0.95', '0.3333', '2000', '12346', '1.2e-15', '∞', '—']
    """
    if value is None:
        return "—"
    try:
        x = float(value) + 0.0  # turns −0 into 0
    except (TypeError, ValueError):
        return str(value)
    if not math.isfinite(x):
        return "nan" if math.isnan(x) else "∞" if x > 0 else "-∞"
    if x.is_integer() and abs(x) < 1e6:
        return f"{x:.0f}"
    return _decimal(x, digits) if 1e-3 <= abs(x) < 1e5 else _scientific(x, max(digits - 1, 2))


def estimate(value: Any, uncertainty: Any) -> str:
    """A value ± its standard error, with the digits that the error leaves meaningful.

    Example:
        >>> estimate(0.949731, 0.00213), estimate(1234.5, 12)
        ('0.9497 ± 0.0021', '1234 ± 12')
    """
    if uncertainty is None:
        return number(value)
    shown, error = number(value, _meaningful(value, uncertainty)), number(uncertainty, 2)
    if "e" not in shown and "e" in error and float(uncertainty) >= 1e-5:
        error = _decimal(float(uncertainty), 2)  # both sides in the same notation
    return f"{shown} ± {error}"


def duration(seconds: Any) -> str:
    """A duration in its two largest units, for people.

    Args:
        seconds: a number; what is none gives `unknown duration`.

    Example:
        >>> from lazyrich.report import duration
        >>> duration(0.83), duration(12.3), duration(200), duration(240), duration(7500)
        ('0.83 s', '12 s', '3 min 20 s', '4 min', '2 h 5 min')
    """
    try:
        whole = round(float(seconds))
    except (TypeError, ValueError, OverflowError):
        return "unknown duration"
    if whole < 60:
        return f"{number(seconds, 2)} s"
    (large, small), units = (
        (divmod(whole, 60), ("min", "s"))
        if whole < 3600
        else (divmod(whole // 60, 60), ("h", "min"))
    )
    return f"{large} {units[0]}" + (f" {small} {units[1]}" if small else "")


def _decimal(x: float, digits: int) -> str:
    decimals = max(digits - 1 - _exponent(x), 0)
    text = f"{x:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scientific(x: float, digits: int) -> str:
    mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def _exponent(x: float) -> int:
    return math.floor(math.log10(abs(x)))


def _meaningful(value: Any, uncertainty: Any) -> int:
    """Digits of the value down to the second digit of its uncertainty, between 2 and 6."""
    try:
        digits = _exponent(float(value)) - _exponent(float(uncertainty)) + 2
    except (TypeError, ValueError, OverflowError):  # zero, not finite, or no number
        return 4
    return min(max(digits, 2), 6)
