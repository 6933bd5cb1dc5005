"""Experiments and checks made for tests, and a way to run commands on them in processes of their own.

Run as a script it imports everything once and then, for each line on its standard input, forks a process
that runs one command, so that a command takes milliseconds to start. It does not import JAX.
"""

import contextlib
import dataclasses
import errno
import gc
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import xarray

from lazyrich import checks, experiments, plotting
from lazyrich.checks import accuracy as accuracies
from lazyrich.cli import _jobs, _progress
from lazyrich.core import (
    CheckResult,
    Claim,
    Comparison,
    Context,
    Convention,
    Correction,
    DataError,
    Departure,
    Experiment,
    accuracy,
    check,
)

PATIENCE = 120.0  # seconds; only so that a process that hangs does not hang the suite


@dataclasses.dataclass(frozen=True)
class Config:
    num_pieces: int = 3
    num_seeds: int = 2
    pause: float = 0.0


def log(word):
    """Append a word to the log, if there is one: a trace of what was computed, whoever computed it."""
    if place := os.environ.get("LAB_LOG"):
        with open(place, "a") as file:
            file.write(f"{word}\n")


def piece(config, index):
    """The one right content of a piece."""
    time.sleep(config.pause)
    rng = np.random.default_rng(index)
    values = rng.standard_normal((config.num_seeds, 50))
    log(f"piece-{index}")
    return xarray.Dataset({"values": (("seed", "time"), values)}, attrs={"index": index})


def run(config, context):
    pieces = [
        context.keep(f"piece-{index}", piece, config, index)
        for index in context.track(range(config.num_pieces), "pieces")
    ]
    log("run")
    return xarray.concat(pieces, "piece", combine_attrs="drop")


def figure(result, config):
    picture, axes = plotting.new_figure(panel=(1.2, 1.0))
    axes[0, 0].plot(result["values"][0, 0])
    return picture


def holds(result, config):
    mean = result["values"].mean()
    return [
        Claim("the mean is small", "Fig. 1", 0, mean, "absolute", 2, num_seeds=config.num_seeds)
    ]


def fails(result, config):
    return [Claim("the mean is huge", "Fig. 2", 1e9, 0.5, "at-least")]


def honest(result, config):
    """Every verdict that is not a failure."""
    return [
        Claim(
            "printed twice too large", "Eq. 1", 1, 1, correction=Correction(2, "a factor 2", "E1")
        ),
        Claim("grows", "Fig. 3", 9, 3, departure=Departure("it does not", 3, 0.1)),
        Claim("needs more", "Fig. 4", 9, float("nan"), needs="a larger machine"),
        Claim("diverges", "Fig. 5", float("inf"), float("inf")),
    ]


def crash(*arguments):
    raise RuntimeError("the λ of this run is λ\nand a second line")


def crash_badly(*arguments):
    raise FileNotFoundError(2, "No such file", os.fsdecode(b"data-\xff\xfe.csv"))


def lack_data(config, context):
    raise DataError(f"`{context.data_folder}` must hold digits, got none. Put them there.")


def leave(*arguments):
    sys.exit("goodbye")


def interrupt(config, context):
    """Be interrupted after two pieces, as by whoever sits at the terminal, or by `kill`."""
    for index in context.track(range(config.num_pieces), "pieces"):
        if index == 2 and not os.environ.get("LAB_PEACE"):
            os.kill(os.getpid(), getattr(signal, os.environ.get("LAB_SIGNAL", "SIGINT")))
            time.sleep(10)  # never this long
        context.keep(f"piece-{index}", piece, config, index)
    return run(config, context)


def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def swallow(config, context):
    """Be interrupted where Python drops the exception: in a callback of the garbage collector."""

    def callback(phase, info):
        gc.callbacks.remove(callback)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):  # the handler runs between two of these
            pass

    with contextlib.suppress(Exception):
        gc.callbacks.append(callback)
        gc.collect()
    return run(config, context)


