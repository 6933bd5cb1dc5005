"""Writers in processes of their own, for tests that kill and stop them.

Run as a script it imports the store once and then, for each line on its standard input, forks a
process or waits for one, so that starting a writer takes milliseconds. It does not import JAX.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import xarray

from lazyrich.store import Store


def expected(key: str, generation: int, size: int) -> xarray.Dataset:
    """The one right content for a key and a generation; every element depends on both."""
    factor = np.uint64(2 * int.from_bytes(key.encode(), "little") + 1)
    values = np.arange(size // 8, dtype=np.uint64) * factor + np.uint64(generation)
    return xarray.Dataset({"values": ("index", values)}, attrs={"generation": generation})


def check(store: Store, size: int) -> list[str]:
    """Assert that every result in the store is whole and right; return the keys."""
    keys = store.keys()
    for key in keys:
        found = store.read(key)
        generation = found.attrs["generation"]
        assert store.header(key)["metadata"]["pid"] > 0
        assert found.identical(expected(key, generation, size)), (key, generation)
    return keys


def write(folder: str, keys: list[str], size: int, first: int, count: int | None) -> None:
    """Write one key after the other, `count` times each or for ever, each time something new."""
    store, generation, parent = Store(folder), first, os.getppid()
    while (count is None or generation < first + count) and os.getppid() == parent:
        for key in keys:
            store.write(key, expected(key, generation, size), metadata={"pid": os.getpid()})
        generation += 1


class Nursery:
    """Starts writers, and says how they ended."""

    def __init__(self) -> None:
        command = [sys.executable, __file__]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self._living: set[int] = set()

    def start(self, folder: Path, keys: list[str], size: int, first: int = 0, count=None) -> int:
        """The process id of a new writer."""
        pid = self._ask(["start", [str(folder), keys, size, first, count]])
        self._living.add(pid)
        return pid

    def wait(self, pid: int) -> int:
        """The exit code of a writer, or minus the signal that ended or stopped it."""
        ending = self._ask(["wait", pid])
        if ending != -signal.SIGSTOP:
            self._living.discard(pid)
        return ending

    def close(self) -> None:
        """End the nursery."""
        self.kill_all()
        self._process.communicate()

    def kill_all(self) -> None:
        """Kill the writers that a failed test left behind."""
        for pid in list(self._living):
            os.kill(pid, signal.SIGKILL)
            self.wait(pid)

    def _ask(self, request: list) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def _ending(status: int) -> int:
    return -os.WSTOPSIG(status) if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)


def main() -> None:
    assert "jax" not in sys.modules
    for line in sys.stdin:
        order, argument = json.loads(line)
        if order == "wait":
            print(_ending(os.waitpid(argument, os.WUNTRACED)[1]), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            write(*argument)
            os._exit(0)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
