"""Everything exported is documented; formulas say where they come from and when they hold."""

import ast
import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest

import lazyrich
from lazyrich import checks

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(set(lazyrich.__all__) - {"__version__"})
PUBLIC = [
    (package, name)
    for package in PACKAGES
    for name in importlib.import_module(f"lazyrich.{package}").__all__
]
FORMULAS = [
    (package, name)
    for package, name in PUBLIC
    if package == "theory" or (package == "quantities" and name.islower())
]


def get(package, name):
    return getattr(importlib.import_module(f"lazyrich.{package}"), name)


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_has_a_docstring(package, name):
    value = get(package, name)
    if inspect.isclass(value) or callable(value):
        assert (value.__doc__ or "").strip(), f"{package}.{name} has no docstring"
        if inspect.isclass(value):
            fields = getattr(value, "__dataclass_fields__", {})
            for attribute, member in vars(value).items():
                if attribute.startswith("_") or attribute in fields:
                    continue
                if inspect.isfunction(member) or isinstance(member, property):
                    assert member.__doc__, f"{package}.{name}.{attribute} has no docstring"


@pytest.mark.parametrize(("package", "name"), FORMULAS)
@pytest.mark.parametrize(
    "section", ["Source:", "Holds when:", "Checked by:", "Symbols:", "Example:", "$$"]
)
def test_formulas_carry_their_sections(package, name, section):
    assert section in get(package, name).__doc__


@pytest.mark.parametrize(("package", "name"), FORMULAS)
def test_checked_by_names_things_that_exist(package, name):
    text = re.search(r"Checked by:(.*?)\n\n", get(package, name).__doc__, re.S).group(1)
    named = re.findall(r"`([^`]+)`", text)
    assert named
    for item in named:
        exists = (ROOT / item).exists() if item.endswith(".py") else item in checks.ids()
        assert exists, f"{package}.{name} says it is checked by {item}, which does not exist"


@pytest.mark.parametrize(("package", "name"), FORMULAS)
def test_source_is_in_the_bibliography(package, name):
    text = re.search(r"Source:(.*?)\n\n", get(package, name).__doc__, re.S).group(1)
    assert any(key in text for key in lazyrich.core.papers())


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_have_docstrings(package):
    assert importlib.import_module(f"lazyrich.{package}").__doc__


def returned_by(value):
    """Functions behind a public name: itself, or the methods and properties of a class."""
    if not inspect.isclass(value):
        return [value]
    members = [inspect.getattr_static(value, name) for name in dir(value) if name[0] != "_"]
    parts = (
        "__func__",
        "fget",
        "func",
        "method",
    )  # of class methods, properties, equinox's methods
    found = [next((getattr(m, p) for p in parts if hasattr(m, p)), m) for m in members]
    return [function for function in found if inspect.isfunction(function)]


def named_in(function):
    """Classes that the annotation of what is returned names, whether it is a text or not."""
    function = inspect.unwrap(function)
    annotation = function.__annotations__.get("return", "")
    text = annotation if isinstance(annotation, str) else repr(annotation)
    if inspect.isclass(annotation):
        return [annotation]
    words = {
        getattr(n, "attr", getattr(n, "id", ""))
        for n in ast.walk(ast.parse(re.sub("<class '|'>", "", text)))
    }
    return [function.__globals__[word] for word in words if word in function.__globals__]


def is_record(value):
    named = inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields")
    return named or (inspect.isclass(value) and dataclasses.is_dataclass(value))


@pytest.mark.parametrize("package", ["theory", "simulate", "measures", "quantities", "adapters"])
def test_records_that_are_returned_can_be_imported(package):
    """A leading underscore says that a record is only handed on, as the data of a training is."""
    importable = {get(*entry) for entry in PUBLIC if inspect.isclass(get(*entry))}
    hidden = {
        f"{kind.__module__}.{kind.__name__}, of {name}"
        for name in importlib.import_module(f"lazyrich.{package}").__all__
        for function in returned_by(get(package, name))
        for kind in named_in(function)
        if is_record(kind) and kind not in importable and not kind.__name__.startswith("_")
    }
    assert not hidden
