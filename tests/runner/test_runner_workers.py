"""Jobs in processes that begin afresh, as on the command line."""

import multiprocessing
import os
import time

from lazyrich.runner import Event, WorkerError, in_processes


def square(job, report):
    report("squares", 1, 2)
    if job == "die":
        os._exit(7)
    return os.getpid(), job**2


def wait(job, report):
    report("waiting", 0, 1)
    time.sleep(60)


def test_every_job_ends_once_and_processes_are_used_again():
    events = list(in_processes(square, range(5), 2))
    ended = {e.job: e.content for e in events if e.kind == "ended"}
    assert {job: value for job, (_, value) in ended.items()} == {j: j**2 for j in range(5)}
    assert 1 <= len({pid for pid, _ in ended.values()}) <= 2
    assert [e.job for e in events if e.kind == "begun"] == list(range(5))
    for job in range(5):
        assert [e.kind for e in events if e.job == job] == ["begun", "report", "ended"]
    assert Event(3, "report", ("squares", 1, 2)) in events


def test_a_death_is_told():
    ended = {e.job: e.content for e in in_processes(square, ["die", 3], 1) if e.kind == "ended"}
    assert isinstance(ended[0], WorkerError)
    assert "ended with exit code 7" in str(ended[0])
    assert ended[1][1] == 9


def test_whoever_stops_listening_stops_the_processes():
    events = in_processes(wait, range(2), 2)
    for event in events:
        if event.kind == "report":
            break
    assert multiprocessing.active_children()
    events.close()
    assert multiprocessing.active_children() == []
