"""A bar for a list of jobs, with the time left and what is being done."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 5.0


class JobProgress:
    """Progress of a list of jobs whose expected durations are known.

    The bar counts expected seconds. Within a job it follows the share of items done, or the clock where
    a job reports nothing, but never past the job's own portion. Where nobody can see a bar move, as in a
    log, there is now and then a line about what is finished.
    """

    def __init__(self, console: Console, names: list[str], seconds: list[float], unit: str):
        self._names, self._seconds, self._unit, self._console = names, seconds, unit, console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            TextColumn("[dim]{task.fields[stage]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(unit, total=sum(seconds), stage="")
        self._begun: dict[int, float] = {}
        self._shares: dict[int, float] = {}
        self._stop = threading.Event()
        self._last_line = time.monotonic()

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
        self._begun[index] = time.monotonic()
        self._show(self._names[index])

    def report(self, index: int, label: str, done: float, total: int) -> None:
        """So many items of so many in job `index`."""
        self._shares[index] = done / max(total, 1)
        self._show(f"{self._names[index]}: {label} {int(done)}/{total}")

    def finish(self, index: int) -> None:
        """Job `index` is done."""
        self._shares[index] = 1.0
        del self._begun[index]
        self._show(", ".join(self._names[other] for other in self._begun))
        now = time.monotonic()
        if not self._console.is_terminal and now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._console.print(f"{self._place()}: {self._names[index]}", highlight=False)

    def _show(self, stage: str | None = None) -> None:
        begun, now = dict(self._begun), time.monotonic()
        done = sum(self._seconds[i] for i in dict(self._shares) if i not in begun)
        for index, started in begun.items():
            expected = self._seconds[index]
            clock = min((now - started) / expected, 0.95) if expected else 0.0
            done += expected * (self._shares.get(index) or clock)
        name = self._place()
        if stage is None:
            self._progress.update(self._task, completed=done, description=name)
        else:
            self._progress.update(self._task, completed=done, description=name, stage=stage)

    def _place(self) -> str:
        finished = len(dict(self._shares).keys() - dict(self._begun).keys())
        return f"{finished} of {len(self._names)} {self._unit}s"

    def _follow_clock(self) -> None:
        while not self._stop.wait(0.5):
            self._show()
