"""Records as JSON."""

import math
import numbers
from typing import Any


def jsonable(value: Any) -> Any:
    """The value in JSON's types: tuples as lists, NumPy's numbers as Python's, inf and nan as strings.

    Example:
        >>> from lazyrich.core import jsonable
        >>> jsonable({"rates": (0.1, float("inf"))})
        {'rates': [0.1, 'inf']}
    """
    if isinstance(value, dict):
        return {name: jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, bool | str) or not isinstance(value, numbers.Real):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if math.isfinite(value) else str(float(value))
