"""When accuracies of a linear student reach a level, and the delay between them.

A time is a root. Its reference is one Newton step at 50 digits from the time found: what is left is the
square of the step.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mesh, mp
from lazyrich.checks.accuracy._shares import level_condition, loss_at
from lazyrich.checks.accuracy._spectrum import atom
from lazyrich.checks.accuracy.linear_grokking import GENERAL, general_losses
from lazyrich.checks.accuracy.marchenko_pastur import RATIOS, log_laplace, log_weighted
from lazyrich.core import Comparison, accuracy

RATE, LEVEL = 0.25, 0.9
THRESHOLDS = [1e-12, 1e-6, 1e-3, 0.1, 1.0, 2.5, 3.0]
_NEAR_THE_START = (
    "Where the loss at the start hardly exceeds the level, and where two times are almost equal, "
    "the time or the "
    "delay is ill-conditioned."
)


def level_of(threshold: Any, share: Any = LEVEL) -> Any:
    """The loss at which one output reaches an accuracy."""
    return threshold / (2 * mp.erfinv(mp.mpf(share)) ** 2)


def newton(log_loss: Callable[[Any], Any], log_level: Any, time: Any) -> tuple[Any, Any]:
    """The root next to a time, and its condition number."""
    value = log_loss(time)
    slope = (log_loss(time * (1 + mp.mpf(10) ** -12)) - value) / (time * mp.mpf(10) ** -12)
    # the loss at an exponent of −700 is as uncertain as that exponent
    return time - (value - log_level) / slope, 1 + (1 + abs(log_level)) / abs(slope * time)


@functools.cache
def _plain_time(loss: str, ratio: Any, threshold: Any, time: Any) -> tuple[Any, Any]:
    level = level_of(threshold)
    limit = atom(ratio) if loss == "test" else mp.mpf(0)
    if level >= 1:
        return mp.mpf(0), mp.mpf(1)
    if level <= limit:
        return mp.inf, mp.mpf(1)
    transform = log_weighted if loss == "train" else log_laplace
    return newton(lambda t: transform(ratio, t), mp.log(level), time)


def _plain() -> tuple[Any, np.ndarray, np.ndarray]:
    ratio, threshold = mesh(RATIOS, THRESHOLDS)
    return theory.LinearGrokking(ratio, RATE, threshold), ratio, threshold


@accuracy(
    "theory.LinearGrokking.train_time",
    "When accuracies reach a level",
    against="Newton's iteration on the losses by Bessel's I₁ (training) and quadrature (test)",
    grid="λ: 32 from 1e-6 to 1e6; 7 thresholds from 1e-12 to 3, at accuracy 0.9; with decay 0.01 "
    "and noise 0 or 0.1: 8 λ, 3 "
    "thresholds",
    also=("theory.LinearGrokking.test_time",),
    explanation=_NEAR_THE_START,
    seconds=6,
)
def crossings() -> list[Comparison]:
    """Reached, reached from the start, and never."""
    model, ratio, threshold = _plain()
    found = []
    for loss, crossing in (("train", model.train_time), ("test", model.test_time)):
        time = crossing(LEVEL).time
        where = {"loss": loss, "aspect_ratio": ratio, "threshold": threshold, "time": time}
        found.append(Comparison(time, _first(_plain_time), where, condition=_second(_plain_time)))
    return [*found, *_general()]


def _general() -> list[Comparison]:
    ratio, threshold, noise = mesh(GENERAL, [1e-3, 0.1, 1.0], [0, 0.1])
    model = theory.LinearGrokking(
        ratio, RATE, threshold, weight_decay=0.01, label_noise=noise, student_scale=0.5
    )
    found = []
    for loss, crossing in (("train", model.train_time), ("test", model.test_time)):
        time = crossing(LEVEL).time
        where = {
            "loss": loss,
            "aspect_ratio": ratio,
            "threshold": threshold,
            "noise": noise,
            "time": time,
        }
        keep = np.isfinite(time) & (time > 0)
        where = {k: v if isinstance(v, str) else v[keep] for k, v in where.items()}
        found.append(
            Comparison(time[keep], _first(_general_time), where, condition=_second(_general_time))
        )
    return found


@functools.cache
def _general_time(loss: str, ratio: Any, threshold: Any, noise: Any, time: Any) -> tuple[Any, Any]:
    which = ("train", "test").index(loss)

    def log_loss(t: Any) -> Any:
        return mp.log(general_losses(ratio, mp.mpf(0.01), noise, t)[which])

    return newton(log_loss, mp.log(level_of(threshold)), time)


@accuracy(
    "theory.LinearGrokking.grokking_delay",
    "Delay between the two accuracies",
    against="the difference of the two times",
    grid="λ: 32 from 1e-6 to 1e6; 7 thresholds from 1e-12 to 3, at accuracy 0.9",
    explanation=_NEAR_THE_START,
    seconds=9,
)
def grokking_delay() -> Comparison:
    """For small λ both losses fall together, and the delay is a small difference."""
    model, ratio, threshold = _plain()
    train, test = model.train_time(LEVEL).time, model.test_time(LEVEL).time
    where = {"aspect_ratio": ratio, "threshold": threshold, "train": train, "test": test}
    return Comparison(
        model.grokking_delay(LEVEL).time, _first(_delay), where, condition=_second(_delay)
    )


@functools.cache
def _delay(ratio: Any, threshold: Any, train: Any, test: Any) -> tuple[Any, Any]:
    (t1, c1), (t2, c2) = (
        _plain_time("train", ratio, threshold, train), _plain_time("test", ratio, threshold, test),
    )  # fmt: skip
    if mp.isinf(t2) or t1 == t2:
        return t2 - t1, mp.mpf(1)
    return t2 - t1, (c1 * t1 + c2 * t2) / abs(t2 - t1)


@accuracy(
    "theory.LinearGrokking.smallest_threshold",
    "Threshold above which the student generalises",
    against="(1 − 1/λ)⁺ and the inverse error function, or a root of the incomplete Γ function, at 50 digits",
    grid="λ: 32 from 1e-6 to 1e6; 9 accuracies from 1e-6 to 1 − 1e-9; 1 and 5 outputs",
    explanation="An accuracy close to 1 enters by its distance to 1, which double precision holds "
    "with few digits.",
    seconds=3,
)
def smallest_threshold() -> list[Comparison]:
    """0 below λ = 1."""
    shares = [1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9]
    found = []
    for outputs in (1, 5):
        ratio, share = mesh(RATIOS, shares)
        model = theory.LinearGrokking(ratio, output_dimension=outputs)
        where = {"aspect_ratio": ratio, "accuracy": share, "outputs": outputs}
        found.append(
            Comparison(
                model.smallest_threshold(share), _smallest_threshold, where, condition=_near_one
            )
        )
    return found


def _smallest_threshold(ratio: Any, share: Any, outputs: int) -> Any:
    return atom(ratio) / outputs / loss_at(share, outputs)


def _near_one(ratio: Any, share: Any, outputs: int) -> Any:
    return level_condition(share, outputs)


def _first(function: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments)[0]


def _second(function: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments)[1]
