"""Softmax means of tokens: values and derivatives against automatic differentiation of the plain formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.models._softmax_means import BLOCK, MOST_ENTRIES, softmax_means


def plain(tokens, directions):
    shares = jax.nn.softmax(jnp.einsum("nta,nha->nht", tokens, directions))
    return jnp.einsum("nht,nta->nha", shares, tokens)


def case(samples, entries, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    x, d = rng.standard_normal((samples, 5, entries)), rng.standard_normal((samples, 2, entries))
    return jnp.asarray(x), jnp.asarray(scale * d), jnp.asarray(rng.standard_normal(d.shape))


@pytest.mark.parametrize(
    ("samples", "entries", "scale"),
    [(3, 3, 1.0), (BLOCK + 7, 2, 1.0), (4, MOST_ENTRIES, 1.0), (4, MOST_ENTRIES + 1, 1.0),
     (3, 3, 1e-9), (3, 3, 1e4)],
)  # fmt: skip
def test_values_and_gradients_are_those_of_the_plain_formula(samples, entries, scale):
    with jax.enable_x64(True):
        x, d, weights = case(samples, entries, scale)
        for argument in (0, 1):
            ours, theirs = (
                jax.value_and_grad(lambda x, d: jnp.sum(weights * f(x, d)), argument)(x, d)  # noqa: B023
                for f in (softmax_means, plain)
            )
            size = float(jnp.abs(theirs[1]).max())
            np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
            np.testing.assert_allclose(ours[1], theirs[1], atol=1e-12 * size + 1e-14)


def test_second_derivatives_and_both_modes():
    with jax.enable_x64(True):
        x, d, weights = case(2, 3)
        ours, theirs = (
            jax.hessian(lambda d: jnp.sum(weights * f(x, d)))(d)  # noqa: B023
            for f in (softmax_means, plain)
        )
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
        forward, backward = (mode(softmax_means, 1)(x, d) for mode in (jax.jacfwd, jax.jacrev))
        np.testing.assert_allclose(forward, backward, atol=1e-14)


def test_over_seeds_and_in_single_precision():
    x, d, _ = case(4, 3)
    both = jax.vmap(softmax_means)(jnp.stack([x, x + 1]), jnp.stack([d, d]))
    np.testing.assert_allclose(both[0], plain(x, d), rtol=1e-5, atol=1e-6)
    slope = jax.grad(lambda d: softmax_means(x.astype(jnp.float32), d).sum())(d.astype(jnp.float32))
    assert slope.dtype == jnp.float32
    # a shift of all tokens shifts their mean and changes no share
    np.testing.assert_allclose(both[1], both[0] + 1, rtol=1e-5, atol=1e-5)


def test_equal_tokens_leave_nothing_to_turn_to():
    with jax.enable_x64(True):
        x = jnp.ones((2, 5, 3))
        slope = jax.grad(lambda d: softmax_means(x, d).sum())(jnp.ones((2, 4, 3)))
        np.testing.assert_allclose(slope, 0, atol=1e-15)
