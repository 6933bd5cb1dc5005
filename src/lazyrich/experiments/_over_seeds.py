"""Work that is the same for many seeds, in pieces that survive an interruption."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lazyrich.core import Context, seed_chunks

if TYPE_CHECKING:
    import xarray


def over_seeds(
    label: str, name: str, counts: Sequence[int], config: Any,
    compute: "Callable[[int, range], xarray.Dataset]", context: Context,
) -> "list[xarray.Dataset]":  # fmt: skip
    """`compute(case, seeds)` for every case, its seeds in chunks that are kept; one dataset a case."""
    import xarray

    work = [
        (index, seeds)
        for index, count in enumerate(counts)
        for seeds in seed_chunks(count, config.seeds_per_chunk)
    ]
    parts: list[list[xarray.Dataset]] = [[] for _ in counts]
    for index, seeds in context.track(work, label):
        parts[index].append(context.keep(f"{name}-{index}-{seeds[0]}", compute, index, seeds))
    return [xarray.concat(part, "seed", data_vars="minimal") for part in parts]
