"""Did a run grok, and if not, why: what happened over a whole run."""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import argument_error, number, real, untraced
from lazyrich.measures._crossing_time import passing
from lazyrich.measures._training_stage import MANY, TrainingStage

LARGE_GAP, SMALL_GAP = 0.5, 1 / 3
"""Training accuracy minus test accuracy, at its largest, from which on a run had overfitted first, and up to
which it never had. Networks that begin with learned features have up to 0.27 at M = 23, in part the noise
of test sets of some hundred pairs."""

MOST = 0.5
"""Share of nodes with a feature from which on a network has learned features."""

RISING = 0.05
"""Gain over the second half of the run from which on something is still going on."""


@dataclasses.dataclass(frozen=True)
class GrokkingCase:
    """What happened in a run. Words and numbers, or arrays of them over runs.

    Attributes:
        case: `grokked`, `stuck lazy`, `features early`, `memorising features` or `undecided`.
        reason: why, in one sentence.
        independent_time: first record at which nodes learn independently; inf if none is.
        interactive_time: first record at which they interact; inf if none is.
        train_time: when the training accuracy passes the level for good; inf if it does not.
        test_time: the same of the test accuracy.
        gap: largest difference between training and test accuracy.
    """

    case: Any
    reason: Any
    independent_time: Any
    interactive_time: Any
    train_time: Any
    test_time: Any
    gap: Any


@untraced
def grokking_case(
    time: Any, train_accuracy: Any, test_accuracy: Any, stages: TrainingStage, *, level: Any = 0.9
) -> GrokkingCase:
    """Which of the situations of App. E a run is in: grokked, or one of the three in which it does not.

    - `grokked`: the test accuracy passes the level, and the training accuracy was ahead by at least ½.
    - `stuck lazy`, situation (1): the test accuracy stays below the level and no longer rises; less than ¼
      of the nodes have a feature, and no more get one.
    - `features early`, situation (2): the test accuracy passes the level, never more than ⅓ behind the other.
    - `memorising features`, situation (3): the test accuracy stays below and no longer rises; at least ½ of
      the nodes have a feature, most of them not a generalising one.
    - `undecided`: anything between these, training samples that are not learned, runs that are too short.

    Rising means by more than 0.05 since the last record in the first half of the time. What counts as a
    feature is in `StageEvidence.learned`.

    Args:
        time: recorded times, increasing, shape (time,); a logarithmic grid will do.
        train_accuracy: shape (..., time), leading axes are runs.
        test_accuracy: the same.
        stages: of the same records, from `training_stage`.
        level: accuracy that counts as learned.

    Returns:
        Case, reason and times.

    Source:
        li2, App. E. The levels are this library's.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import StageEvidence, TrainingStage, grokking_case
        >>> evidence = StageEvidence(*np.zeros((12, 4)))._replace(learned=np.array([0, 0.1, 0.15, 0.15]))
        >>> found = grokking_case([1, 10, 100, 1000], [0.1, 0.9, 1, 1], [0, 0, 0.03, 0.03],
        ...                       TrainingStage(np.array(["lazy"] * 4), evidence))
        >>> found.case, found.reason
        ('stuck lazy', 'the test accuracy ends at 0.03, and 15% of the nodes have a feature')
    """
    level = number("level", level, above=0, at_most=1, advice="Use e.g. 0.9.")
    given = {"train_accuracy": train_accuracy, "test_accuracy": test_accuracy}
    advice = "Pass shares of samples, not percentages."
    both = [real(name, y, at_least=0, at_most=1, advice=advice) for name, y in given.items()]
    train, test = (passing(time, y, level, name) for name, y in zip(given, both, strict=True))
    t = real("time", time)
    if both[0].shape != both[1].shape:
        raise argument_error("test_accuracy", f"have the shape {both[0].shape}", both[1].shape)
    if not isinstance(stages, TrainingStage):
        raise argument_error("stages", "be a TrainingStage", stages, "`training_stage` makes it.")
    words = np.asarray(stages.stage)
    if words.shape != both[0].shape:
        raise argument_error(
            "stages", f"have the shape {both[0].shape} of the accuracies", words.shape,
            "Take the stages of the same records.",
        )  # fmt: skip
    learned, pure = (
        np.broadcast_to(getattr(stages.evidence, name), words.shape).reshape(-1, t.size)
        for name in ("learned", "generalising")
    )
    rows = [
        _one(t, a, b, share, general, level)
        for a, b, share, general in zip(
            *(array.reshape(-1, t.size) for array in both), learned, pure, strict=True
        )
    ]
    shape = words.shape[:-1]
    case, reason = (np.array(column).reshape(shape) for column in zip(*rows, strict=True))
    first = [_first(t, words == word) for word in ("independent", "interactive")]
    gap = np.max(both[0] - both[1], axis=-1)
    if not shape:
        case, reason = str(case), str(reason)
    return GrokkingCase(case, reason, first[0], first[1], train.time, test.time, gap)


def _one(
    t: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    learned: np.ndarray,
    pure: np.ndarray,
    level: float,
) -> tuple[str, str]:
    gap, end = float(np.max(train - test)), f"the test accuracy ends at {test[-1]:.2f}"
    if train[-1] < level:
        return "undecided", f"the training accuracy ends at {train[-1]:.2f}, below {level:g}"
    if test[-1] >= level:
        ahead = f"the training accuracy was ahead by up to {gap:.2f}"
        cases = ("grokked", gap >= LARGE_GAP), ("features early", gap <= SMALL_GAP)
        return next((word for word, holds in cases if holds), "undecided"), f"{end}, {ahead}"
    half = max(int(np.searchsorted(t, t[-1] / 2, side="right")) - 1, 0)
    if test[-1] - test[half] > RISING:
        return "undecided", f"{end}, and still rises"
    if np.isnan(learned[-1]):
        return "undecided", f"{end}, and nothing is known about the nodes"
    nodes = f"{learned[-1]:.0%} of the nodes have a feature"
    if learned[-1] < MANY:
        if learned[-1] - learned[half] > RISING:
            return "undecided", f"{end}, {nodes}, and more still get one"
        return "stuck lazy", f"{end}, and {nodes}"
    if learned[-1] >= MOST and not pure[-1] > learned[-1] / 2:
        general = "" if np.isnan(pure[-1]) else f", {pure[-1]:.0%} a generalising one"
        return "memorising features", f"{end}, and {nodes}{general}"
    return "undecided", f"{end}, and {nodes}"


def _first(t: np.ndarray, holds: np.ndarray) -> Any:
    return np.where(holds.any(axis=-1), t[np.argmax(holds, axis=-1)], np.inf)[()]
