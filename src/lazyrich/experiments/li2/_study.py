"""Small studies that one experiment is composed of."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lazyrich.core import Claim, Context
from lazyrich.experiments._over_seeds import over_parts

if TYPE_CHECKING:
    import xarray


class Study(NamedTuple):
    """A question with its runs, claims and panel.

    Attributes:
        name: a word, what pieces and variables of the study are called after.
        compute: runs for the configuration and some seeds, over a dimension `seed` and others; their
            checkpoints and progress go into the context of the piece.
        claims: what is found, from the joined runs and the configuration.
        panel: draws the runs on axes, labels included.
    """

    name: str
    compute: "Callable[[Any, range, Context], xarray.Dataset]"
    claims: "Callable[[xarray.Dataset, Any], list[Claim]]"
    panel: "Callable[[Any, xarray.Dataset, Any], None]"


def run_studies(studies: Sequence[Study], config: Any, context: Context) -> "xarray.Dataset":
    """All studies, their seeds in kept chunks, in one dataset; every name has that of its study in front."""
    import xarray

    parts = {study.name: study.compute for study in studies}
    whole = over_parts(parts, config, context, "studies", resume=True)
    return xarray.merge([_renamed(found, name) for name, found in whole.items()])


def part_of(result: "xarray.Dataset", study: Study) -> "xarray.Dataset":
    """What a study computed, under its own names."""
    start = f"{study.name}."
    own = result[[name for name in result.data_vars if str(name).startswith(start)]]
    own = own.drop_vars([name for name in own.coords if not str(name).startswith(start)])
    names = {str(name) for name in (*own.variables, *own.dims)}
    return own.rename({name: name.removeprefix(start) for name in names})


def _renamed(found: "xarray.Dataset", name: str) -> "xarray.Dataset":
    return found.rename({old: f"{name}.{old}" for old in {*found.variables, *found.dims}})
