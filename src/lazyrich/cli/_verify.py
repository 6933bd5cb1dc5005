"""`lazyrich verify`: checks, or the accuracy of closed forms."""

import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lazyrich import checks, report, runner
from lazyrich.checks import accuracy as accuracies
from lazyrich.cli._choice import chosen_ids
from lazyrich.cli._exit import Exit
from lazyrich.cli._interrupt import interruptible
from lazyrich.cli._jobs import Report, each, num_workers
from lazyrich.cli._output import answers, print_json, remark, remarks
from lazyrich.cli._progress import JobProgress
from lazyrich.core import Accuracy, Check


class _Kind(NamedTuple):
    """What is verified: its registry, its name in messages and in JSON, and how it is shown."""

    registry: Any
    noun: str
    key: str
    table: Callable[[list[dict[str, Any]]], Any]
    summary: Callable[[list[dict[str, Any]]], str]


def _kind(accuracy: bool) -> _Kind:
    if accuracy:
        return _Kind(
            accuracies, "closed form", "accuracy", report.accuracy_table, report.accuracy_summary
        )
    return _Kind(checks, "check", "checks", report.checks_table, report.summary)


def verify_all(
    ids: Sequence[str],
    workers: int | None,
    json: bool,
    *,
    accuracy: bool = False,
    markdown: bool = False,
) -> int:
    """Run the checks, or compare the closed forms; what one does cannot stop the next."""
    kind = _kind(accuracy)
    chosen = [kind.registry.get(id) for id in chosen_ids(ids, kind.noun)]
    number = num_workers(workers, [item.seconds for item in chosen])
    found: dict[int, dict[str, Any]] = {}
    interrupted = False
    try:
        with interruptible() as asked_to_stop:
            _run_each(chosen, kind.noun, number, found, asked_to_stop)
    except KeyboardInterrupt:
        interrupted = True
        remark(f"Interrupted after {len(found)} of {len(chosen)} {kind.noun}s.")
    records = [found[index] for index in sorted(found)]
    code = Exit.INTERRUPTED if interrupted else _exit_code(records)
    if json:
        print_json({"exit_code": code, kind.key: records})
    elif records:
        _show(kind, records, markdown)
    return code


def _show(kind: _Kind, records: list[dict[str, Any]], markdown: bool) -> None:
    with answers() as console:
        if markdown:
            print(report.accuracy_markdown(records))
            return
        console.print(kind.table(records))
        console.print(kind.summary(records), markup=False, highlight=False)


def _run_each(
    chosen: Sequence[Check | Accuracy],
    noun: str,
    number: int,
    found: dict[int, dict[str, Any]],
    asked_to_stop: Callable[[], bool],
) -> None:
    expected = [item.seconds for item in chosen]
    bar = JobProgress(remarks(), [item.id for item in chosen], expected, noun)
    attempt = _attempt_accuracy if noun == "closed form" else _attempt_check
    with bar.running():
        jobs = [item.id for item in chosen]
        for index, ended in each(attempt, jobs, expected, number, bar, asked_to_stop):
            if isinstance(ended, runner.WorkerError):
                ended = _crash(chosen[index], ended), ""
            found[index], trace = ended
            if trace:
                remark(trace)


def _attempt_check(
    id: str, report: Report, asked_to_stop: Callable[[], bool]
) -> tuple[dict[str, Any], str]:
    check = checks.get(id)
    return _attempt(check, check.run, asked_to_stop)


def _attempt_accuracy(
    id: str, report: Report, asked_to_stop: Callable[[], bool]
) -> tuple[dict[str, Any], str]:
    form = accuracies.get(id)
    return _attempt(form, lambda: form.run(report), asked_to_stop)


def _attempt(
    item: Any, run: Callable[[], Any], asked_to_stop: Callable[[], bool]
) -> tuple[dict[str, Any], str]:
    """The record of a check or closed form, and what to tell about its crash."""
    try:
        return item.record(run()), ""
    except (Exception, SystemExit) as error:
        if asked_to_stop():
            raise KeyboardInterrupt from error
        return _crash(item, error), traceback.format_exc()


def _crash(item: Check | Accuracy, error: BaseException) -> dict[str, Any]:
    return {
        "id": item.id, "title": item.title, "against": item.against, "status": "failed",
        "verdict": "crashed", "error_message": f"{type(error).__name__}: {error}",
    }  # fmt: skip


def _exit_code(records: list[dict[str, Any]]) -> Exit:
    verdicts = {record["verdict"] for record in records}
    if "crashed" in verdicts:
        return Exit.CRASHED
    return Exit.FAILS if "fails" in verdicts else Exit.FINE
