"""How far one kernel is from another, whatever their scales."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, is_traced, real


def kernel_distance(kernel: Any, other: Any) -> Any:
    r"""One minus the cosine of the angle between two kernel matrices.

    $$ S = 1 - \frac{\langle K_0, K_t\rangle}{\|K_0\|_F \|K_t\|_F}
       = \tfrac12 \Bigl\| \frac{K_0}{\|K_0\|_F} - \frac{K_t}{\|K_t\|_F} \Bigr\|_F^2 $$

    Symbols:
        $K_0$ → `kernel`, $K_t$ → `other`.

    Source:
        layerwise, App. F.2, after kernel-distance.

    Holds when:
        always, for kernels that are not zero.

    Computed as:
        the second form, which keeps its digits where the kernels are almost the same.

    Checked by:
        `tests/quantities/test_kernel_distance.py`.

    Args:
        kernel: a kernel matrix or several, shape (..., n, n).
        other: the same, any leading shape that broadcasts.

    Returns:
        The distance, 0 for kernels in proportion, at most 1 for kernels without negative eigenvalues.
        Scales do not matter. NaN under tracing where a kernel is zero.

    Example:
        >>> import numpy as np
        >>> from lazyrich.quantities import kernel_distance
        >>> kernel_distance(np.eye(2), [[2.0, 0.0], [0.0, 0.0]]).round(4)
        np.float64(0.2929)
    """
    kernels = [_kernel(name, value) for name, value in (("kernel", kernel), ("other", other))]
    if kernels[0].shape[-2:] != kernels[1].shape[-2:]:
        raise argument_error(
            "other", f"have the shape (..., {kernels[0].shape[-1]}, {kernels[0].shape[-1]}) of `kernel`",
            kernels[1].shape, "Take both kernels on the same probe batch.",
        )  # fmt: skip
    return compute(distance, *kernels)


def distance(kernel: Any, other: Any) -> Any:
    """`kernel_distance` for use inside other formulas: no checks, any dtype."""
    difference = _unit(kernel) - _unit(other)
    return 0.5 * jnp.sum(difference**2, axis=(-2, -1))


def _unit(kernel: Any) -> Any:
    size = jnp.max(
        jnp.abs(kernel), axis=(-2, -1), keepdims=True
    )  # squares of huge kernels overflow
    scaled = kernel / size
    return scaled / jnp.sqrt(jnp.sum(scaled**2, axis=(-2, -1), keepdims=True))


def _kernel(name: str, value: Any) -> Any:
    kernel = real(name, value, advice="Pass a kernel matrix without NaN.")
    if kernel.ndim < 2 or kernel.shape[-1] != kernel.shape[-2] or kernel.shape[-1] == 0:
        raise argument_error(name, "have the shape (..., n, n) with n ≥ 1", kernel.shape)
    if not is_traced(kernel) and not np.any(kernel, axis=(-2, -1)).all():
        raise argument_error(
            name, "have a norm above 0", 0.0, "A network whose weights are all zero has no kernel."
        )
    return kernel
