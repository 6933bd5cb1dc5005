"""Every closed form of the library against mpmath on a fixed grid: how accurate each is, and where least.

A module here holds the entries of a topic: every module-level `Accuracy` made by `core.accuracy` counts.
"""

import functools
import importlib
import pkgutil

from lazyrich.core import Accuracy, known_id, natural_order

__all__ = ["get", "ids"]


@functools.cache
def _registry() -> dict[str, Accuracy]:
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(__path__, f"{__name__}.")
    ]
    values = [value for module in modules for value in vars(module).values()]
    found = {value.id: value for value in values if isinstance(value, Accuracy)}
    return {id: found[id] for id in sorted(found, key=natural_order)}


def ids() -> list[str]:
    """The public names of all closed forms that are compared, sorted."""
    return list(_registry())


def get(id: str) -> Accuracy:
    """The entry with this id.

    Example:
        >>> from lazyrich.checks import accuracy
        >>> accuracy.get("quantities.imbalance").run().verdict
        'holds'
    """
    return _registry()[known_id(id, _registry(), "closed form")]
