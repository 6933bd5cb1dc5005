"""Precision: float64 outside traces, the caller's dtype inside, and the user's settings untouched."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import ArgumentError, compute, is_traced


def third(x):
    return x / 3


def norm(tree):
    return jnp.sqrt(tree["a"] ** 2 + tree["b"][0] ** 2)


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


@pytest.fixture(params=["standard", "strict"])
def promotion(request):
    with jax.numpy_dtype_promotion(request.param):
        yield request.param


@pytest.mark.usefixtures("promotion")
@pytest.mark.parametrize(
    "value",
    [
        1,
        1.0,
        np.float32(1),
        np.int64(1),
        [1.0, 2.0],
        np.ones((2, 3), np.float32),
        jnp.ones(2),
        True,
    ],
)
def test_float64_whatever_the_setting_which_stays(x64, value):
    value = np.asarray(value) if isinstance(value, list) else value
    found = compute(third, value)
    assert isinstance(found, np.ndarray | np.generic)
    assert found.dtype == np.float64
    assert np.array_equal(found, np.asarray(value, np.float64) / 3)
    assert jax.config.jax_enable_x64 == x64
    assert jnp.asarray(1.0).dtype == (jnp.float64 if x64 else jnp.float32)


@pytest.mark.usefixtures("promotion")
@pytest.mark.parametrize(
    "transform", [jax.jit, jax.vmap, jax.jit(jax.vmap).__wrapped__, jax.checkpoint]
)
def test_inside_traces_the_callers_dtype(x64, transform):
    points = jnp.array([1.0, 2.0])
    found = transform(lambda x: compute(third, x))(points)
    assert found.dtype == points.dtype == (jnp.float64 if x64 else jnp.float32)
    np.testing.assert_allclose(found, np.array([1, 2]) / 3, rtol=1e-15 if x64 else 1e-7)


@pytest.mark.usefixtures("promotion")
def test_gradients(x64):
    slope = jax.grad(lambda x: compute(third, x))(2.0)
    assert slope.dtype == (jnp.float64 if x64 else jnp.float32)
    assert float(slope) == pytest.approx(1 / 3, rel=1e-15 if x64 else 1e-7)
    curve = jax.jit(jax.hessian(lambda x: compute(lambda y: y**3, x)))(2.0)
    assert float(curve) == pytest.approx(12)


@pytest.mark.usefixtures("promotion")
def test_traced_and_concrete_leaves_meet_in_the_widest_dtype_allowed(x64):
    def function(x):
        return compute(norm, {"a": x, "b": [np.float64(3)]})

    found = jax.jit(function)(jnp.float32(4))
    assert found.dtype == (jnp.float64 if x64 else jnp.float32)
    assert found == 5
    assert jax.jit(function)(jnp.bfloat16(4)).dtype == found.dtype


@pytest.mark.usefixtures("promotion")
def test_concrete_values_inside_traces_are_computed_at_once_in_float64(x64):
    seen = []

    def function(x):
        seen.append(compute(third, 1.0))
        return x * float(seen[-1])

    jax.jit(function)(1.0)
    jax.grad(function)(1.0)
    jax.vmap(function)(jnp.ones(2))
    jax.lax.map(function, jnp.ones(2))
    assert len(seen) >= 4
    assert all(isinstance(value, np.float64) and value == 1 / 3 for value in seen)
    assert jax.config.jax_enable_x64 == x64


@pytest.mark.usefixtures("promotion")
def test_loops_inside_loops():
    def doubled(x):
        return jax.lax.while_loop(lambda v: v < 10, lambda v: 2 * v, x)

    assert compute(doubled, 1.0) == 16
    assert jax.jit(lambda x: x * float(compute(doubled, 1.0)))(1.0) == 16
    carry, _ = jax.lax.scan(
        lambda c, x: (c + compute(doubled, x), None), 0.0, jnp.array([1.0, 3.0])
    )
    assert carry == 16 + 12


def test_results_keep_their_structure():
    found = compute(lambda x: {"sum": jnp.sum(x), "parts": (x, [x > 1])}, np.array([1.0, 2.0]))
    assert found["sum"] == 3
    assert found["parts"][1][0].dtype == bool
    assert all(isinstance(leaf, np.ndarray | np.generic) for leaf in jax.tree.leaves(found))


def test_without_a_jit():
    calls = []

    def function(x):
        calls.append(isinstance(x, jax.core.Tracer))
        return 2 * x

    assert compute(function, 1.5, jit=False) == compute(function, 1.5, jit=False) == 3
    assert calls == [False, False]
    assert compute(function, 1.5) == compute(function, 2.5) - 2 == 3
    assert calls == [False, False, True]  # compiled once


def test_complex_numbers_are_refused_and_not_cut():
    with pytest.raises(ArgumentError, match=r"`arguments` must be real numbers, got \(1\+2j\)"):
        compute(jnp.abs, 1 + 2j)
    with pytest.raises(ArgumentError, match=r"must be real numbers, got .*Tracer"):
        jax.jit(lambda z: compute(jnp.abs, z))(1 + 2j)


@pytest.mark.usefixtures("x64", "promotion")
def test_leaks_no_tracers():
    gc.collect()
    with jax.checking_leaks():
        jax.jit(lambda x: compute(third, x) + compute(third, 1.0).astype(x.dtype))(1.0)
        jax.vmap(lambda x: compute(norm, {"a": x, "b": [1.0]}))(jnp.ones(2))
        jax.grad(lambda x: compute(third, x))(1.0)
        compute(lambda x: x + 1, 1.0)


def test_an_error_inside_leaves_the_setting_alone(x64):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            compute(lambda x: 1 / 0, 1.0)
        assert jax.config.jax_enable_x64 == x64


def test_is_traced():
    assert not is_traced(1.0, jnp.ones(2), [np.ones(2), None], "words")
    seen = []
    jax.jit(lambda x: seen.append((is_traced(x), is_traced(1.0, {"a": [x]}), is_traced(2.0))))(1.0)
    assert seen == [(True, True, False)]
