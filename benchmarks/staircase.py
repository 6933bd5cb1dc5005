"""Errors of predicted staircases against gradient flow, over many random tasks, as a table for the docs.

    python benchmarks/staircase.py [--tasks 50] [--seed 2026] [--condition 10]

Every task has 2 to 6 inputs and outputs, a linear teacher and label noise, and 5 to 100 units. The inputs are
white (Σ_zz = 1) or correlated, with a condition number from 1 to --condition. The true flow is
integrated by DOP853; units enter it only through their scalar products, so that a QR decomposition of the
start makes it as small as the task. Modes whose drop is below 1 % of the largest, and what follows them, are
left out. Every row has the same tasks.

A plateau of the true run is a time at which the loss falls less than half as fast as in the drops before and
after; it is at the fixed point whose map is closest. A drop is where the loss passes the middle between
predicted plateaus, so that the comparison also holds where drops run together.
"""

import argparse
import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.signal import find_peaks

from lazyrich.theory import LinearFixedPoints, Staircase

SCALES = (1e-2, 1e-4, 1e-6, 1e-8)
SMALLEST = 0.01
NUM_TIMES = 3000
COLUMNS = (
    "inputs", "ε", "number of plateaus right", "and their fixed points",
    "seen and predicted, only predicted, only seen", "seen at the best modes", "level", "first drop",
    "later drops", "… if an alignment is < 0.7", "bias of later drops", "random start",
    "rms of offset / spread",
)  # fmt: skip


class Task(NamedTuple):
    """What a network is trained on."""

    correlation: np.ndarray
    covariance: np.ndarray
    power: float


class Run(NamedTuple):
    """A true run."""

    time: np.ndarray
    loss: np.ndarray
    speed: np.ndarray
    maps: np.ndarray


class Score(NamedTuple):
    """How one prediction did: errors of times are (predicted − true) / true, of levels in initial losses."""

    is_number_right: bool
    is_sequence_right: bool
    counts: tuple[int, ...]  # seen and predicted, only predicted, only seen, seen at the best modes
    later_errors_if_unclear: list[float]
    level_errors: list[float]
    first_error: float
    later_errors: list[float]
    random_errors: list[float]
    deviations: list[float]


def random_task(rng: np.random.Generator, largest_condition: float) -> Task:
    inputs, outputs, num_samples = *rng.integers(2, 7, size=2), 200
    Z = rng.standard_normal((num_samples, inputs))
    Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / num_samples)).T
    if largest_condition > 1:
        condition = rng.uniform(1, largest_condition)
        deviations = np.sqrt(condition ** np.linspace(0, 1, inputs))
        rotation = np.linalg.qr(rng.standard_normal((inputs, inputs)))[0]
        Z = Z * (deviations / np.sqrt(np.mean(deviations**2))) @ rotation
    teacher = rng.standard_normal((inputs, outputs)) / np.sqrt(inputs)
    Y = Z @ teacher + 0.3 * rng.standard_normal((num_samples, outputs))
    return Task(Y.T @ Z / num_samples, Z.T @ Z / num_samples, float(np.mean(np.sum(Y**2, axis=1))))


def train(task: Task, first: np.ndarray, second: np.ndarray, stop: float) -> Run:
    """Eq. 9, for units that are rotated so that later winners stay small numbers of their own."""
    S, C = task.correlation, task.covariance
    outputs, inputs = S.shape
    blocks = np.block([[np.zeros((outputs, outputs)), S], [S.T, np.zeros((inputs, inputs))]])
    fastest_first = np.linalg.eigh(blocks)[1][:, ::-1]
    start = np.concatenate([second, first.T], axis=1)
    start = np.linalg.qr(start @ fastest_first)[1] @ fastest_first.T
    shape = start.shape

    def velocity(_: float, x: np.ndarray) -> np.ndarray:
        v, u = np.split(x.reshape(shape), [outputs], axis=1)
        rest = S - v.T @ u @ C
        return np.concatenate([u @ rest.T, v @ rest], axis=1).ravel()

    times = np.linspace(0, stop, NUM_TIMES)
    tolerances = {"rtol": 1e-8, "atol": 1e-9 * np.abs(start).max()}
    solution = solve_ivp(velocity, (0, stop), start.ravel(), "DOP853", times, **tolerances)
    units = solution.y.T.reshape(-1, *shape)
    W = units[:, :, :outputs].swapaxes(1, 2) @ units[:, :, outputs:]
    loss = task.power / 2 - np.sum(W * S, axis=(1, 2)) + np.sum(W @ C * W, axis=(1, 2)) / 2
    speed = [np.sum(velocity(0, x) ** 2) for x in solution.y.T]
    return Run(times, loss, np.array(speed), W)


def passes(run: Run, levels: np.ndarray) -> np.ndarray:
    """When the loss, which never rises, passes levels."""
    return np.interp(-levels, -run.loss, run.time, right=np.inf)


