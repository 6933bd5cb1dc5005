"""`lazyrich list`."""

from rich.table import Table

from lazyrich import checks, experiments
from lazyrich.cli._output import answers, duration, print_json


def show_list(json: bool) -> int:
    """Print all experiments and checks."""
    found = [experiments.get(id) for id in experiments.ids()]
    tests = [checks.get(id) for id in checks.ids()]
    if json:
        print_json(
            {
                "experiments": [
                    {"id": e.id, "title": e.title, "seconds": dict(e.seconds)} for e in found
                ],
                "checks": [{"id": c.id, "title": c.title, "seconds": c.seconds} for c in tests],
            }
        )
        return 0
    to_reproduce = Table("experiment", "title", "quick", "paper", title="lazyrich reproduce ID")
    for e in found:
        times = [duration(e.seconds[preset]) for preset in ("quick", "paper")]
        to_reproduce.add_row(e.id, e.title, *times)
    to_verify = Table("check", "title", "duration", title="lazyrich verify ID")
    for c in tests:
        to_verify.add_row(c.id, c.title, duration(c.seconds))
    with answers() as console:
        console.print(to_reproduce)
        console.print(to_verify)
    return 0
