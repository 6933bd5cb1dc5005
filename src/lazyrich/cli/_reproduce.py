"""`lazyrich reproduce`."""

import os
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lazyrich import experiments, report, runner, store
from lazyrich.cli._interrupt import terminate_like_interrupt
from lazyrich.cli._output import answers, print_json, remarks
from lazyrich.cli._progress import JobProgress
from lazyrich.core import Context, Experiment, StoreError, UnknownIdError, select

FAILS, CRASHED, INTERRUPTED = 1, 3, 130


def reproduce_all(
    ids: Sequence[str],
    preset: str,
    out: Path,
    seeds: int | None,
    again: bool,
    pdf: bool,
    json: bool,
) -> int:
    """Run the experiments one after the other; what one does cannot stop the next."""
    if not ids:
        raise UnknownIdError(
            "`reproduce` must be given at least one id, got none. Try `lazyrich reproduce all`, or "
            "`lazyrich list` to see what there is."
        )
    chosen = [experiments.get(id) for id in select(ids, experiments.ids(), "experiment")]
    configs = [experiment.config(preset, seeds) for experiment in chosen]
    console = remarks()
    folder = runner.Folder(out, warn=lambda text: console.print(f"warning: {text}", markup=False))
    folder.prepare()
    records, interrupted = [], False
    try:
        with terminate_like_interrupt():
            _run_each(chosen, configs, folder, preset, again, pdf, records, console)
    except KeyboardInterrupt:
        interrupted = True
    page = _write_gallery(folder)
    code = INTERRUPTED if interrupted else _exit_code(records)
    _tell(records, page, json, code, len(chosen))
    return code


def _run_each(
    chosen: list[Experiment], configs: list[Any], folder: runner.Folder, preset: str, again: bool,
    pdf: bool, records: list[dict[str, Any]], console: Any,
) -> None:  # fmt: skip
    expected = [
        1.0 if not again and runner.result_key(e, c) in folder.results else e.seconds[preset]
        for e, c in zip(chosen, configs, strict=True)
    ]
    bar = JobProgress(console, [e.id for e in chosen], expected, "experiment")
    with bar.running():
        for index, (experiment, config) in enumerate(zip(chosen, configs, strict=True)):
            bar.start(index)
            context = Context(report=bar.report, data_folder=_data_folder())
            try:
                record = runner.reproduce(
                    experiment, config, folder, preset=preset, context=context, again=again, pdf=pdf
                )
            except StoreError:  # the folder is full or gone: the others would fare no better
                raise
            except Exception as error:
                record = runner.failure(experiment, config, folder, preset, error)
                console.print(traceback.format_exc(), markup=False, highlight=False)
            records.append(record)
            bar.finish(index)


def _data_folder() -> Path | None:
    place = os.environ.get("LAZYRICH_DATA")
    return Path(place) if place else None


def _write_gallery(folder: runner.Folder) -> Path:
    order = {id: index for index, id in enumerate(experiments.ids())}
    records = sorted(folder.records(), key=lambda r: (order.get(r["id"], len(order)), r["preset"]))
    page = folder.path / "index.html"
    store.write_atomically(page, report.gallery(records, folder.path).encode())
    return page


def _exit_code(records: list[dict[str, Any]]) -> int:
    if any(record["status"] == "failed" for record in records):
        return CRASHED
    verdicts = {claim["verdict"] for record in records for claim in record["claims"]}
    return FAILS if "fails" in verdicts else 0


def _tell(records: list[dict[str, Any]], page: Path, json: bool, code: int, asked: int) -> None:
    if code == INTERRUPTED:
        remarks().print(
            f"Interrupted: {len(records)} of {asked} experiments are finished and kept. "
            "The same command goes on from there."
        )
    if json:
        print_json({"exit_code": code, "gallery": str(page), "experiments": records})
        return
    console = answers()
    if records:
        console.print(report.claims_table(records))
        console.print(report.summary(records), markup=False, highlight=False)
    console.print(f"Gallery: {page.resolve()}", markup=False, highlight=False, soft_wrap=True)
