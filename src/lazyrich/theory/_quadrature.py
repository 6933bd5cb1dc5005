"""Gauss–Legendre quadrature on panels."""

import functools

import numpy as np


@functools.cache
def legendre(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [−1, 1]; they are shared, so they cannot be written to."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def panels(edges: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on all panels between edges, which are the last axis of `edges`."""
    x, w = legendre(order)
    left, half = edges[..., :-1, None], np.diff(edges)[..., None] / 2
    nodes, weights = left + half * (1 + x), half * w
    return nodes.reshape(*edges.shape[:-1], -1), weights.reshape(*edges.shape[:-1], -1)


def normal_panels(edges: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """The same for means over a standard normal number: the weights hold its density."""
    nodes, weights = panels(edges, order)
    return nodes, weights * np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi)
