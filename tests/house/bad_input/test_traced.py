"""Arguments that a user's `jit` traces: computed with, or refused by name. Never an error of JAX's own."""

import re

import jax
import numpy as np
import pytest

from lazyrich.core import LazyrichError

from .engine import arguments, call, called, public_callables
from .engine import tested as arguments_of
from .values import Also

PACKAGES = ("theory", "measures", "quantities", "groups", "simulate")


def is_numeric(value):
    value = value.valid if isinstance(value, Also) else value
    is_array = isinstance(value, float | np.ndarray) or type(value).__name__ == "ArrayImpl"
    return is_array and np.issubdtype(np.asarray(value).dtype, np.floating)


def numeric(package):
    for name, function in public_callables(package).items():
        for argument in arguments_of(package, name, function):
            if is_numeric(arguments(package, name)[argument]):
                yield pytest.param(package, name, argument, id=f"{package}.{name}-{argument}")


CASES = [case for package in PACKAGES for case in numeric(package)]


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
