"""The energy's gradient as a matrix that depends on the weights, times the weights."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import AssumptionError, argument_error, compute, moderate
from lazyrich.models import activation as activation_function
from lazyrich.models import activation_kind


class AscentMatrix(NamedTuple):
    r"""The matrix of a node's ascent, returned by `ascent_matrix`.

    $$ \nabla\mathcal{E}(w) = C A(w) w $$

    Symbols:
        $A$ → `matrix`, $C$ → `factor`.

    Source:
        li2, Sec. 5.3.

    Holds when:
        as `ascent_matrix`.

    Checked by:
        `tests/theory/test_ascent_matrix.py`.

    Attributes:
        matrix: A(w), symmetric without negative eigenvalues, shape (inputs, inputs).
        factor: C = 1/degree of the activation: 1 for ReLU, ½ for x².

    Example:
        >>> from lazyrich.theory import ascent_matrix
        >>> ascent_matrix([[1.0], [-2.0]], [[1.0], [0.0]], [1.0], "relu").factor
        1.0
    """

    matrix: Any
    factor: float


def ascent_matrix(inputs: Any, targets: Any, weights: Any, activation: Any) -> AscentMatrix:
    r"""The positive matrix A(w) along which a node with a homogeneous activation grows.

    $$ A(w) = X^\top D\tilde Y\tilde Y^\top D X, \qquad D = \operatorname{diag}\sigma'(Xw), \qquad
       \nabla\mathcal{E}(w) = C A(w) w, \qquad \sigma(x) = C\sigma'(x)x $$

    Symbols:
        $X$ → `inputs`, $Y$ → `targets`, $w$ → `weights`, $\sigma$ → `activation`.

    Source:
        li2, Sec. 5.3, after Theorem 8. A has degree 2p − 2 in w for an activation of degree p: 0 for ReLU,
        2 for x². The growth $\lambda_l = \mu_l\alpha_l$ that Theorem 8 assumes has degree 1, which is p
        = 3/2.

    Holds when:
        σ is homogeneous of a degree p; then C = 1/p.

    Computed as:
        it is written, by automatic differentiation of σ.

    Checked by:
        `tests/theory/test_ascent_matrix.py`, against automatic differentiation of the energy.

    Args:
        inputs: shape (samples, inputs).
        targets: shape (samples, outputs), centred here.
        weights: a node, shape (inputs,).
        activation: a name of `models.activation`, or a function.

    Returns:
        The matrix and the factor C.

    Example:
        >>> from lazyrich.theory import ascent_matrix
        >>> found = ascent_matrix([[1.0, 0.0], [0.0, 1.0]], [[1.0], [0.0]], [1.0, 0.5], "quadratic")
        >>> found.matrix, found.factor
        (array([[ 1.  , -0.5 ],
               [-0.5 ,  0.25]]), 0.5)
    """
    X = moderate("inputs", inputs, advice="Pass inputs without NaN.")
    Y = moderate("targets", targets, advice="Pass targets without NaN.")
    w = moderate("weights", weights, advice="Pass one node, shape (inputs,).")
    if np.ndim(X) != 2 or np.shape(w) != np.shape(X)[1:]:
        raise argument_error(
            "weights", f"have the shape {np.shape(X)[1:]} to fit `inputs`", np.shape(w)
        )
    if np.ndim(Y) != 2 or np.shape(Y)[0] != np.shape(X)[0]:
        raise argument_error("targets", f"have the shape ({np.shape(X)[0]}, outputs)", np.shape(Y))
    kind = activation_kind(activation)
    if not kind.degree:
        raise AssumptionError(
            f"`ascent_matrix` needs a homogeneous activation, got {activation!r}. Use 'relu' or 'quadratic'."
        )
    function = activation_function(activation)
    slope = compute(lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1], X @ w, jit=False)
    return AscentMatrix(compute(_matrix, slope, X, Y), 1 / kind.degree)


def _matrix(slope: Any, X: Any, Y: Any) -> Any:
    half = (X * slope[:, None]).T @ (Y - jnp.mean(Y, axis=0))
    return half @ half.T
