"""Every bad value is refused by an error that names the argument, or has a meaning; never a silent NaN."""

import dataclasses
import importlib
import inspect
from pathlib import Path

import pytest

import lazyrich
from lazyrich.core import DataError

from .engine import (
    MISSING_CALL,
    arguments,
    call,
    called,
    cases,
    exempt,
    is_slow,
    matched,
    packages,
    parameters,
    public_callables,
    records,
    rule,
    table,
    verdict,
)
from .shapes import only_shapes
from .values import has_nan

CALLABLES = [(package, name) for package in packages() for name in table(package).CALLS]
ARGUMENTS = [
    (*entry, argument)
    for entry in CALLABLES
    for argument in arguments(*entry)
    if not exempt(*entry, argument)
]


ADVICE = "refuse them with an error that names the argument, or say in MEANING what they mean:"
ELSEWHERE = {"cli": "every command and option: tests/cli/test_cli_matrix.py"}
"""Packages without a table. What tables leave out themselves is in their EXEMPT."""


def test_no_package_is_missing():
    every = {place.parent.name for place in Path(lazyrich.__file__).parent.glob("*/__init__.py")}
    advice = "give each package a table `calls_PACKAGE.py` beside this file"
    assert every == {*packages(), *ELSEWHERE}, advice


@pytest.mark.parametrize("package", packages())
def test_no_public_callable_is_missing(package):
    public, called = set(public_callables(package)), set(table(package).CALLS)
    assert not public - called, MISSING_CALL.format(package=package)
    file = f"tests/house/bad_input/calls_{package}.py"
    assert not called - public, f"no longer public: take them out of CALLS of {file}"


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package in packages() for name in records(package)]
)
def test_records_are_nothing_else(package, name):
    kind = getattr(importlib.import_module(f"lazyrich.{package}"), name)
    assert dataclasses.is_dataclass(kind)
    assert not hasattr(kind, "__post_init__")


@pytest.mark.parametrize(("package", "name"), CALLABLES)
def test_no_argument_is_missing(package, name):
    known = parameters(public_callables(package)[name])
    named = {n for n, p in known.items() if p.kind is not inspect.Parameter.VAR_KEYWORD}
    missing = {n for n in named if not exempt(package, name, n)} - set(arguments(package, name))
    assert not missing, f"give {name} of CALLS in calls_{package}.py a valid value for each"


@pytest.mark.parametrize(("package", "name"), CALLABLES)
def test_the_valid_call_is_valid(package, name):
    try:
        with only_shapes(is_slow(package, name)):
            assert not has_nan(called(call(package, name)))
    except DataError as error:  # a program or data set that this machine lacks
        pytest.skip(str(error))


@pytest.mark.parametrize(("package", "name", "argument"), ARGUMENTS)
def test_bad_values_are_refused_or_mean_something(package, name, argument):
    found = {case.kind: verdict(package, case) for case in cases(package, name, argument)}
    wrong = [f"{name}({argument}: {kind}) {what}" for kind, what in found.items() if what]
    assert not wrong, f"{ADVICE}\n" + "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "name", "argument"),
    [entry for entry in ARGUMENTS if is_slow(*entry[:2]) or "TwoLayerGrokking" in entry],
)
def test_what_is_slow_to_compile(package, name, argument):
    found = [verdict(package, case, compiled=True) for case in cases(package, name, argument)]
    assert not any(found), found


@pytest.mark.parametrize("package", packages())
def test_every_word_of_every_meaning_is_used(package):
    every = [c for p, n, a in ARGUMENTS if p == package for c in cases(p, n, a)]
    used = {
        (key, word)
        for case in every
        if (key := rule(package, case))
        for words in matched(key, case)
        for word in words
    }
    written = {
        (key, word) for key in table(package).MEANING for part in key for word in part.split()
    }
    unused = {entry for entry in written - used if entry[1][0] != "!"}
    assert not unused, "these words stand for nothing, or earlier ones do: take them out"
