"""Ctrl-C, and SIGTERM, which stops as cleanly."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Within this context SIGINT and SIGTERM raise `KeyboardInterrupt`; yields "has one come?".

    Python drops what a handler raises while a finalizer or a callback of the garbage collector runs (JAX
    has one), and libraries may turn it into an error of their own. So whoever loops asks, too.
    """
    came = False

    def interrupt(number: int, frame: Any) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _heeded()}
    try:
        yield lambda: came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heeded() -> list[int]:
    """The signals to handle: none outside the main thread, and none that `nohup` or a shell ignores."""
    if threading.current_thread() is not threading.main_thread():
        return []
    ours = (signal.SIGINT, signal.SIGTERM)
    return [number for number in ours if signal.getsignal(number) not in (signal.SIG_IGN, None)]
