"""The distance between kernels that are known from random directions only."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import ArgumentError, argument_error, untraced
from lazyrich.measures._tangent_kernel import TangentKernel

NUM_HALVES = 40
"""Random halves of the directions from which the standard error comes."""


class SketchedDistance(NamedTuple):
    """A kernel distance and its standard error."""

    distance: float
    uncertainty: float


@untraced
def sketched_kernel_distance(start: TangentKernel, end: TangentKernel) -> SketchedDistance:
    r"""The distance S between two sketched kernels, without the bias that sketching brings.

    $$ \langle K, L\rangle \approx \frac{1}{m(m-1)} \sum_{r \ne s} \lVert z_r^\top y_s\rVert_F^2 $$

    for changes $z_r$, $y_r$ of the outputs along the direction r, shape (n, c). This is right on average. The
    terms r = s, which hold the noise of one direction twice, are what puts `kernel_distance` of sketches off.
    Without them the inner product has a relative error between 2/m, for kernels of many equal eigenvalues,
    of which a sketch itself is mostly noise, and $\sqrt{8/m}$ for a single one.

    Args:
        start: a sketch by `tangent_kernel(..., method="sketch")`.
        end: another, of the same probe batch, directions and seed.

    Returns:
        The distance, between 0 and 1, and its standard error from halves of the directions.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import JacobianProducts, sketched_kernel_distance, tangent_kernel
        >>> from lazyrich.quantities import kernel_distance
        >>> J = np.random.default_rng(0).standard_normal((2, 30, 500))
        >>> sketches = [
        ...     tangent_kernel(JacobianProducts(30, 1, 500, product=j.__matmul__), num_directions=300)
        ...     for j in (J[0], J[0] + 0.3 * J[1])
        ... ]
        >>> exact = kernel_distance(J[0] @ J[0].T, (J[0] + 0.3 * J[1]) @ (J[0] + 0.3 * J[1]).T)
        >>> found = sketched_kernel_distance(*sketches)
        >>> abs(found.distance - exact) < 3 * found.uncertainty < 0.02
        True
    """
    z, y = _sketch("start", start), _sketch("end", end)
    if z.shape != y.shape:
        raise argument_error("end", f"have the shape {z.shape} of `start`'s sketch", y.shape)
    if len(z) < 4:
        raise argument_error("start", "have at least 4 directions", len(z), "Use e.g. 1000.")
    overlaps = [_overlaps(a, b) for a, b in ((z, y), (z, z), (y, y))]
    spread = np.std(
        [_distance([M[np.ix_(h, h)] for M in overlaps]) for h in _halves(len(z))], ddof=1
    )
    return SketchedDistance(_distance(overlaps), float(spread))


def sketched_alignment(start: TangentKernel, end: TangentKernel) -> float:
    """`centred_alignment` of two sketches, without the bias that sketching brings."""
    centred = (k._replace(sketch=_centred(k.sketch)) for k in (start, end))
    return 1 - sketched_kernel_distance(*centred).distance


def sketched_target_alignment(kernel: TangentKernel, targets: np.ndarray) -> tuple[float, float]:
    """Centred alignment of a sketch with targets, shape (n, c), and its standard error.

    The inner product with a known kernel is right on average; the sketch's own norm is so without the terms
    r = s, as in `sketched_kernel_distance`.
    """
    z, y = _centred(_sketch("kernel", kernel)), targets - targets.mean(axis=0)
    overlaps, size = _overlaps(z, z), np.linalg.norm(y.T @ y)
    along = np.sum((np.swapaxes(z, 1, 2) @ y) ** 2, axis=(1, 2))  # of z_r z_rᵀ with yyᵀ

    def alignment(h: np.ndarray) -> float:
        norm = max(_inner(overlaps[np.ix_(h, h)]), 0.0) ** 0.5
        return min(along[h].mean() / (norm * size), 1.0) if norm > 0 else np.nan

    spread = np.nanstd([alignment(h) for h in _halves(len(z))], ddof=1)
    return float(alignment(np.arange(len(z)))), float(spread)


def _centred(sketch: Any) -> np.ndarray:
    return sketch - sketch.mean(axis=1, keepdims=True)


def _halves(m: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.permutation(m)[: m // 2] for _ in range(NUM_HALVES)]


def _sketch(name: str, kernel: TangentKernel) -> np.ndarray:
    if not isinstance(kernel, TangentKernel) or kernel.sketch is None:
        raise argument_error(
            name, "be a sketch", type(kernel).__name__,
            'Use `tangent_kernel(..., method="sketch")`, or `quantities.kernel_distance` for exact kernels.',
        )  # fmt: skip
    return kernel.sketch


def _overlaps(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """‖z_rᵀ y_s‖² for all pairs of directions, shape (m, m)."""
    total = np.zeros((len(z), len(y)))
    for o in range(z.shape[2]):
        for q in range(y.shape[2]):
            total += (z[:, :, o] @ y[:, :, q].T) ** 2
    return total


def _inner(overlaps: np.ndarray) -> float:
    """Inner product of two kernels: the mean over pairs of different directions."""
    m = len(overlaps)
    return float((np.sum(overlaps) - np.trace(overlaps)) / (m * (m - 1)))


def _distance(overlaps: list[np.ndarray]) -> float:
    both, start, end = (_inner(M) for M in overlaps)
    if not (start > 0 and end > 0):
        raise ArgumentError(
            "`start` must have a norm above 0, got 0. A network of zero weights has no kernel."
        )
    return float(np.clip(1 - both / np.sqrt(start * end), 0, 1))
