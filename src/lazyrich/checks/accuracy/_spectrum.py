"""Means over the Marchenko–Pastur law by Gauss–Legendre panels at 50 digits.

With ν = λ₋ + 4√λ sin²φ the density in Eq. 6 of linear-grokking times dν is (4/π) sin²(2φ)/ν dφ, 0 < φ < π/2.
Panels grow threefold from the smallest scale on which the integrand varies.
"""

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from lazyrich.checks.accuracy._grid import mp

ORDER = 32
"""Nodes on each panel: singularities lie at φ = 0 on the imaginary axis, so each gives 15 digits and more."""


def edges(ratio: Any) -> tuple[Any, Any]:
    """Smallest and largest eigenvalue of the bulk."""
    return (1 - mp.sqrt(ratio)) ** 2, (1 + mp.sqrt(ratio)) ** 2


def atom(ratio: Any) -> Any:
    """Weight of the eigenvalue 0."""
    return max(1 - 1 / ratio, mp.mpf(0))


def bulk_mean(
    ratio: Any, function: Callable[[Any, Any], Any], *scales: Any, largest: Any = None
) -> Any:
    """The bulk's part of E[f(ν)], or of several f at once.

    Args:
        ratio: λ.
        function: of ν − λ₋ and ν, returns a tuple of numbers.
        *scales: of ν − λ₋ on which f varies; the distance to the pole of 1/ν is known.
        largest: beyond this ν − λ₋ f is too small to count.
    """
    sums: list[Any] = []
    for distance, nu, weight in _nodes(ratio, _start(ratio, scales)):
        if largest is not None and distance > largest:
            continue
        terms = [weight * term for term in function(distance, nu)]
        sums = [a + b for a, b in zip(sums, terms, strict=True)] if sums else terms
    return tuple(sums)


def _start(ratio: Any, scales: Iterable[Any]) -> int:
    """The first panel ends at 3^start: a third of the smallest angle that matters."""
    angles = [mp.sqrt(scale / (4 * mp.sqrt(ratio))) for scale in scales if scale > 0]
    angles += [abs(mp.log(ratio)) / 4] if ratio != 1 else []
    return int(mp.floor(mp.log(min([mp.mpf(1), *angles]), 3))) - 1


@functools.lru_cache(maxsize=256)
def _nodes(ratio: Any, start: int) -> list[tuple[Any, Any, Any]]:
    """ν − λ₋, ν and weight at each node."""
    low, width = edges(ratio)[0], 4 * mp.sqrt(ratio)
    cuts = [mp.mpf(0), *(mp.mpf(3) ** k for k in range(start, 0)), mp.pi / 2]
    found = []
    for left, right in itertools.pairwise(cuts):
        for x, w in _legendre():
            phi = left + (right - left) * (1 + x) / 2
            distance = width * mp.sin(phi) ** 2
            weight = 4 / mp.pi * mp.sin(2 * phi) ** 2 / (low + distance) * w * (right - left) / 2
            found.append((distance, low + distance, weight))
    return found


@functools.cache
def _legendre() -> list[tuple[Any, Any]]:
    """Gauss–Legendre nodes and weights on [−1, 1] by Newton's iteration."""
    found = []
    for k in range(1, ORDER + 1):
        x = mp.cos(mp.pi * (k - mp.mpf(1) / 4) / (ORDER + mp.mpf(1) / 2))
        slope = mp.mpf(1)
        for _ in range(8):
            value, before = _polynomial(x)
            slope = ORDER * (x * value - before) / (x * x - 1)
            x = x - value / slope
        found.append((x, 2 / ((1 - x * x) * slope**2)))
    return found


def _polynomial(x: Any) -> tuple[Any, Any]:
    before, value = mp.mpf(1), x
    for n in range(1, ORDER):
        before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
    return value, before
