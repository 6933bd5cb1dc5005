"""Records as experiments and checks write them, one for each verdict."""

import base64
from typing import Any

import pytest

from lazyrich.core import Check, CheckResult, Claim, Correction, Departure

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _claims() -> list[Claim]:
    return [
        Claim("The loss falls as predicted over four decades of time", "Fig. 1, left",
              0.95, 0.949731, tolerance=0.02, uncertainty=0.00213, num_seeds=8),
        Claim("The rate is half the printed one", "Eq. 15", 0.5, 0.502, tolerance=0.02,
              correction=Correction(1.0, "the printed form lacks a factor ½", "E2")),
        Claim("The first drop comes at this step", "Fig. 1B", 555, 489.2, tolerance=0.05,
              departure=Departure("with the printed settings it comes early", 489.2, 15)),
        Claim("The first row of the table", "Table 1", 0.08, 0.0, needs="the digits data set"),
        Claim("The error never exceeds three", "Sec. 2", 3, 4, comparison="at-most"),
    ]  # fmt: skip


def _record(id: str = "linear-grokking/fig1", **changes: Any) -> dict[str, Any]:
    paper = id.partition("/")[0]
    return {
        "schema_version": 1, "id": id, "paper": paper, "title": "Train and test loss",
        "caption": "Loss against time.", "preset": "quick", "config": {"learning_rate": 0.01},
        "key": "3fa94b7d90c2e1aa", "command": f"lazyrich reproduce {id} --preset quick",
        "status": "done", "error": "", "seconds": 12.3, "from_store": False,
        "created": "2026-01-01T12:00:00Z", "versions": {"lazyrich": "0.1.0", "jax": "0.8"},
        "machine": "Linux x86_64, 2 cores",
        "convention": {"loss_convention": "mean square, no ½", "time_convention": "t = step",
                       "time_unit": "step"},
        "claims": [claim.to_json() for claim in _claims()],
        "files": {"figure": f"quick/{id}/figure.png", "data": f"quick/{id}/data.lazyrich",
                  "pdf": None, "animation": None},
        "citation": {"text": "Levi et al. (2024).", "bibtex": "@article{levi,\n  year = {2024}\n}"},
        **changes,
    }  # fmt: skip


@pytest.fixture
def record():
    """A function that makes an experiment's record, by default with all five verdicts."""
    return _record


@pytest.fixture
def failed():
    """The record of an experiment that crashed."""
    return _record(
        "saddles/fig2a",
        title="Low rank",
        status="failed",
        error="The data set is missing.",
        claims=[],
    )


@pytest.fixture
def folder(tmp_path, record):
    """An output folder that holds the files of `record()`."""
    files = record()["files"]
    (tmp_path / files["figure"]).parent.mkdir(parents=True)
    (tmp_path / files["figure"]).write_bytes(PNG)
    (tmp_path / files["data"]).write_text("data")
    return tmp_path


@pytest.fixture
def checks():
    """Records of checks with every verdict a check can have, one of them crashed."""

    def one(id: str, title: str, **result: Any) -> dict[str, Any]:
        numbers = {"error": 1.2e-15, "tolerance": 1e-12, "num_cases": 240} | result
        check = Check(id, title, "adaptive quadrature", lambda: CheckResult(**numbers))
        return check.record(check.run())

    return [
        one("li2/eq8", "Train loss in closed form"),
        one("li2/eq15", "Grokking time", printed_error=1.0, correction="a factor ½ is missing"),
        one("li2/thm2", "Local maxima", printed_error=0.4, departure="true only when centred"),
        one("layerwise/thm1", "Exact solution", error=float("nan")),
        {"id": "layerwise/thm2", "title": "Hybrid regime", "against": "an integrated flow",
         "status": "failed", "error_message": "ValueError: no such rank."},
    ]  # fmt: skip
