"""What Muon makes of one gradient beside others that are orthonormal."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, is_traced, moderate


def muon_projection(basis: Any, vector: Any) -> Any:
    r"""The last column of the polar factor of $[Q, v]$, where Q has orthonormal columns: exact.

    $$ \hat v = \frac{(1 + \beta)\, v_\perp/\beta + v_\parallel}{\sqrt{(1 + \beta)^2 + \gamma^2}}, \qquad
       v_\parallel = QQ^\top v, \quad v_\perp = v - v_\parallel, \quad
       \beta = \lVert v_\perp\rVert, \; \gamma = \lVert v_\parallel\rVert $$

    Muon discounts what earlier gradients have already: relative to $v_\perp$ the part $v_\parallel$ is
    multiplied by $\beta/(1 + \beta)$, less than ½ for β < 1.

    Symbols:
        $Q$ → `basis`, $v$ → `vector`.

    Source:
        li2, Lemma 9, Eq. 36, 42. Printed is the bracket without the root, with an error
        $O(\lVert v_\perp\rVert^2)$. The direction is exact; the error of the length is
        $O(\lVert v_\parallel\rVert^2)$ and does not vanish with $v_\perp$.

    Holds when:
        $Q^\top Q = I$ and $v_\perp \ne 0$. For $v_\perp = 0$ the matrix lacks rank, and
        $\hat v = v_\parallel/\sqrt{1 + \gamma^2}$.

    Computed as:
        it is written: in the plane of $Qc$ and $v_\perp$ the problem is 2 × 2, and the polar factor of
        a 2 × 2 matrix is the sum of the matrix and its cofactors, normalised.

    Checked by:
        checks `li2/lemma9`, `li2/eq36`, `li2/eq42`; `tests/theory/test_muon_projection.py`.

    Args:
        basis: orthonormal columns, shape (d, m), m < d.
        vector: shape (..., d).

    Returns:
        $\hat v$, shape (..., d).

    Example:
        >>> from lazyrich.theory import muon_projection
        >>> muon_projection([[1.0], [0.0]], [0.2, 0.1]).round(4)
        array([0.1789, 0.9839])
    """
    Q = moderate("basis", basis, advice="Pass orthonormal columns, shape (d, m).")
    v = moderate("vector", vector, advice="Pass a gradient, shape (..., d).")
    if np.ndim(Q) != 2 or 0 in np.shape(Q):
        raise argument_error("basis", "have the shape (d, m)", np.shape(Q))
    if np.ndim(v) < 1 or np.shape(v)[-1] != np.shape(Q)[0]:
        raise argument_error("vector", f"have the shape (..., {np.shape(Q)[0]})", np.shape(v))
    if not is_traced(Q):
        off = float(np.max(np.abs(Q.T @ Q - np.eye(Q.shape[1]))))
        if not off < 1e-8:
            raise argument_error(
                "basis", "have orthonormal columns", f"columns that are off by {off:.2g}",
                "Use quantities.polar_factor for other matrices.",
            )  # fmt: skip
    if is_traced(Q, v):
        return compute(_projected, Q, v)
    return _projected(Q, v, np)  # nothing to compile


def _projected(Q: Any, v: Any, xp: Any = jnp) -> Any:
    parallel = (v @ Q) @ Q.T
    orthogonal = v - parallel
    beta = xp.sqrt(xp.sum(orthogonal**2, axis=-1, keepdims=True))
    size = xp.sqrt(xp.sum(v**2, axis=-1, keepdims=True))
    gamma = xp.sqrt(xp.sum(parallel**2, axis=-1, keepdims=True))
    there = beta > 1e1 * xp.finfo(v.dtype).eps * size  # less is rounding: no new direction
    unit = xp.where(there, orthogonal / xp.where(there, beta, 1), 0)
    beta = xp.where(there, beta, 0)
    return ((1 + beta) * unit + parallel) / xp.sqrt((1 + beta) ** 2 + gamma**2)
