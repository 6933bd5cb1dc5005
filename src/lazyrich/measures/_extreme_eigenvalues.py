"""The ends of the spectrum of a symmetric matrix that is known by its products."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import ArgumentError
from lazyrich.measures._landscape import unit

Product = Callable[[np.ndarray], np.ndarray]

POWER_STEPS = 30
BATCH = 6
"""Eigenvalues in one run of Lanczos; those taken out before are not found again."""
RESTARTS = 1000


class Spectrum(NamedTuple):
    """Eigenvalues, ascending, with unit eigenvectors as columns; all of them, or those below and the last."""

    values: np.ndarray  # (found,)
    vectors: np.ndarray  # (dimension, found)
    errors: np.ndarray  # (2,): ‖Hq − λq‖ of the first and the last
    holds_all_negative: bool


def spectral_norm(product: Product, dimension: int, steps: int = POWER_STEPS) -> float:
    """The largest |eigenvalue|, from below, by power iteration; also for antisymmetric matrices."""
    x = unit(np.random.default_rng(3).standard_normal(dimension))
    largest = 0.0
    for _ in range(steps):
        y = product(x)
        length = float(np.linalg.norm(y))
        if length == 0:
            break
        largest, x = max(largest, length), y / length
    return largest


def dense_spectrum(product: Product, dimension: int) -> Spectrum:
    """All eigenvalues, from the matrix built column by column."""
    H = np.stack([product(row) for row in np.eye(dimension)])
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    return Spectrum(values, vectors, _residuals(product, values, vectors), True)


def lanczos_spectrum(
    product: Product, dimension: int, scale: float, tolerance: float, accuracy: float, most: int
) -> Spectrum:
    """The lowest eigenvalues, at most `most` of those below minus the tolerance, and the highest.

    Lanczos may miss copies of an eigenvalue. So what is found is taken out, by lifting it above the
    spectrum, and the search is repeated until nothing below minus the tolerance is left.
    """
    if scale == 0:
        return _zero_spectrum(dimension)
    low, Q, complete = np.zeros(0), np.zeros((dimension, 0)), False
    while not complete and low.size <= most:
        number = min(BATCH, most + 1 - low.size)
        lifted = _lifted(product, Q, 4 * scale)
        values, vectors = _ends(lifted, dimension, scale, accuracy, number, "SA")
        negative = values < -tolerance
        complete = not negative.any()
        if complete and low.size:
            break
        kept = np.arange(values.size) == 0 if complete else negative
        low = np.append(low, values[kept])
        Q = np.linalg.qr(np.concatenate([Q, vectors[:, kept]], axis=1))[0]
    low, Q = _rotate_to_eigenvectors(product, Q)
    low, Q = low[:most], Q[:, :most]
    high, top = _ends(product, dimension, scale, accuracy, 1, "LA")
    values, vectors = np.append(low, high), np.concatenate([Q, top], axis=1)
    return Spectrum(values, vectors, _residuals(product, values, vectors), complete)


def highest(product: Product, dimension: int, scale: float, accuracy: float) -> tuple[float, float]:
    """The highest eigenvalue and ‖Hq − λq‖, by Lanczos; `scale` is the spectral norm."""
    if scale == 0:
        return 0.0, 0.0
    values, vectors = _ends(product, dimension, scale, accuracy, 1, "LA")
    return float(values[0]), float(_residuals(product, values, vectors)[1])


def operator(product: Product, dimension: int) -> Any:
    """The product as SciPy's solvers want it."""
    import scipy.sparse.linalg

    make: Any = scipy.sparse.linalg.LinearOperator  # its stub knows only the subclasses
    return make((dimension, dimension), matvec=product, dtype=np.float64)


def _lifted(product: Product, Q: np.ndarray, height: float) -> Product:
    """The matrix with the eigenvectors in Q moved up."""
    return lambda x: product(x) + height * (Q @ (Q.T @ x))


def _ends(
    product: Product, dimension: int, scale: float, accuracy: float, number: int, which: str
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest ("SA") or highest ("LA") eigenvalues, ascending, with their vectors."""
    import scipy.sparse.linalg

    # shifted, so that the accuracy, relative to the eigenvalue sought, is relative to the largest
    shift = 2 * scale * (1 if which == "LA" else -1)
    matrix = operator(lambda x: product(x) + shift * x, dimension)
    options: dict[str, Any] = {
        "which": which,
        "tol": accuracy,
        "ncv": min(dimension, 40),
        "maxiter": RESTARTS,
        "v0": np.random.default_rng(4).standard_normal(dimension),
    }
    try:
        values, vectors = scipy.sparse.linalg.eigsh(matrix, number, **options)
    except scipy.sparse.linalg.ArpackNoConvergence as error:
        raise ArgumentError(
            f"`accuracy` must be within reach of Lanczos, got {accuracy:.2g} after {RESTARTS} "
            f"restarts. Pass a larger one, or `max_dense` ≥ {dimension} for the whole spectrum."
        ) from error
    order = np.argsort(values)
    return values[order] - shift, vectors[:, order]


def _rotate_to_eigenvectors(product: Product, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    HQ = np.stack([product(q) for q in Q.T], axis=1)
    small = Q.T @ HQ
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    return values, Q @ rotation


def _residuals(product: Product, values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    ends = [(values[i], vectors[:, i]) for i in (0, -1)]
    return np.array([np.linalg.norm(product(q) - value * q) for value, q in ends])


def _zero_spectrum(dimension: int) -> Spectrum:
    vectors = np.zeros((dimension, 2))
    vectors[0, 0] = vectors[-1, 1] = 1
    return Spectrum(np.zeros(2), vectors, np.zeros(2), True)
