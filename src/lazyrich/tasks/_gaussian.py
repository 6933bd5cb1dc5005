"""Covariances and Gaussian quadrature."""

from typing import Any

import numpy as np

from lazyrich.core import covariance_spectrum


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
