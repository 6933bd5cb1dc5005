"""Random draws at the precision that the design promises."""

import collections
import math
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32

from lazyrich.core._arguments import MAX_NUMBERS, count
from lazyrich.core._arguments import shape as checked_shape
from lazyrich.core._errors import argument_error
from lazyrich.core._precision import is_traced

BLOCK = 1 << 15
"""Draws at a time. Element i does not depend on how many are drawn: one size is compiled, for all shapes."""
MOST = 1 << 24
"""Numbers that are kept, 128 MB of them."""
ONE = np.float64(1).view(np.uint64)
"""The bits of 1; with 52 others in their place they are those of a number from 1 to 2."""


def standard_normal(key: Any, shape: tuple[int, ...]) -> Any:
    """Standard normal numbers: float64 NumPy, or in a trace an array of the user's default dtype."""
    checked_key(key)
    shape = checked_shape("shape", shape)
    if is_traced(key):
        return jax.random.normal(key, shape)
    if not _is_threefry(key):
        return _by_jax(jax.random.normal, key, shape)
    return _blocks(_normal_block, key, math.prod(shape)).reshape(shape)


def standard_uniform(key: Any, shape: tuple[int, ...]) -> Any:
    """Numbers between 0 and 1, 1 excluded: float64 NumPy, or in a trace of the user's default dtype."""
    checked_key(key)
    shape = checked_shape("shape", shape)
    if is_traced(key):
        return jax.random.uniform(key, shape)
    if not _is_threefry(key):
        return _by_jax(jax.random.uniform, key, shape)
    bits = _blocks(_bits_block, key, math.prod(shape)).reshape(shape)
    return (bits >> 12 | ONE).view(np.float64) - 1


def permutation(key: Any, size: int) -> np.ndarray:
    """The whole numbers below `size` in random order, those of `jax.random.permutation`; not in a trace."""
    checked_key(key)
    size = count("size", size, at_least=0, at_most=MAX_NUMBERS)
    if not _is_threefry(key):
        with jax.ensure_compile_time_eval():
            return np.asarray(jax.random.permutation(key, size))
    order = np.arange(size)
    # sorting by 32 random bits leaves ties; so many times over they do not matter
    for _ in range(math.ceil(3 * math.log(max(size, 1)) / math.log(2**32 - 1))):
        with jax.ensure_compile_time_eval():
            key, part = jax.random.split(key)
        bits = _blocks(_bits_block, part, size)
        order = order[np.argsort(((bits >> 32) ^ bits).astype(np.uint32), kind="stable")]
    return order


def checked_key(key: Any) -> Any:
    """The key, if it is a single one: JAX says little about what is none."""
    is_key = hasattr(key, "dtype") and jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    if not is_key or key.shape != ():
        raise argument_error("key", "be a random key", key, "Pass `jax.random.key(0)`.")
    return key


def _is_threefry(key: Any) -> bool:
    return str(jax.random.key_impl(key)) == "threefry2x32"


def _by_jax(draw: Any, key: Any, shape: tuple[int, ...]) -> np.ndarray:
    """For keys of other kinds than JAX's usual one; every shape is compiled."""
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        return np.asarray(draw(key, shape, dtype=float))


def _blocks(block: Any, key: Any, size: int) -> np.ndarray:
    """The first numbers of a key. Sweeps draw them again for every setting: the last ones are kept."""
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        words = np.asarray(jax.random.key_data(key))
        name = (block, words.tobytes())
        with _lock:
            drawn = _kept.pop(name, None)
        begin = 0 if drawn is None else drawn.size
        parts = [np.asarray(block(words, np.uint64(i))) for i in range(begin, max(size, 1), BLOCK)]
    if parts:
        drawn = np.concatenate(parts if drawn is None else [drawn, *parts])
        drawn.flags.writeable = False
    assert drawn is not None
    _keep(name, drawn)
    return drawn[:size]


_lock = threading.Lock()
_kept: collections.OrderedDict[Any, np.ndarray] = collections.OrderedDict()


def _keep(name: Any, drawn: np.ndarray) -> None:
    with _lock:
        _kept[name] = drawn
        while sum(kept.size for kept in _kept.values()) > MOST:
            _kept.popitem(last=False)


def _bits(words: Any, begin: Any) -> Any:
    """64 random bits of each of the draws from number `begin` on, as `jax.random` counts them."""
    counts = begin + jnp.arange(BLOCK, dtype=jnp.uint64)
    halves = jnp.concatenate([counts >> 32, counts & 0xFFFFFFFF]).astype(jnp.uint32)
    high, low = threefry_2x32(words, halves).reshape(2, BLOCK).astype(jnp.uint64)
    return high << 32 | low


def _normal(words: Any, begin: Any) -> Any:
    """As `jax.random.normal` makes them of bits: digits of a number from 1 to 2, moved to ±1."""
    digits = jax.lax.bitcast_convert_type(_bits(words, begin) >> 12 | ONE, jnp.float64) - 1
    least = np.nextafter(-1.0, 0.0)
    u = jnp.maximum(least, digits * (1 - least) + least)
    return np.sqrt(2) * jax.lax.erf_inv(u)


_bits_block, _normal_block = jax.jit(_bits), jax.jit(_normal)
