"""The rows of `QuadraticValley` in `tests/house/bad_input`: `theory_solutions.py`, `theory_meaning.py`."""

CALLS = {
    "QuadraticValley": {"start": 0.3, "learning_rate": 0.8},
    "QuadraticValley.loss": {"time": 0.9},
}
"""Valid calls of the constructor and of every method, all arguments by name."""

MEANING = {
    ("QuadraticValley", "start learning_rate", "empty extra_axis"): "any shape that broadcasts",
    ("QuadraticValley", "start", "zero negative"): "any real numbers",
}
"""Callable, argument, kind of fault: what values mean that are not refused. Of `time` other rows say it."""
