"""Experiments as the command line, the gallery and whoever comes later see them."""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich.core._arguments import choice
from lazyrich.core._context import Context
from lazyrich.core._conventions import Convention
from lazyrich.core._errors import argument_error
from lazyrich.core._seeds import MAX_SEEDS
from lazyrich.core._verdict import Claim

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True, repr=False)
class Experiment:
    """One figure or table of a paper: how to compute it, what it claims, how to draw it.

    Attributes:
        paper: the paper's name, which is also its key in the bibliography.
        item: the figure or table, such as `fig1`.
        title: a line.
        caption: a sentence or two on what is drawn and what was chosen where the paper is silent.
        seconds: expected duration by preset, on two cores.
        convention: how the paper counts loss and time.
        references: what the result rests on, as keys of the bibliography.
        presets: configurations by name; `quick` and `paper` at least.
        run: computes everything that is drawn and claimed.
        claims: compares, computes nothing expensive.
        figure: draws.
        module: where it is written, for the digest of its code.
        data_fingerprint: for experiments on data sets: digest of the data found in a folder, or of what
            is used instead where there is none. It becomes part of the result's key.
        frames: for experiments that can be animated: the pictures, one after the other.
    """

    paper: str
    item: str
    title: str
    caption: str
    seconds: Mapping[str, float]
    convention: Convention
    references: tuple[str, ...]
    presets: Mapping[str, Any]
    run: "Callable[[Any, Context], xarray.Dataset]"
    claims: "Callable[[xarray.Dataset, Any], list[Claim]]"
    figure: "Callable[[xarray.Dataset, Any], Figure]"
    module: str
    data_fingerprint: "Callable[[Path | None], str] | None" = None
    frames: "Callable[[xarray.Dataset, Any], Iterator[Figure]] | None" = None

    @property
    def id(self) -> str:
        """`paper/item`."""
        return f"{self.paper}/{self.item}"

    def __repr__(self) -> str:
        return f"<Experiment {self.id}: {self.title}; presets {', '.join(self.presets)}>"

    def config(self, preset: str, num_seeds: int | None = None) -> Any:
        """The configuration of a preset, with another number of seeds if given.

        All counts of seeds, fields such as `num_seeds` and `num_curve_seeds`, change by the same factor.
        """
        choice("preset", preset, self.presets)
        is_whole = isinstance(num_seeds, int) and not isinstance(num_seeds, bool)
        if num_seeds is not None and not (is_whole and num_seeds >= 1):
            raise argument_error("seeds", "be a whole number ≥ 1", num_seeds)
        if num_seeds is not None and num_seeds > MAX_SEEDS:
            raise argument_error("seeds", f"be at most {MAX_SEEDS}", num_seeds, "Use e.g. 8.")
        config = self.presets[preset]
        if num_seeds is None or not hasattr(config, "num_seeds"):
            return config
        return dataclasses.replace(config, **_with_seeds(config, num_seeds))

    @staticmethod
    def of(module: ModuleType) -> "Experiment":
        """The experiment that a module of `lazyrich.experiments` describes."""
        if not isinstance(module, ModuleType) or not hasattr(module, "PRESETS"):
            raise argument_error("module", "be a module of `lazyrich.experiments`", module)
        return Experiment(
            paper=module.PAPER, item=module.ID, title=module.TITLE, caption=module.CAPTION,
            seconds=module.SECONDS, convention=module.CONVENTION, references=module.REFERENCES,
            presets=module.PRESETS, run=module.run, claims=_quiet(module.claims), figure=module.figure,
            module=module.__name__, data_fingerprint=getattr(module, "data_fingerprint", None),
            frames=getattr(module, "frames", None),
        )  # fmt: skip


def _with_seeds(config: Any, num_seeds: int) -> dict[str, Any]:
    """The counts of seeds of a configuration for another `num_seeds`, none below 1."""

    def scaled(count: int) -> int:
        return min(max(round(count * num_seeds / config.num_seeds), 1), MAX_SEEDS)

    counts = {
        field.name: getattr(config, field.name)
        for field in dataclasses.fields(config)
        if field.name.startswith("num_") and field.name.endswith("seeds")
    }
    return {
        name: tuple(map(scaled, count)) if isinstance(count, tuple) else scaled(count)
        for name, count in counts.items()
    }


def _quiet(claims: Callable[..., Any]) -> Callable[..., Any]:
    """What never happens takes infinitely long; a ratio of such times is NaN, which no claim accepts."""

    @functools.wraps(claims)
    def judged(result: Any, config: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            return claims(result, config)

    return judged
