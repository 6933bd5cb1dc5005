"""`reproduce`: what it writes, what it says, when it computes."""

import json

import pytest
from cli_lab import EXPERIMENTS, holds

from lazyrich import experiments, runner, store
from lazyrich.cli import _progress


def result(out, id="lab/holds", preset="quick"):
    return json.loads((out / preset / id / "result.json").read_text())


def test_writes_figure_data_record_and_gallery(lazyrich, out):
    shown = lazyrich("reproduce", "lab/holds", "--out", out)
    assert shown.code == 0
    assert "✓ holds" in shown.out
    assert "1 claim: 1 holds" in shown.out
    assert f"Gallery: {out}/index.html" in shown.out
    record, home = result(out), out / "quick/lab/holds"
    assert record["files"] == {
        "figure": "quick/lab/holds/figure.png", "data": "quick/lab/holds/data.lazyrich",
        "pdf": None, "animation": None,
    }  # fmt: skip
    assert (home / "figure.png").read_bytes().startswith(b"\x89PNG")
    data = store.read_result(home / "data.lazyrich")
    stored = store.Store(out / "store")
    assert stored.keys() == [record["key"]]
    assert store.content_digest(stored.read(record["key"])) == store.content_digest(data)
    metadata = stored.header(record["key"])["metadata"]
    assert metadata["config"] == record["config"] == {"num_pieces": 3, "num_seeds": 2, "pause": 0.0}
    assert {"lazyrich", "python", "jax", "numpy"} <= set(metadata["versions"])
    assert "Experiment holds of λ" in (out / "index.html").read_text()
    assert not list((out / "checkpoints").iterdir())
    assert not list(out.rglob(".*"))


def test_json_is_one_document_with_the_records(lazyrich, out):
    found = lazyrich("reproduce", "lab/ho*", "--out", out, "--json")
    assert (found.code, found.err.strip()) == (0, "")
    assert found.json["schema_version"] == 1
    assert (found.json["exit_code"], found.json["error"]) == (0, "")
    assert found.json["gallery"] == str(out / "index.html")
    assert [r["id"] for r in found.json["experiments"]] == ["lab/holds", "lab/honest"]
    assert found.json["experiments"] == [result(out, "lab/holds"), result(out, "lab/honest")]
    verdicts = [c["verdict"] for c in found.json["experiments"][1]["claims"]]
    assert verdicts == ["corrected", "departs", "not-applicable", "holds"]


def test_a_repeated_command_does_not_compute_again(lazyrich, out, computed):
    first = lazyrich("reproduce", "lab/holds", "--out", out, "--json").json["experiments"][0]
    assert computed() == ["piece-0", "piece-1", "piece-2", "run"]
    again = lazyrich("reproduce", "lab/holds", "--out", out, "--json").json["experiments"][0]
    assert computed() == []
    assert (first["from_store"], again["from_store"]) == (False, True)
    assert again["key"] == first["key"]
    assert again["claims"] == first["claims"]
    assert lazyrich("reproduce", "lab/holds", "--out", out, "--again").code == 0
    assert computed() == ["piece-0", "piece-1", "piece-2", "run"]
    assert result(out)["claims"] == first["claims"]


def test_the_table_says_what_comes_from_the_store(lazyrich, out):
    assert "from the store" not in lazyrich("reproduce", "lab/holds", "--out", out).out
    assert "(quick, from the store)" in lazyrich("reproduce", "lab/holds", "--out", out).out


def test_a_log_gets_a_line_now_and_then(lazyrich, out, monkeypatch):
    assert lazyrich("reproduce", "lab/ho*", "--out", out).err == "", "all is done in a moment"
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN_LINES", 0.0)
    found = lazyrich("reproduce", "lab/ho*", "--out", out)
    assert found.err == "1 of 2 experiments: lab/holds\n2 of 2 experiments: lab/honest\n"


def test_another_configuration_or_number_of_seeds_is_another_result(lazyrich, out, computed):
    keys = set()
    for options in ([], ["--seeds", 1], ["--seeds", 5], ["--preset", "paper"]):
        found = lazyrich("reproduce", "lab/holds", "--out", out, "--json", *options).json
        keys.add(found["experiments"][0]["key"])
        assert len(computed()) == 4
    assert store.Store(out / "store").keys() == sorted(keys)
    assert len(keys) == 4
    same = lazyrich("reproduce", "lab/holds", "--out", out, "--json", "--seeds", 2).json
    assert same["experiments"][0]["from_store"]
    assert computed() == []


def test_other_code_is_another_result(lazyrich, out, computed, monkeypatch):
    lazyrich("reproduce", "lab/holds", "--out", out)
    computed()
    monkeypatch.setattr(runner._reproduce, "code_digest", lambda module: "edited")
    assert not lazyrich("reproduce", "lab/holds", "--out", out, "--json").json["experiments"][0][
        "from_store"
    ]
    assert len(computed()) == 4


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ([], "lazyrich reproduce lab/holds --preset quick"),
        (["--seeds", 2], "lazyrich reproduce lab/holds --preset quick"),
        (["--seeds", 7], "lazyrich reproduce lab/holds --preset quick --seeds 7"),
        (["--preset", "paper"], "lazyrich reproduce lab/holds --preset paper"),
    ],
)
def test_the_record_says_what_to_type(lazyrich, out, options, command):
    found = lazyrich("reproduce", "lab/holds", "--out", out, "--json", *options).json[
        "experiments"
    ][0]
    assert found["command"] == command
    key = found["key"]
    assert (
        lazyrich(*command.split()[1:], "--out", out, "--json").json["experiments"][0]["key"] == key
    )


