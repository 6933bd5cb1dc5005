"""Linear networks that several checks share."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.checks.layerwise._instances import half_loss, slope, whitened

SHAPES = ((4, 3, 2), (3, 5, 3), (2, 4, 3))
"""Inputs, width and outputs."""


class Net(NamedTuple):
    """Samples of any covariance, layers, and the layers' gradients by differences."""

    X: Any
    Y: Any
    W1: Any
    W2: Any
    of_W1: Any
    of_W2: Any


def network(seed: int, shape: tuple[int, int, int]) -> Net:
    d, p, c = shape
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, d)) @ rng.standard_normal((d, d))
    Y, W1, W2 = (rng.standard_normal(size) for size in ((20, c), (d, p), (p, c)))
    of_W1 = slope(lambda W: half_loss(X @ W @ W2, Y), W1)
    of_W2 = slope(lambda W: half_loss(X @ W1 @ W, Y), W2)
    return Net(X, Y, W1, W2, of_W1, of_W2)


def networks() -> list[Net]:
    return [network(seed, shape) for seed, shape in enumerate(SHAPES)]


class Aligned(NamedTuple):
    """A whitened task and the start of App. C.4; `U` and `V` have orthonormal rows, as printed there."""

    X: Any
    Y: Any
    C: Any
    U: Any
    P: Any
    V: Any
    A: Any
    R: Any
    W1: Any
    W2: Any


def aligned(seed: int, shape: tuple[int, int, int], strengths: Any) -> Aligned:
    """Weights UᵀAR and RᵀAV; R has orthonormal rows, and p of them may be more than there are modes."""
    d, p, c = shape
    X, Y = whitened(seed, d, c)
    C = X.T @ Y / len(X)
    left, rho, V = np.linalg.svd(C, full_matrices=False)
    modes = rho.size
    A = np.diag(np.resize(strengths, modes))
    rng = np.random.default_rng(seed + 100)
    R = np.linalg.qr(rng.standard_normal((p, modes)))[0].T
    return Aligned(X, Y, C, left.T, np.diag(rho), V, A, R, left @ A @ R, R.T @ A @ V)


def aligned_cases() -> list[Aligned]:
    sizes = ([0.6, 0.3], [0.05, 0.02, 0.4], [1.5, 0.2])
    return [
        aligned(seed, shape, np.array(size))
        for seed, (shape, size) in enumerate(zip((*SHAPES,), sizes, strict=True))
    ]
