"""Covariances and Gaussian quadrature."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error


def covariance_root(covariance: Any) -> np.ndarray:
    """The symmetric square root of a covariance, which may be singular."""
    C = np.asarray(covariance)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or C.shape[0] == 0:
        raise argument_error("covariance", "have the shape (inputs, inputs)", C.shape)
    if not np.allclose(C, C.T, rtol=0, atol=1e-12 * np.abs(C).max()):
        raise argument_error("covariance", "be symmetric", C.tolist())
    values, vectors = np.linalg.eigh(C)
    if values[0] < -1e-12 * abs(values[-1]):
        raise argument_error(
            "covariance", "be positive semi-definite", f"the eigenvalue {values[0]:.3g}"
        )
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def normal_nodes(nodes: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss–Hermite points, shape (points, dimension), and weights of the standard normal law."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    grid = np.stack(np.meshgrid(*[x] * dimension, indexing="ij"), axis=-1)
    share = np.stack(np.meshgrid(*[w / w.sum()] * dimension, indexing="ij"), axis=-1)
    return grid.reshape(-1, dimension), share.reshape(-1, dimension).prod(axis=1)
