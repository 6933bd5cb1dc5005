"""The API reference from each package's `__all__`, and a check that no public name is missing."""

import enum
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import lazyrich
from lazyrich.core._lazy import facade


def packages() -> list[str]:
    """Full names of all packages, `lazyrich.cli` included."""
    found = pkgutil.iter_modules(lazyrich.__path__, "lazyrich.")
    return [module.name for module in found if module.ispkg]


def names(package: str) -> list[str]:
    """What a package exports: classes first, then functions, then constants."""
    module = importlib.import_module(package)
    return sorted(module.__all__, key=lambda name: (_rank(getattr(module, name)), name.lower()))


@functools.cache
def links() -> dict[str, str]:
    """Public names, bare and as `package.name`, → full names; bare ones only where they are unique."""
    full = [f"{package}.{name}" for package in packages() for name in names(package)]
    bare = [path.rpartition(".")[2] for path in full]
    found = {path.removeprefix("lazyrich."): path for path in full}
    found |= {name: path for name, path in zip(bare, full, strict=True) if bare.count(name) == 1}
    return {name: path for name, path in found.items() if name not in _AMBIGUOUS}


_AMBIGUOUS = {
    "real", "whole", "number", "count", "check", "accuracy", "style", "reference", "papers", "select",
}  # fmt: skip
"""Names that are also everyday words or arguments: in backticks alone they are no reference."""


def rest(package: str) -> Iterator[str]:
    """The entries of everything a package exports, in reST."""
    module = importlib.import_module(package)
    yield f".. py:currentmodule:: {package}"
    yield ""
    yield ".. autosummary::"
    yield "   :nosignatures:"
    yield ""
    yield from (f"   {name}" for name in names(package))
    yield ""
    for name in names(package):
        yield from _entry(f"{package}.{name}", getattr(module, name))
        yield ""


def constant_doc(path: str) -> str:
    """The text below a constant in the file that defines it."""
    from sphinx.pycode import ModuleAnalyzer

    package, _, name = path.rpartition(".")
    home = facade(importlib.import_module(package).__file__)[name]
    docs = ModuleAnalyzer.for_module(f"{package}.{home}").find_attr_docs()
    return "\n".join(docs.get(("", name), [])).strip()


def _rank(value: object) -> int:
    return 0 if inspect.isclass(value) else 1 if callable(value) else 2


def _entry(path: str, value: object) -> Iterator[str]:
    if not inspect.isclass(value):
        yield f".. auto{'function' if callable(value) else 'data'}:: {path}"
        return
    is_error = issubclass(value, Exception)
    yield f".. auto{'exception' if is_error else 'class'}:: {path}"
    yield "   :members:"
    ours = [base.__module__.startswith("lazyrich") for base in value.__mro__]
    if sum(ours) > 1 and not is_error:  # base classes are private: what they have is shown here
        yield f"   :inherited-members: {value.__mro__[ours.index(False)].__name__}"
    if issubclass(value, enum.Enum):
        yield "   :undoc-members:"
        yield "   :member-order: bysource"
    if issubclass(value, tuple):  # a NamedTuple's fields only say which number they are
        yield f"   :exclude-members: {', '.join(value._fields)}"


def setup(app):  # noqa: D103
    from docutils import nodes
    from docutils.parsers.rst import Directive
    from docutils.statemachine import StringList
    from sphinx.util import logging

    class PublicNames(Directive):
        """`.. public-names:: package`."""

        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            [package] = self.arguments
            container = nodes.container()
            self.state.nested_parse(StringList(list(rest(package)), package), 0, container)
            return container.children

    def all_are_documented(app, env):
        objects = env.domains["py"].data["objects"]
        for package in packages():
            for name in names(package):
                if f"{package}.{name}" not in objects:
                    logging.getLogger(__name__).warning("%s.%s has no API entry", package, name)

    app.add_directive("public-names", PublicNames)
    app.connect("env-check-consistency", all_are_documented)
    return {"parallel_read_safe": True}
