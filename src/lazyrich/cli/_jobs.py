"""A list of jobs, one after the other or several at once."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lazyrich import runner
from lazyrich.cli._progress import JobProgress

Report = Callable[[str, float, int], None]

MOST_WORKERS = 4
"""By default: each takes a gigabyte and more."""
WORTH_PROCESSES = 10.0
"""Seconds; a process takes about three to begin."""
METHOD = "spawn"


def num_workers(asked: int | None, expected: Sequence[float]) -> int:
    """How many processes to use for jobs of so many seconds: as many as asked for, or as make sense."""
    if asked is not None:
        return asked
    worth = len(expected) > 1 and sum(expected) > WORTH_PROCESSES
    return min(os.cpu_count() or 1, MOST_WORKERS) if worth else 1


def each(
    function: Callable[..., Any],
    jobs: Sequence[Any],
    expected: Sequence[float],
    number: int,
    bar: JobProgress,
    asked_to_stop: Callable[[], bool],
) -> Iterator[tuple[int, Any]]:
    """The results of `function(job, report, asked_to_stop)` with the jobs' numbers, as they come.

    One at a time they run here, in their order; several run in processes of their own, the longest first, so
    that none is left alone at the end. Raises `KeyboardInterrupt` when asked to stop.
    """
    if number > 1:
        yield from _at_once(function, jobs, expected, number, bar, asked_to_stop)
        return
    for index, job in enumerate(jobs):
        bar.start(index)
        result = function(job, functools.partial(bar.report, index), asked_to_stop)
        bar.finish(index)
        yield index, result
        if asked_to_stop():
            raise KeyboardInterrupt


def _at_once(
    function: Callable[..., Any],
    jobs: Sequence[Any],
    expected: Sequence[float],
    number: int,
    bar: JobProgress,
    asked_to_stop: Callable[[], bool],
) -> Iterator[tuple[int, Any]]:
    order = sorted(range(len(jobs)), key=lambda index: -expected[index])
    tasks = [(function, jobs[index]) for index in order]
    with contextlib.closing(runner.in_processes(_call, tasks, number, METHOD)) as events:
        for place, kind, content in events:
            index = order[place]
            if kind == "begun":
                bar.start(index)
            elif kind == "report":
                bar.report(index, *content)
            else:
                bar.finish(index)
                yield index, content
            if asked_to_stop():
                raise KeyboardInterrupt


def _call(task: tuple[Callable[..., Any], Any], report: Report) -> Any:
    function, job = task
    return function(job, report, lambda: False)  # who wants a process to stop ends it
