"""Jobs in several processes at once."""

import collections
import contextlib
import dataclasses
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from lazyrich.core import LazyrichError, argument_error, choice, count, items

PATIENCE = 5.0
"""Seconds that a worker has to end when it is asked to; all it writes, it writes atomically."""

Report = Callable[[str, float, int], None]


class WorkerError(LazyrichError):
    """A process died at its job: killed, out of memory, or crashed in compiled code."""


class Event(NamedTuple):
    """What a job is at: "begun", "report" with (label, done, total), or "ended" with its result."""

    job: int
    kind: str
    content: Any = None


def in_processes(
    function: Callable[[Any, Report], Any],
    jobs: Sequence[Any],
    number: int,
    method: str = "spawn",
) -> Generator[Event]:
    """Run `function(job, report)` for each job, in up to `number` processes, and tell what happens.

    Each process does one job after the other, so that it imports and compiles once. Jobs begin in their
    order. The results of a job do not depend on the number of processes. Whoever stops listening stops the
    processes.

    Args:
        function: importable, not made on the spot; turns exceptions into results itself.
        jobs: what it is called with; picklable.
        number: of processes.
        method: how processes begin. JAX does not bear "fork".

    Yields:
        Events. A job whose process died ends with a `WorkerError`, and the next one gets a new process.
    """
    if not callable(function):
        raise argument_error("function", "be a function of a job and a report", function)
    jobs = items("jobs", jobs)
    number = count("number", number, advice="Use e.g. 2.")
    choice("method", method, multiprocessing.get_all_start_methods())
    if method != "fork":  # a forked process has it already
        _check_picklable("function", function, "Define it in a module.")
    for index, job in enumerate(jobs):
        _check_picklable(f"jobs[{index}]", job, "Pass numbers, words and ids.")
    return _events(function, jobs, number, method)


def _check_picklable(name: str, value: Any, advice: str) -> None:
    try:
        ForkingPickler.dumps(value)
    except Exception as error:
        raise argument_error(name, "be picklable", value, advice) from error


def _events(
    function: Callable[[Any, Report], Any], jobs: Sequence[Any], number: int, method: str
) -> Generator[Event]:
    waiting = collections.deque(enumerate(jobs))
    workers: dict[Any, _Worker] = {}
    try:
        while waiting or workers:
            while waiting and len(workers) < number:
                worker = _hire(function, method)
                workers[worker.line] = worker
                yield worker.begin(*waiting.popleft())
            for line in wait(list(workers)):
                worker = workers[line]
                event = worker.listen()
                yield event
                if event.kind == "ended":
                    if waiting and worker.process.is_alive():
                        yield worker.begin(*waiting.popleft())
                    else:
                        worker.line.close()
                        del workers[line]
    finally:
        _dismiss([worker.process for worker in workers.values()])


@dataclasses.dataclass
class _Worker:
    process: Any
    line: Any
    job: int = -1

    def begin(self, index: int, job: Any) -> Event:
        self.job = index
        with contextlib.suppress(OSError):  # who has died is noticed when it is listened to
            self.line.send((index, job))
        return Event(index, "begun")

    def listen(self) -> Event:
        try:
            return Event(*self.line.recv())
        except (EOFError, OSError):
            return Event(self.job, "ended", _obituary(self.process))


def _hire(function: Any, method: str) -> _Worker:
    context: Any = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(function, theirs, ours), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _obituary(process: Any) -> WorkerError:
    process.join()
    code = process.exitcode
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return WorkerError(f"the process that ran it {how}, perhaps for lack of memory")


def _dismiss(processes: list[Any]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()


def _serve(function: Any, connection: Connection, other_end: Connection) -> None:
    """The life of a worker: jobs until there are no more, or until whoever hired it is gone."""
    other_end.close()  # else it would keep its own line open
    # Ctrl-C reaches everybody: the one who hired decides
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow_parent, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError):
        while True:
            index, job = connection.recv()

            def report(label: str, done: float, total: int, index: int = index) -> None:
                connection.send((index, "report", (label, done, total)))

            connection.send((index, "ended", function(job, report)))
    os._exit(0)  # tidying up takes time, and an impatient parent would interrupt it


def _leave(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
