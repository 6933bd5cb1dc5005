"""Commands and their help."""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from lazyrich import __version__
from lazyrich.cli._exit import Exit
from lazyrich.cli._interrupt import interruptible
from lazyrich.core import LazyrichError, argument_error

app = App(
    name="lazyrich",
    help="How neural networks learn: predictions, simulations, measures, and paper figures that pass "
    "or fail.",
    version=__version__,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)

Json = Annotated[bool, Parameter(name="--json", negative=(), show_default=False)]
Flag = Parameter(negative=(), show_default=False)
Ids = Annotated[str, Parameter(name="ID")]


def _whole(name: str, advice: str) -> Parameter:
    def convert(kind: Any, tokens: Sequence[Any]) -> int:
        given = tokens[0].value
        try:
            number = int(given)  # cyclopts would round 1.5
        except ValueError:
            number = 0
        if number < 1:
            raise argument_error(name, "be a whole number ≥ 1", given, advice)
        return number

    return Parameter(converter=convert)


def _folder(kind: Any, tokens: Sequence[Any]) -> Path:
    """A folder; `~` is one's home also where the shell leaves it alone, as it does in `--out=~/here`."""
    given = tokens[0].value
    if not given.strip():  # a variable of the shell that is not set, rather than this folder
        raise argument_error("out", "name a folder", given, "Use . for this one.")
    try:
        return Path(given).expanduser()
    except RuntimeError:  # nobody is called so
        return Path(given)


Seeds = Annotated[int | None, _whole("seeds", "Use e.g. 8.")]
Workers = Annotated[int | None, _whole("workers", "Use e.g. 2, or 1 for one after the other.")]
Folder = Annotated[Path, Parameter(converter=_folder)]


@app.command(name="list", usage="Usage: lazyrich list [ID…] [OPTIONS]")
def list_command(*ids: Ids, json: Json = False) -> int:
    """Show every experiment, check and closed form: id, title, expected duration by preset.

    Args:
        ids: Show these only: ids, globs such as `saddles/*` or `theory.*`.
        json: Machine-readable output.
    """
    from lazyrich.cli._list import show_list

    return show_list(ids, json)


@app.command(usage="Usage: lazyrich reproduce ID… [OPTIONS]")
def reproduce(
    *ids: Ids,
    preset: Literal["quick", "paper"] = "quick",
    out: Folder = Path("lazyrich-results"),
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


@app.command(usage="Usage: lazyrich verify [ID…] [OPTIONS]")
def verify(
    *ids: Ids,
    accuracy: Annotated[bool, Flag] = False,
    markdown: Annotated[bool, Flag] = False,
    workers: Workers = None,
    json: Json = False,
) -> int:
    """Check theorems and formulas numerically, and print the table of errors and verdicts.

    With `--accuracy`: compare every closed form of the library with mpmath on a fixed grid, and print the
    largest relative error of each and where it occurs. The aim is 1e-12; what is above it without an
    explanation fails.

    Args:
        ids: Ids such as `linear-grokking/eq8`, globs such as `li2/*`, or `all` (the default). With
            `--accuracy`, public names such as `theory.MarchenkoPastur.laplace` or `quantities.*`.
        accuracy: Report the accuracy of closed forms instead.
        markdown: With `--accuracy`: print the table in Markdown, as the documentation shows it.
        workers: Number of processes; by default one for each core, at most four.
        json: Machine-readable output on stdout.
    """
    from lazyrich.cli._verify import verify_all

    if markdown and (json or not accuracy):
        raise argument_error("markdown", "come with --accuracy and without --json", markdown)
    return verify_all(ids, workers, json, accuracy=accuracy, markdown=markdown)


@app.command(usage="Usage: lazyrich cite ID… [OPTIONS]")
def cite(*ids: Ids, json: Json = False) -> int:
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
        return _refuse(str(error), Exit.USAGE, arguments, explained=True)
    except LazyrichError as error:
        return _refuse(str(error), Exit.USAGE, arguments)
    except KeyboardInterrupt:
        return _refuse("interrupted", Exit.INTERRUPTED, arguments)
    except SystemExit as ending:  # Rich's, where the reader of our help went away, as `head` does
        return 0 if isinstance(ending.__context__, BrokenPipeError) else Exit.CRASHED
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
