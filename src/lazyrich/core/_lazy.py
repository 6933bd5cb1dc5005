"""Facades that load on use.

A package's public names are written once, in its stub `__init__.pyi`, as `from ._file import X as X`
(or `from . import part as part`). Type checkers read the stub; at run time `attach` imports the file
behind a name when the name is first asked for. So `import lazyrich` stays fast although JAX is not.
"""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def facade(init_file: str) -> dict[str, str]:
    """Public name → the file (module name within the package) that defines it; '' for subpackages."""
    stub = ast.parse(Path(init_file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom) and node.level == 1)
    return {alias.name: node.module or "" for node in imports for alias in node.names}


def attach(
    package: str, init_file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Module-level `__getattr__`, `__dir__` and `__all__` for a package with a stub facade."""
    homes = facade(init_file)

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not homes[name]:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(homes)
    return __getattr__, lambda: names, names
