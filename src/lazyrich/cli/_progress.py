"""A bar for the whole job with the time left, and one for the experiment at hand."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


class JobProgress:
    """Progress of a list of jobs whose expected durations are known.

    The bar counts expected seconds. Within a job it follows the share of items done, or the clock where
    a job reports nothing, but never past the job's own portion.
    """

    def __init__(self, console: Console, names: list[str], seconds: list[float], unit: str):
        self._names, self._seconds, self._unit = names, seconds, unit
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            TextColumn("[dim]{task.fields[stage]}"),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task(unit, total=sum(seconds), stage="")
        self._current, self._started, self._share = 0, time.monotonic(), 0.0
        self._stop = threading.Event()

    @contextmanager
    def running(self) -> Iterator["JobProgress"]:
        """Show the bar within this context."""
        clock = threading.Thread(target=self._follow_clock, daemon=True)
        with self._progress:
            clock.start()
            try:
                yield self
            finally:
                self._stop.set()
                clock.join()

    def start(self, index: int) -> None:
        """Job `index` begins."""
        self._current, self._started, self._share = index, time.monotonic(), 0.0
        self._show(f"{self._names[index]}")

    def report(self, label: str, done: int, total: int) -> None:
        """Called by the job: so many items of so many."""
        self._share = done / max(total, 1)
        self._show(f"{self._names[self._current]}: {label} {done}/{total}")

    def finish(self, index: int) -> None:
        """Job `index` is done."""
        self._share = 1.0
        self._show("")

    def _show(self, stage: str | None = None) -> None:
        expected = self._seconds[self._current]
        clock = min((time.monotonic() - self._started) / expected, 0.95) if expected else 0.0
        share = self._share or clock
        done = sum(self._seconds[: self._current]) + share * expected
        name = f"{self._unit} {self._current + 1}/{len(self._names)}"
        if stage is None:
            self._progress.update(self._task, completed=done, description=name)
        else:
            self._progress.update(self._task, completed=done, description=name, stage=stage)

    def _follow_clock(self) -> None:
        while not self._stop.wait(0.5):
            self._show()
