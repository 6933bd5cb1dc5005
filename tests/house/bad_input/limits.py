"""What a refusal may take: a bad argument must neither hang nor eat the machine."""

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 120
BYTES = 4 * 2**30


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Raises where a case hangs, or asks for more memory than a test machine has."""
    previous = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of processor time: a busy machine is no fault
    try:
        with _little_memory():
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _too_long(number: int, frame: Any) -> None:
    raise TimeoutError(f"no answer within {SECONDS} s")


@contextlib.contextmanager
def _little_memory() -> Iterator[None]:
    status = Path("/proc/self/statm")
    if not status.exists():  # only Linux keeps the limit
        yield
        return
    import resource

    used = int(status.read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
