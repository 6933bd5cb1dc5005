"""When to record."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, flag, number

MOST = 2**53
"""Whole numbers above it are not all numbers of float64."""


MOST_STEPS = 10**7
"""Records in a run."""


def log_steps(
    last: Any, num: int, *, first: Any = 1, start: bool = True, exact: bool = False
) -> np.ndarray:
    """Steps that lie evenly in the logarithm of time, each once.

    Args:
        last: the last step, ≥ 1 and ≥ `first`.
        num: how many; one alone is the last. Early steps that round to the same whole number are one, so
            there may be fewer.
        first: the first of them, > 0.
        start: whether step 0 comes before them, one more.
        exact: whether there are always as many, so that runs of different lengths can be joined record by
            record. A step that would be there twice is then one later, and pushes on those behind it; where
            `last` is below `num`, the last step is `num`.

    Returns:
        Whole numbers that increase.

    Example:
        >>> from lazyrich.simulate import log_steps
        >>> log_steps(100, 5)
        array([  0,   1,   3,  10,  32, 100])
        >>> log_steps(100, 7, start=False), log_steps(100, 7, start=False, exact=True)
        (array([  1,   2,   5,  10,  22,  46, 100]), array([  1,   2,   5,  10,  22,  46, 100]))
        >>> log_steps(5, 6, start=False), log_steps(5, 6, start=False, exact=True)
        (array([1, 2, 3, 4, 5]), array([1, 2, 3, 4, 5, 6]))
    """
    num, last = count("num", num, at_most=MOST_STEPS), _last(last)
    first = number("first", first, above=0, advice="Use e.g. 1.")
    start, exact = flag("start", start), flag("exact", exact)
    if last < first:
        raise argument_error("last", f"be at least `first`, {first:g}", last)
    grid = np.round(np.geomspace(first, last, num) if num > 1 else [last]).astype(int)
    if exact:
        ranks = np.arange(1, num + 1)
        grid = np.maximum.accumulate(np.maximum(grid, 1) - ranks) + ranks
    return np.unique(np.concatenate([[0], grid]) if start else grid)


def even_steps(last: Any, num: int) -> np.ndarray:
    """The start, and as many later steps that lie evenly in time, each once.

    Args:
        last: the last step, ≥ 1.
        num: how many later ones; where there are not as many whole numbers, all of them.

    Returns:
        Whole numbers that increase.

    Example:
        >>> from lazyrich.simulate import even_steps
        >>> even_steps(10, 4)
        array([ 0,  2,  5,  8, 10])
    """
    grid = np.linspace(0, _last(last), count("num", num, at_most=MOST_STEPS) + 1)
    return np.unique(np.round(grid).astype(int))


def _last(last: Any) -> float:
    return number("last", last, at_least=1, at_most=MOST, advice="Use e.g. 1000.")
