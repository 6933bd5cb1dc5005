"""Valid calls of `lazyrich.runner`, and what odd values mean there."""

import contextlib
import dataclasses
import tempfile

import xarray

from lazyrich import core, runner

from .engine import Call
from .values import Also


@dataclasses.dataclass(frozen=True)
class Config:
    num_seeds: int = 3


@dataclasses.dataclass(frozen=True)
class Foreign:
    """A configuration of another experiment."""

    num_seeds: int = 3


class Picture:
    def savefig(self, file, **options):
        file.write(b"a picture")


EXPERIMENT = core.Experiment(
    paper="saddles", item="fig0", title="", caption="", seconds={"quick": 1},
    convention=core.LIBRARY_CONVENTION, references=("saddles",), presets={"quick": Config()},
    run=lambda config, context: xarray.Dataset({"loss": ("time", [1.0, 0.5])}),
    claims=lambda result, config: [core.Claim("falls", "Fig. 0", 0.5, 0.5)],
    figure=lambda result, config: Picture(), module="lazyrich.core._seeds",
)  # fmt: skip


def _in_folder(function):
    """A function, in a folder that is gone afterwards."""

    def call(**arguments):
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            return function(**arguments)

    return call


def work(job, report):
    """What a process would do; none is started here."""


RUN = {
    "experiment": Also(EXPERIMENT, {"id": "saddles/fig1d"}),
    "config": Also(Config(), {"foreign": Foreign(), "kind": Config}),
}
PLACE = {
    "folder": Also(runner.Folder("out"), {"path": "out"}),
    "preset": Also("quick", {"above": "..", "below": "a/b", "long": "x" * 300}),
}

CALLS = {
    "Folder": {"path": Also("out", {"null": "a\0b"}), "warn": print},
    "Folder.discard_checkpoints": {"prefix": "saddles-fig0"},
    "Folder.leave_out": {"path": "result.json", "why": "it is empty"},
    "code_digest": {"module": Also("lazyrich.core._seeds", {"foreign": "numpy.linalg"})},
    "failure": Call(
        _in_folder(runner.failure), {**RUN, **PLACE, "error": Also(ValueError("no"), {"kind": ValueError})}
    ),
    "in_processes": {
        "function": Also(work, {"lambda": lambda job, report: None}),
        "jobs": Also([], {"lambda": [print, lambda: None]}),
        "number": 2,
        "method": "spawn",
    },
    "modules_used": {"module": Also("lazyrich.core._seeds", {"foreign": "my.core._seeds"})},
    "reproduce": Call(
        _in_folder(runner.reproduce),
        {**RUN, **PLACE, "context": core.Context(), "again": False, "pdf": False, "animate": False},
    ),
    "result_key": {**RUN, "data_folder": Also("data", {"null": "a\0b"})},
}  # fmt: skip

MEANING = {
    ("Folder", "path", "text empty"): "any path, or here; it need not exist",
    (
        "Folder.discard_checkpoints",
        "prefix",
        "text empty",
    ): "any text; all pieces begin with nothing",
    ("Folder.leave_out", "path why", "text empty"): "shown as they are",
    ("in_processes", "jobs", "empty"): "nothing to do",
    ("in_processes", "number", "huge enormous"): "no more processes than jobs",
    ("result_key", "data_folder", "text empty"): "any path; who reads it says what is missing",
}
