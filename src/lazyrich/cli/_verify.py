"""`lazyrich verify`."""

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from lazyrich import checks, report, runner
from lazyrich.cli._interrupt import interruptible
from lazyrich.cli._jobs import Report, each, num_workers
from lazyrich.cli._output import answers, print_json, remark, remarks
from lazyrich.cli._progress import JobProgress
from lazyrich.core import Check, select

FAILS, CRASHED, INTERRUPTED = 1, 3, 130


def verify_all(ids: Sequence[str], workers: int | None, json: bool) -> int:
    """Run the checks; what one does cannot stop the next."""
    chosen = [checks.get(id) for id in select(ids, checks.ids(), "check")]
    number = num_workers(workers, [check.seconds for check in chosen])
    found: dict[int, dict[str, Any]] = {}
    interrupted = False
    try:
        with interruptible() as asked_to_stop:
            _run_each(chosen, number, found, asked_to_stop)
    except KeyboardInterrupt:
        interrupted = True
        remark(f"Interrupted after {len(found)} of {len(chosen)} checks.")
    records = [found[index] for index in sorted(found)]
    code = INTERRUPTED if interrupted else _exit_code(records)
    if json:
        print_json({"exit_code": code, "checks": records})
    elif records:
        with answers() as console:
            console.print(report.checks_table(records))
            console.print(report.summary(records), markup=False, highlight=False)
    return code


def _run_each(
    chosen: list[Check],
    number: int,
    found: dict[int, dict[str, Any]],
    asked_to_stop: Callable[[], bool],
) -> None:
    expected = [check.seconds for check in chosen]
    bar = JobProgress(remarks(), [check.id for check in chosen], expected, "check")
    with bar.running():
        jobs = [check.id for check in chosen]
        for index, ended in each(_attempt, jobs, expected, number, bar, asked_to_stop):
            if isinstance(ended, runner.WorkerError):
                ended = _crash(chosen[index], ended), ""
            found[index], trace = ended
            if trace:
                remark(trace)


def _attempt(
    id: str, report: Report, asked_to_stop: Callable[[], bool]
) -> tuple[dict[str, Any], str]:
    """The record of a check, and what to tell about its crash."""
    check = checks.get(id)
    try:
        return check.record(check.run()), ""
    except (Exception, SystemExit) as error:
        if asked_to_stop():
            raise KeyboardInterrupt from error
        return _crash(check, error), traceback.format_exc()


def _crash(check: Check, error: BaseException) -> dict[str, Any]:
    return {
        "id": check.id, "title": check.title, "against": check.against, "status": "failed",
        "verdict": "crashed", "error_message": f"{type(error).__name__}: {error}",
    }  # fmt: skip


def _exit_code(records: list[dict[str, Any]]) -> int:
    verdicts = {record["verdict"] for record in records}
    return CRASHED if "crashed" in verdicts else FAILS if "fails" in verdicts else 0
