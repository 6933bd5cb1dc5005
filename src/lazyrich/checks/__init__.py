"""Theorems and numbered formulas of the papers, each against something that does not use it.

A module here holds the checks of a paper: every module-level `Check` made by `core.check` is registered.
"""

import functools
import importlib
import pkgutil

from lazyrich.core import Check, known_id, natural_order

__all__ = ["get", "ids"]


@functools.cache
def _registry() -> dict[str, Check]:
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(__path__, f"{__name__}.")
        if not module.name.startswith(f"{__name__}.accuracy")  # a registry of its own
    ]
    values = [value for module in modules for value in vars(module).values()]
    found = {value.id: value for value in values if isinstance(value, Check)}
    return {id: found[id] for id in sorted(found, key=natural_order)}


def ids() -> list[str]:
    """The ids of all checks, in the order of the papers."""
    return list(_registry())


def get(id: str) -> Check:
    """The check with this id.

    Example:
        >>> from lazyrich import checks
        >>> checks.get("linear-grokking/eq4").run().verdict
        <Verdict.HOLDS: 'holds'>
    """
    return _registry()[known_id(id, _registry(), "check")]
