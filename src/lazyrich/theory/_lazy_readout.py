"""A readout that learns on features that stay as they are."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import AssumptionError, argument_error, compute, known, moderate
from lazyrich.theory._gradient_expansion import GradientExpansion, expansion
from lazyrich.theory._readout_arguments import checked_pair
from lazyrich.theory._solution import Solution, learning_rate_of, single, times


class _FeatureBasis(NamedTuple):
    """Singular vectors and values of the features, those of value 0 left out."""

    left: Any  # (n, rank)
    values: Any  # (rank,), largest first
    right: Any  # (K, rank)


class ReadoutLimit(NamedTuple):
    r"""Where training of the top layer ends, returned by `LazyReadout.limit`.

    $$ V_\infty = \beta(\beta^2\tilde F^\top\tilde F + \eta I)^{-1}\tilde F^\top\tilde Y, \qquad
       E_\infty = \tilde Y - \beta\tilde F V_\infty, \qquad G_F = \beta E_\infty V_\infty^\top $$

    Symbols:
        $V_\infty$ → `weights`, $E_\infty$ → `error`, $G_F$ → `gradient`; others as in `LazyReadout`.

    Source:
        li2, Eq. 4, 60.

    Holds when:
        as `LazyReadout`. Without decay, η = 0, the solution of least squares that is nearest to the start.

    Checked by:
        checks `li2/eq4`, `li2/eq60`; `tests/theory/test_lazy_readout.py`.

    Attributes:
        weights: shape (K, M).
        error: shape (n, M).
        gradient: the backpropagated gradient, shape (n, K).

    Example:
        >>> from lazyrich.theory import LazyReadout
        >>> LazyReadout([[1.0], [-1.0]], [[1.0], [-1.0]], start=[[0.0]], ridge=2.0).limit().weights
        array([[0.5]])
    """

    weights: Any
    error: Any
    gradient: Any


class ReadoutConvergence(NamedTuple):
    r"""How fast the gradient reaches its limit, returned by `LazyReadout.convergence`.

    $$ \lVert G_F(t) - G_F(\infty)\rVert_F \le C e^{-\lambda t} $$

    Symbols:
        $\lambda$ → `rate`, $C$ → `constant`; others as in `LazyReadout`.

    Source:
        li2, Propositions 3 and 4.

    Holds when:
        as `LazyReadout`, at all times.

    Checked by:
        checks `li2/prop3`, `li2/prop4`; `tests/theory/test_lazy_readout.py`.

    Attributes:
        rate: for each step, or for rate × step if the learning rate is 1.
        constant: the distance at the start, or more.

    Example:
        >>> from lazyrich.theory import LazyReadout
        >>> readout = LazyReadout([[1.0], [-1.0]], [[1.0], [-1.0]], start=[[0.0]], ridge=2.0)
        >>> float(readout.convergence().rate)
        4.0
    """

    rate: Any
    constant: Any


class LazyReadout(Solution):
    r"""Gradient flow of the top layer on fixed features, and the gradient that it sends down.

    $$ \dot V = -AV + \beta\tilde F^\top\tilde Y, \qquad A = \beta^2\tilde F^\top\tilde F + \eta I, \qquad
       E = \tilde Y - \beta\tilde F V, \qquad G_F = -\partial J/\partial\tilde F = \beta E V^\top $$

    of the loss $J = \tfrac12\lVert E\rVert_F^2 + \tfrac\eta2\lVert V\rVert_F^2$. With
    $\tilde F = \sum_i s_i\, p_i q_i^\top$ and $\lambda_i = \beta^2 s_i^2 + \eta$, each mode relaxes alone,

    $$ q_i^\top V = e^{-\lambda_i t} q_i^\top V_0
       + \frac{1 - e^{-\lambda_i t}}{\lambda_i} \beta s_i\, p_i^\top\tilde Y, \qquad
       p_i^\top E = \frac{\eta + \beta^2 s_i^2 e^{-\lambda_i t}}{\lambda_i} p_i^\top\tilde Y
       - \beta s_i e^{-\lambda_i t} q_i^\top V_0 $$

    What $V_0$ has outside all $q_i$ decays as $e^{-\eta t}$; what $\tilde Y$ has outside all $p_i$ stays.

    Symbols:
        $F$ → `features`, $Y$ → `targets`, $V_0$ → `start`, $\eta$ → `ridge`, $\beta$ → `output_scale`,
        $t$ → `time` × `learning_rate`; a tilde means that the mean over samples is subtracted.

    Source:
        li2, Eq. 2–4, 47–69, Propositions 1–4.

    Holds when:
        the features do not move; gradient flow on $J$, a sum over samples with ½. For the mean over n samples
        of the squared error, no ½, and weight decay wd, time runs 2/n as fast and η = n·wd/2.
        $\tilde F$ may have any rank.

    Computed as:
        it is written, in the basis of one singular value decomposition; singular values below
        max(n, K)·2⁻⁵²·s₁ count as 0. Norms need M × M matrices only, no (n, K) gradient.

    Checked by:
        checks `li2/eq56`, `li2/eq4`, `li2/eq60`, `li2/eq69`, `li2/prop1`, `li2/prop2`, `li2/prop3`,
        `li2/prop4`; `tests/theory/test_lazy_readout.py`.

    Args:
        features: $F$, shape (n, K), not constant over samples.
        targets: $Y$, shape (n, M).
        start: $V_0$, shape (K, M); zeros for zero-init.
        ridge: η ≥ 0, for a mean over n samples n·wd/2.
        output_scale: β > 0; the network's output is $\beta F V$.
        learning_rate: > 0, a number; time is then counted in steps. With 1, the default, time is learning
            rate × step.
        centring: `samples` subtracts means over samples from features and targets, as the paper does, `none`
            nothing.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import LazyReadout
        >>> features = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
        >>> readout = LazyReadout(features, np.eye(3), np.zeros((2, 3)), ridge=0.1, centring="none")
        >>> readout.gradient_norm([0.0, 0.1, 1.0, 10.0]).round(3)
        array([0.   , 0.14 , 0.239, 0.084])
        >>> readout.limit().weights.round(3)
        array([[0.909, 0.   , 0.   ],
               [0.   , 0.488, 0.   ]])
    """

    basis: _FeatureBasis
    targets: Any
    start: Any
    ridge: Any
    output_scale: Any
    learning_rate: Any

    def __init__(
        self,
        features: Any,
        targets: Any,
        start: Any,
        ridge: Any = 0.0,
        output_scale: Any = 1.0,
        learning_rate: Any = 1.0,
        *,
        centring: str = "samples",
    ):
        F, self.targets = checked_pair(features, targets, centring)
        self.basis = feature_basis(F)
        if self.rank == 0:
            raise argument_error(
                "features", "not all be constant over samples", "a centred matrix of zeros",
                "Nothing can be learned from them.",
            )  # fmt: skip
        self.start = moderate("start", start, advice="Pass np.zeros((K, M)) for zero-init.")
        shape = (F.shape[1], self.targets.shape[1])
        if self.start.shape != shape:
            raise argument_error("start", f"have the shape {shape} of the readout", np.shape(start))
        self.ridge = single("ridge", ridge, at_least=0, advice="Use 0 for no weight decay.")
        self.output_scale = single(
            "output_scale", output_scale, above=0, at_most=1e50, advice="Use 1 as usual."
        )
        self.learning_rate = learning_rate_of(learning_rate, is_single=True)

    def weights(self, time: Any) -> Any:
        """V(t), last two axes (K, M) (Eq. 56)."""
        return compute(_weights, self, times(time))

    def error(self, time: Any) -> Any:
        """E(t) on the training samples, last two axes (n, M)."""
        return compute(_error, self, times(time))

    def gradient(self, time: Any) -> Any:
        """The backpropagated gradient G_F(t), last two axes (n, K) (Eq. 2)."""
        return compute(_gradient, self, times(time))

    def gradient_norm(self, time: Any) -> Any:
        """‖G_F(t)‖, without forming G_F: for many times and large networks."""
        return compute(_gradient_norm, self, times(time))

    def loss(self, time: Any) -> Any:
        """J(t), decay included."""
        return compute(_loss, self, times(time))

    def limit(self) -> ReadoutLimit:
        """Weights, error and G_F for t → ∞; the ridge solution and Eq. 4 where `ridge` > 0.

        Without decay the weights end at the solution of least squares that is nearest to where they began.
        """
        return compute(_limit, self)

    def expansion(self) -> GradientExpansion:
        """G_F at small times, term by term (Eq. 3, 55, 68)."""
        return compute(_expansion, self, self.features)

    def convergence(self) -> ReadoutConvergence:
        r"""How fast G_F reaches its limit (Proposition 3 without decay, 4 with decay).

        The rate is the smallest $\lambda_i$ among modes in which weights move; with decay it is η itself if
        $V_0$
        has a part outside all modes, which happens where there are more nodes than samples.
        """
        known("self", self, "Ask outside `jit`.")
        return _convergence(self)

    def decay_constant(self) -> Any:
        r"""$C_0$ of Proposition 3: $\lVert G_F(t)\rVert_F \le C_0 e^{-s_r^2\beta^2 t}$, without decay.

        Asks for (A2): the features can express the targets.
        """
        if self.ridge > 0:
            raise AssumptionError(
                f"Proposition 3 must have no weight decay, got ridge = {self.ridge:g}. Use `convergence`."
            )
        if self.unexplained > 1e-8:
            raise AssumptionError(
                "Proposition 3 must have targets in the span of the features (A2), got a share of "
                f"{self.unexplained:.2g} outside it: G_F does not vanish then. Use `convergence`."
            )
        return _convergence(self).constant

    @property
    def features(self) -> Any:
        """The features, centred if they were to be, shape (n, K)."""
        return compute(_features, self.basis)

    @property
    def rank(self) -> int:
        """Rank of the features; below K the Gram matrix is singular and (A1) does not hold."""
        return self.basis.values.shape[0]

    @property
    def unexplained(self) -> Any:
        r"""Share of $\lVert\tilde Y\rVert_F$ outside the span of the features, 0 if (A2) holds."""
        return compute(_unexplained, self)


def feature_basis(F: np.ndarray) -> _FeatureBasis:
    """The singular value decomposition, without what is rounding."""
    left, values, right = np.linalg.svd(known("features", F), full_matrices=False)
    kept = values > max(F.shape) * np.finfo(float).eps * values[0]
    return _FeatureBasis(left[:, kept], values[kept], right[kept].T)


def _features(basis: _FeatureBasis) -> Any:
    return (basis.left * basis.values) @ basis.right.T


class _Modes(NamedTuple):
    """What is known of a readout before time enters."""

    s: Any  # β s_i: from here on the features carry the scale of the output
    rate: Any
    y: Any  # (rank, M)
    v: Any  # (rank, M)
    y_rest: Any  # (n, M), outside all modes
    v_rest: Any  # (K, M)


def _modes(m: LazyReadout) -> _Modes:
    P, s, Q = m.basis
    s = m.output_scale * s
    y, v = P.T @ m.targets, Q.T @ m.start
    return _Modes(s, s**2 + m.ridge, y, v, m.targets - P @ y, m.start - Q @ v)


def _parts(m: LazyReadout, k: _Modes, t: Any) -> tuple[Any, Any, Any]:
    """Modes of V and of E, last axes (rank, M), and the factor of V outside all modes."""
    tau = m.learning_rate * t
    left = jnp.exp(-k.rate * tau[..., None])[..., None]
    learned = -jnp.expm1(-k.rate * tau[..., None])[..., None]
    s, rate = k.s[:, None], k.rate[:, None]
    v = left * k.v + learned * (s * k.y / rate)
    # η + s² e^{−λt} over λ instead of 1 − s²(1 − e^{−λt})/λ: nothing cancels when E is small
    e = (m.ridge + s**2 * left) / rate * k.y - s * left * k.v
    return v, e, jnp.exp(-m.ridge * tau)


def _weights(m: LazyReadout, t: Any) -> Any:
    k = _modes(m)
    v, _, rest = _parts(m, k, t)
    return m.basis.right @ v + rest[..., None, None] * k.v_rest


def _error(m: LazyReadout, t: Any) -> Any:
    k = _modes(m)
    return m.basis.left @ _parts(m, k, t)[1] + k.y_rest


def _gradient(m: LazyReadout, t: Any) -> Any:
    return m.output_scale * _error(m, t) @ jnp.swapaxes(_weights(m, t), -1, -2)


def _gradient_norm(m: LazyReadout, t: Any) -> Any:
    k = _modes(m)
    of_errors, of_weights = k.y_rest.T @ k.y_rest, k.v_rest.T @ k.v_rest

    def squared(t: Any) -> Any:
        v, e, rest = _parts(m, k, t)
        return jnp.sum((e.T @ e + of_errors) * (v.T @ v + rest**2 * of_weights))

    # one time after the other: memory for many times would be that of all V(t)
    total = jax.lax.map(squared, t.ravel()).reshape(t.shape)
    total = jnp.where(total < 0, 0, total)  # rounding; NaN stays
    return m.output_scale * jnp.where(total == 0, 0, jnp.sqrt(jnp.where(total == 0, 1, total)))


def _loss(m: LazyReadout, t: Any) -> Any:
    k = _modes(m)
    v, e, rest = _parts(m, k, t)
    errors = jnp.sum(e**2, axis=(-2, -1)) + jnp.sum(k.y_rest**2)
    weights = jnp.sum(v**2, axis=(-2, -1)) + rest**2 * jnp.sum(k.v_rest**2)
    return (errors + m.ridge * weights) / 2


def _limit(m: LazyReadout) -> ReadoutLimit:
    k = _modes(m)
    stays = jnp.where(m.ridge > 0, 0, 1) * k.v_rest
    V = m.basis.right @ (k.s[:, None] * k.y / k.rate[:, None]) + stays
    E = m.basis.left @ (m.ridge * k.y / k.rate[:, None]) + k.y_rest
    return ReadoutLimit(V, E, m.output_scale * E @ V.T)


def _convergence(m: LazyReadout) -> ReadoutConvergence:
    k = compute(_modes, m)
    limit = m.limit()
    moves = k.v - k.s[:, None] * k.y / k.rate[:, None]
    size = np.linalg.norm(moves, axis=1)
    outside = np.linalg.norm(k.v_rest) if m.ridge > 0 else 0.0
    tiny = 1e-13 * max(np.linalg.norm(m.start), np.linalg.norm(limit.weights))
    rates = [*k.rate[size > tiny], *([float(m.ridge)] if outside > tiny else [])]
    if not rates:
        return ReadoutConvergence(np.float64(np.inf), np.float64(0.0))
    distance = np.hypot(np.linalg.norm(moves), outside)
    largest = np.linalg.norm(limit.weights, 2) + distance
    constant = k.s[0] * largest + np.linalg.norm(limit.error, 2)
    return ReadoutConvergence(
        np.float64(m.learning_rate * min(rates)), np.float64(m.output_scale * distance * constant)
    )


def _expansion(m: LazyReadout, F: Any) -> GradientExpansion:
    return expansion(F, m.targets, m.start, m.ridge, m.output_scale, m.learning_rate)


def _unexplained(m: LazyReadout) -> Any:
    size = jnp.linalg.norm(m.targets)
    return jnp.linalg.norm(_modes(m).y_rest) / jnp.where(size == 0, 1, size)
