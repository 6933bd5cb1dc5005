"""Gradient flow of a linear student on a given training set."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, is_traced, real
from lazyrich.theory._solution import Solution, times
from lazyrich.theory._symmetric_exponential import propagate, propagate_in_basis


class LinearFlow(Solution):
    r"""Losses of a linear student with one output under gradient flow, for a given training set.

    $$ \dot D = -2\eta\,\Sigma D, \qquad D(t) = e^{-2\eta\Sigma t} D_0, \qquad
       \mathcal{L}_\mathrm{tr} = D_0^\top e^{-4\eta\Sigma t}\,\Sigma\,D_0, \qquad
       \mathcal{L}_\mathrm{gen} = D_0^\top e^{-4\eta\Sigma t} D_0 $$

    Symbols:
        $\Sigma$ → `covariance`, $D_0 = S_0 - T$ → `difference`, $\eta$ → `learning_rate`, $t$ → `time`.

    Source:
        linear-grokking, Eq. 4, 5.

    Holds when:
        the loss is the mean squared error without ½, the student has one output, there is no weight
        decay and no label noise; test inputs are standard normal. Exact for any training set.

    Computed as:
        sums over the eigenbasis of Σ, found once.

    Checked by:
        checks `linear-grokking/eq4`, `linear-grokking/eq5`; `tests/theory/test_linear_flow.py`.

    Args:
        covariance: Σ = Σᵢ xᵢxᵢᵀ/N, shape (d, d), symmetric, positive semi-definite.
        difference: student minus teacher at time 0, shape (d,).
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import LinearFlow
        >>> flow = LinearFlow(covariance=np.diag([1.0, 0.0]), difference=[1.0, 2.0])
        >>> flow.train_loss(0.0), flow.test_loss(1e3)
        (np.float64(1.0), np.float64(4.0))
    """

    covariance: Any
    start: Any
    learning_rate: Any
    basis: Any

    def __init__(self, covariance: Any, difference: Any, learning_rate: Any = 1.0):
        self.covariance = real("covariance", covariance, advice="Pass X.T @ X / N.")
        self.start = real("difference", difference, advice="Pass student − teacher at the start.")
        self.learning_rate = real("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01.")
        _check_shapes(self.covariance, self.start)
        self.basis = None
        if not is_traced(self.covariance):
            self.basis = tuple(compute(jnp.linalg.eigh, self.covariance))
            _check_semidefinite(self.basis[0])

    def train_loss(self, time: Any) -> Any:
        """Loss on the training set."""
        return compute(_quadratic_form, self.covariance, self.difference(time))

    def test_loss(self, time: Any) -> Any:
        """Expected loss on fresh standard normal inputs."""
        return compute(_squared_length, self.difference(time))

    def difference(self, time: Any) -> Any:
        """Student minus teacher; the last axis has length d."""
        time = times(time)
        if self.basis is None or is_traced(self):  # eigenvectors cannot be differentiated, D can
            return compute(_propagate, self.covariance, self.start, self.learning_rate * time)
        return compute(_propagate_in_basis, self.basis, self.start, self.learning_rate * time)


def _check_shapes(covariance: Any, difference: Any) -> None:
    square = len(covariance.shape) == 2 and covariance.shape[0] == covariance.shape[1] > 0
    if not square:
        raise argument_error("covariance", "have the shape (d, d), d ≥ 1", covariance.shape)
    if difference.shape != covariance.shape[:1]:
        raise argument_error(
            "difference", f"have the shape {covariance.shape[:1]} of `covariance`", difference.shape
        )
    if not is_traced(covariance):
        scale = np.abs(covariance).max(initial=0)
        if not np.allclose(covariance, covariance.T, rtol=0, atol=1e-10 * scale):
            asymmetry = float(np.abs(covariance - covariance.T).max())
            raise argument_error("covariance", "be symmetric", f"an asymmetry of {asymmetry:.2g}")


def _check_semidefinite(eigenvalues: Any) -> None:
    if not is_traced(eigenvalues) and eigenvalues[0] < -1e-10 * abs(eigenvalues[-1]):
        raise argument_error(
            "covariance", "be positive semi-definite", f"the eigenvalue {eigenvalues[0]:.3g}"
        )


def _quadratic_form(covariance: Any, D: Any) -> Any:
    return jnp.sum(D * (D @ covariance), axis=-1)


def _squared_length(D: Any) -> Any:
    return jnp.sum(D**2, axis=-1)


def _propagate_in_basis(basis: tuple[Any, Any], start: Any, eta_t: Any) -> Any:
    nu, V = basis
    return propagate_in_basis((jnp.maximum(nu, 0), V), start[:, None], -2 * eta_t)[..., 0]


def _propagate(covariance: Any, start: Any, eta_t: Any) -> Any:
    return propagate(-covariance, start[:, None], 2 * eta_t, 0.0)[..., 0]
