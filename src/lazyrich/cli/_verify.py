"""`lazyrich verify`."""

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from lazyrich import checks, report
from lazyrich.cli._interrupt import interruptible
from lazyrich.cli._output import answers, print_json, remark, remarks
from lazyrich.cli._progress import JobProgress
from lazyrich.core import Check, select

FAILS, CRASHED, INTERRUPTED = 1, 3, 130


def verify_all(ids: Sequence[str], json: bool) -> int:
    """Run the checks one after the other; what one does cannot stop the next."""
    chosen = [checks.get(id) for id in select(ids, checks.ids(), "check")]
    records: list[dict[str, Any]] = []
    interrupted = False
    try:
        with interruptible() as asked_to_stop:
            _run_each(chosen, records, asked_to_stop)
    except KeyboardInterrupt:
        interrupted = True
        remark(f"Interrupted after {len(records)} of {len(chosen)} checks.")
    code = INTERRUPTED if interrupted else _exit_code(records)
    if json:
        print_json({"exit_code": code, "checks": records})
    elif records:
        with answers() as console:
            console.print(report.checks_table(records))
            console.print(report.summary(records), markup=False, highlight=False)
    return code


def _run_each(
    chosen: list[Check], records: list[dict[str, Any]], asked_to_stop: Callable[[], bool]
) -> None:
    bar = JobProgress(remarks(), [c.id for c in chosen], [c.seconds for c in chosen], "check")
    with bar.running():
        for index, check in enumerate(chosen):
            bar.start(index)
            try:
                records.append(check.record(check.run()))
            except (Exception, SystemExit) as error:
                if not asked_to_stop():
                    records.append(_crash(check, error))
                    remark(traceback.format_exc())
            if asked_to_stop():
                raise KeyboardInterrupt
            bar.finish(index)


def _crash(check: Check, error: BaseException) -> dict[str, Any]:
    return {
        "id": check.id, "title": check.title, "against": check.against, "status": "failed",
        "verdict": "crashed", "error_message": f"{type(error).__name__}: {error}",
    }  # fmt: skip


def _exit_code(records: list[dict[str, Any]]) -> int:
    verdicts = {record["verdict"] for record in records}
    return CRASHED if "crashed" in verdicts else FAILS if "fails" in verdicts else 0
