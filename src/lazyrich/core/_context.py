"""What a run may ask of whoever started it."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lazyrich.core._errors import Cancelled, argument_error

if TYPE_CHECKING:
    import xarray

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Context:
    """Progress, cancellation, checkpoints and data folders, as functions that do nothing by default.

    Long work is a loop over `track`, whose body is a call of `keep`: then it reports where it is, stops
    when asked, and after an interruption goes on from the pieces it had finished.

    Attributes:
        report: called with a label, the number of items done, parts of one included, and the number of items.
        should_stop: asked between items.
        load: a finished piece by name, or None.
        save: keeps a finished piece under a name.
        data_folder: where data sets lie, or None.

    Example:
        >>> from lazyrich.core import Context
        >>> context = Context(report=lambda label, done, total: print(label, done, "of", total))
        >>> [item**2 for item in context.track([1, 2], "squares")]
        squares 0 of 2
        squares 1 of 2
        squares 2 of 2
        [1, 4]
    """

    report: Callable[[str, float, int], None] = lambda label, done, total: None
    should_stop: Callable[[], bool] = lambda: False
    load: "Callable[[str], xarray.Dataset | None]" = lambda name: None
    save: "Callable[[str, xarray.Dataset], None]" = lambda name, piece: None
    data_folder: Path | None = None

    def track(self, items: Sequence[T], label: str) -> Iterator[T]:
        """Iterate over `items`, reporting progress and stopping when asked."""
        if not hasattr(items, "__len__") or not hasattr(items, "__iter__"):
            raise argument_error("items", "be a list", items)
        for done, item in enumerate(items):
            self.report(label, done, len(items))
            self.stop_if_asked()
            yield item
        self.report(label, len(items), len(items))

    def stop_if_asked(self) -> None:
        """Raise `Cancelled` if whoever started the run wants it to stop."""
        if self.should_stop():
            raise Cancelled("The run was asked to stop; finished pieces are kept.")

    def keep(self, name: str, compute: "Callable[..., xarray.Dataset]", *arguments: Any) -> Any:
        """The piece `compute(*arguments)`, from its checkpoint if an earlier run finished it."""
        if not callable(compute):
            raise argument_error("compute", "be a function", compute)
        piece = self.load(name)
        if piece is None:
            piece = compute(*arguments)
            self.save(name, piece)
        return piece
