"""The matrix: which callables there are, how each is called, and what a bad argument leads to.

CALLS of `calls_PACKAGE.py` has a valid call of every public callable. Bad values are made from it
(`values.py`). Each is refused by an error that names the argument, unless MEANING says what it means. A key
of MEANING is three texts: callable, argument, kind of fault. Each is a list of patterns as of file names,
separated by spaces; `!pattern` excludes. The first entry that fits counts. So

    ("balance predicted_drift", "incoming* outgoing*", "zero negative"): "any real numbers",
    ("* !calibrate_emergence", "time", "zero empty extra_axis"): "any shape, from the start on",

allow zeros and negative numbers in four arguments, and times of 0 and of any shape in all callables but one.
A meaning `NaN…` says that the result has NaN, `` refused as `other`… `` that another argument is blamed.
"""

import enum
import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from lazyrich.core import ArgumentError, LazyrichError

from .limits import limits
from .shapes import SHAPES, only_shapes
from .values import Also, bad_values, has_nan

MISSING_CALL = "put a valid call of each into CALLS of tests/house/bad_input/calls_{package}.py"
"""What to do about public callables without a row."""
SAME_SHAPE = ("zero", "negative", "huge", "number")
"""Faults after which a constructed object is asked everything: no other shape, so nothing compiles."""


class Call(NamedTuple):
    """How a callable is called with valid arguments, all of them by name."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


class Case(NamedTuple):
    """One bad value of one argument."""

    callable: str
    argument: str
    kind: str
    value: Any


def spread(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function whose last arguments are any number, as one of a tuple of them."""

    def call(**given: Any) -> Any:
        values = given.pop(name)
        return function(*given.values(), *(values if isinstance(values, tuple) else (values,)))

    return call


@functools.cache
def packages() -> list[str]:
    """The packages that have a table here."""
    return sorted(path.stem.partition("_")[2] for path in Path(__file__).parent.glob("calls_*.py"))


@functools.cache
def table(package: str) -> Any:
    """The module with a package's CALLS and MEANING."""
    return importlib.import_module(f".calls_{package}", __package__)


@functools.cache
def public_callables(package: str) -> dict[str, Callable[..., Any]]:
    """Functions, constructors and methods with arguments. Records, enumerations and errors check nothing."""
    module = importlib.import_module(f"lazyrich.{package}")
    found: dict[str, Callable[..., Any]] = {}
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            if not is_plain(value) and name not in records(package):
                found[name] = value
            found |= {f"{name}.{method}": f for method, f in methods(value).items()}
        elif callable(value):
            found[name] = value
    return {name: f for name, f in found.items() if tested(package, name, f)}


def tested(package: str, name: str, function: Callable[..., Any]) -> list[str]:
    """The arguments that can be bad."""
    return [argument for argument in parameters(function) if not exempt(package, name, argument)]


def records(package: str) -> dict[str, str]:
    """Dataclasses that hold what they are given: who makes them."""
    return getattr(table(package), "RECORDS", {})


def exempt(package: str, name: str, argument: str) -> str:
    """Why an argument is not tested; empty for nearly all."""
    for (callables, words), reason in getattr(table(package), "EXEMPT", {}).items():
        if _matched(callables, name) and _matched(words, argument):
            return reason
    return ""


def is_plain(kind: type) -> bool:
    """Errors, enumerations and named tuples."""
    return issubclass(kind, BaseException | enum.Enum) or hasattr(kind, "_fields")


def methods(kind: type) -> dict[str, Callable[..., Any]]:
    """The public methods that this library wrote; what a field holds is none."""
    fields = getattr(kind, "__dataclass_fields__", {})
    own = [vars(base) for base in reversed(kind.__mro__) if base.__module__.startswith("lazyrich")]
    names = [name for base in own for name, value in base.items() if _is_method(name, value)]
    return {name: getattr(kind, name) for name in dict.fromkeys(names) if name not in fields}


def _is_method(name: str, value: Any) -> bool:
    is_method = isinstance(value, classmethod | staticmethod) or callable(value)
    return is_method and not isinstance(value, type) and not name.startswith("_")


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """What can be passed, without `self`."""
    found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    return found


def arguments(package: str, name: str) -> dict[str, Any]:
    """The valid arguments of a callable."""
    entry = table(package).CALLS[name]
    return entry.arguments if isinstance(entry, Call) else entry


@functools.cache
def call(package: str, name: str) -> Call:
    """The call that the package's table describes."""
    entry = table(package).CALLS[name]
    if isinstance(entry, Call):
        return entry
    owner, _, method = name.partition(".")
    module = importlib.import_module(f"lazyrich.{package}")
    if not method:
        return Call(getattr(module, owner), entry)
    return Call(getattr(instance(package, owner), method), entry)


@functools.cache
def instance(package: str, owner: str) -> Any:
    """The object whose methods are called: made by the table's INSTANCES or by its valid constructor."""
    made = getattr(table(package), "INSTANCES", {}).get(owner)
    return made() if made else called(call(package, owner))