def plateaus(run: Run, points: LinearFixedPoints, last: float) -> list[tuple[Any, float]]:
    """Fixed point and loss of every plateau between two drops, down to a loss."""
    floor = 1e-7 * run.speed.max()  # below are the integrator's errors
    peaks, _ = find_peaks(np.log(run.speed + floor), prominence=np.log(2))
    found = []
    for begin, end in itertools.pairwise(peaks):
        slowest = begin + np.argmin(run.speed[begin:end])
        if run.loss[slowest] > last:
            found.append((nearest(run.maps[slowest], points), run.loss[slowest]))
    # the integrator's errors may make several plateaus of one
    return [next(group) for _, group in itertools.groupby(found, key=lambda pair: pair[0])]


def nearest(W: np.ndarray, points: LinearFixedPoints) -> tuple[int, ...]:
    """The fixed point whose outputs differ least."""
    D = points.num_modes
    sets = [A for r in range(D + 1) for A in itertools.combinations(range(D), r)]
    gaps = [W - points.map(A) for A in sets]
    return sets[int(np.argmin([np.sum(gap @ points.covariance * gap) for gap in gaps]))]


def score(task: Task, scale: float, rng: np.random.Generator) -> Score:
    outputs, inputs = task.correlation.shape
    width = int(np.exp(rng.uniform(np.log(5), np.log(100))))
    first = scale * rng.standard_normal((inputs, width))
    second = scale * rng.standard_normal((width, outputs))
    stairs = Staircase(*task, first=first, second=second)
    over_starts = Staircase(*task, initial_std=scale, width=width)
    heights = -np.diff(stairs.levels)
    n = int(np.argmin(np.r_[heights >= SMALLEST * heights.max(), False]))
    middles = stairs.levels[:n] - heights[:n] / 2
    run = train(task, first, second, 1.5 * stairs.drop_times[n - 1] + stairs.drop_widths[n - 1])
    true = passes(run, middles)
    points = LinearFixedPoints(*task)
    found = plateaus(run, points, middles[-1])
    predicted = [
        (A, loss)
        for A, loss, is_visible in zip(
            stairs.modes[1:n], stairs.levels[1:n], stairs.is_visible[1:n], strict=True
        )
        if is_visible
    ]
    seen, expected = [A for A, _ in found], [A for A, _ in predicted]
    both = sum(
        A in expected for A in seen
    )  # the empty set is no plateau between two drops: never expected
    best = sum(tuple(range(len(A))) == A and len(A) > 0 for A in seen)
    counts = (both, len(expected) - both, len(seen) - both, best)
    is_clear = bool(np.all(stairs.alignment[:n] >= 0.7))
    is_right = seen == expected
    levels = [
        abs(a - b) / stairs.levels[0] for (_, a), (_, b) in zip(found, predicted, strict=False)
    ]
    errors = stairs.drop_times[:n] / true - 1
    same = over_starts.order[:n] == stairs.order[:n]
    offsets = (true - over_starts.drop_times[:n]) if same else np.zeros(0)
    return Score(
        len(found) == len(predicted), is_right, counts, [] if is_clear else list(errors[1:]),
        levels if is_right else [], errors[0], list(errors[1:]),
        list(-offsets / true[: offsets.size]), list(offsets / over_starts.spread[: offsets.size]),
    )  # fmt: skip


def quantiles(errors: list[float]) -> str:
    if not errors:
        return "–"
    median, high = np.quantile(np.abs(errors), [0.5, 0.9])
    return f"{100 * median:.2g} %, {100 * high:.2g} %"


def row(scores: list[Score]) -> str:
    later = [e for s in scores for e in s.later_errors]
    totals = np.sum([s.counts for s in scores], axis=0)
    cells = [
        f"{np.mean([s.is_number_right for s in scores]):.0%}",
        f"{np.mean([s.is_sequence_right for s in scores]):.0%}",
        "{}, {}, {}".format(*totals[:3]),
        f"{totals[3]} of {totals[0] + totals[2]}",
        quantiles([e for s in scores for e in s.level_errors]),
        quantiles([s.first_error for s in scores]),
        quantiles(later),
        quantiles([e for s in scores for e in s.later_errors_if_unclear]),
        f"{100 * np.median(later):+.2g} %",
        quantiles([e for s in scores for e in s.random_errors]),
        f"{np.sqrt(np.mean([d**2 for s in scores for d in s.deviations])):.2f}",
    ]
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description="Errors of predicted staircases.")
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--condition", type=float, default=10)
    arguments = parser.parse_args()
    print("errors: median, 90 % quantile")
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + len(COLUMNS) * "---|")
    for largest, scale in itertools.product((1.0, arguments.condition), SCALES):
        rng = np.random.default_rng(arguments.seed)
        scores = [score(random_task(rng, largest), scale, rng) for _ in range(arguments.tasks)]
        print(
            f"| {'correlated' if largest > 1 else 'white'} | {scale:g} | {row(scores)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
