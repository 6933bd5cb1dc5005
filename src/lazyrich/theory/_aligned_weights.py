"""Whether the weights of a linear network are balanced and aligned with its task."""

import functools
import itertools
from typing import Any

import numpy as np

from lazyrich.core import AssumptionError, argument_error
from lazyrich.theory._linear_task import require_balanced, require_whitened

MIXTURE = 0.3819660112501051
"""How much of the network is added to the task to find vectors that both share where singular values repeat;
an irrational share, so that sums of their singular values do not happen to coincide."""


def aligned_modes(
    correlation: np.ndarray, layers: list[np.ndarray], covariance: Any, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left vectors, strengths of the product's modes and right vectors, largest singular value first.

    Here `correlation` is E[xyᵀ], as the product of the weights.
    """
    _check_layers(correlation, layers)
    require_whitened(covariance, correlation.shape[0], tolerance)
    require_balanced(layers, tolerance)
    product = functools.reduce(np.matmul, layers)
    U, V = _shared_vectors(correlation, product)
    strengths = np.einsum("im,ij,jm->m", U, product, V)
    for name, matrix in (("product", product), ("correlation", correlation)):
        kept = (U * np.einsum("im,ij,jm->m", U, matrix, V)) @ V.T
        size = np.abs(matrix).max()
        off = np.abs(kept - matrix).max() / size if size > 0 else 0.0
        if off > tolerance:
            raise AssumptionError(
                f"Weights must be aligned with the task: the product and the correlation need the same "
                f"singular vectors, but a share {off:.2g} of the {name} lies off their diagonal (tolerance "
                f"{tolerance:g}). Train from smaller weights first, or use an aligned start."
            )
    lowest = strengths.min() / max(np.abs(strengths).max(), 1e-300)
    if lowest < -tolerance:
        raise AssumptionError(
            f"Weights must be aligned with the task: a mode of the product is opposite to it, at "
            f"{lowest:.2g} of the largest one. Such modes never get through zero; `DiagonalNetwork` with "
            "a = −b has them."
        )
    return U, np.maximum(strengths, 0.0), V


def _shared_vectors(C: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular vectors of both, if they share any; signs and order such that C has its usual ones."""
    size = np.linalg.norm(W)
    mixed = C / np.linalg.norm(C) + (MIXTURE * W / size if size > 0 else 0)
    U, _, Vt = np.linalg.svd(mixed, full_matrices=False)
    rho = np.einsum("im,ij,mj->m", U, C, Vt)
    order = np.argsort(-np.abs(rho), kind="stable")
    return U[:, order], Vt[order].T * np.where(rho[order] < 0, -1.0, 1.0)


def _check_layers(correlation: np.ndarray, layers: list[np.ndarray]) -> None:
    if len(layers) < 2:
        raise argument_error("weights", "hold at least two layers", len(layers))
    shapes = [layer.shape for layer in layers]
    matrices = all(len(shape) == 2 for shape in shapes)
    chained = matrices and all(a[1] == b[0] for a, b in itertools.pairwise(shapes))
    if not chained or (shapes[0][0], shapes[-1][1]) != correlation.shape:
        raise argument_error(
            "weights",
            f"be matrices whose product has the shape {correlation.shape} of `correlation` transposed",
            shapes, "The first has a row for each input.",
        )  # fmt: skip
