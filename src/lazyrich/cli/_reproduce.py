"""`lazyrich reproduce`."""

import os
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lazyrich import experiments, report, runner
from lazyrich.cli._choice import chosen_ids
from lazyrich.cli._exit import Exit
from lazyrich.cli._gallery import write_gallery
from lazyrich.cli._interrupt import interruptible
from lazyrich.cli._jobs import Report, each, num_workers
from lazyrich.cli._output import answers, print_json, remark, remarks
from lazyrich.cli._progress import JobProgress
from lazyrich.core import Context, DataError, Experiment, StoreError, UnknownIdError


class Job(NamedTuple):
    """One experiment to reproduce; what a process of its own needs to know."""

    id: str
    config: Any
    folder: runner.Folder
    options: dict[str, Any]
    data_folder: Path | None


class Ended(NamedTuple):
    """A record, what it means for the exit code, and what to tell where it failed."""

    record: dict[str, Any]
    code: Exit
    remark: str = ""


def reproduce_all(
    ids: Sequence[str],
    preset: str,
    out: Path,
    seeds: int | None,
    again: bool,
    pdf: bool,
    animate: bool,
    workers: int | None,
    json: bool,
) -> int:
    """Run the experiments; what one does cannot stop the next."""
    chosen = _choose(ids)
    configs = [experiment.config(preset, seeds) for experiment in chosen]
    data_folder = _data_folder(chosen)
    folder = runner.Folder(out, warn=_warn)
    try:
        folder.prepare()
    except StoreError as error:
        raise StoreError(f"`--out` must be a folder that can be written to. {error}") from error
    ended: dict[int, Ended] = {}
    code, problem, page = Exit.FINE, "", None
    options = {"preset": preset, "again": again, "pdf": pdf, "animate": animate}
    jobs = [
        Job(experiment.id, config, folder, options, data_folder)
        for experiment, config in zip(chosen, configs, strict=True)
    ]
    try:
        with interruptible() as asked_to_stop:
            _run_each(chosen, jobs, workers, ended, asked_to_stop)
            code = max((one.code for one in ended.values()), default=Exit.FINE)
            page = write_gallery(folder)
    except KeyboardInterrupt:
        code, problem = Exit.INTERRUPTED, "interrupted"
    except StoreError as error:  # the folder is full or gone: the others would fare no better
        code, problem = Exit.USAGE, str(error)
    if page is None:  # ended before its time; what is finished is shown nevertheless
        with suppress(StoreError):
            page = write_gallery(folder)
    records = [ended[index].record for index in sorted(ended)]
    _tell(records, page, json, code, problem, len(chosen))
    return code


def _warn(text: str) -> None:
    remark(f"warning: {text}")


def _choose(ids: Sequence[str]) -> list[Experiment]:
    if not ids:
        raise UnknownIdError(
            "`reproduce` must be given at least one id, got none. Try `lazyrich reproduce all`, or "
            "`lazyrich list` to see what there is."
        )
    return [experiments.get(id) for id in chosen_ids(ids, "experiment")]


def _run_each(
    chosen: list[Experiment], jobs: list[Job], workers: int | None, ended: dict[int, Ended],
    asked_to_stop: Callable[[], bool],
) -> None:  # fmt: skip
    expected = [
        _expected_seconds(experiment, job) for experiment, job in zip(chosen, jobs, strict=True)
    ]
    number = num_workers(workers, expected)
    bar = JobProgress(remarks(), [job.id for job in jobs], expected, "experiment")
    with bar.running():
        for index, result in each(_attempt, jobs, expected, number, bar, asked_to_stop):
            if isinstance(result, StoreError):
                raise result
            if isinstance(result, runner.WorkerError):
                result = Ended(_failure(jobs[index], result), Exit.CRASHED)
            ended[index] = result
            if result.remark:
                remark(result.remark)


def _expected_seconds(experiment: Experiment, job: Job) -> float:
    key = runner.result_key(experiment, job.config, job.data_folder)
    there = not job.options["again"] and key in job.folder.results
    return 1.0 if there else experiment.seconds[job.options["preset"]]


def _attempt(job: Job, report: Report, asked_to_stop: Callable[[], bool]) -> Any:
    """The record of an experiment, of its crash if it crashed; or what is wrong with the folder."""
    experiment = experiments.get(job.id)
    context = Context(report=report, should_stop=asked_to_stop, data_folder=job.data_folder)
    try:
        record = runner.reproduce(
            experiment, job.config, job.folder, context=context, **job.options
        )
        fails = any(claim["verdict"] == "fails" for claim in record["claims"])
        return Ended(record, Exit.FAILS if fails else Exit.FINE)
    except StoreError as error:
        return error
    except (Exception, SystemExit) as error:
        if asked_to_stop():  # whatever the interrupt was turned into
            raise KeyboardInterrupt from error
        try:
            record = _failure(job, error)
        except StoreError as full:
            return full
        if isinstance(error, DataError):  # the user's files, not our code
            return Ended(record, Exit.USAGE, f"lazyrich: {job.id}: {error}")
        return Ended(record, Exit.CRASHED, traceback.format_exc())


def _failure(job: Job, error: BaseException) -> dict[str, Any]:
    experiment, preset = experiments.get(job.id), job.options["preset"]
    return runner.failure(experiment, job.config, job.folder, preset, error)


def _data_folder(chosen: list[Experiment]) -> Path | None:
    place = os.environ.get("LAZYRICH_DATA")
    if not place:
        return None
    if any(one.data_fingerprint for one in chosen) and not os.path.isdir(place):
        raise DataError(
            f"`LAZYRICH_DATA` must name a folder, got {place!r}. Unset it to use the small digits set that "
            "comes with the package."
        )
    return Path(place)


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
            "the others. The same command goes on from there."
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
