"""Covariances and Gaussian quadrature."""

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
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    grid = np.stack(np.meshgrid(*[x] * dimension, indexing="ij"), axis=-1)
    share = np.stack(np.meshgrid(*[w / w.sum()] * dimension, indexing="ij"), axis=-1)
    return grid.reshape(-1, dimension), share.reshape(-1, dimension).prod(axis=1)


def axis_nodes(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Two points on each axis whose means are exact for polynomials of degree 3, in any dimension."""
    points = np.sqrt(dimension) * np.concatenate([np.eye(dimension), -np.eye(dimension)])
    return points, np.full(2 * dimension, 0.5 / dimension)
