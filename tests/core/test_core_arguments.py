"""Validity of arguments: concrete values raise, traced ones turn to NaN."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import (
    ArgumentError,
    argument_error,
    choice,
    count,
    flag,
    items,
    moderate,
    number,
    real,
    representable,
    shape,
    whole,
)


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no words")


NOT_REAL = [
    "1.0", b"1", None, True, np.True_, 1j, np.array([1j]), [True, False], ["1"], {}, {"a": 1}, {1.0},
    object(), [1.0, None], np.array([1, None], object), [[1.0], [1.0, 2.0]], np.datetime64("2020"),
    10**400, 10**5000, Unspeakable(), lambda: 1, float, jnp.array(True), jnp.array(1j),
]  # fmt: skip


@pytest.mark.parametrize("value", NOT_REAL, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("check", [real, whole])
def test_what_is_no_real_number(check, value):
    with pytest.raises(
        ArgumentError, match=r"^`rate` must be a (finite real|whole) number.*, got .*\. Use 1\.$"
    ):
        check("rate", value, advice="Use 1.")


@pytest.mark.parametrize("check", [real, whole])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, [1.0, np.nan], np.longdouble("1e4000")])
def test_what_is_not_finite(check, value):
    with pytest.raises(
        ArgumentError, match=r"must be a (finite real|whole) number.*, got (nan|inf|-inf)\."
    ):
        check("rate", value)


def test_infinities_on_request_but_never_nan():
    assert real("horizon", np.inf, finite=False, above=0) == np.inf
    with pytest.raises(ArgumentError, match=r"^`horizon` must be a real number > 0, got nan\.$"):
        real("horizon", np.nan, finite=False, above=0)


@pytest.mark.parametrize(
    ("bounds", "good", "bad", "words"),
    [
        ({"above": 0}, [1e-300, 5], [0, -0.0, -1], "> 0"),
        ({"at_least": 0}, [0, -0.0, 1], [-1e-300], "≥ 0"),
        ({"below": 1}, [0, -5], [1, 2], "< 1"),
        ({"at_most": 1}, [1, 0], [1.1], "≤ 1"),
        ({"above": 0, "at_most": 0.5}, [0.5, 0.1], [0, 0.6], "> 0 and ≤ 0.5"),
    ],
)
def test_bounds(bounds, good, bad, words):
    assert np.array_equal(real("share", good, **bounds), good)
    for value in bad:
        with pytest.raises(
            ArgumentError, match=rf"^`share` must be a finite real number {words}, got"
        ):
            real("share", value, **bounds)


def test_names_the_first_element_that_is_wrong():
    with pytest.raises(
        ArgumentError, match=r"^`times\[1, 0\]` must be a finite real number ≥ 0, got -3"
    ):
        real("times", [[0, 1], [-3, -4]], at_least=0)
    with pytest.raises(
        ArgumentError, match=r"^`sizes\[2\]` must be a whole number ≥ 1, got 1.5\.$"
    ):
        whole("sizes", [1, 2, 1.5])


def test_whole_numbers():
    assert whole("size", 3) == whole("size", 3.0) == 3
    assert whole("size", 0, at_least=0) == 0
    for bad in (0, -1):
        with pytest.raises(ArgumentError, match=rf"must be a whole number ≥ 1, got {bad}\."):
            whole("size", bad)


@pytest.mark.parametrize(
    "value",
    [1, 1.5, np.float32(1.5), np.int8(1), [1, 2], (1.0,), np.ones((2, 0)), [], np.ones((2, 3), ">f4"),
     jnp.ones(2), jnp.ones(2, jnp.bfloat16), np.float16(1)],
    ids=repr,
)  # fmt: skip
def test_numbers_and_arrays_of_any_kind_and_shape(value):
    found = real("x", value, above=0)
    assert found.dtype == np.float64
    assert found.shape == np.shape(value)
    assert np.array_equal(found, np.asarray(value, np.float64))


def test_does_not_share_memory_with_the_caller():
    mine = np.ones(3)
    found = real("x", mine)
    mine[0] = np.nan
    assert np.array_equal(found, np.ones(3))


@jax.jit
def at_least_half(x):
    return real("x", x, at_least=0.5)


@given(st.lists(st.floats(width=32), min_size=3, max_size=3))
def test_raises_outside_traces_exactly_where_it_is_nan_inside(values):
    inside = at_least_half(np.asarray(values, np.float32))
    valid = np.isfinite(values) & ~np.isnan(inside)
    try:
        outside = real("x", values, at_least=0.5)
    except ArgumentError:
        assert not np.all(valid)
    else:
        assert np.all(valid)
        assert np.array_equal(inside, outside)


@pytest.mark.parametrize("x64", [False, True])
def test_inside_traces_the_dtype_stays_and_whole_numbers_become_floats(x64):
    def check(x):
        return real("x", x, above=0, at_most=2)

    with jax.enable_x64(x64), jax.numpy_dtype_promotion("strict"):
        own = jnp.float64 if x64 else jnp.float32
        for dtype, expected in [(own, own), (jnp.bfloat16, jnp.bfloat16), (jnp.int32, own)]:
            found = jax.jit(check)(jnp.array([0, 1, 3], dtype))
            assert found.dtype == expected
            np.testing.assert_array_equal(found.astype(np.float32), [np.nan, 1, np.nan])


def test_lists_of_traced_numbers():
    found = jax.jit(lambda x: real("x", [x, 2.0], above=0))(-1.0)
    np.testing.assert_array_equal(found, [np.nan, 2])
    found = jax.vmap(lambda x: real("x", (x, 2 * x), above=0))(jnp.array([1.0, -1.0]))
    np.testing.assert_array_equal(found, [[1, 2], [np.nan, np.nan]])


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"a": x}])
def test_a_traced_dtype_is_known_and_checked(wrap):
    values = [True, 1j] if not isinstance(wrap(0), dict) else [1.0]
    for value in values:
        with pytest.raises(
            ArgumentError, match=r"^`x` must be a finite real number > 0, got .*Tracer"
        ):
            jax.jit(lambda x: real("x", wrap(x), above=0))(value)


@pytest.mark.parametrize("single", [number, count])
def test_a_single_number_known_now(single):
    assert single("size", 3) == 3
    for bad in ([3], np.ones((1, 1)), []):
        with pytest.raises(ArgumentError, match="`size` must be a single number that is known now"):
            single("size", bad)
    with pytest.raises(ArgumentError, match="`size` must be a single number that is known now"):
        jax.jit(lambda x: single("size", x))(3.0)


@pytest.mark.parametrize(
    "value", [np.zeros((50, 50)), "x" * 500, "a\nb", 10**5000, Unspeakable()], ids=range(5)
)
def test_messages_are_one_short_line(value):
    message = str(argument_error("x", "be small", value, "Make it small."))
    assert message.startswith("`x` must be small, got ")
    assert message.endswith(". Make it small.")
    assert len(message) < 130
    assert "\n" not in message


def test_flags_are_no_numbers_and_no_words():
    assert flag("centred", np.True_) is True
    for value in ("no", 0, 1.0, None, np.array([True])):
        with pytest.raises(ArgumentError, match=r"^`centred` must be True or False, got "):
            flag("centred", value)


def test_choices_are_named():
    assert choice("form", "b", {"a": 1, "b": 2}) == "b"
    for value in ("c", ["a"], None):
        with pytest.raises(ArgumentError, match=r"^`form` must be one of a, b, got "):
            choice("form", value, {"a": 1, "b": 2})


def test_items_of_what_can_be_listed():
    assert items("layers", iter([1, 2])) == (1, 2)
    for value in ("ab", {"a": 1}, 3.0, None, np.array(1.0)):
        with pytest.raises(
            ArgumentError, match=r"^`layers` must be a list, got .*\. Pass a list\.$"
        ):
            items("layers", value)


def test_shapes_fit_into_memory():
    assert shape("shape", [2, np.int64(3), 0]) == (2, 3, 0)
    with pytest.raises(ArgumentError, match=r"^`shape` must stand for at most 536870912 numbers"):
        shape("shape", (10**5, 10**5))
    with pytest.raises(ArgumentError, match=r"^`shape\[1\]` must be a whole number ≥ 0"):
        shape("shape", (2, -1))


def test_moderate_numbers_have_fourth_powers():
    assert moderate("weights", [-1e75, 1e75]).tolist() == [-1e75, 1e75]
    assert moderate("weights", 1e90, size=1e100) == 1e90
    with pytest.raises(
        ArgumentError, match=r"^`weights\[1\]` must be at most 1e\+75 in size, got 1e\+76"
    ):
        moderate("weights", [0.0, 1e76])
    with pytest.raises(ArgumentError, match=r"^`scale` must be a finite real number > 0, got 0\.0"):
        moderate("scale", 0.0, above=0)


def test_results_that_overflow_name_the_largest_argument():
    assert representable((1.0, None, np.inf), first=1.0) == (1.0, None, np.inf)
    with pytest.raises(ArgumentError, match=r"^`second` must be small enough .*size 1e\+200"):
        representable((1.0, [np.nan]), first=[1.0], second=([-1e200], 0.0), third=None)
