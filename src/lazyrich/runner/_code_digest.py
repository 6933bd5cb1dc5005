"""Which modules of this package a result depends on, read from the source without importing it."""

import ast
import functools
import hashlib
from pathlib import Path

import lazyrich
from lazyrich.core import argument_error
from lazyrich.core._lazy import facade

ROOT = Path(lazyrich.__file__).parent
NO_INFLUENCE = ("lazyrich.plotting", "lazyrich.report")
"""Packages that draw and never compute: changing them leaves results valid."""


def code_digest(module: str) -> str:
    """Digest of the source of a module and of everything in this package that it uses."""
    digest = hashlib.sha256()
    for name in sorted(modules_used(module)):
        source = _source(name)
        digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


def modules_used(module: str) -> set[str]:
    """The module and all modules of this package that it uses, directly or not.

    Facades are seen through: `from lazyrich import theory` followed by `theory.LinearGrokking` counts as
    a use of the file that defines `LinearGrokking`, not of all of `theory`.
    """
    if not isinstance(module, str) or module.partition(".")[0] != "lazyrich" or not _file(module):
        raise argument_error(
            "module", "be the dotted name of a module of lazyrich", module,
            "Put the experiment into `lazyrich.experiments`.",
        )  # fmt: skip
    used: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        used.add(name)
        waiting |= _direct_uses(name) - used
    return used


@functools.cache
def _direct_uses(module: str) -> frozenset[str]:
    source = _source(module)
    tree = ast.parse(source.read_text(encoding="utf-8"))
    package = module if source.name == "__init__.py" else module.rpartition(".")[0]
    paths = _imported_paths(tree, package)
    targets = {path for path in paths.values() if not _is_package(path)}
    for alias, path in paths.items():
        if _is_package(path):
            targets |= _attribute_paths(tree, _local_name(alias), path)
    found = set().union(*(_definers(path) for path in targets))
    return frozenset(name for name in found if not name.startswith(NO_INFLUENCE))


def _imported_paths(tree: ast.AST, package: str) -> dict[ast.alias, str]:
    """The dotted path behind every import from this package; several may share a local name."""
    found: dict[ast.alias, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "lazyrich":
                    found[alias] = alias.name if alias.asname else "lazyrich"
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base]).rstrip(".")
            if base.partition(".")[0] == "lazyrich":
                found |= {alias: f"{base}.{alias.name}" for alias in node.names}
    return found


def _local_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _attribute_paths(tree: ast.AST, name: str, path: str) -> set[str]:
    """Dotted paths reached through a name that stands for a package; the package itself if used bare."""
    found: set[str] = set()
    inner: set[int] = set()
    for node in ast.walk(tree):  # outer attributes come before the ones they contain
        if id(node) in inner:
            continue
        chain: list[str] = []
        head: ast.AST = node
        while isinstance(head, ast.Attribute):
            chain.append(head.attr)
            inner.add(id(head.value))
            head = head.value
        if isinstance(head, ast.Name) and head.id == name:
            found.add(".".join([path, *reversed(chain)]))
    return found


def _definers(path: str) -> set[str]:
    """The modules that define what a dotted path names; for a package, all that it exports."""
    if _is_package(path):
        stub = ROOT.joinpath(*path.split(".")[1:], "__init__.pyi")
        if not stub.exists():
            return {path}
        return set().union(*(_definers(f"{path}.{name}") for name in facade(str(stub))))
    if _file(path) is not None:
        return {path}
    parent, _, name = path.rpartition(".")
    if not parent or parent == "lazyrich":
        return set()
    stub = ROOT.joinpath(*parent.split(".")[1:], "__init__.pyi")
    if _is_package(parent) and stub.exists():
        home = facade(str(stub)).get(name)
        return {f"{parent}.{home}"} if home else set()
    return _definers(parent)


def _is_package(path: str) -> bool:
    return ROOT.joinpath(*path.split(".")[1:], "__init__.py").exists()


def _source(module: str) -> Path:
    """The source file of a module that is there."""
    source = _file(module)
    assert source is not None, module
    return source


def _file(module: str) -> Path | None:
    """The source file of a module or package, or None if the name is neither."""
    place = ROOT.joinpath(*module.split(".")[1:])
    for candidate in (place.with_suffix(".py"), place / "__init__.py"):
        if candidate.exists():
            return candidate
    return None