def disguise(config, context):
    """Be interrupted inside a library that turns every exception into its own."""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    except BaseException as error:
        raise ValueError("a callback failed") from error


def experiment(item, claims=holds, run=run, figure=figure, data_fingerprint=None, **config):
    presets = {"quick": Config(**config), "paper": Config(**config | {"num_seeds": 4})}
    return Experiment(
        paper="lab", item=item, title=f"Experiment {item} of λ", caption="A test.",
        seconds={"quick": 1, "paper": 2}, convention=Convention("mean square", "t", "steps"),
        references=("linear-grokking", "omnigrok"), presets=presets, run=run, claims=claims,
        figure=figure, module="lazyrich.core._seeds", data_fingerprint=data_fingerprint,
    )  # fmt: skip


EXPERIMENTS = {
    e.id: e
    for e in [
        experiment("holds"),
        experiment("honest", honest),
        experiment("fails", fails),
        experiment("crash-run", run=crash),
        experiment("crash-claims", claims=crash),
        experiment("crash-figure", figure=crash),
        experiment("crash-badly", run=crash_badly),
        experiment("leaves", run=leave),
        experiment("dies", run=die),
        experiment("no-data", run=lack_data, data_fingerprint=str),
        experiment("other", num_pieces=4),
        experiment("no-dataset", run=lambda config, context: {"values": [1, 2]}),
        experiment(
            "no-numbers", run=lambda config, context: xarray.Dataset({"a": ("x", [object()])})
        ),
        experiment("no-claims", claims=lambda result, config: []),
        experiment("interrupted", run=interrupt, num_pieces=5),
        experiment("swallowed", run=swallow),
        experiment("disguised", run=disguise),
        experiment("long", num_pieces=60, pause=0.01),
        experiment("long-too", num_pieces=60, pause=0.01, num_seeds=3),
    ]
}


def a_check(item, result):
    return check(f"lab/{item}", f"Formula {item} for λ", against="brute force")(result)


def check_interrupt():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


CHECKS = {
    c.id: c
    for c in [
        a_check("eq1", lambda: CheckResult(np.float32(1e-12), 1e-10, np.int64(3))),
        a_check("eq2", lambda: CheckResult(1e-12, 1e-10, 3, 1.0, "a factor 2")),
        a_check("eq3", lambda: CheckResult(1e-12, 1e-10, 3, float("inf"), departure="not so")),
        a_check("thm-fails", lambda: CheckResult(float("nan"), 1e-10, 3)),
        a_check("thm-crashes", crash),
        a_check("thm-leaves", leave),
        a_check("thm-interrupted", check_interrupt),
    ]
}


def a_form(name, compare, **options):
    settings = {"against": "long division", "grid": "three values of λ"} | options
    return accuracy(f"lab.{name}", f"Form {name} of λ", **settings)(compare)


def thirds(error=0.0):
    x = np.array([1.0, 2.0, 7.0])
    return lambda: Comparison(x / 3 * (1 + error), lambda x: x / 3, {"x": x})


FORMS = {
    f.id: f
    for f in [
        a_form("third", thirds()),
        a_form("explained", thirds(1e-9), explanation="ill-conditioned", bound=1e-8),
        a_form("wrong", thirds(1e-9)),
        a_form("crashes", crash),
        a_form("interrupted", check_interrupt),
    ]
}


@dataclasses.dataclass
class Finished:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Job:
    """A command that runs in a process of its own."""

    def __init__(self, lab, pid, files):
        self._lab, self.pid, self._files, self._code = lab, pid, files, None

    def poll(self):
        """The exit code, minus the signal that ended it, or None while it lives."""
        if self._code is None:
            self._code = self._lab.ask({"poll": self.pid})
        return self._code

    def signal(self, number):
        assert self.poll() is None, "it has ended before it could be disturbed"
        os.kill(self.pid, number)

    def wait(self):
        until(lambda: self.poll() is not None)
        out, err = (file.read_text() for file in self._files)
        return Finished(self._code, out, err)


