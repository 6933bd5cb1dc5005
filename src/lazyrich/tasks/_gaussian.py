"""Covariances and quadrature over normal laws."""

from typing import Any

import numpy as np

from lazyrich.core import covariance_spectrum

MOST_INPUTS = 10_000
"""Inputs up to which a covariance is made from their number: a gigabyte."""


def covariance_root(covariance: Any) -> np.ndarray:
    """The symmetric square root of a covariance, which may be singular."""
    values, vectors = covariance_spectrum(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def normal_nodes(nodes: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss–Hermite points, shape (points, dimension), and weights of the standard normal law."""
    return _product(*np.polynomial.hermite_e.hermegauss(nodes), dimension)


def even_nodes(nodes: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    r"""As many points at equal distances up to ±L, weighted by the normal density.

    Functions with poles at ±ia, as tanh and the sigmoid have, are averaged with an error of
    $e^{-2\pi a/h} = e^{-\pi a n/L}$ from the distance h = 2L/n, and of $e^{-L^2/2}$ from what lies beyond L.
    Both are equal at $L^3 = 2\pi a n$; a = π/4 is that of tanh 2x. Gauss–Hermite nodes lie as far out as
    2√n and are as sparse as π/√n, and are right to $e^{-2a\sqrt n}$ only.
    """
    reach = np.cbrt(np.pi**2 / 2 * nodes)
    x = np.linspace(-reach, reach, nodes)
    return _product(x, np.exp(-(x**2) / 2), dimension)


def _product(x: np.ndarray, w: np.ndarray, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    grid = np.stack(np.meshgrid(*[x] * dimension, indexing="ij"), axis=-1)
    share = np.stack(np.meshgrid(*[w / w.sum()] * dimension, indexing="ij"), axis=-1)
    return grid.reshape(-1, dimension), share.reshape(-1, dimension).prod(axis=1)


def axis_nodes(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Two points on each axis whose means are exact for polynomials of degree 3, in any dimension."""
    points = np.sqrt(dimension) * np.concatenate([np.eye(dimension), -np.eye(dimension)])
    return points, np.full(2 * dimension, 0.5 / dimension)
