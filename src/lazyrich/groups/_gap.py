"""Groups from GAP's library of small groups."""

import functools
import shutil
import subprocess

import numpy as np

from lazyrich.core import ArgumentError, DataError, argument_error, count
from lazyrich.groups._families import require_moderate
from lazyrich.groups._group import Group

SECONDS = 60
"""GAP starts in one or two seconds; a table of order 1000 takes it a few more."""

_INSTALL = (
    "Install GAP with its library of small groups, on Debian: "
    "apt install gap-core gap-libs gap-smallgrp."
)


def has_gap() -> bool:
    """Whether the program `gap` is on the path, so that `small_group` can work."""
    return shutil.which("gap") is not None


def run_gap(commands: str) -> str:
    """What GAP prints on some commands, without line breaks of its own."""
    program = shutil.which("gap")
    if program is None:
        raise DataError(f"The program `gap` is not on the path. {_INSTALL}")
    script = (
        'if LoadPackage("smallgrp", false) <> true then Print("no library\\n"); QUIT_GAP(3); fi;\n'
        'SetPrintFormattingStatus("*stdout*", false);\n'
        + commands
        + '\nPrint("done\\n"); QUIT_GAP(0);\n'
    )
    options = ["-A", "-q", "-n", "--quitonbreak"]
    try:
        done = subprocess.run(
            [program, *options],
            input=script,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(
            f"GAP gave no answer within {SECONDS} s. Choose a smaller group."
        ) from error
    if done.returncode == 3:
        raise DataError(f"GAP does not find its library of small groups. {_INSTALL}")
    if done.returncode or not done.stdout.endswith("done\n"):
        said = " ".join((done.stderr + done.stdout[-200:]).split())[:300]
        raise DataError(f"GAP stopped with code {done.returncode}: {said}. Try `gap` by hand.")
    return done.stdout.removesuffix("done\n")


def small_groups(order: int) -> int:
    """How many groups of an order there are up to isomorphism, by GAP's library.

    Args:
        order: the order.
    """
    order = count("order", order, advice="Pass a whole number such as 8.")
    answer = _ask(
        f'if NumberSmallGroupsAvailable({order}) then Print(NumberSmallGroups({order}), "\\n"); fi;'
    )
    if not answer:
        raise _unavailable(order)
    return int(answer[0])


def small_group(order: int, index: int) -> Group:
    """A group from GAP's library of small groups, `SmallGroup(order, index)` there.

    Elements are numbered as GAP sorts them, the identity first, and table[a, b] is GAP's a*b. (GAP multiplies
    permutations from left to right, so as functions on points its a*b is first a, then b; as a group
    the table is the same.)

    Args:
        order: the order.
        index: which of the groups of this order, from 1 to `small_groups(order)`.

    Returns:
        The group. Needs GAP; without it the error says what to install.
    """
    order = count("order", order, advice="Pass a whole number such as 8.")
    index = count("index", index, advice="GAP counts from 1.")
    require_moderate("order", order)
    answer = _ask(
        f'if SmallGroupsAvailable({order}) then Print(NumberSmallGroups({order}), "\\n");\n'
        f"if {index} <= NumberSmallGroups({order}) then\n"
        f"elements := AsSSortedList(SmallGroup({order}, {index}));\n"
        'for row in MultiplicationTable(elements) do Print(row, "\\n"); od; fi; fi;'
    )
    if not answer:
        raise _unavailable(order)
    if index > int(answer[0]):
        raise ArgumentError(
            f"`index` must be ≤ {answer[0]}, the number of groups of order {order}, got {index}. "
            "Choose one of them."
        )
    rows = [line.strip("[] ").split(",") for line in answer[1:]]
    return Group(np.array(rows, dtype=np.int64) - 1, f"SmallGroup({order}, {index})")


@functools.lru_cache(maxsize=64)
def _ask(commands: str) -> tuple[str, ...]:
    """The lines that GAP answers; asking again costs nothing."""
    return tuple(run_gap(commands).split("\n")[:-1])


def _unavailable(order: int) -> ArgumentError:
    advice = "Choose another order, e.g. at most 2000 and not 1024."
    return argument_error("order", "be an order that GAP's library holds", order, advice)
