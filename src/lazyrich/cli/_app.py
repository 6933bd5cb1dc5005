"""Commands, their help, and exit codes: 0 fine, 1 something fails, 2 usage, 3 crash, 130 interrupted."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

from lazyrich import __version__
from lazyrich.core import LazyrichError

USAGE, INTERRUPTED = 2, 130

app = App(
    name="lazyrich",
    help="How neural networks learn: predictions, simulations, measures, and paper figures that pass "
    "or fail.",
    version=__version__,
    result_action="return_value",
)

Json = Annotated[bool, Parameter(name="--json", negative=())]
Flag = Parameter(negative=())


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
    seeds: int | None = None,
    again: Annotated[bool, Flag] = False,
    pdf: Annotated[bool, Flag] = False,
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
        json: Machine-readable output on stdout.
    """
    from lazyrich.cli._reproduce import reproduce_all

    return reproduce_all(ids, preset, out, seeds, again, pdf or preset == "paper", json)


@app.command
def verify(*ids: Annotated[str, Parameter(name="ID")], json: Json = False) -> int:
    """Check theorems and formulas numerically, and print the table of errors and verdicts.

    Args:
        ids: Ids such as `linear-grokking/eq8`, globs such as `li2/*`, or `all` (the default).
        json: Machine-readable output on stdout.
    """
    from lazyrich.cli._verify import verify_all

    return verify_all(ids, json)


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
    try:
        code = app(arguments, exit_on_error=False)
        sys.stdout.flush()
    except CycloptsError:  # already explained on stderr
        return USAGE
    except LazyrichError as error:
        print(f"lazyrich: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("lazyrich: interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0
