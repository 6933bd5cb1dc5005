"""Work that is the same for many seeds, in pieces that survive an interruption.

The configuration says `num_seeds` and `seeds_per_chunk`.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lazyrich.core import Context, seed_chunks

if TYPE_CHECKING:
    import xarray

Compute = Callable[..., "xarray.Dataset"]


def over_seeds(
    compute: Compute, config: Any, context: Context, label: str = "training", *, name: str = "seeds",
    resume: bool = False,
) -> "xarray.Dataset":  # fmt: skip
    """`compute(config, seeds)` for chunks of seeds, each kept under the name; joined over `seed`."""
    return over_parts({name: compute}, config, context, label, resume=resume)[name]


def over_cases(
    axes: Mapping[str, Mapping[Any, Any] | Sequence[Any]], compute: Compute, config: Any, context: Context,
    label: str = "training", *, name: str = "case", num_seeds: Sequence[int] = (), resume: bool = False,
) -> "xarray.Dataset":  # fmt: skip
    """`compute(config, *case, seeds)` for every case, over new dimensions, those of the axes.

    A case has one entry of each axis. An axis is a list of entries, which are also its coordinate, or a
    mapping from coordinates to entries. With `num_seeds` cases have different numbers of seeds, and NaN for
    those that others have more.
    """
    import xarray

    pairs = {
        dimension: list(axis.items() if isinstance(axis, Mapping) else zip(axis, axis, strict=True))
        for dimension, axis in axes.items()
    }
    cases = itertools.product(*([entry for _, entry in axis] for axis in pairs.values()))
    parts = {
        f"{name}-{number}": functools.partial(_compute, compute, case)
        for number, case in enumerate(cases)
    }
    runs = list(over_parts(parts, config, context, label, num_seeds, resume=resume).values())
    for dimension, axis in reversed(pairs.items()):
        coordinate, size = [value for value, _ in axis], len(axis)
        runs = [
            xarray.concat(runs[i : i + size], dimension, data_vars="all", join="outer")
            .assign_coords({dimension: coordinate})
            for i in range(0, len(runs), size)
        ]  # fmt: skip
    return runs[0]


def _compute(
    compute: Compute, case: tuple[Any, ...], config: Any, seeds: range, *inside: Context
) -> Any:
    return compute(config, *case, seeds, *inside)


def over_parts(
    parts: Mapping[str, Compute], config: Any, context: Context, label: str = "training",
    num_seeds: Sequence[int] = (), *, resume: bool = False,
) -> "dict[str, xarray.Dataset]":  # fmt: skip
    """`compute(config, seeds)` of every part, by name, without attributes.

    With `resume` it also gets, last, a context for this piece alone, so that a piece that was not finished
    can go on where it was.
    """
    import xarray

    counts = num_seeds or [config.num_seeds] * len(parts)
    work = [
        (name, seeds)
        for name, count in zip(parts, counts, strict=True)
        for seeds in seed_chunks(count, config.seeds_per_chunk)
    ]
    work.sort(key=lambda piece: piece[1].start)  # all parts of a seed share its random draws
    found: dict[str, list[xarray.Dataset]] = {name: [] for name in parts}
    for number, (name, seeds) in enumerate(context.track(work, label)):
        own = f"{name}-{seeds[0]}"
        inside = [part_of(context, own, label, number, len(work))] if resume else []
        piece = context.keep(own, parts[name], config, seeds, *inside)
        found[name].append(piece.drop_attrs())
    return {
        name: xarray.concat(pieces, "seed", data_vars="minimal") for name, pieces in found.items()
    }


def part_of(context: Context, name: str, label: str, number: int, total: int) -> Context:
    """A context for one of so many parts: its names begin with that of the part, its progress is a share."""

    def report(_: str, done: float, whole: int) -> None:
        context.report(label, number + done / max(whole, 1), total)

    return dataclasses.replace(
        context,
        report=report,
        load=lambda own: context.load(f"{name}.{own}"),
        save=lambda own, piece: context.save(f"{name}.{own}", piece),
    )
