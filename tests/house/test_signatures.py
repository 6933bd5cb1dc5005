"""Arguments come in one order everywhere."""

import importlib
import inspect
import itertools

import pytest

LEARNED = {
    "correlation", "covariance", "frequencies", "group", "inputs", "labels", "num_samples",
    "output_power", "rates", "target", "target_scale", "targets", "task",
}  # fmt: skip
START = {
    "difference", "first", "imbalance", "initial_scale", "initial_std", "initial_weights",
    "second", "start", "starts", "weights",
}  # fmt: skip
PACE = {"learning_rate", "steps", "time", "times"}
RANKS = {name: rank for rank, names in enumerate((LEARNED, START, PACE)) for name in names}
MOMENTS = ["correlation", "covariance", "output_power"]


def signatures():
    for package in ("theory", "simulate"):
        module = importlib.import_module(f"lazyrich.{package}")
        for name in module.__all__:
            value = getattr(module, name)
            yield f"{package}.{name}", value
            for attribute in list(vars(value)) if inspect.isclass(value) else ():
                member = getattr(value, attribute)
                if not attribute.startswith("_") and callable(member):
                    yield f"{package}.{name}.{attribute}", member


def positional(function):
    """Names of arguments that are not keyword only, those without a default and those with one."""
    parameters = inspect.signature(function).parameters.values()
    plain = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return [[p.name for p in plain if (p.default is p.empty) is needed] for needed in (True, False)]


SIGNATURES = dict(signatures())


@pytest.mark.parametrize("name", SIGNATURES)
def test_what_is_learned_then_where_it_starts_then_how_fast(name):
    function = SIGNATURES[name]
    needed, optional = positional(function)
    for part in (needed, optional):
        ranks = [RANKS[argument] for argument in part if argument in RANKS]
        assert ranks == sorted(ranks), f"{name}{inspect.signature(function)}"
        order = [MOMENTS.index(argument) for argument in part if argument in MOMENTS]
        assert order == sorted(order), f"{name}{inspect.signature(function)}"


def test_the_words_differ():
    for one, other in itertools.combinations((LEARNED, START, PACE), 2):
        assert not one & other