def test_vector_figures(lazyrich, out):
    lazyrich("reproduce", "lab/holds", "--out", out)
    assert not (out / "quick/lab/holds/figure.pdf").exists()
    lazyrich("reproduce", "lab/holds", "--out", out, "--pdf")
    assert result(out)["files"]["pdf"] == "quick/lab/holds/figure.pdf"
    lazyrich("reproduce", "lab/holds", "--out", out, "--preset", "paper")
    first = (out / "paper/lab/holds/figure.pdf").read_bytes()
    assert first.startswith(b"%PDF")
    lazyrich("reproduce", "lab/holds", "--out", out, "--preset", "paper")
    assert (out / "paper/lab/holds/figure.pdf").read_bytes() == first


def test_the_gallery_shows_everything_in_the_folder_in_the_known_order(lazyrich, out):
    lazyrich("reproduce", "lab/honest", "--out", out)
    lazyrich("reproduce", "lab/holds", "--out", out, "--preset", "paper")
    lazyrich("reproduce", "lab/holds", "--out", out)
    page = (out / "index.html").read_text()
    places = [
        page.index(f'id="{anchor}"') for anchor in ("lab-holds", "lab-holds--2", "lab-honest")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("ids", "code"),
    [
        (["lab/holds"], 0),
        (["lab/honest"], 0),
        (["lab/no-claims"], 0),
        (["lab/fails", "lab/holds"], 1),
        (["lab/crash-run", "lab/fails"], 3),
    ],
)
def test_exit_codes(lazyrich, out, ids, code):
    found = lazyrich("reproduce", *ids, "--out", out, "--json")
    assert found.code == found.json["exit_code"] == code
    assert lazyrich("reproduce", *ids, "--out", out).code == code  # from the store too


CRASHES = {
    "lab/crash-run": "RuntimeError: the λ of this run is λ",
    "lab/crash-claims": "RuntimeError: the λ of this run is λ",
    "lab/crash-figure": "RuntimeError: the λ of this run is λ",
    "lab/crash-badly": "FileNotFoundError: [Errno 2] No such file: 'data-\\udcff\\udcfe.csv'",
    "lab/leaves": "SystemExit: goodbye",
    "lab/no-dataset": "ArgumentError: `dataset` must be an xarray.Dataset, got {'values': [1, 2]}.",
    "lab/no-numbers": "ArgumentError: `dataset['a']` must have a dtype of booleans, integers, floats,",
}


@pytest.mark.parametrize("id", CRASHES)
def test_a_crash_is_told_and_does_not_stop_the_others(lazyrich, out, id):
    shown = lazyrich("reproduce", id, "lab/holds", "lab/no-claims", "--out", out)
    assert shown.code == 3
    words = " ".join(shown.out.split())
    assert "1 claim: 1 holds · 1 experiment failed" in words
    assert f"({id}: {CRASHES[id][:25]}" in words
    record = result(out, id)
    assert (record["status"], record["claims"]) == ("failed", [])
    assert record["error"].startswith(CRASHES[id])
    assert record["files"] == {"figure": None, "data": None, "pdf": None, "animation": None}
    assert result(out, "lab/holds")["status"] == "done"
    page = (out / "index.html").read_text()
    assert "This experiment did not finish." in page
    assert "Experiment holds of λ" in page
    found = lazyrich("reproduce", id, "--out", out, "--json")
    assert found.json["experiments"][0]["status"] == "failed"
    assert "Traceback" in found.err  # for whoever wrote the experiment


def test_a_result_is_kept_when_its_figure_or_claims_crash(lazyrich, out, computed, monkeypatch):
    for part in ("crash-figure", "crash-claims"):
        id = f"lab/{part}"
        assert lazyrich("reproduce", id, "--out", out).code == 3
        assert computed()[-1] == "run"
        repaired = EXPERIMENTS | {id: experiments.get(id).__class__(
            **vars(experiments.get("lab/holds")) | {"item": part}
        )}  # fmt: skip
        monkeypatch.setattr(experiments, "_registry", lambda repaired=repaired: repaired)
        assert lazyrich("reproduce", id, "--out", out).code == 0
        assert computed() == []
        assert result(out, id)["from_store"]


def test_a_crash_leaves_a_record_that_the_next_success_replaces(lazyrich, out, monkeypatch):
    lazyrich("reproduce", "lab/crash-run", "--out", out)
    monkeypatch.setitem(EXPERIMENTS, "lab/crash-run", EXPERIMENTS["lab/holds"])
    lazyrich("reproduce", "lab/crash-run", "--out", out)
    assert result(out)["status"] == "done"


def test_passes_the_data_folder_on(lazyrich, out, tmp_path, monkeypatch):
    seen = []
    looking = type(EXPERIMENTS["lab/holds"])(
        **vars(EXPERIMENTS["lab/holds"])
        | {"run": lambda config, context: seen.append(context.data_folder) or holds(None, config)}
    )
    monkeypatch.setattr(experiments, "_registry", lambda: {"lab/holds": looking})
    lazyrich("reproduce", "all", "--out", out)
    monkeypatch.setenv("LAZYRICH_DATA", str(tmp_path))
    lazyrich("reproduce", "all", "--out", out)
    assert seen == [None, tmp_path]


def test_settings_and_handlers_are_as_before(lazyrich, out):
    import signal

    import matplotlib

    before = (
        [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)],
        dict(matplotlib.rcParams),
    )
    lazyrich("reproduce", "lab/holds", "lab/crash-run", "--out", out)
    after = (
        [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)],
        dict(matplotlib.rcParams),
    )
    assert after == before
