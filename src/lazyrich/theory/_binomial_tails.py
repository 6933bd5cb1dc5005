"""Both tails of a binomial distribution, with all their digits for any number of trials.

The incomplete beta functions of JAX and SciPy take differences of logarithms of Γ(D), of size D log D: of a
thousand million trials they have six or eight digits. Here nothing large is subtracted.
"""

from typing import Any

import jax
import jax.numpy as jnp

STIRLING = (
    0.08106146679532726, 0.0413406959554093, 0.027677925684998338, 0.020790672103765093,
    0.016644691189821193, 0.013876128823070748, 0.01189670994589177, 0.010411265261972096,
    0.009255462182712733, 0.00833056343336287, 0.00757367548795184, 0.006942840107209530,
    0.006408994188004207, 0.005951370112758848, 0.005554733551962801,
)  # fmt: skip
"""What Stirling's formula lacks to log n! for n = 1, ..., 15."""
SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
"""The same for larger n: coefficients of 1/n, 1/n³, ..."""
NEAR, TERMS = 0.1, 9
"""Relative difference below which x log(x/m) + m − x is summed as a series, and its length."""


def binomial_tails(trials: Any, chance: Any, needed: Any) -> tuple[Any, Any]:
    """P(Bin(D, p) ≥ c) and P(Bin(D, p) < c) for whole D and c and 0 < p ≤ 1; differentiable in p."""
    D, p, c = jnp.broadcast_arrays(trials, chance, needed)
    is_open = (c >= 1) & (c <= D) & (p < 1)
    inside = jnp.where(is_open, D, 2.0), jnp.where(is_open, p, 0.5), jnp.where(is_open, c, 1.0)
    upper, lower = _tails(*inside)
    is_certain = c <= D  # no success is needed, or each trial is one
    return (
        jnp.where(is_open, upper, jnp.where(is_certain, 1.0, 0.0)),
        jnp.where(is_open, lower, jnp.where(is_certain, 0.0, 1.0)),
    )


@jax.custom_jvp
def _tails(D: Any, p: Any, c: Any) -> tuple[Any, Any]:
    """For 1 ≤ c ≤ D and p < 1: the smaller tail as its largest term times a sum of positive ones."""
    odds, is_upper = p / (1 - p), c >= D * p
    first = chance_of(D, p, c)
    below = first * c / ((D - c + 1) * odds)  # of c − 1 successes
    many = jnp.where(is_upper, D - c, c - 1)
    few = jnp.where(is_upper, c + 1, D - c + 2)
    tail = jnp.where(is_upper, first, below) * _sum(many, few, jnp.where(is_upper, odds, 1 / odds))
    return jnp.where(is_upper, tail, 1 - tail), jnp.where(is_upper, 1 - tail, tail)


@_tails.defjvp
def _derivative(primals: Any, tangents: Any) -> Any:
    D, p, c = primals
    slope = c / p * chance_of(D, p, c) * tangents[1]  # D and c are whole: no derivative
    return _tails(D, p, c), (slope, -slope)


def _sum(many: Any, few: Any, odds: Any) -> Any:
    """1 + a r/b + a(a − 1) r²/b(b + 1) + …, until terms are rounding."""

    def more(state: Any) -> Any:
        _, term, total = state
        return jnp.any(term > jnp.finfo(total.dtype).eps / 8 * total)

    def add(state: Any) -> Any:
        i, term, total = state
        term = term * jnp.maximum(many - i, 0) / (few + i) * odds
        return i + 1, term, total + term

    one = jnp.ones_like(many * odds)
    return jax.lax.while_loop(more, add, (jnp.zeros((), one.dtype), one, one))[2]


def chance_of(D: Any, p: Any, k: Any) -> Any:
    """P(Bin(D, p) = k) for 1 ≤ k ≤ D and p < 1, after Loader: deviances from the mean, no Γ function."""
    rest = jnp.where(k < D, D - k, 1.0)
    exponent = _stirling(D) - _stirling(k) - _stirling(rest)
    exponent = exponent - _deviance(k, D * p) - _deviance(rest, D * (1 - p))
    inner = jnp.exp(exponent) * jnp.sqrt(D / (2 * jnp.pi * k * rest))
    return jnp.where(k < D, inner, p**D)


def _stirling(n: Any) -> Any:
    """What Stirling's √(2πn) (n/e)ⁿ lacks to n!, as a logarithm, for n ≥ 1."""
    table = jnp.asarray(STIRLING, n.dtype)
    small = table[jnp.clip(n, 1, len(STIRLING)).astype(int) - 1]
    square = 1 / jnp.maximum(n, len(STIRLING)) ** 2
    total = jnp.zeros_like(n)
    for coefficient in reversed(SERIES):
        total = total * square + coefficient
    return jnp.where(n <= len(STIRLING), small, total * jnp.sqrt(square))


def _deviance(x: Any, m: Any) -> Any:
    """The deviance x log(x/m) + m − x for x > 0, m > 0."""
    share = (x - m) / (x + m)  # v; log(x/m) = 2 artanh v, so that the sum begins with (x − m) v
    is_near = jnp.abs(share) < NEAR
    v = jnp.where(is_near, share, 0.0)
    total = jnp.zeros_like(v)
    for j in range(TERMS, 0, -1):
        total = total * v * v + 1 / (2 * j + 1)
    near = (x - m) * v + 2 * x * v**3 * total
    far = x * jnp.log(jnp.where(is_near, 1.0, x) / jnp.where(is_near, 1.0, m)) + m - x
    return jnp.where(is_near, near, far)
