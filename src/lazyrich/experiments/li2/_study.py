"""Small studies that one experiment is composed of."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lazyrich.core import Claim, Context, seed_chunks

if TYPE_CHECKING:
    import xarray


class Study(NamedTuple):
    """A question with its runs, claims and panel.

    Attributes:
        name: a word, what pieces and variables of the study are called after.
        compute: runs for the configuration and some seeds, over a dimension `seed` and others.
        claims: what is found, from the joined runs and the configuration.
        panel: draws the runs on axes, labels included.
    """

    name: str
    compute: "Callable[[Any, range], xarray.Dataset]"
    claims: "Callable[[xarray.Dataset, Any], list[Claim]]"
    panel: "Callable[[Any, xarray.Dataset, Any], None]"


def run_studies(studies: Sequence[Study], config: Any, context: Context) -> "xarray.Dataset":
    """All studies, their seeds in kept chunks, in one dataset.

    The configuration says `num_seeds` and `seeds_per_chunk`. Every name gets that of its study in front.
    """
    import xarray

    work = [
        (study, seeds)
        for study in studies
        for seeds in seed_chunks(config.num_seeds, config.seeds_per_chunk)
    ]
    parts: dict[str, list[xarray.Dataset]] = {study.name: [] for study in studies}
    for study, seeds in context.track(work, "studies"):
        piece = context.keep(f"{study.name}-{seeds[0]}", study.compute, config, seeds)
        parts[study.name].append(piece.drop_attrs())
    whole = {name: xarray.concat(part, "seed", data_vars="minimal") for name, part in parts.items()}
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