class Lab:
    """Runs commands of `lazyrich`, with the experiments and checks of this file."""

    def __init__(self, folder):
        command, pipe = [sys.executable, __file__], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self._folder, self._jobs = folder, []

    def start(self, *arguments, **options):
        """Start a command; for options see `_prepare`."""
        number = len(self._jobs)
        files = [self._folder / f"{number}.{name}" for name in ("out", "err")]
        request = {"arguments": list(map(str, arguments)), "options": options}
        pid = self.ask(request | {"files": list(map(str, files))})
        self._jobs.append(Job(self, pid, files))
        return self._jobs[-1]

    def run(self, *arguments, **options):
        """Run a command to its end."""
        return self.start(*arguments, **options).wait()

    def kill_all(self):
        """Kill what a failed test left behind."""
        for job in self._jobs:
            if job.poll() is None:
                os.kill(job.pid, signal.SIGKILL)
                until(lambda job=job: job.poll() is not None)

    def close(self):
        self.kill_all()
        self._process.communicate()

    def ask(self, request):
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def until(condition):
    """Wait; for ever would be a bug."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)
    return value


def _prepare(env=None, strike=None, full_after=None, file_limit=None, ignore=()):
    """What a test wants to be different in the process.

    Args:
        env: environment variables.
        strike: [n, name of a signal]: send it to oneself before the n-th call that makes a file last.
        full_after: number of bytes after which the disk is full, as the store sees it.
        file_limit: largest size of a file, as the system sees it.
        ignore: names of signals that are ignored from the start, as `nohup` does.
    """
    os.environ.update(env or {})
    for name in ("SIGINT", "SIGTERM"):
        default = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
        signal.signal(getattr(signal, name), signal.SIG_IGN if name in ignore else default)
    if strike:
        _strike_before(*strike)
    if full_after is not None:
        _fill_disk(full_after)
    if file_limit is not None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))


def _strike_before(number, name):
    calls = 0

    def disturbed(function):
        def call(*arguments):
            nonlocal calls
            calls += 1
            if calls == number:
                log(f"struck-{name}")
                os.kill(os.getpid(), getattr(signal, name))
                time.sleep(0)  # handlers run here
            return function(*arguments)

        return call

    os.fsync, os.replace = disturbed(os.fsync), disturbed(os.replace)


def _fill_disk(limit):
    written, write = 0, os.write

    def limited(descriptor, data):
        nonlocal written
        if written + len(data) > limit:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written += len(data)
        return write(descriptor, data)

    os.write = limited


def use_lab_registries(setattr=setattr):
    """Put the experiments, checks and closed forms of this file in the place of the real ones."""
    setattr(experiments, "_registry", lambda: EXPERIMENTS)
    setattr(checks, "_registry", lambda: CHECKS)
    setattr(accuracies, "_registry", lambda: FORMS)
    setattr(_progress, "SECONDS_BETWEEN_LINES", float("inf"))  # on a slow machine too, no line
    setattr(_jobs, "METHOD", "fork")  # a new process would have the real ones


def _command(request):
    for descriptor, path in enumerate([os.devnull, *request["files"]]):
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, flags, 0o666), descriptor)
    _prepare(**request["options"])
    from lazyrich.cli import main

    code = main(request["arguments"])
    sys.stdout.flush()
    return code


def _poll(pid):
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _serve():
    from lazyrich.cli import _reproduce, _verify  # noqa: F401

    use_lab_registries()
    figure(run(Config(1, 1), Context()), None).savefig(os.devnull, format="png")  # finds the fonts
    assert "jax" not in sys.modules
    for line in sys.stdin:
        request = json.loads(line)
        if "poll" in request:
            print(json.dumps(_poll(request["poll"])), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                code = _command(request)
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        print(pid, flush=True)


if __name__ == "__main__":
    _serve()
