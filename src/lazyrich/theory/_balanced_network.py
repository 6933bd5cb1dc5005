"""The whole matrix solution of a λ-balanced two-layer linear network."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import compute, known, number
from lazyrich.models import TwoLayerWeights
from lazyrich.quantities._linear_kernel import grams_distance
from lazyrich.theory._linear_task import (
    layers_of,
    output_power_of,
    require_balanced,
    require_whitened,
    unexplained_power,
)
from lazyrich.theory._solution import Solution, learning_rate_of, times


class LayerRepresentations(NamedTuple):
    r"""What each layer does to the similarity of inputs and outputs, returned by `BalancedNetwork`.

    $$ K = XX^\top \otimes W_2^\top W_2 + X W_1W_1^\top X^\top \otimes I $$

    is the tangent kernel of inputs X.

    Symbols:
        $W_1W_1^\top$ → `input`, $W_2^\top W_2$ → `output`.

    Source:
        layerwise, App. F.2.

    Holds when:
        as `BalancedNetwork`.

    Checked by:
        `tests/theory/test_balanced.py`.

    Attributes:
        input: how similar inputs are in the hidden layer, shape (..., inputs, inputs).
        output: how similar outputs are there, shape (..., outputs, outputs).

    Example:
        >>> from lazyrich.theory import BalancedNetwork
        >>> BalancedNetwork([[1.0]], [[0.1]], [[0.1]]).representations(50.0).input.round(6)
        array([[1.]])
    """

    input: Any
    output: Any


class BalancedNetwork(Solution):
    r"""A two-layer linear network from any λ-balanced start, task-aligned or not, of any shape.

    $$ \dot W_1 = (\Sigma - W_1W_2)W_2^\top, \quad \dot W_2 = W_1^\top(\Sigma - W_1W_2), \quad
       W_2W_2^\top - W_1^\top W_1 = \lambda I $$

    With $Q = \begin{bmatrix} W_1 \\ W_2^\top \end{bmatrix}$ this is a Riccati equation,

    $$ \frac{d}{dt} QQ^\top = F QQ^\top + QQ^\top F - (QQ^\top)^2, \qquad
       F = \begin{bmatrix} -\tfrac\lambda2 I & \Sigma \\ \Sigma^\top & \tfrac\lambda2 I \end{bmatrix} $$

    $$ QQ^\top(t) = e^{Ft}Q_0 \Bigl[I + Q_0^\top \Bigl(\int_0^t e^{2Fs} ds\Bigr) Q_0\Bigr]^{-1}
       Q_0^\top e^{Ft} $$

    Its blocks are $W_1W_1^\top$, $W_1W_2$ and $W_2^\top W_2$.

    Symbols:
        $W_1(0)$ → `first`, $W_2(0)$ → `second`, $\Sigma = \mathbb{E}[xy^\top]$ → `correlation`, transposed,
        λ → `imbalance`, $t$ → `time`.

    Source:
        layerwise, Theorem F.2 without alignment, after braun (λ = 0, equal dimensions) and lazy-to-rich. The
        integral in place of an inverse of F needs no full rank, no equal dimensions and no λ ≠ 0.

    Holds when:
        inputs are whitened, $\mathbb{E}[xx^\top] = I$; the layers are λ-balanced at the start; loss = ½ mean
        squared norm of the error; gradient flow. Width, rank and dimensions are free.

    Computed as:
        the eigenbasis of F from the singular vectors of Σ. The start is brought to echelon form there, the
        fastest directions first, and each column is divided by the growth of its leading entry: then all
        exponentials decay, and a positive definite system of the size of the width is solved at each time.

    Checked by:
        checks `layerwise/thm-f2`, `layerwise/eq14`; `tests/theory/test_balanced.py`.

    Args:
        correlation: $\mathbb{E}[yx^\top]$, shape (outputs, inputs).
        first: $W_1$ at the start, shape (inputs, units).
        second: $W_2$ at the start, shape (units, outputs).
        covariance: $\mathbb{E}[xx^\top]$, if it is to be checked that inputs are whitened.
        output_power: mean squared norm of the outputs; without it the least that fits,
            $\lVert\Sigma\rVert^2$, so that the best loss is 0.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        tolerance: largest residual of the balance, and deviation of the covariance from 1, that counts as
            rounding, as a share of the squared length of the units concerned or of 1.

    Example:
        >>> import jax, numpy as np
        >>> from lazyrich.models import balanced_weights
        >>> from lazyrich.theory import BalancedNetwork
        >>> start = balanced_weights(jax.random.key(0), 3, 2, 2, imbalance=1.5, scale=0.1)
        >>> network = BalancedNetwork([[2.0, 0, 0], [0, 1.0, 0]], *start)
        >>> network.product(20.0).round(6) + 0.0
        array([[2., 0.],
               [0., 1.],
               [0., 0.]])
    """

    imbalance: Any
    correlation: Any
    output_power: Any
    learning_rate: Any
    basis: Any  # of F
    start: Any  # the start in this basis, in echelon form, (inputs + outputs, units)
    leading: Any  # the growth rate by which each of its columns is divided
    mixing: Any  # brings its columns back to the units

    def __init__(
        self,
        correlation: Any,
        first: Any,
        second: Any,
        covariance: Any = None,
        output_power: Any = None,
        learning_rate: Any = 1.0,
        *,
        tolerance: float = 1e-8,
    ):
        sigma, first, second = layers_of(correlation, first, second)
        # the order of growth rates is no smooth function of them
        known("correlation, first and second", (sigma, first, second))
        tolerance = number("tolerance", tolerance, at_least=0, advice="Use 1e-8.")
        require_whitened(covariance, first.shape[0], tolerance)
        self.imbalance = require_balanced((first, second), tolerance, is_zero=False)
        self.correlation = sigma
        self.output_power = output_power_of(output_power, np.sum(sigma**2), is_single=True)
        self.learning_rate = learning_rate_of(learning_rate, is_single=True)
        self.basis = _eigenbasis(sigma.T, float(self.imbalance))
        begin = _into_basis(self.basis, first, second)
        self.start, self.leading, self.mixing = _echelon(begin, self.basis.eigenvalues)

    def product(self, time: Any) -> Any:
        """The network's map $W_1W_2$, last two axes (inputs, outputs)."""
        return compute(_product, self, times(time))

    def gram(self, time: Any) -> Any:
        r"""$QQ^\top$, last two axes (inputs + outputs, inputs + outputs), inputs first."""
        return compute(_gram, self, times(time))

    def representations(self, time: Any) -> LayerRepresentations:
        r"""$W_1W_1^\top$ and $W_2^\top W_2$, which the tangent kernel is made of."""
        return compute(_representations, self, times(time))

    def weights(self, time: Any) -> TwoLayerWeights:
        """Layers up to an orthogonal mixing of the units, which changes no output; at time 0 the start."""
        return compute(_weights, self, times(time))

    def loss(self, time: Any) -> Any:
        """Half the mean squared norm of the error."""
        return compute(_loss, self, times(time))

    def kernel_distance(self, time: Any) -> Any:
        """How far the tangent kernel is from that at the start, on whitened inputs (App. F.2)."""
        return compute(_kernel_distance, self, times(time))


