"""Closed forms against many digits: errors, verdicts, records."""

import json
import math

import mpmath
import numpy as np
import pytest

from lazyrich.core import AccuracyResult, Comparison, accuracy
from lazyrich.core._accuracy import relative_error


def entry(*comparisons, **options):
    settings = {"against": "itself", "grid": "a few"} | options
    return accuracy("lab.form", "A form", **settings)(lambda: list(comparisons))


def square(x):
    return x * x


X = np.array([0.5, 1.0, 3.0])


def test_values_are_compared_with_exactly_what_was_given():
    seen = []
    found = entry(Comparison(X**2, lambda x: seen.append(x) or x * x, {"x": X})).run()
    assert (found.verdict, found.error, found.num_points) == ("holds", 0.0, 3)
    assert all(isinstance(x, mpmath.mpf) for x in seen)
    third = entry(Comparison(X / 3, lambda x: x / 3, {"x": X})).run()
    assert 0 < third.error < 1.2e-16


@pytest.mark.parametrize("place", range(3))
def test_one_wrong_point_is_found(place):
    values = X**2
    values[place] *= 1 + 1e-11
    found = entry(Comparison(values, square, {"x": X})).run()
    assert (found.verdict, found.where) == ("fails", {"x": X[place]})
    assert found.error == pytest.approx(1e-11, rel=1e-4)
    assert found.reason == "error 1e-11 exceeds 1e-12, and nothing says why"
    explained = entry(Comparison(values, square, {"x": X}), explanation="E.", bound=2e-11).run()
    assert (explained.verdict, explained.reason) == ("explained", "E.")
    tight = entry(Comparison(values, square, {"x": X}), explanation="E.", bound=9e-12).run()
    assert (tight.verdict, tight.reason) == (
        "fails",
        "error 1e-11 exceeds 9e-12, which is explained",
    )


def test_the_condition_number_excuses_its_own_point_only():
    values, condition = X**2 * (1 + np.array([1e-9, 0, 1e-11])), np.array([1e6, 1, 1])
    bad = entry(Comparison(values, square, {"x": X}, condition=condition), explanation="E.").run()
    assert (bad.verdict, bad.where, bad.condition) == ("fails", {"x": 3.0}, 1.0)
    condition[2] = 1e4
    good = entry(Comparison(values, square, {"x": X}, condition=condition), explanation="E.").run()
    assert (good.verdict, good.where, good.condition) == ("explained", {"x": 0.5}, 1e6)


def test_references_may_be_arrays_and_arguments_broadcast():
    table = np.outer(X, X)
    exact = np.array([[mpmath.mpf(a) * b for b in X] for a in X], dtype=object)
    where = {"row": np.arange(3)[:, None], "kind": "outer"}
    assert entry(Comparison(table, exact, where)).run().error == 0
    table[1, 2] = 0
    found = entry(Comparison(table, exact, where)).run()
    assert (found.error, found.where) == (1.0, {"row": 1, "kind": "outer"})


@pytest.mark.parametrize(
    ("value", "exact", "scale", "error"),
    [
        (1.0, 1, None, 0.0),
        (1.5, 1, None, 0.5),
        (1e-20, 0, None, math.inf),
        (1e-20, 0, 1, 1e-20),
        (0.5, 0.25, 10, 0.025),
        (0.0, "1e-320", None, 0.0),  # double precision cannot hold it
        (1e-300, "1e-320", None, 1e20),
        (math.inf, "1e400", None, 0.0),
        (-math.inf, "1e400", None, math.inf),
        (math.inf, "1e300", None, math.inf),
        (math.inf, mpmath.inf, None, 0.0),
        (1.0, mpmath.inf, None, math.inf),
        (math.nan, 1, None, math.inf),
        (1.0, mpmath.nan, None, math.inf),
        (1 + 1j, 1, None, 1.0),
    ],
)
def test_relative_error(value, exact, scale, error):
    assert relative_error(value, mpmath.mpmathify(exact), scale) == pytest.approx(error, rel=1e-9)


def test_nothing_compared_is_no_success():
    assert entry().run().verdict == "fails"
    assert entry(Comparison(np.zeros(0), square, {"x": np.zeros(0)})).run().reason == (
        "nothing was compared"
    )


def test_an_error_that_is_no_number_fails():
    result = AccuracyResult(math.nan, 1, {}, 0.0, "0", None, 1e-12, math.nan, explanation="E.")
    assert result.verdict == "fails"


def test_the_record_is_json():
    form = entry(Comparison(X**2, square, {"x": X}), also=["lab.other"])
    record = json.loads(json.dumps(form.record(form.run())))
    assert record["covers"] == ["lab.form", "lab.other"]
    assert record["num_points"] == 3
    assert (record["verdict"], record["reason"]) == ("holds", "")
    assert record["reference"] == "0.25"


def test_progress_is_told():
    told = []
    values = np.arange(450.0)
    entry(Comparison(values, lambda x: x, {"x": values})).run(lambda *words: told.append(words))
    assert told == [("points", 0, 450), ("points", 200, 450), ("points", 400, 450)]
