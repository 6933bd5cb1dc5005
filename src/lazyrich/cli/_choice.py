"""Which ids a command was given, and which other command knows one that it does not."""

from collections.abc import Sequence

from lazyrich import checks, experiments
from lazyrich.checks import accuracy
from lazyrich.core import UnknownIdError, select

KINDS = {
    "experiment": (experiments, "lazyrich reproduce"),
    "check": (checks, "lazyrich verify"),
    "closed form": (accuracy, "lazyrich verify --accuracy"),
}
"""What ids stand for: their registry, and the command that takes them."""


def chosen_ids(patterns: Sequence[str], kind: str) -> list[str]:
    """The ids of this kind that the patterns name, as `core.select` has it."""
    own, _ = KINDS[kind]
    try:
        return select(patterns, own.ids(), kind)
    except UnknownIdError as error:
        raise _with_command(set(patterns) - set(own.ids()), kind) or error from None


def _with_command(unknown: set[str], kind: str) -> UnknownIdError | None:
    for other, (registry, command) in KINDS.items():
        for id in registry.ids():
            if id in unknown:
                return UnknownIdError(
                    f"No {kind} is called {id!r}. For the {other} use `{command} {id}`."
                )
            owner = id.rpartition(".")[0]
            if owner in unknown and "." in owner:  # a class: of its methods
                return UnknownIdError(
                    f"No {kind} is called {owner!r}. For the {other}s use `{command} '{owner}.*'`."
                )
    return None
