"""Starts of two-layer linear networks with a given imbalance between the layers."""

from typing import Any

import jax
import numpy as np

from lazyrich.core import AssumptionError, argument_error, count, real, standard_normal
from lazyrich.core._random import checked_key
from lazyrich.models._two_layer import TwoLayerWeights

MOST = 10_000
"""Inputs, units or outputs: rotations of so many take a gigabyte."""


def balanced_weights(
    key: Any,
    input_dimension: int,
    width: int,
    output_dimension: int,
    *,
    imbalance: Any = 0.0,
    scale: Any = 1.0,
) -> TwoLayerWeights:
    r"""Random weights that are exactly λ-balanced, with a product of a given size.

    $$ W_1 = U A R^\top, \quad W_2 = R B V^\top, \quad
       A_i^2, B_i^2 = \tfrac12\bigl(\sqrt{\lambda^2 + 4 S_i^2} \mp \lambda\bigr), \quad
       W_2W_2^\top - W_1^\top W_1 = \lambda I, \quad \lVert W_1W_2\rVert_F = \text{scale} $$

    U, S, V come from the singular value decomposition of a product of two Gaussian matrices, divided by its
    length; R is a random rotation. $W_2W_2^\top$ is at least λ on all p units, so that λ > 0 needs p ≤ c. In
    the same way λ < 0 needs p ≤ d. λ = 0 always exists.

    Source:
        layerwise, Eq. 14, App. F.2, after lazy-to-rich.

    Args:
        key: a random key.
        input_dimension: d.
        width: p, the number of units.
        output_dimension: c.
        imbalance: λ, positive for a heavier second layer; any shape.
        scale: Frobenius norm of $W_1W_2$, ≥ 0; any shape that broadcasts against `imbalance`.

    Returns:
        Weights, with the common shape of `imbalance` and `scale` in front: all share their directions.

    Raises:
        AssumptionError: where no such weights exist.

    Example:
        >>> import jax, numpy as np
        >>> from lazyrich.models import balanced_weights
        >>> first, second = balanced_weights(jax.random.key(0), 4, 2, 2, imbalance=-3.0, scale=5.0)
        >>> (second @ second.T - first.T @ first).round(12) + 0.0
        array([[-3.,  0.],
               [ 0., -3.]])
        >>> np.linalg.norm(first @ second).round(12)
        np.float64(5.0)
    """
    d, p, c = (
        count(name, value, at_most=MOST, advice="Pass a size.")
        for name, value in (
            ("input_dimension", input_dimension),
            ("width", width),
            ("output_dimension", output_dimension),
        )
    )
    lam = real("imbalance", imbalance, advice="Use 0 for balanced layers.")
    size = real("scale", scale, at_least=0, advice="Pass the norm of the product.")
    lam, size = _broadcast(lam, size)
    _check_existence(lam, d, p, c)
    U, S, V, R = _directions(key, d, p, c)
    S = size[..., None] * S
    a, b = (_layer_values(sign * lam[..., None], S, p) for sign in (-1, 1))
    return TwoLayerWeights(
        _with_columns(U, a, p) @ R.T, R @ np.swapaxes(_with_columns(V, b, p), -1, -2)
    )


def symmetrised(weights: TwoLayerWeights) -> TwoLayerWeights:
    r"""Each unit twice, with opposite outgoing weights: the network's outputs are zero.

    $$ W_1 = (U, U), \qquad W_2 = \begin{pmatrix} V \\ -V \end{pmatrix} $$

    Args:
        weights: U, shape (..., N_u, units), and V, shape (..., units, outputs); of any activation. Those of
            an `MLP` of two layers are `TwoLayerWeights(*weights.matrices)`.

    Returns:
        Twice as many units, and twice the tangent kernel.

    Source:
        layerwise, App. F.4.

    Example:
        >>> import numpy as np
        >>> from lazyrich.models import TwoLayerWeights, symmetrised
        >>> both = symmetrised(TwoLayerWeights(np.ones((3, 2)), np.ones((2, 1))))
        >>> both.first.shape, both.first @ both.second
        ((3, 4), array([[0.],
               [0.],
               [0.]]))
    """
    if hasattr(weights, "matrices"):
        raise argument_error(
            "weights", "be the two layers alone", type(weights).__name__,
            "Pass `TwoLayerWeights(*weights.matrices)` of two layers; a last bias would have to be 0.",
        )  # fmt: skip
    if not isinstance(weights, tuple) or len(weights) != 2:
        raise argument_error("weights", "be the two layers", weights, "Pass `TwoLayerWeights`.")
    first = real("weights[0]", weights[0], advice="Pass the first layer, shape (inputs, units).")
    second = real("weights[1]", weights[1], advice="Pass the second, shape (units, outputs).")
    if first.ndim < 2 or second.shape[:-1] != (*first.shape[:-2], first.shape[-1]):
        raise argument_error(
            "weights", "have the shapes (inputs, units) and (units, outputs)",
            (first.shape, second.shape),
        )  # fmt: skip
    return TwoLayerWeights(
        np.concatenate([first, first], axis=-1), np.concatenate([second, -second], axis=-2)
    )


def _broadcast(lam: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    try:
        both = np.broadcast_arrays(lam, size)
    except ValueError:
        raise argument_error(
            "scale", f"have a shape that broadcasts against {lam.shape}, that of `imbalance`",
            size.shape, "Add axes of length 1.",
        ) from None  # fmt: skip
    return both[0], both[1]


def _check_existence(lam: np.ndarray, d: int, p: int, c: int) -> None:
    for wrong, name, other, size in (
        (np.max(lam, initial=0), "second", "outputs", c),
        (np.min(lam, initial=0), "first", "inputs", d),
    ):
        if wrong and p > size:
            raise AssumptionError(
                f"No weights are balanced with λ = {wrong:g} at a width of {p} with {size} {other}: the "
                f"{name} layer would have to reach {p} units with a rank of at most {size}. Take a width "
                f"of at most {size}, λ = 0, or the other sign."
            )


def _directions(key: Any, d: int, p: int, c: int) -> tuple[np.ndarray, ...]:
    """Singular vectors and values, of length 1, of a product of Gaussian matrices; a random rotation."""
    keys = jax.random.split(checked_key(key), 3)
    shapes = ((d, p), (p, c), (p, p))
    G1, G2, G3 = (standard_normal(k, shape) for k, shape in zip(keys, shapes, strict=True))
    U, S, Vt = np.linalg.svd(G1 @ G2)
    S = S[:p]
    Q, T = np.linalg.qr(G3)
    return U, S / np.linalg.norm(S), Vt.T, Q * np.sign(np.diag(T))


def _layer_values(lam: np.ndarray, S: np.ndarray, p: int) -> np.ndarray:
    """√((√(λ² + 4S²) + λ)/2) for each of p units, without cancellation; √λ for units beyond the product."""
    whole = np.zeros((*S.shape[:-1], p))
    whole[..., : S.shape[-1]] = S
    root = np.hypot(lam, 2 * whole)
    share = np.divide(2 * whole, root - lam, out=np.zeros_like(whole), where=lam < 0)
    return np.sqrt(np.where(lam < 0, whole * share, (root + lam) / 2))


def _with_columns(vectors: np.ndarray, values: np.ndarray, p: int) -> np.ndarray:
    """The first p columns times values; zeros where there are fewer columns."""
    size = min(vectors.shape[1], p)
    columns = np.zeros((*values.shape[:-1], vectors.shape[0], p))
    columns[..., :size] = vectors[:, :size] * values[..., None, :size]
    return columns