class _Basis(NamedTuple):
    """Eigenvectors of F: (x·u, y·v) and (y·u, −x·v) for each singular value, then those of null spaces."""

    eigenvalues: Any  # growing and decaying of each singular value; left, right null space
    left: Any  # (inputs, inputs), all left singular vectors
    singular_values: Any
    right: Any  # (outputs, outputs)
    x: Any
    y: Any


def _eigenbasis(S: np.ndarray, lam: float) -> _Basis:
    (d, c), half = S.shape, lam / 2
    U, s, Vt = np.linalg.svd(S)
    mu = np.hypot(half, s)
    # tan of the angle between the eigenvector and the heavier layer's axis, without cancellation
    share = np.divide(s, mu + abs(half), out=np.ones_like(s), where=mu > 0)
    strong, weak = 1 / np.hypot(1, share), share / np.hypot(1, share)
    x, y = (weak, strong) if lam >= 0 else (strong, weak)
    values = np.concatenate([mu, -mu, np.full(d - s.size, -half), np.full(c - s.size, half)])
    return _Basis(values, U, s, Vt.T, x, y)


def _into_basis(basis: _Basis, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    k, x, y = basis.singular_values.size, basis.x[:, None], basis.y[:, None]
    A, B = basis.left.T @ first, basis.right.T @ second.T
    return np.concatenate([x * A[:k] + y * B[:k], y * A[:k] - x * B[:k], A[k:], B[k:]])


def _echelon(q: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The start times an orthogonal matrix: rows that grow, fastest first, end at their leading column.

    Also the rate of each leading row, and the matrix.
    """
    q, width = q.copy(), q.shape[1]
    mixing, leading, column = np.eye(width), np.zeros(width), 0
    rounding = 8 * max(q.shape) * np.finfo(float).eps
    order = np.argsort(-mu, kind="stable")
    for row in order[mu[order] > 0]:
        rest, size = q[row, column:], np.linalg.norm(q[row])
        if np.linalg.norm(rest) <= rounding * size:
            q[row, column:] = 0  # no new direction: what is left is rounding
            continue
        v = rest.copy()
        v[0] += np.copysign(np.linalg.norm(rest), rest[0])
        v /= np.linalg.norm(v)
        for matrix in (q, mixing):  # a reflection that leaves only the first entry of `rest`
            matrix[:, column:] -= 2 * np.outer(matrix[:, column:] @ v, v)
        q[row, column + 1 :] = 0
        leading[column] = mu[row]
        column += 1
    return q, leading, mixing


def _layers(m: BalancedNetwork, tau: Any) -> tuple[Any, Any]:
    """W₁ and W₂ᵀ at one time, in the singular vectors' coordinates and up to a mixing of units."""
    mu, lead = m.basis.eigenvalues, m.leading
    scaled, rate = _scaled(m, tau), 2 * jnp.abs(mu)
    grown = jnp.exp(jnp.minimum(mu, 0) * tau)[:, None] * scaled
    span = jnp.where(rate == 0, tau, -jnp.expm1(-rate * tau) / jnp.where(rate == 0, 1, rate))
    system = jnp.diag(jnp.exp(-2 * lead * tau)) + scaled.T @ (span[:, None] * scaled)
    root = jnp.linalg.cholesky(system)
    X = jax.scipy.linalg.solve_triangular(root, grown.T, lower=True).T
    return _out_of_basis(m.basis, X)


def _scaled(m: BalancedNetwork, tau: Any) -> Any:
    """Rows of the start times their growth, if they grow; columns over that of their leading entry."""
    q, k = m.start, m.basis.singular_values.shape[0]
    growth = jnp.maximum(m.basis.eigenvalues, 0)[:, None]

    def rows(part: slice) -> Any:
        return q[part] * jnp.exp(jnp.minimum(growth[part] - m.leading, 0) * tau)

    # rows that decay share their exponentials, which cost as much as the products of matrices
    decaying = q[k : 2 * k] * jnp.exp(-m.leading * tau)
    return jnp.concatenate([rows(slice(k)), decaying, rows(slice(2 * k, None))])


def _out_of_basis(basis: _Basis, X: Any) -> tuple[Any, Any]:
    k, x, y = basis.singular_values.shape[0], basis.x[:, None], basis.y[:, None]
    up, down, rest = X[:k], X[k : 2 * k], X[2 * k :]
    inputs = basis.left.shape[0] - k
    A = jnp.concatenate([x * up + y * down, rest[:inputs]])
    return A, jnp.concatenate([y * up - x * down, rest[inputs:]])


def _at(function: Any, m: BalancedNetwork, time: Any) -> Any:
    """A function of the two layers at an array of times, one after the other: few numbers at once."""
    tau = (m.learning_rate * time).reshape(-1)
    # without a time there is nothing to go through, but a shape
    each = jax.lax.map if tau.size else lambda f, values: jax.vmap(f)(values)
    result = each(lambda t: function(*_layers(m, t)), tau)
    return jax.tree.map(lambda leaf: leaf.reshape(time.shape + leaf.shape[1:]), result)


def _product(m: BalancedNetwork, time: Any) -> Any:
    return m.basis.left @ (_at(lambda A, B: A @ B.T, m, time) @ m.basis.right.T)


def _gram(m: BalancedNetwork, time: Any) -> Any:
    Q = jnp.concatenate(_turned(m, time), axis=-2)
    return Q @ jnp.swapaxes(Q, -1, -2)


def _representations(m: BalancedNetwork, time: Any) -> LayerRepresentations:
    W1, W2t = _turned(m, time)
    return LayerRepresentations(W1 @ jnp.swapaxes(W1, -1, -2), W2t @ jnp.swapaxes(W2t, -1, -2))


def _weights(m: BalancedNetwork, time: Any) -> TwoLayerWeights:
    W1, W2t = _turned(m, time)
    return TwoLayerWeights(W1 @ m.mixing.T, jnp.swapaxes(W2t @ m.mixing.T, -1, -2))


def _turned(m: BalancedNetwork, time: Any) -> tuple[Any, Any]:
    A, B = _at(lambda A, B: (A, B), m, time)
    return m.basis.left @ A, m.basis.right @ B


def _loss(m: BalancedNetwork, time: Any) -> Any:
    s, (outputs, inputs) = m.basis.singular_values, m.correlation.shape
    target = jnp.zeros((inputs, outputs), s.dtype).at[jnp.arange(s.size), jnp.arange(s.size)].set(s)
    excess = _at(lambda A, B: jnp.sum((A @ B.T - target) ** 2), m, time)
    return (excess + unexplained_power(m.output_power, jnp.sum(m.correlation**2))) / 2


def _kernel_distance(m: BalancedNetwork, time: Any) -> Any:
    begin = _grams(*_layers(m, jnp.zeros((), time.dtype)))
    white = jnp.eye(m.correlation.shape[1], dtype=time.dtype)
    return _at(lambda A, B: grams_distance(begin, _grams(A, B), white), m, time)


def _grams(A: Any, B: Any) -> tuple[Any, Any]:
    return A @ A.T, B @ B.T
