"""Draws are JAX's, bit for bit, and shapes share what is compiled and what was drawn."""

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError, _random, permutation, standard_normal, standard_uniform

SHAPES = [(), (101, 5), (3, 30001)]


@pytest.fixture
def forgotten():
    _random._kept.clear()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("draw", "plain"),
    [(standard_normal, jax.random.normal), (standard_uniform, jax.random.uniform)],
)
def test_draws_are_those_of_jax(draw, plain, shape, forgotten):
    key = jax.random.key(3)
    with jax.enable_x64(True):
        expected = np.asarray(plain(key, shape, dtype=float))
    for _ in range(2):  # the second time from what is kept
        np.testing.assert_array_equal(draw(key, shape), expected, strict=True)


def test_a_longer_draw_continues_a_shorter_one(forgotten):
    key, size = jax.random.key(5), _random.BLOCK
    short, long = standard_normal(key, (10,)), standard_normal(key, (2 * size + 7,))
    _random._kept.clear()
    np.testing.assert_array_equal(long, standard_normal(key, (2 * size + 7,)))
    np.testing.assert_array_equal(long[:10], short)


@pytest.mark.parametrize("size", [1, 289, 1626])  # from 1626 on it sorts twice
def test_permutations_are_those_of_jax(size):
    key = jax.random.key(size)
    np.testing.assert_array_equal(permutation(key, size), jax.random.permutation(key, size))


def test_keys_of_another_kind_draw_as_jax_does():
    key = jax.random.key(1, impl="rbg")
    with jax.enable_x64(True):
        expected = np.asarray(jax.random.normal(key, (5,), dtype=float))
    np.testing.assert_array_equal(standard_normal(key, (5,)), expected)
    np.testing.assert_array_equal(permutation(key, 9), jax.random.permutation(key, 9))


def test_draws_in_a_trace_have_its_dtype():
    for draw in (standard_normal, standard_uniform):
        drawn = jax.jit(lambda key, draw=draw: draw(key, (2,)))(jax.random.key(0))
        assert drawn.dtype == np.float32


def test_what_is_kept_is_bounded_and_cannot_be_changed(forgotten, monkeypatch):
    monkeypatch.setattr(_random, "MOST", 2 * _random.BLOCK)
    first = standard_normal(jax.random.key(0), (4,))
    for seed in range(1, 5):
        standard_normal(jax.random.key(seed), (4,))
    assert len(_random._kept) == 2
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0
    standard_normal(jax.random.key(9), (3 * _random.BLOCK,))  # too long to be kept
    assert not _random._kept


@pytest.mark.parametrize(
    "key", [0, None, np.zeros(2, np.uint32), jax.random.split(jax.random.key(0))]
)
@pytest.mark.parametrize("draw", [standard_normal, standard_uniform, permutation])
def test_what_is_no_key_is_refused(draw, key):
    with pytest.raises(ArgumentError, match="`key` must be a random key"):
        draw(key, 3 if draw is permutation else (3,))
