"""How a linear layer leaves the saddle at zero."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    Crossing,
    Status,
    argument_error,
    compute,
    is_traced,
    known,
    number,
    representable,
)
from lazyrich.theory._dust import parts_of
from lazyrich.theory._linear_task import layers_of
from lazyrich.theory._solution import Solution, learning_rate_of, steps_times_rate
from lazyrich.theory._symmetric_exponential import propagate


class LinearEscape(Solution):
    r"""Small weights of a two-layer network that is linear in its first layer grow, direction by direction.

    $$ \dot v_i = \Sigma_{yz} u_i, \qquad \dot u_i = \Sigma_{yz}^\top v_i, \qquad
       \theta_i = \begin{bmatrix} v_i \\ u_i \end{bmatrix}, \qquad
       \theta_i(t) = \sum_k \left(c_{ki} e^{s_k t} \begin{bmatrix} q_k \\ r_k \end{bmatrix}
         + b_{ki} e^{-s_k t} \begin{bmatrix} q_k \\ -r_k \end{bmatrix}\right) + \xi_i $$

    with the singular values and vectors $\Sigma_{yz} = \sum_k s_k q_k r_k^\top$ and
    $c_{ki}, b_{ki} = \tfrac12(q_k^\top v_i(0) \pm r_k^\top u_i(0))$. The directions of the largest singular
    value win.

    Symbols:
        $\Sigma_{yz}$ → `correlation`, $u_i$ → column i of `first`, $v_i$ → row i of `second`, $t$ → `time`,
        $P$ → the projection on the directions of the largest singular value, of multiplicity r.

    Source:
        saddles, Theorem 4, Eq. 10, 11, 32–39.

    Holds when:
        the weights are so small that $W\Sigma_{zz}$ is negligible beside $\Sigma_{yz}$: during the first
        plateau, and near a later saddle with the projected correlation of Eq. 42; loss = ½ mean squared
        norm of the error (for losses without the ½ time runs twice as fast); gradient flow.

    Computed as:
        the exponential of the symmetric matrix with blocks $\Sigma_{yz}$, in its eigenbasis. Parts of a unit
        below 1e-13 of the terms that they are sums of are rounding errors and stand for 0: they would grow.

    Checked by:
        checks `saddles/thm4`, `saddles/eq34`, `saddles/eq37`, `saddles/eq39`;
        `tests/theory/test_linear_escape.py`.

    Args:
        correlation: $\Sigma_{yz}$, shape (outputs, inputs).
        first: first layer at the start, shape (inputs, units).
        second: second layer at the start, shape (units, outputs).
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        degeneracy: singular values that differ by less than this share of the largest count as equal to it.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import LinearEscape
        >>> small = np.full((2, 1), 1e-6)
        >>> escape = LinearEscape(np.diag([2.0, 1.0]), first=small, second=small.T)
        >>> escape.escape_time().time.round(3), escape.misalignment_exponent
        (array([6.734]), np.float64(0.5))
    """

    correlation: Any
    start: Any
    learning_rate: Any
    degeneracy: Any
    basis: Any

    def __init__(
        self,
        correlation: Any,
        first: Any,
        second: Any,
        learning_rate: Any = 1.0,
        *,
        degeneracy: float = 1e-9,
    ):
        self.correlation, first, second = layers_of(correlation, first, second)
        stack = jnp.concatenate if is_traced((first, second)) else np.concatenate
        self.start = stack([second.T, first])  # (outputs + inputs, units)
        self.learning_rate = learning_rate_of(learning_rate)
        self.degeneracy = number("degeneracy", degeneracy, at_least=0, below=1, advice="Use 1e-9.")
        self.basis = None
        if not is_traced(self.correlation):
            self.basis = tuple(compute(jnp.linalg.eigh, _blocks(self.correlation, np)))
            if not self.basis[0][-1] > 0:
                raise argument_error(
                    "correlation", "not vanish", 0.0, "Nothing grows then: pass Y.T @ Z / N."
                )

    def units(self, time: Any) -> Any:
        """The weights θ_i, last two axes (unit, outputs + inputs), second layer first (Eq. 34)."""
        if self.basis is None or is_traced(self):
            return compute(_units, self.correlation, self.start, self._tau(time))
        units = compute(_units_in_basis, self.basis, self.start, self._tau(time))
        return self._representable(units, time)

    def aligned(self, time: Any) -> Any:
        """Length of each unit's part along the winning directions, ‖Pθ_i‖; last axis the units (Eq. 36)."""
        parts = compute(_length, self._known_basis(), self.start, self._tau(time), self._wins())
        return self._representable(parts, time)

    def misaligned(self, time: Any) -> Any:
        """Length of the rest of each unit, ‖(1 − P)θ_i‖; last axis the units (Eq. 38)."""
        parts = compute(_length, self._known_basis(), self.start, self._tau(time), 1 - self._wins())
        return self._representable(parts, time)

    def escape_time(self, size: Any = 1.0) -> Crossing:
        r"""When $\lVert P\theta_i\rVert$ reaches a size, for each unit (Eq. 37).

        $$ T_i = \frac{1}{\eta s_1} \ln \frac{\text{size}}{\lVert P\theta_i(0)\rVert} $$
        """
        size = number("size", size, above=0, advice="Use 1, the size that counts as large.")
        return compute(
            _escape_time,
            self.aligned(0.0),
            np.float64(size),
            self.learning_rate,
            self.singular_values[0],
        )

    @property
    def misalignment_exponent(self) -> Any:
        r"""$1 - s_{r+1}/s_1$: at the escape the rest is as small as $\epsilon$ to this power (Eq. 39)."""
        return np.float64(1 - self._next_singular_value() / self.singular_values[0])

    @property
    def singular_values(self) -> np.ndarray:
        """Singular values of the correlation, largest first."""
        growth = self._known_basis()[0]
        return np.maximum(growth[::-1][: min(self.correlation.shape)], 0)

    @property
    def multiplicity(self) -> int:
        """How many directions share the largest singular value, r."""
        return int(self._wins().sum())

    def _next_singular_value(self) -> float:
        s, r = self.singular_values, self.multiplicity
        return float(s[r]) if r < s.size else 0.0

    def _representable(self, result: Any, time: Any) -> Any:
        """Parts that grow beyond what float64 holds have no sum."""
        if is_traced(result):
            return result
        return representable(
            result, time=time, learning_rate=self.learning_rate, correlation=self.correlation
        )

    def _tau(self, time: Any) -> Any:
        return steps_times_rate(time, self)

    def _wins(self) -> np.ndarray:
        """1 for the eigenvectors of Eq. 33 that belong to the largest singular value, 0 for the others."""
        growth = self._known_basis()[0]
        return (growth >= (1 - self.degeneracy) * growth[-1]).astype(float)

    def _known_basis(self) -> Any:
        if self.basis is None:  # which directions win is no smooth function of the correlation
            known("correlation", self.correlation)
        return self.basis


