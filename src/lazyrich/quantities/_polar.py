"""The orthogonal part of a matrix: what the Muon optimiser makes of a gradient."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, is_traced, real


def polar_factor(matrix: Any) -> Any:
    r"""The matrix with all its singular values set to one.

    $$ G = U D V^\top, \qquad \hat G = U V^\top = G (G^\top G)^{-1/2} $$

    Symbols:
        $G$ → `matrix`.

    Source:
        li2, Sec. 5.3, Eq. 35, Lemma 9.

    Holds when:
        always. Where G lacks rank, directions with singular value zero stay zero, the limit of
        $G(G^\top G + \epsilon^2 I)^{-1/2}$: an orthogonal completion would be arbitrary, and would move
        weights that have no gradient.

    Computed as:
        a singular value decomposition; singular values below max(rows, columns) · ε of the largest count
        as zero, with ε the machine precision.

    Checked by:
        checks `li2/lemma2`, `li2/eq35`; `tests/quantities/test_polar_factor.py`.

    Args:
        matrix: one matrix or several, shape (..., rows, columns).

    Returns:
        Matrices of the same shape. A matrix of zeros stays zero.

    Example:
        >>> import numpy as np
        >>> from lazyrich.quantities import polar_factor
        >>> polar_factor(np.diag([3.0, -0.5])).round(12)
        array([[ 1.,  0.],
               [ 0., -1.]])
    """
    matrix = real("matrix", matrix, advice="Pass a gradient without NaN.")
    if np.ndim(matrix) < 2 or 0 in np.shape(matrix)[-2:]:
        raise argument_error(
            "matrix", "have the shape (..., rows, columns) with at least one of each",
            np.shape(matrix), "Give a vector a second axis.",
        )  # fmt: skip
    if is_traced(matrix):
        return compute(orthogonalised, matrix)
    return orthogonalised(matrix, np)  # nothing to compile


def orthogonalised(matrix: Any, xp: Any = jnp) -> Any:
    """`polar_factor` for use inside other formulas: no checks, any dtype."""
    size = xp.max(xp.abs(matrix), axis=(-2, -1), keepdims=True)
    scaled = matrix / xp.where(
        size > 0, size, 1
    )  # the decomposition would overflow on huge matrices
    U, D, Vt = xp.linalg.svd(scaled, full_matrices=False)
    cut = max(matrix.shape[-2:]) * xp.finfo(matrix.dtype).eps * D[..., :1]
    return xp.where((cut < D)[..., None, :], U, 0) @ Vt
