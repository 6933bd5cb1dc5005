"""Sums over infinitely many skills whose frequencies follow a power law."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from lazyrich.theory._quadrature import legendre

DIRECT, BLOCK = 1024, 64
"""Skills that are summed one by one, at least, and how many at a time, which bounds memory."""
MOST_DIRECT = 2**17
"""Skills that are summed one by one, at most: a tenth of a second for every few times."""
PANELS, NODES = 32, 16
"""Gauss–Legendre panels of the tail's integral, and nodes in each."""
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def zeta(s: Any, q: Any) -> Any:
    r"""Hurwitz's $\zeta(s, q) = \sum_{k \ge 0} (q + k)^{-s}$ for s > 1, q ≥ 1, smooth in both.

    Sixteen terms and Euler–Maclaurin's series for the rest; JAX's own has no derivative in s.
    """
    s, q = jnp.broadcast_arrays(s, q)
    a, k = q + 16.0, jnp.arange(15, -1, -1, dtype=q.dtype).reshape(-1, *(1,) * q.ndim)
    total = jnp.sum((q + k) ** -s, axis=0) + a ** (1 - s) / (s - 1) + a**-s / 2
    term = s * a ** (-s - 1) / 2
    for j, number in enumerate(BERNOULLI):
        total = total + number * term
        n = 2 * j + 3.0
        term = term * (s + n - 2) * (s + n - 1) / (a * a * n * (n + 1))
    return total


def frequency(k: Any, exponent: Any) -> Any:
    """The share of skill k among all."""
    return k**-exponent / zeta(exponent, jnp.ones_like(exponent))


def skill_sum(
    exponent: Any, share: Callable[[Any], Any], fall: Callable[[Any], Any], low: Any, high: Any,
    direct: int = DIRECT,
) -> Any:  # fmt: skip
    r"""$\sum_{k=1}^\infty p_k h(p_k)$ for $p_k = k^{-\beta} / \zeta(\beta)$ and a smooth, falling h.

    The first terms one by one, the rest by Euler–Maclaurin's formula from half a step below. Its integral
    over k is one over p, by parts, as then only the narrow part matters in which h falls:

    $$ \int_a^\infty p\,h(p)\,dk = \frac{p_a a}{\alpha} \left[h(p_a) - \int_0^{p_a}
       (p/p_a)^{\alpha/(\alpha+1)} h'(p)\, dp\right], \qquad \alpha = \beta - 1 $$

    Args:
        exponent: β > 1.
        share: h.
        fall: −dh/dp.
        low: h is as good as constant below this p.
        high: h is as good as zero above this p.
        direct: skills that are summed one by one, a multiple of `BLOCK`. From one of the others to the next h
            must change little: by a factor of e over 24 or more of them.
    """
    beta = jnp.asarray(exponent)
    first = frequency(jnp.ones_like(beta), beta)

    def term(k: Any) -> Any:
        p = first * k**-beta
        return p * share(p)

    shape = jnp.broadcast_shapes(beta.shape, jnp.shape(low), jnp.shape(high))
    a = jnp.asarray(direct + 0.5, beta.dtype)
    # the formula's first and third derivatives, over 24 and −5760/7, from differences; the next term is
    # below 1e-12 of the sum
    one, three = (term(a + half) - term(a - half) for half in (0.5, 1.5))
    ends = (27 * one - three) / 576 - 7 * (three - 3 * one) / 5760
    alpha, top = beta - 1, jnp.maximum(first * a**-beta, jnp.finfo(beta.dtype).tiny)
    fallen = quadrature(
        lambda p: (p / top) ** (alpha / beta) * fall(p), low, jnp.minimum(high, top)
    )
    first_terms = _first_terms(term, shape, beta.dtype, direct)
    return first_terms + top * a / alpha * (share(top) + fallen) + ends


def _first_terms(
    term: Callable[[Any], Any], shape: tuple[int, ...], dtype: Any, direct: int
) -> Any:
    skills = jnp.arange(direct, 0, -1, dtype=dtype).reshape(-1, BLOCK)  # small terms first

    def add(total: Any, block: Any) -> Any:
        terms = term(block.reshape(-1, *(1,) * len(shape)))
        return total + jnp.sum(terms, axis=0), None

    return jax.lax.scan(add, jnp.zeros(shape, dtype), skills)[0]


def quadrature(density: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Integral from `low` to `high`, 0 if that is empty; the density may start like a root at 0.

    In the variable $p^{1/4}$, which makes such roots smooth.
    """
    points, weights = legendre(NODES)
    tiny = jnp.finfo(jnp.result_type(low, high)).tiny  # the root of 0 has no derivative
    left = jnp.maximum(low, tiny) ** 0.25
    width = (jnp.maximum(high, jnp.maximum(low, tiny)) ** 0.25 - left) / PANELS
    dtype = jnp.result_type(width)
    x, w = jnp.asarray((points + 1) / 2, dtype), jnp.asarray(weights / 2, dtype)
    x, w = (v.reshape(-1, *(1,) * jnp.ndim(width)) for v in (x, w))

    def add(total: Any, panel: Any) -> Any:
        root = left + (panel + x) * width
        values = density(root**4) * 4 * root**3
        return total + jnp.sum(w * values, axis=0) * width, None

    return jax.lax.scan(add, jnp.zeros_like(width), jnp.arange(PANELS, dtype=dtype))[0]
