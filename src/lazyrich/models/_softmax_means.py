"""Means of tokens under a softmax, with a derivative that needs no second look at the scores."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

BLOCK = 256
"""Samples at a time: their scores stay in the processor's cache."""
MOST_ENTRIES = 8
"""Of a token, up to which its second moments are fewer than what automatic differentiation keeps."""


def softmax_means(tokens: Any, directions: Any) -> Any:
    r"""$\bar x_h = \sum_t p_{ht} x_t$ with $p_{ht} \propto e^{d_h \cdot x_t}$, for each sample.

    The derivative is the covariance of the tokens under p: $\mathrm{d}\bar x = (\overline{xx^\top} - \bar x
    \bar x^\top)\, \mathrm{d}d$. First and second moments come from one product of the exponentials with the
    tokens' entries and their products, block by block, so that no array of samples × heads × tokens is
    ever written to memory.

    Args:
        tokens: x, shape (samples, tokens, entries).
        directions: d, shape (samples, heads, entries).

    Returns:
        Means, shape (samples, heads, entries).
    """
    if tokens.shape[-1] > MOST_ENTRIES:
        return _plain(tokens, directions)
    return _means(tokens, directions)


def _plain(tokens: Any, directions: Any) -> Any:
    shares = jax.nn.softmax(jnp.einsum("nta,nha->nht", tokens, directions))
    return jnp.einsum("nht,nta->nha", shares, tokens)


@jax.custom_jvp
def _means(tokens: Any, directions: Any) -> Any:
    return _plain(tokens, directions)


def _derivative(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    tokens, directions = primals
    moved, turned = tangents
    if not isinstance(moved, jax.custom_derivatives.SymbolicZero):  # who varies data, not weights
        turned = jnp.zeros_like(directions) if _is_zero(turned) else turned
        return jax.jvp(_plain, primals, (moved, turned))
    mean, square = _moments(tokens, directions)
    if _is_zero(turned):
        return mean, jnp.zeros_like(mean)
    # entry by entry, which is one pass over memory; the matrices themselves would be three
    _, _, place = _pairs(tokens.shape[-1])
    along = jnp.sum(mean * turned, axis=-1)
    products = [sum(square[..., k] * turned[..., b] for b, k in enumerate(row)) for row in place]
    return mean, jnp.stack(products, axis=-1) - mean * along[..., None]


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, jax.custom_derivatives.SymbolicZero)


_means.defjvp(_derivative, symbolic_zeros=True)


def _pairs(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs a ≤ b of entries, and the number of the pair (a, b), shape (entries, entries)."""
    rows, columns = np.triu_indices(size)
    place = np.zeros((size, size), int)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    return rows, columns, place


def _moments(tokens: Any, directions: Any) -> tuple[Any, Any]:
    """Means of entries and of products of pairs, shapes (samples, heads, entries), (…, pairs)."""
    rows, columns, _ = _pairs(tokens.shape[-1])

    def one(sample: tuple[Any, Any]) -> Any:
        x, d = sample
        scores = d @ x.T  # (heads, tokens)
        grown = jnp.exp(scores - jax.lax.stop_gradient(scores.max(axis=-1, keepdims=True)))
        return grown @ jnp.concatenate([jnp.ones_like(x[:, :1]), x, x[:, rows] * x[:, columns]], 1)

    sums = jax.lax.map(one, (tokens, directions), batch_size=BLOCK)
    mean, square = jnp.split(sums[..., 1:] / sums[..., :1], [tokens.shape[-1]], axis=-1)
    return mean, square
