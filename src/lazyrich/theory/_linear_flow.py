"""Gradient flow of a linear student on a given training set."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, covariance_spectrum, is_traced, real
from lazyrich.theory._solution import Solution, learning_rate_of, steps_times_rate
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
        sums over the eigenbasis of Σ, found once; all terms are positive. Eigenvalues below rounding count as
        zero: directions without data stay as they are for ever.

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
        self.learning_rate = learning_rate_of(learning_rate)
        _check_shapes(self.covariance, self.start)
        self.basis = None
        if not is_traced(self.covariance):
            values, vectors = covariance_spectrum(self.covariance)
            self.basis = (_without_rounding(values), vectors)

    def train_loss(self, time: Any) -> Any:
        """Loss on the training set."""
        if self.basis is None or is_traced(self):
            return compute(_quadratic_form, self.covariance, self.difference(time))
        return compute(_train_loss, self.basis, self.start, steps_times_rate(time, self))

    def test_loss(self, time: Any) -> Any:
        """Expected loss on fresh standard normal inputs."""
        return compute(_squared_length, self.difference(time))

    def difference(self, time: Any) -> Any:
        """Student minus teacher; the last axis has length d."""
        eta_t = steps_times_rate(time, self)
        if self.basis is None or is_traced(self):  # eigenvectors cannot be differentiated, D can
            return compute(_propagate, self.covariance, self.start, eta_t)
        return compute(_propagate_in_basis, self.basis, self.start, eta_t)


def _check_shapes(covariance: Any, difference: Any) -> None:
    square = len(covariance.shape) == 2 and covariance.shape[0] == covariance.shape[1] > 0
    if not square:
        raise argument_error("covariance", "have the shape (d, d), d ≥ 1", covariance.shape)
    if difference.shape != covariance.shape[:1]:
        raise argument_error(
            "difference", f"have the shape {covariance.shape[:1]} of `covariance`", difference.shape
        )


def _without_rounding(eigenvalues: np.ndarray) -> np.ndarray:
    floor = eigenvalues.size * np.finfo(float).eps * np.abs(eigenvalues).max()
    return np.where(eigenvalues > floor, eigenvalues, 0.0)


def _train_loss(basis: tuple[Any, Any], start: Any, eta_t: Any) -> Any:
    nu, V = basis
    return jnp.sum(nu * (jnp.exp(-2 * eta_t[..., None] * nu) * (V.T @ start)) ** 2, axis=-1)


def _quadratic_form(covariance: Any, D: Any) -> Any:
    return jnp.sum(D * (D @ covariance), axis=-1)


def _squared_length(D: Any) -> Any:
    return jnp.sum(D**2, axis=-1)


def _propagate_in_basis(basis: tuple[Any, Any], start: Any, eta_t: Any) -> Any:
    nu, V = basis
    return propagate_in_basis((nu, V), start[:, None], -2 * eta_t)[..., 0]


def _propagate(covariance: Any, start: Any, eta_t: Any) -> Any:
    return propagate(-covariance, start[:, None], 2 * eta_t, 0.0)[..., 0]
