"""Symmetric matrices at many digits, and what they are made of."""

from collections.abc import Callable
from typing import Any

from lazyrich.checks.accuracy._grid import mp


def largest_singular_value(matrix: Any) -> Any:
    """The spectral norm."""
    return mp.sqrt(max(mp.eigsy(matrix.T * matrix, eigvals_only=True)))


def trace(matrix: Any) -> Any:
    """Sum of the diagonal."""
    return mp.fsum(matrix[i, i] for i in range(matrix.rows))


def centred(matrix: Any) -> Any:
    """Without the mean of each column."""
    means = [mp.fsum(matrix[:, j]) / matrix.rows for j in range(matrix.cols)]
    result = matrix.copy()
    for i in range(matrix.rows):
        for j in range(matrix.cols):
            result[i, j] -= means[j]
    return result


def riccati(F: "Symmetric", Q: Any, t: Any) -> Any:
    """QQᵀ for Q̇ = FQ − ½QQᵀQ, by the formula with an integral, where growing exponentials cancel."""
    grown = F.apply(lambda f: mp.exp(f * t)) * Q
    spent = F.apply(lambda f: mp.expm1(2 * f * t) / (2 * f) if abs(f) > 1e-100 else t)
    return grown * mp.inverse(mp.eye(Q.cols) + Q.T * spent * Q) * grown.T


class Symmetric:
    """A symmetric matrix by its eigenvalues and vectors, of which functions can be taken."""

    def __init__(self, matrix: Any):
        self.values, self.vectors = mp.eigsy(matrix)

    def apply(self, function: Callable[[Any], Any]) -> Any:
        """The function of the matrix."""
        return self.vectors * mp.diag([function(value) for value in self.values]) * self.vectors.T
