"""The rows of `decay_rate` in `tests/house/bad_input`: `calls_measures.py`, `measures_meaning.py`."""

import numpy as np

CALLS = {
    "decay_rate": {"time": np.array([0.0, 1.0, 2.0]), "curve": np.array([1.0, 0.4, 0.1])},
}
"""A valid call, all arguments by name; bad values are made from it."""

MEANING = {
    ("decay_rate", "curve", "huge"): "any numbers > 0",
}
"""Callable, argument, kind of fault: what values mean that are not refused."""
