"""Commands, their help, and exit codes: 0 fine, 1 something fails, 2 usage, 3 crash, 130 interrupted."""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from lazyrich import __version__
from lazyrich.cli._interrupt import interruptible
from lazyrich.core import LazyrichError, argument_error

USAGE, CRASHED, INTERRUPTED = 2, 3, 130

app = App(
    name="lazyrich",
    help="How neural networks learn: predictions, simulations, measures, and paper figures that pass "
    "or fail.",
    version=__version__,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)

Json = Annotated[bool, Parameter(name="--json", negative=())]
Flag = Parameter(negative=())


def _whole(name: str) -> Parameter:
    def convert(kind: Any, tokens: Sequence[Any]) -> int:
        try:
            return int(tokens[0].value)  # cyclopts would round 1.5
        except ValueError:
            raise argument_error(name, "be a whole number ≥ 1", tokens[0].value) from None

    return Parameter(converter=convert)


Seeds = Annotated[int | None, _whole("seeds")]
Workers = Annotated[int | None, _whole("workers")]


@app.command(name="list")
def list_command(*, json: Json = False) -> int:
    """Show every experiment and check: id, title, expected duration by preset.

    Args:
        json: Machine-readable output.
    """
    from lazyrich.cli._list import show_list

    return show_list(json)


@app.command
def reproduce(
    *ids: Annotated[str, Parameter(name="ID")],
    preset: Literal["quick", "paper"] = "quick",
    out: Path = Path("lazyrich-results"),
    seeds: Seeds = None,
    again: Annotated[bool, Flag] = False,
    pdf: Annotated[bool, Flag] = False,
    animate: Annotated[bool, Flag] = False,
    workers: Workers = None,
    json: Json = False,
) -> int:
    """Run experiments, judge their claims, draw their figures, write a gallery.

    A result that is already in the folder is not computed again; after an interruption the same command
    goes on where it stopped.

    Args:
        ids: Ids such as `linear-grokking/fig1`, globs such as `saddles/*`, or `all`.
        preset: `quick` for a laptop, `paper` for the paper's sizes.
        out: Folder for figures, data, records and the gallery.
        seeds: Another number of seeds than the preset's.
        again: Compute even what is already there.
        pdf: Write vector figures too (the `paper` preset always does).
        animate: Write animations too, as GIF, of experiments that have one.
        workers: Number of processes; by default one for each core, at most four.
        json: Machine-readable output on stdout.
    """
    from lazyrich.cli._reproduce import reproduce_all

    return reproduce_all(
        ids, preset, out, seeds, again, pdf or preset == "paper", animate, workers, json
    )


@app.command
def verify(
    *ids: Annotated[str, Parameter(name="ID")], workers: Workers = None, json: Json = False
) -> int:
    """Check theorems and formulas numerically, and print the table of errors and verdicts.

    Args:
        ids: Ids such as `linear-grokking/eq8`, globs such as `li2/*`, or `all` (the default).
        workers: Number of processes; by default one for each core, at most four.
        json: Machine-readable output on stdout.
    """
    from lazyrich.cli._verify import verify_all

    return verify_all(ids, workers, json)


@app.command
def cite(*ids: Annotated[str, Parameter(name="ID")], json: Json = False) -> int:
    """Print the BibTeX of what a result rests on.

    Args:
        ids: Ids of experiments or checks, or names of papers such as `linear-grokking`.
        json: Machine-readable output.
    """
    from lazyrich.cli._cite import show_citations

    return show_citations(ids, json)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _fix_threads()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without Greek letters shows question marks
    try:
        with interruptible():
            code = app(arguments, exit_on_error=False)
    except CycloptsError as error:  # already explained on stderr
        return _refuse(str(error), USAGE, arguments, explained=True)
    except LazyrichError as error:
        return _refuse(str(error), USAGE, arguments)
    except KeyboardInterrupt:
        return _refuse("interrupted", INTERRUPTED, arguments)
    except SystemExit as ending:  # Rich's, where the reader of our help went away, as `head` does
        return 0 if isinstance(ending.__context__, BrokenPipeError) else CRASHED
    return code if isinstance(code, int) else 0


def _fix_threads() -> None:
    """One thread for linear algebra, unless told otherwise: same bits everywhere, and no crowding.

    The matrices here are small; several threads mostly wait for each other. Takes effect as long as
    NumPy is not loaded yet, as it is not on the command line.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _refuse(problem: str, code: int, arguments: list[str], explained: bool = False) -> int:
    """Say why there is no answer: on stderr, and for machines on stdout."""
    from lazyrich.cli._output import print_json, remark

    if not explained:
        remark(f"lazyrich: {problem}")
    if "--json" in arguments:
        print_json({"exit_code": code, "error": problem})
    return code
