"""`lazyrich verify`."""

import traceback
from collections.abc import Sequence
from typing import Any

from lazyrich import checks, report
from lazyrich.cli._interrupt import terminate_like_interrupt
from lazyrich.cli._output import answers, print_json, remarks
from lazyrich.cli._progress import JobProgress
from lazyrich.core import Check, select

FAILS, CRASHED, INTERRUPTED = 1, 3, 130


def verify_all(ids: Sequence[str], json: bool) -> int:
    """Run the checks one after the other; what one does cannot stop the next."""
    chosen = [checks.get(id) for id in select(ids, checks.ids(), "check")]
    records: list[dict[str, Any]] = []
    interrupted = False
    try:
        with terminate_like_interrupt():
            _run_each(chosen, records)
    except KeyboardInterrupt:
        interrupted = True
        remarks().print(f"Interrupted after {len(records)} of {len(chosen)} checks.")
    code = INTERRUPTED if interrupted else _exit_code(records)
    if json:
        print_json({"exit_code": code, "checks": records})
    elif records:
        answers().print(report.checks_table(records))
        answers().print(report.summary(records), markup=False, highlight=False)
    return code


def _run_each(chosen: list[Check], records: list[dict[str, Any]]) -> None:
    console = remarks()
    bar = JobProgress(console, [c.id for c in chosen], [c.seconds for c in chosen], "check")
    with bar.running():
        for index, check in enumerate(chosen):
            bar.start(index)
            try:
                records.append(check.record(check.run()))
            except Exception as error:
                records.append(_crash(check, error))
                console.print(traceback.format_exc(), markup=False, highlight=False)
            bar.finish(index)


def _crash(check: Check, error: Exception) -> dict[str, Any]:
    return {
        "id": check.id, "title": check.title, "against": check.against, "status": "failed",
        "verdict": "crashed", "error_message": f"{type(error).__name__}: {error}",
    }  # fmt: skip


def _exit_code(records: list[dict[str, Any]]) -> int:
    verdicts = {record["verdict"] for record in records}
    return CRASHED if "crashed" in verdicts else FAILS if "fails" in verdicts else 0
