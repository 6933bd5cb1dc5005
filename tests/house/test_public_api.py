"""Everything exported is documented; formulas say where they come from and when they hold."""

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
