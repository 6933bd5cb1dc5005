"""Numbers as they are printed."""

import math


def rounded(value: float, uncertainty: float) -> str:
    """A value with as many digits as its uncertainty leaves it."""
    if not uncertainty > 0:
        return f"{value:.4g}"
    decimals = max(-math.floor(math.log10(uncertainty)), 0)
    if decimals <= 6 and abs(value) < 1e6:
        return f"{value:.{decimals}f} ± {uncertainty:.{decimals}f}"
    digits = math.log10(abs(value) / uncertainty) + 1 if value else 1.0
    return f"{value:.{round(min(max(digits, 2), 4))}g} ± {uncertainty:.1g}"