def _blocks(correlation: Any, xp: Any) -> Any:
    """The matrix of Eq. 32."""
    outputs, inputs = correlation.shape
    upper = xp.concatenate([xp.zeros((outputs, outputs), correlation.dtype), correlation], axis=1)
    lower = xp.concatenate([correlation.T, xp.zeros((inputs, inputs), correlation.dtype)], axis=1)
    return xp.concatenate([upper, lower])


def _units(correlation: Any, start: Any, tau: Any) -> Any:
    return jnp.swapaxes(propagate(_blocks(correlation, jnp), start, tau, jnp.inf), -1, -2)


def _units_in_basis(basis: tuple[Any, Any], start: Any, tau: Any) -> Any:
    lam, V = basis
    parts = jnp.exp(tau[..., None] * lam)[..., None] * parts_of(start.T, V).T
    return jnp.swapaxes(V @ parts, -1, -2)


def _length(basis: tuple[Any, Any], start: Any, tau: Any, share: Any) -> Any:
    """Length of the part in some eigenvectors; nothing is subtracted, so that small parts keep digits."""
    lam, V = basis
    parts = (share * jnp.exp(tau[..., None] * lam))[..., None] * parts_of(start.T, V).T
    return jnp.linalg.norm(parts, axis=-2)


def _escape_time(aligned: Any, size: Any, rate: Any, largest: Any) -> Crossing:
    at_start, never = aligned >= size, aligned == 0
    safe = jnp.where(at_start | never, size, aligned)
    time = jnp.log(size / safe) / (rate * largest)
    status = jnp.where(at_start, Status.AT_START, jnp.where(never, Status.NEVER, Status.REACHED))
    return Crossing(jnp.where(never, jnp.inf, time), status)
