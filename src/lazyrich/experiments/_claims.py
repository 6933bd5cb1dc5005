"""Claims on what runs from several seeds did: how many there are and the uncertainty come from the values.

Each takes what else `Claim` takes, such as `departure` or `needs`; where values are not one for each seed,
`num_seeds` and `uncertainty` too.
"""

from typing import Any

import numpy as np

from lazyrich import measures
from lazyrich.core import Claim
from lazyrich.experiments._times import ratio_of_times


def mean_claim(
    statement: str, source: str, expected: float, values: Any, comparison: str = "relative",
    tolerance: float = 0.0, **more: Any,
) -> Claim:  # fmt: skip
    """A claim on a mean over seeds, of one value each."""
    each = np.asarray(values, dtype=float)
    found = measures.seed_mean(each) if each.size else (np.nan, np.nan)
    return _claim(statement, source, expected, found, comparison, tolerance, each.size, more)


def clear_claim(
    statement: str,
    source: str,
    level: float,
    values: Any,
    comparison: str = "at-least",
    **more: Any,
) -> Claim:
    """A claim that a mean over seeds is above a level, or below it, by more than chance: by two errors.

    What is compared is the mean less two standard errors, or plus two; the statement, which must end with
    what is measured in parentheses, says so. Values that all are the level itself are not beyond it.
    """
    each = np.asarray(values, dtype=float)
    mean, error = measures.seed_mean(each) if each.size else (np.nan, np.nan)
    sign, word = {"at-least": (-1, "less"), "at-most": (1, "plus")}[comparison]
    found = mean + sign * 2 * error if np.any(each != level) else np.nan, error
    statement = f"{statement.removesuffix(')')}, {word} two standard errors)"
    return _claim(statement, source, level, found, comparison, 0.0, each.size, more)


def geometric_claim(
    statement: str, source: str, expected: float, values: Any, comparison: str, tolerance: float = 0.0,
    **more: Any,
) -> Claim:  # fmt: skip
    """A claim on a geometric mean over seeds, of one time or ratio each."""
    found = measures.seed_geometric_mean(np.asarray(values, dtype=float))
    return _claim(statement, source, expected, found, comparison, tolerance, np.size(values), more)


def ratio_claim(
    statement: str,
    source: str,
    expected: float,
    values: Any,
    other: Any,
    comparison: str,
    **more: Any,
) -> Claim:
    """A claim on the ratio of two means over the same seeds."""
    found = measures.seed_ratio(np.asarray(values), np.asarray(other))
    return _claim(statement, source, expected, found, comparison, 0.0, np.size(values), more)


def share_claim(
    statement: str, source: str, hits: Any, expected: float = 1.0, comparison: str = "at-least",
    tolerance: float = 0.0, **more: Any,
) -> Claim:  # fmt: skip
    """A claim on the share of runs of which something is true; its uncertainty is that of so many draws."""
    each = np.asarray(hits, dtype=float)
    share = each.mean() if each.size else np.nan
    found = share, np.sqrt(share * (1 - share) / max(each.size, 1))
    return _claim(statement, source, expected, found, comparison, tolerance, each.size, more)


def worst_claim(
    statement: str, source: str, expected: float, values: Any, comparison: str, tolerance: float = 0.0,
    **more: Any,
) -> Claim:  # fmt: skip
    """A claim on means over seeds of several cases, (case, seed): of the one that agrees least."""
    each = np.asarray(values)
    mean = measures.seed_mean(each, -1).mean
    off = {"at-most": mean, "at-least": -mean}.get(comparison, np.abs(mean - expected))
    worst = each[np.argmax(off)]  # NaN, where a run has no value, is worse than any number
    return mean_claim(statement, source, expected, worst, comparison, tolerance, **more)


def deviation_claim(
    statement: str, source: str, most: float, values: Any, predicted: Any = 1.0, **more: Any
) -> Claim:
    """A claim that means over seeds, (case, seed), are as predicted: on the largest relative difference."""
    each = np.asarray(values)
    mean, error = measures.seed_mean(each / np.asarray(predicted).reshape(-1, 1), -1)
    off = np.abs(mean - 1)
    worst = int(np.argmax(off))  # NaN, as above
    found = off[worst], error[worst]
    return _claim(statement, source, most, found, "at-most", 0.0, each.shape[-1], more)


def delay_claim(
    statement: str, source: str, train: Any, test: Any, *, end: float = np.inf, least: float = 2.0
) -> Claim:
    """A claim that test accuracies pass a level later than training accuracies, by a factor.

    The times are one for each seed; see `ratio_of_times` for runs that never get there.
    """
    return geometric_claim(statement, source, least, ratio_of_times(test, train, end), "at-least")


def _claim(
    statement: str, source: str, expected: float, found: Any, comparison: str, tolerance: float,
    num_seeds: int, more: dict[str, Any],
) -> Claim:  # fmt: skip
    measured, uncertainty = found
    options: dict[str, Any] = {"uncertainty": uncertainty, "num_seeds": num_seeds} | more
    return Claim(statement, source, expected, measured, comparison, tolerance, **options)
