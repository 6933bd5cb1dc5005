"""Grids of steps, against the definition written out."""

import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.simulate import even_steps, log_steps

LENGTHS = [(last, num) for last in (2, 7, 40, 333, 2500, 10**7) for num in (2, 5, 12, 60, 400)]


def joined(first, last, num):
    """The start and `num` later steps, none twice, by moving on those that are."""
    grid = np.round(np.geomspace(first, last, num)).astype(int)
    grid[0] = max(grid[0], 1)
    for i in range(1, num):
        grid[i] = max(grid[i], grid[i - 1] + 1)
    return [0, *grid]


@pytest.mark.parametrize(("last", "num"), LENGTHS)
def test_grids_are_as_defined(last, num):
    plain = np.unique(np.round(np.geomspace(1, last, num)))
    np.testing.assert_array_equal(log_steps(last, num), [0, *plain])
    np.testing.assert_array_equal(log_steps(last, num, start=False), plain)
    np.testing.assert_array_equal(log_steps(last, num, exact=True), joined(1, last, num))
    early = min(4, last / num)
    np.testing.assert_array_equal(
        log_steps(last, num, first=early, exact=True), joined(early, last, num)
    )
    even = np.unique(np.round(np.linspace(0, last, num + 1)))
    np.testing.assert_array_equal(even_steps(last, num), even)


@pytest.mark.parametrize("exact", [True, False])
def test_one_step_is_the_last(exact):
    assert log_steps(70, 1, exact=exact).tolist() == [0, 70]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_steps(5, 3, first=10), "`last` must be at least `first`, 10, got 5"),
        (lambda: log_steps(5, 0), "`num` must be a whole number ≥ 1, got 0"),
        (lambda: log_steps(5, 3, first=0), "`first` must be a finite real number > 0"),
        (lambda: log_steps(1e300, 3), "`last` must be a finite real number"),
        (lambda: log_steps(5, 3, exact="yes"), "`exact` must be"),
        (lambda: even_steps(0, 3), "`last` must be a finite real number ≥ 1"),
        (lambda: even_steps(np.nan, 3), "`last` must be a finite real number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
