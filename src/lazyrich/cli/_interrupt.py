"""SIGTERM stops as cleanly as Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def terminate_like_interrupt() -> Iterator[None]:
    """Within this context a request to terminate raises `KeyboardInterrupt`."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    if (
        threading.current_thread() is not threading.main_thread()
    ):  # signals belong to the main thread
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
