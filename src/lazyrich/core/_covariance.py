"""Covariances as arguments."""

from typing import Any

import numpy as np

from lazyrich.core._arguments import real
from lazyrich.core._errors import argument_error


def covariance_spectrum(covariance: Any) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, smallest first, and eigenvectors of a covariance; what is none is refused.

    Asymmetries and negative eigenvalues below 1e-10 of the largest entry or eigenvalue count as rounding.
    """
    C = real("covariance", covariance, advice="Pass X.T @ X / N.")
    if C.ndim != 2 or C.shape[0] != C.shape[1] or C.size == 0:
        raise argument_error("covariance", "have the shape (inputs, inputs)", C.shape)
    asymmetry = float(np.abs(C - C.T).max())
    if asymmetry > 1e-10 * np.abs(C).max():
        raise argument_error("covariance", "be symmetric", f"an asymmetry of {asymmetry:.2g}")
    values, vectors = np.linalg.eigh(C)
    if values[0] < -1e-10 * abs(values[-1]):
        raise argument_error(
            "covariance", "be positive semi-definite", f"the eigenvalue {values[0]:.3g}"
        )
    return values, vectors