def called(call: Call, **changes: Any) -> Any:
    """The result of a call; what is computed only when asked for is asked for."""
    valid = {name: v.valid if isinstance(v, Also) else v for name, v in call.arguments.items()}
    result = call.function(**valid | changes)
    return list(result) if isinstance(result, Iterator) else result


def cases(package: str, name: str, argument: str) -> list[Case]:
    """All bad values of one argument; None is none where it is the default."""
    default = parameters(public_callables(package)[name]).get(argument)
    valid = arguments(package, name)[argument]
    bad = bad_values(valid)
    if default is not None and default.default is None:
        bad.pop("none", None)
    return [Case(name, argument, kind, value) for kind, value in bad.items()]


def is_slow(package: str, name: str) -> bool:
    """Whether the table says that this callable takes seconds to compile."""
    return any(fnmatchcase(name, pattern) for pattern in getattr(table(package), "SLOW", ()))


def verdict(package: str, case: Case, *, compiled: bool = False) -> str:
    """Empty where the case is refused or means something; else what is wrong with it.

    Slow callables are traced and not compiled, unless asked for: then nothing is known about NaN.
    """
    meaning = meaning_of(package, case)
    is_traced = is_slow(package, case.callable) and not compiled
    try:
        with limits(), only_shapes(is_traced or case.kind.removeprefix("first_") in SHAPES):
            result = called(call(package, case.callable), **{case.argument: case.value})
            is_nan = has_nan(result) or _later(package, case, result, compiled)
    except LazyrichError as error:
        if meaning and not meaning.startswith("refused"):
            return f"is refused ({error}), though MEANING says: {meaning}"
        return (
            "" if names(error, blamed(package, case, meaning)) else f"does not name it: {error!r}"
        )
    except Exception as error:
        return f"fails deep inside with {type(error).__name__}: {str(error)[:200]}"
    if not meaning:
        return (
            f"is accepted, and MEANING says nothing; the result {'has' if is_nan else 'has no'} NaN"
        )
    if is_nan != meaning.startswith("NaN") and not is_traced:
        return f"gives {'a' if is_nan else 'no'} NaN, though MEANING says: {meaning}"
    return ""


def _later(package: str, case: Case, result: Any, compiled: bool) -> bool:
    """Whether an object that was made from a bad value answers with NaN to valid questions."""
    if "." in case.callable or not inspect.isclass(call(package, case.callable).function):
        return False
    if case.kind.removeprefix("first_") not in SAME_SHAPE:
        return False
    asked = [
        name
        for name, method in methods(type(result)).items()
        if (f"{case.callable}.{name}" in table(package).CALLS or not parameters(method))
        and (compiled or not is_slow(package, f"{case.callable}.{name}"))
    ]
    return any(has_nan(_answer(package, case, result, name)) for name in asked)


def _answer(package: str, case: Case, made: Any, method: str) -> Any:
    entry = table(package).CALLS.get(f"{case.callable}.{method}", {})
    static = inspect.getattr_static(made, method)
    if isinstance(entry, Call) or isinstance(static, classmethod | staticmethod):
        return None
    try:
        return called(Call(getattr(made, method), entry))
    except LazyrichError:
        return None  # an object may say that it has no answer


def blamed(package: str, case: Case, meaning: str) -> list[str]:
    """The arguments that the message may name: of two shapes that do not fit, either may be wrong."""
    if meaning.startswith("refused as "):
        return [meaning.split()[2].strip("`;:,")]
    is_shape = case.kind.removeprefix("first_") in SHAPES
    return list(arguments(package, case.callable)) if is_shape else [case.argument]


def names(error: LazyrichError, wanted: list[str]) -> bool:
    """Whether the message names one of the arguments, in the one shape that argument errors have."""
    text, either = str(error), "|".join(map(re.escape, wanted))
    if isinstance(error, ArgumentError):
        is_named = re.search(rf"`({either})\b", text)
        return bool(is_named) and bool(re.search(r"must .*got ", text, re.S))
    return bool(text)  # assumptions, unknown ids, missing files: the message says which


def meaning_of(package: str, case: Case) -> str:
    """What the table says that this odd value means; empty where it says nothing."""
    key = rule(package, case)
    return table(package).MEANING[key] if key else ""


def rule(package: str, case: Case) -> tuple[str, str, str] | None:
    """The first entry of MEANING for the case."""
    return next((key for key in table(package).MEANING if all(matched(key, case))), None)


def matched(key: tuple[str, str, str], case: Case) -> list[list[str]]:
    """The words of an entry that stand for the case's callable, argument and kind; `!word` excludes."""
    return [_matched(patterns, word) for patterns, word in zip(key, case[:3], strict=True)]


@functools.cache
def _matched(patterns: str, word: str) -> list[str]:
    words = patterns.split()
    excluded = any(fnmatchcase(word, pattern[1:]) for pattern in words if pattern[0] == "!")
    return [] if excluded else [pattern for pattern in words if fnmatchcase(word, pattern)]
