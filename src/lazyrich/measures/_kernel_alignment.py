"""Whether two kernels see the same similarities once means are taken out."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error, moderate, real, untraced
from lazyrich.measures._tangent_kernel import kernel_matrix
from lazyrich.quantities import kernel_distance


@untraced
def centred_alignment(kernel: Any, other: Any) -> Any:
    r"""The cosine between two kernels whose features are centred on the probe batch.

    $$ A = \frac{\langle HKH, HLH\rangle}{\lVert HKH\rVert_F \lVert HLH\rVert_F}, \qquad
       H = 1 - \tfrac1n \mathbf 1 \mathbf 1^\top $$

    Args:
        kernel: K, shape (..., n, n): a tangent kernel, or a record of them; or what `tangent_kernel` returns.
        other: L, the same, any leading shape that broadcasts: the first kernel, or `target_kernel(y)`.

    Returns:
        The alignment, 1 for kernels in proportion, between 0 and 1 for kernels without negative
        eigenvalues. A kernel that vanishes when centred is refused.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import centred_alignment, target_kernel
        >>> y = np.array([1.0, 1.0, -1.0, -1.0])
        >>> rich = np.eye(4) + 9 * np.outer(y, y)
        >>> round(float(centred_alignment(rich, target_kernel(y))), 4)
        0.9993
        >>> round(float(centred_alignment(np.eye(4), target_kernel(y))), 4)
        0.5774
    """
    return alignment_of(kernel, other, ("kernel", "other"))


def alignment_of(kernel: Any, other: Any, names: tuple[str, str]) -> Any:
    """`centred_alignment` of kernels that are, or come from, other arguments of the caller's."""
    K, L = _centred(names[0], kernel), _centred(names[1], other)
    if K.shape[-1] != L.shape[-1]:
        raise argument_error(
            names[1], f"have the shape (..., {K.shape[-1]}, {K.shape[-1]}) of `{names[0]}`", L.shape,
            "Take both on the same probe batch.",
        )  # fmt: skip
    return 1 - kernel_distance(K, L)


@untraced
def target_kernel(targets: Any) -> np.ndarray:
    r"""The kernel $yy^\top$ of what a network is trained to say.

    Args:
        targets: shape (n,), or (n, c): one-hot rows for classes.

    Returns:
        The kernel, shape (n, n).

    Example:
        >>> from lazyrich.measures import target_kernel
        >>> target_kernel([1.0, -2.0])
        array([[ 1., -2.],
               [-2.,  4.]])
    """
    y = moderate("targets", targets, advice="Pass the targets of the probe batch.")
    if y.ndim not in (1, 2) or 0 in y.shape:
        raise argument_error("targets", "have the shape (n,) or (n, c)", y.shape)
    y = y.reshape(len(y), -1)
    return y @ y.T


def _centred(name: str, kernel: Any) -> np.ndarray:
    K = real(name, kernel_matrix(kernel), advice="Pass a kernel matrix without NaN.")
    if K.ndim < 2 or K.shape[-1] != K.shape[-2] or K.shape[-1] == 0:
        raise argument_error(name, "have the shape (..., n, n) with n ≥ 1", K.shape)
    size = np.abs(K).max(axis=(-2, -1), keepdims=True)
    centred = K - K.mean(axis=-1, keepdims=True)
    centred = centred - centred.mean(axis=-2, keepdims=True)
    left = np.abs(centred).max(axis=(-2, -1), keepdims=True)
    if not np.all(left > 1e-13 * size):  # what rounding leaves of a constant kernel is no kernel
        raise argument_error(
            name, "not vanish when centred", "a constant kernel",
            "The probe points must differ to the network, and so must their targets.",
        )  # fmt: skip
    return centred
