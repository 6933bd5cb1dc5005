"""The tangent kernel of a two-layer linear network, without the kernel matrix."""

from typing import Any

import jax.numpy as jnp

from lazyrich.core import argument_error, compute, covariance_spectrum, is_traced, real


def linear_kernel_distance(
    first: Any, second: Any, new_first: Any, new_second: Any, covariance: Any
) -> Any:
    r"""The distance between the tangent kernels of a linear network at two moments.

    $$ K = X X^\top \otimes W_2^\top W_2 + X W_1 W_1^\top X^\top \otimes I, \qquad
       S = 1 - \frac{\langle K, K'\rangle}{\lVert K\rVert_F \lVert K'\rVert_F} $$

    K has one row for each sample and output. With $A = W_1 W_1^\top$, $B = W_2^\top W_2$ and $C = X^\top X$,
    up to a factor, its inner products are traces of small matrices:

    $$ \langle K, K'\rangle = \operatorname{Tr}(BB')\operatorname{Tr}(C^2)
       + \operatorname{Tr}(B)\operatorname{Tr}(C^2 A') + \operatorname{Tr}(B')\operatorname{Tr}(C^2 A)
       + c \operatorname{Tr}(CACA') $$

    Symbols:
        $W_1, W_2$ → `first`, `second`; those of $K'$ → `new_first`, `new_second`; $X^\top X/N$ →
        `covariance`, c → the number of outputs.

    Source:
        layerwise, App. F.2, after kernel-distance.

    Holds when:
        outputs are $x^\top W_1 W_2$ and all weights are trained at one rate.

    Computed as:
        half the squared length of the difference of both kernels divided by their lengths, as in
        `kernel_distance`. The cost does not grow with the number of samples.

    Checked by:
        `tests/quantities/test_linear_kernel.py`.

    Args:
        first: $W_1$, shape (..., inputs, units).
        second: $W_2$, shape (..., units, outputs).
        new_first: the first layer at another moment, the same shape or one that broadcasts.
        new_second: the second layer then.
        covariance: $X^\top X/N$ of the probe batch, shape (inputs, inputs), or with leading axes too.

    Returns:
        The distance, of the shape of the leading axes; NaN where all weights are zero.

    Example:
        >>> import numpy as np
        >>> from lazyrich.quantities import linear_kernel_distance
        >>> W1, W2 = np.diag([1.0, 2.0]), np.eye(2)
        >>> linear_kernel_distance(W1, W2, np.eye(2), W2, covariance=np.eye(2)).round(6)
        np.float64(0.080855)
    """
    names = ("first", "second", "new_first", "new_second", "covariance")
    values = (first, second, new_first, new_second, covariance)
    arrays = [real(n, v, advice="Pass a matrix.") for n, v in zip(names, values, strict=True)]
    for name, array in zip(names, arrays, strict=True):
        if array.ndim < 2 or 0 in array.shape:
            raise argument_error(name, "be a matrix, not empty", array.shape)
    _check_shapes(*arrays)
    if not is_traced(arrays[-1]):
        _check_covariances(arrays[-1])
    return compute(_distance, *arrays)


def _check_shapes(W1: Any, W2: Any, V1: Any, V2: Any, C: Any) -> None:
    d, c = W1.shape[-2], W2.shape[-1]
    for name, array, size in (("second", W2, W1.shape[-1]), ("new_second", V2, V1.shape[-1])):
        if array.shape[-2] != size:
            raise argument_error(name, f"have {size} rows, one for each unit", array.shape)
    if V1.shape[-2] != d:
        raise argument_error("new_first", f"have {d} rows, one for each input", V1.shape)
    if V2.shape[-1] != c:
        raise argument_error("new_second", f"have {c} columns, one for each output", V2.shape)
    if C.shape[-2:] != (d, d):
        raise argument_error("covariance", f"have the shape (..., {d}, {d}), by inputs", C.shape)


def _check_covariances(C: Any) -> None:
    for matrix in C.reshape(-1, *C.shape[-2:]):
        if not covariance_spectrum(matrix)[0][-1] > 0:
            raise argument_error("covariance", "not be 0", 0.0, "Probe with inputs that vary.")


def _distance(W1: Any, W2: Any, V1: Any, V2: Any, C: Any) -> Any:
    old, new = (_grams(W1, W2), _grams(V1, V2))
    return grams_distance(old, new, C / _size(C))


def _grams(W1: Any, W2: Any) -> tuple[Any, Any]:
    size = jnp.maximum(_size(W1), _size(W2))  # scales cancel, and squares would overflow
    W1, W2 = W1 / size, W2 / size
    return W1 @ _T(W1), _T(W2) @ W2


def _size(matrix: Any) -> Any:
    return jnp.max(jnp.abs(matrix), axis=(-2, -1), keepdims=True)


def grams_distance(old: tuple[Any, Any], new: tuple[Any, Any], covariance: Any) -> Any:
    """The distance for pairs $(W_1W_1^T, W_2^TW_2)$, for use inside other formulas: no checks."""
    (A, B), (A2, B2) = (_unit(pair, covariance) for pair in (old, new))
    return _square((A - A2, B - B2), covariance) / 2


def _unit(grams: tuple[Any, Any], C: Any) -> tuple[Any, Any]:
    A, B = grams
    size = jnp.sqrt(_square(grams, C))[..., None, None]
    return A / size, B / size


def _square(grams: tuple[Any, Any], C: Any) -> Any:
    """⟨K, K⟩ for the kernel that is linear in these two matrices."""
    A, B = grams
    CA, c = C @ A, B.shape[-1]
    whole = jnp.sum(B**2, axis=(-2, -1)) * jnp.sum(C**2, axis=(-2, -1))
    mixed = 2 * _trace(B) * jnp.sum(C * _T(CA), axis=(-2, -1))
    # rounding may leave a difference of kernels below zero
    return jnp.maximum(whole + mixed + c * jnp.sum(CA * _T(CA), axis=(-2, -1)), 0)


def _trace(matrix: Any) -> Any:
    return jnp.trace(matrix, axis1=-2, axis2=-1)


def _T(matrix: Any) -> Any:
    return jnp.swapaxes(matrix, -1, -2)
