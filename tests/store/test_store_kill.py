"""Kills at any moment, and several processes on one folder."""

import os
import random
import signal
import time
from collections.abc import Callable, Set
from pathlib import Path

import pytest
from store_worker import check

from lazyrich.store import Store, remove_leftovers

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

KEYS = ["a", "b", "c"]
SIZE = 16 << 20


def temporaries(folder: Path) -> set[Path]:
    return set(folder.glob(".*.tmp"))


def until(condition: Callable[[], object]) -> None:
    for _ in range(50_000):  # so that a writer that crashed does not hang the suite
        if condition():
            return
        time.sleep(0.0001)
    pytest.fail("waited in vain")


def growing(folder: Path, others: Set[Path] = frozenset()) -> set[Path]:
    return {path for path in temporaries(folder) - others if _size(path)}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def kill(nursery, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    assert nursery.wait(pid) == -signal.SIGKILL


def test_a_kill_at_any_moment_leaves_whole_results(tmp_path, nursery):
    rng, store, in_flight, generations = random.Random(0), Store(tmp_path), 0, set()
    for turn in range(50):
        pid = nursery.start(tmp_path, KEYS, SIZE, first=1000 * turn)
        if turn % 2:  # half of the kills are blind, half are aimed at a write
            until(lambda: growing(tmp_path))
            time.sleep(rng.uniform(0, 0.005))
        else:
            time.sleep(rng.uniform(0, 0.25))
        kill(nursery, pid)
        left = temporaries(tmp_path)
        in_flight += bool(left)
        for key in check(store, SIZE):
            generations.add(store.header(key)["attrs"]["generation"])
        assert set(remove_leftovers(tmp_path)) == left
        assert not temporaries(tmp_path)
    assert in_flight >= 10, f"only {in_flight} of 50 kills met a write"
    assert store.keys() == KEYS
    assert len(generations) >= 10  # the same keys were overwritten again and again
    print(f"{in_flight} of 50 kills met a write")


def test_leftovers_of_the_dead_go_and_files_of_the_living_stay(tmp_path, nursery):
    living = nursery.start(tmp_path, ["living"], SIZE, count=20)
    alive = stop_in_a_write(nursery, living, tmp_path)
    dead = nursery.start(tmp_path, ["dead"], SIZE)
    left = stop_in_a_write(nursery, dead, tmp_path, others=alive)
    assert remove_leftovers(tmp_path) == []  # both writers stand still, but both live
    kill(nursery, dead)
    assert set(remove_leftovers(tmp_path)) == left
    assert temporaries(tmp_path) == alive
    os.kill(living, signal.SIGCONT)
    assert nursery.wait(living) == 0
    assert not temporaries(tmp_path)
    check(Store(tmp_path), SIZE)
    assert Store(tmp_path).read("living").attrs["generation"] == 19


def stop_in_a_write(nursery, pid: int, folder: Path, others: Set[Path] = frozenset()) -> set[Path]:
    for _ in range(15):
        until(lambda: growing(folder, others))
        os.kill(pid, signal.SIGSTOP)
        assert nursery.wait(pid) == -signal.SIGSTOP
        if found := temporaries(folder) - others:
            return found
        os.kill(pid, signal.SIGCONT)
    pytest.fail("no write was caught under way")


def test_two_writers_of_the_same_and_of_other_keys(tmp_path, nursery):
    size, store = 1 << 20, Store(tmp_path)
    one = nursery.start(tmp_path, ["both", "one"], size, first=0, count=15)
    two = nursery.start(tmp_path, ["two", "both"], size, first=100, count=15)
    until(lambda: "one" in store and "two" in store)
    for _ in range(15):  # readers meet only whole results, while both write
        assert "both" in check(store, size)
    assert [nursery.wait(one), nursery.wait(two)] == [0, 0]
    assert check(store, size) == ["both", "one", "two"]
    assert store.read("one").attrs["generation"] == 14
    assert store.read("two").attrs["generation"] == 114
    assert store.read("both").attrs["generation"] in (14, 114)
    assert not temporaries(tmp_path)


def test_sweeping_never_disturbs_writers(tmp_path, nursery):
    one = nursery.start(tmp_path, ["both", "one"], 4096, first=0, count=100)
    two = nursery.start(tmp_path, ["two", "both"], 4096, first=1000, count=100)
    store = Store(tmp_path)
    until(lambda: sweep_and_look(store, {"one": 99, "two": 1099}))
    assert [nursery.wait(one), nursery.wait(two)] == [0, 0]
    assert check(store, 4096) == ["both", "one", "two"]
    assert not temporaries(tmp_path)


def sweep_and_look(store: Store, last: dict[str, int]) -> bool:
    remove_leftovers(store.folder)
    found = {key: store.header(key)["attrs"]["generation"] for key in last if key in store}
    return found == last
