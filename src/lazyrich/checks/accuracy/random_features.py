"""Gram matrices of random features."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mp
from lazyrich.core import Comparison, accuracy

NORMS, CORRELATIONS = (1e-3, 1.0, 2.0**0.5, 50.0), (-1.0, -0.7, 0.0, 0.5, 0.99, 1 - 1e-9, 1.0)
SIZES = ((10, 2), (100, 30), (1000, 1000), (30, 4000), (10**6, 50))
RIDGES = (1e-6, 0.1, 100.0)


def _square(activation: str, s: Any) -> Any:
    """E σ(sZ)²."""
    return s**2 / 2 if activation == "relu" else 3 * s**4


def _product(activation: str, s: Any, rho: Any) -> Any:
    """E σ(sZ₁)σ(sZ₂): the arccosine kernel of degree 1, or Wick's theorem."""
    if activation == "quadratic":
        return s**4 * (1 + 2 * rho**2)
    angle = mp.acos(rho)
    return s**2 / (2 * mp.pi) * (mp.sin(angle) + (mp.pi - angle) * rho)


def _remaining(variance: Any, width: int, modes: int, ridge: Any) -> Any:
    """η m u/(Kc₁)², with the resolvent m of the Marchenko–Pastur law from its quadratic equation."""
    scale = width * variance
    z, q = ridge / scale, mp.mpf(modes) / width
    b = z + 1 - q
    m = 2 / (b + mp.sqrt(b**2 + 4 * q * z))
    return ridge * m * (m / (1 + q * m)) / scale**2


@accuracy(
    "theory.RandomFeatureGram.gradient_factor",
    "Entries of the Gram matrix of random features, and the gradient that ridge regression on it leaves",
    against="arccosine kernels, Wick's theorem, and the quadratic equation of the resolvent",
    grid="ReLU and x²; norms 1e-3, 1, √2, 50; ρ: −1, −0.7, 0, 0.5, 0.99, 1 − 1e-9, 1; (K, n) from (30, 4000) "
    "to (1e6, 50); η = 1e-6, 0.1, 100; b relative to a, a − b to itself; where a − b vanishes, relative to a "
    "for ρ = −1 (even activations), and for ρ = 1 to 2⁻⁵²a, so that it must be 0",
    seconds=4,
)
def gradient_factor() -> Iterator[Comparison]:
    """The attributes diagonal, off_diagonal, contrast and slope too."""
    for activation in ("relu", "quadratic"):
        for norm in NORMS:
            for rho in CORRELATIONS:
                found = theory.RandomFeatureGram(activation, norm, rho)
                s, c = mp.mpf(norm), mp.mpf(rho)
                a, b = _square(activation, s), _product(activation, s, c)
                slope = s**2 / 2 if activation == "relu" else 4 * s**4
                where = {"activation": activation, "norm": norm, "correlation": rho}
                yield Comparison(found.diagonal, a, where | {"part": "diagonal"})
                yield Comparison(found.off_diagonal, b, where | {"part": "off_diagonal"}, scale=a)
                vanishes = abs(a - b) < mp.mpf(10) ** -40 * a
                scale = (a if rho < 0 else a * mp.mpf(2) ** -52) if vanishes else None
                yield Comparison(found.contrast, a - b, where | {"part": "contrast"}, scale=scale)
                yield Comparison(found.slope, slope, where | {"part": "slope"})
                if 0 <= rho < 1:
                    yield from _factors(found, a - b, where)


def _factors(found: Any, contrast: Any, where: dict[str, Any]) -> Iterator[Comparison]:
    for (K, n), ridge in ((size, ridge) for size in SIZES for ridge in RIDGES):
        true = _remaining(contrast, K, n - 1, mp.mpf(ridge))
        part = where | {"width": K, "num_samples": n, "ridge": ridge}
        yield Comparison(found.gradient_factor(K, n, ridge), true, part)


@accuracy(
    "theory.RandomFeatureGram.coefficients",
    "Hermite coefficients of an activation",
    against="(l − 3)!!/√(2π l!) for ReLU; two coefficients for x²",
    grid="l < 128; norms 1e-3, 1, √2, 50; errors relative to the first coefficient",
    seconds=1,
)
def coefficients() -> Iterator[Comparison]:
    """ReLU has all even ones and l = 1."""
    order = np.arange(128)
    for norm in NORMS:
        for activation, exact in (
            ("relu", _relu_coefficient),
            ("quadratic", _quadratic_coefficient),
        ):
            values = theory.RandomFeatureGram(activation, norm).coefficients(128)
            where = {"norm": norm, "order": order}
            yield Comparison(values, exact, where, scale=exact(mp.mpf(norm), 0))


def _relu_coefficient(s: Any, order: int) -> Any:
    if order == 0:
        return s / mp.sqrt(2 * mp.pi)
    if order == 1:
        return s / 2
    if order % 2:
        return mp.mpf(0)
    sign = (-1) ** (order // 2 - 1)
    return sign * s * mp.fac2(order - 3) / mp.sqrt(2 * mp.pi * mp.factorial(order))


def _quadratic_coefficient(s: Any, order: int) -> Any:
    return {0: s**2, 2: mp.sqrt(2) * s**2}.get(order, mp.mpf(0))


@accuracy(
    "theory.PairFeatureGram.label_eigenvalue",
    "Eigenvalues of the Gram matrix on pairs of symbols, and the gradient that remains",
    against="arccosine kernels, Wick's theorem, and the quadratic equation of the resolvent",
    grid="ReLU and x²; M = 2, 7, 97, 1e4; scales 1e-3, 1, 50; K = 100, 1e5; η = 1e-6, 0.1, 100",
    also=("theory.PairFeatureGram.symbol_eigenvalue", "theory.PairFeatureGram.gradient_factor"),
    seconds=2,
)
def pairs() -> Iterator[Comparison]:
    """Inputs have length √2 and correlations of 0, ½ and 1."""
    for activation in ("relu", "quadratic"):
        for M, scale in ((M, scale) for M in (2, 7, 97, 10**4) for scale in (1e-3, 1.0, 50.0)):
            found = theory.PairFeatureGram(activation, M, scale)
            s = mp.sqrt(2) * mp.mpf(scale)
            none, one = (_product(activation, s, mp.mpf(rho)) for rho in (0.0, 0.5))
            label = _square(activation, s) - 2 * one + none
            where = {"activation": activation, "num_symbols": M, "initial_std": scale}
            yield Comparison(found.label_eigenvalue, label, where)
            yield Comparison(
                found.symbol_eigenvalue, label + M * (one - none), where | {"part": "symbol"}
            )
            for K, ridge in ((K, ridge) for K in (100, 10**5) for ridge in RIDGES):
                true = _remaining(label, K, (M - 1) ** 2, mp.mpf(ridge))
                part = where | {"width": K, "ridge": ridge}
                yield Comparison(found.gradient_factor(K, ridge), true, part)
