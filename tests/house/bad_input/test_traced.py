"""Arguments that a user's `jit` traces: computed with, or refused by name. Never an error of JAX's own."""

import re

import jax
import numpy as np
import pytest

from lazyrich.core import LazyrichError

from .engine import MISSING_CALL, arguments, call, called, public_callables, table
from .engine import tested as arguments_of
from .values import Also

PACKAGES = ("theory", "measures", "quantities", "groups", "simulate")


def is_numeric(value):
    value = value.valid if isinstance(value, Also) else value
    is_array = isinstance(value, float | np.ndarray) or type(value).__name__ == "ArrayImpl"
    return is_array and np.issubdtype(np.asarray(value).dtype, np.floating)


def numeric(package):
    """Arguments to trace; one without a valid value is named by a test, not by a crash of the collection."""
    for name, function in public_callables(package).items():
        valid = arguments(package, name) if name in table(package).CALLS else {}
        for argument in arguments_of(package, name, function):
            if is_numeric(valid.get(argument)):
                yield pytest.param(package, name, argument, id=f"{package}.{name}-{argument}")


CASES = [case for package in PACKAGES for case in numeric(package)]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_call_is_missing(package):
    missing = set(public_callables(package)) - set(table(package).CALLS)
    assert not missing, MISSING_CALL.format(package=package)


def test_a_missing_call_is_named(monkeypatch):
    monkeypatch.delitem(table("measures").CALLS, "plateaus")
    monkeypatch.setitem(table("measures").CALLS, "power_law", {})
    named = {case.values[1] for case in numeric("measures")}
    assert "weight_movement" in named
    assert not named & {"plateaus", "power_law"}
    message = "a valid call of each into CALLS of tests/house/bad_input/calls_measures.py"
    with pytest.raises(AssertionError, match=f"(?s){message}.*plateaus"):
        test_no_call_is_missing("measures")


@pytest.mark.parametrize(("package", "name", "argument"), CASES)
def test_traced_arguments_are_used_or_refused(package, name, argument):
    valid = arguments(package, name)[argument]
    valid = np.asarray(valid.valid if isinstance(valid, Also) else valid)
    how = call(package, name)  # makes the object whose method is called, outside the trace

    def run(value):
        called(how, **{argument: value})

    said = None
    try:
        with jax.enable_x64(True):
            jax.eval_shape(run, valid)
    except LazyrichError as error:
        said = str(error)
    assert said is None or re.search(rf"`[^`]*\b{argument}\b[^`]*` must ", said), said
