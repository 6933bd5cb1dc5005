"""`lazyrich reproduce`."""

import os
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lazyrich import experiments, report, runner
from lazyrich.cli._gallery import write_gallery
from lazyrich.cli._interrupt import interruptible
from lazyrich.cli._output import answers, print_json, remark, remarks
from lazyrich.cli._progress import JobProgress
from lazyrich.core import Context, Experiment, StoreError, UnknownIdError, select

FAILS, USAGE, CRASHED, INTERRUPTED = 1, 2, 3, 130


def reproduce_all(
    ids: Sequence[str],
    preset: str,
    out: Path,
    seeds: int | None,
    again: bool,
    pdf: bool,
    animate: bool,
    json: bool,
) -> int:
    """Run the experiments one after the other; what one does cannot stop the next."""
    chosen = _choose(ids)
    configs = [experiment.config(preset, seeds) for experiment in chosen]
    folder = runner.Folder(out, warn=lambda text: remark(f"warning: {text}"))
    folder.prepare()
    records: list[dict[str, Any]] = []
    code, problem, page = 0, "", None
    try:
        with interruptible() as asked_to_stop:
            options = {"preset": preset, "again": again, "pdf": pdf, "animate": animate}
            _run_each(chosen, configs, folder, records, options, asked_to_stop)
            code, page = _exit_code(records), write_gallery(folder)
    except KeyboardInterrupt:
        code, problem = INTERRUPTED, "interrupted"
    except StoreError as error:  # the folder is full or gone: the others would fare no better
        code, problem = USAGE, str(error)
    if page is None:  # ended before its time; what is finished is shown nevertheless
        with suppress(StoreError):
            page = write_gallery(folder)
    _tell(records, page, json, code, problem, len(chosen))
    return code


def _choose(ids: Sequence[str]) -> list[Experiment]:
    if not ids:
        raise UnknownIdError(
            "`reproduce` must be given at least one id, got none. Try `lazyrich reproduce all`, or "
            "`lazyrich list` to see what there is."
        )
    return [experiments.get(id) for id in select(ids, experiments.ids(), "experiment")]


def _run_each(
    chosen: list[Experiment], configs: list[Any], folder: runner.Folder,
    records: list[dict[str, Any]], options: dict[str, Any], asked_to_stop: Callable[[], bool],
) -> None:  # fmt: skip
    expected = [
        1.0 if not options["again"] and runner.result_key(e, c, _data_folder()) in folder.results
        else e.seconds[options["preset"]]
        for e, c in zip(chosen, configs, strict=True)
    ]  # fmt: skip
    bar = JobProgress(remarks(), [e.id for e in chosen], expected, "experiment")
    context = Context(report=bar.report, should_stop=asked_to_stop, data_folder=_data_folder())
    with bar.running():
        for index, (experiment, config) in enumerate(zip(chosen, configs, strict=True)):
            bar.start(index)
            try:
                record = runner.reproduce(experiment, config, folder, context=context, **options)
            except StoreError:
                raise
            except (Exception, SystemExit) as error:
                if asked_to_stop():  # whatever the interrupt was turned into
                    raise KeyboardInterrupt from error
                record = runner.failure(experiment, config, folder, options["preset"], error)
                remark(traceback.format_exc())
            records.append(record)
            bar.finish(index)
            if asked_to_stop():
                raise KeyboardInterrupt


def _data_folder() -> Path | None:
    place = os.environ.get("LAZYRICH_DATA")
    return Path(place) if place else None


def _exit_code(records: list[dict[str, Any]]) -> int:
    if any(record["status"] == "failed" for record in records):
        return CRASHED
    verdicts = {claim["verdict"] for record in records for claim in record["claims"]}
    return FAILS if "fails" in verdicts else 0


def _tell(
    records: list[dict[str, Any]],
    page: Path | None,
    json: bool,
    code: int,
    problem: str,
    asked: int,
) -> None:
    if problem:
        remark(f"lazyrich: {problem}")
        remark(
            f"{len(records)} of {asked} experiments are finished and kept, and so are finished pieces of "
            "the next. The same command goes on from there."
        )
    if json:
        gallery = None if page is None else str(page)
        print_json(
            {"exit_code": code, "error": problem, "gallery": gallery, "experiments": records}
        )
        return
    with answers() as console:
        if records:
            console.print(report.claims_table(records))
            console.print(report.summary(records), markup=False, highlight=False)
        if page is not None:
            console.print(
                f"Gallery: {page.resolve()}", markup=False, highlight=False, soft_wrap=True
            )
