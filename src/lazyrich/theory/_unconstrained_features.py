"""Neural collapse of features that are free to move."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    AssumptionError,
    argument_error,
    choice,
    compute,
    count,
    known,
    moderate,
    number,
    whole,
)
from lazyrich.theory._linear_task import require_balanced
from lazyrich.theory._solution import Solution, learning_rate_of, times

BALANCED = 1e-8
"""Imbalance, as a share of the units' squared length, up to which a start counts as balanced."""

CONDITION = 1e8
"""A start whose growing part is nearer to singular than this would lose all digits."""


class _Basis(NamedTuple):
    """The start in the eigenbasis of the label matrix, hidden units reduced to the c that are used."""

    singular_values: Any  # (c,) of the label matrix
    left: Any  # (n, c), its left singular vectors: combinations of class indicators
    right: Any  # (c, c), its right singular vectors
    inverse: Any  # (c, c), inverse of the part of the start that grows
    shrinking: Any  # (c, c), the part that decays
    rest: Any  # (n, c), features minus their class means
    members: Any  # (n, c): its transpose averages over classes


class UnconstrainedFeatures(Solution):
    r"""Gradient flow of free features and a last layer on one-hot labels, from any balanced start.

    $$ \mathcal{L} = \frac{1}{2n} \lVert HW - Y\rVert_F^2, \qquad
       n\dot H = (Y - HW)W^\top, \quad n\dot W = H^\top(Y - HW), \qquad H(0)^\top H(0) = W(0)W(0)^\top $$

    With $Q$, the stack of $H$ and $W^\top$, and $F$, the symmetric matrix with off-diagonal blocks $Y$,

    $$ n\dot Q = FQ - \tfrac12 QQ^\top Q, \qquad
       QQ^\top = e^{Ft/n} Q_0 \Bigl[1 + Q_0^\top \int_0^{t/n} e^{2Fs} ds\, Q_0\Bigr]^{-1} Q_0^\top e^{Ft/n} $$

    The label matrix has one singular value $\sqrt{n_k}$ for each class. Its modes grow at the rate
    $\sqrt{n_k}/n$. The features of a class become one vector of squared length $1/\sqrt{n_k}$, orthogonal to
    those of other classes. Without their mean these are a simplex if classes have equal sizes.
    The outputs are those of a `BalancedNetwork` with λ = 0 whose inputs are the samples, one-hot.

    Symbols:
        $H = XW_1$ → `first`, $W = W_2$ → `second`, $Y$ → `targets`, $n_k$ → the number of `labels` k,
        $t$ → `time`.

    Source:
        layerwise, Sec. 5.2, Eq. 13, App. E, after unconstrained-features and braun.

    Holds when:
        the start is balanced, $H^\top H = WW^\top$; there are at least as many hidden units as classes; loss
        = ½ mean over samples; gradient flow.

    Computed as:
        written, in the eigenbasis of F, with growing exponentials divided out of numerator and denominator,
        so that no time is too long. Features minus class means are kept apart and lose no digits. Features
        and last layer are given in a rotated frame of c hidden directions; no condition of collapse sees a
        rotation.

    Checked by:
        checks `layerwise/eq13`, `layerwise/eq65`, `layerwise/eq66`, `layerwise/eq67`, `layerwise/eq68`;
        `tests/theory/test_unconstrained_features.py`.

    Args:
        labels: class of each sample, whole numbers from 0, shape (n,). Classes may differ in size.
        first: features at the start, shape (n, width).
        second: last layer at the start, shape (width, classes).
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        centring: `samples` subtracts the classes' frequencies from the one-hot labels, as a bias does that
            has learned them; `none` nothing. With `samples` c − 1 modes grow, and self-duality (Eq. 67) holds
            in the end as printed.

    Example:
        >>> from lazyrich.theory import UnconstrainedFeatures
        >>> model = UnconstrainedFeatures.small([0, 0, 1, 1, 2, 2], width=5, initial_std=1e-3)
        >>> model.within_class([0.0, 60.0]).round(6), model.simplex(60.0).round(6)
        (array([0.388805, 0.      ]), np.float64(2e-06))
        >>> model.duality(60.0).round(4), model.duality_centred(60.0).round(4)
        (np.float64(0.6058), np.float64(0.0))
    """

    labels: Any
    first: Any
    second: Any
    learning_rate: Any
    bias: Any
    targets: Any
    basis: _Basis

    def __init__(
        self,
        labels: Any,
        first: Any,
        second: Any,
        learning_rate: Any = 1.0,
        *,
        centring: str = "none",
    ):
        self.labels = known("labels", _classes(labels))
        self.first = known(
            "first", moderate("first", first, advice="Pass features, shape (n, width).")
        )
        self.second = known("second", moderate("second", second, advice="Pass the last layer."))
        self.learning_rate = learning_rate_of(learning_rate, is_single=True)
        _check_shapes(self.labels, self.first, self.second)
        _check_balance(self.first, self.second)
        Y = np.eye(self.second.shape[1])[self.labels.astype(int)]
        choice("centring", centring, ("samples", "none"))
        self.bias = Y.mean(axis=0) * (centring == "samples")
        self.targets = Y - self.bias
        self.basis = _basis(self.targets, Y, self.first, self.second)

    @classmethod
    def small(
        cls, labels: Any, width: int, initial_std: float, *, seed: int = 0, learning_rate: Any = 1.0,
        centring: str = "none",
    ) -> "UnconstrainedFeatures":  # fmt: skip
        """A random balanced start: last layer of standard deviation `initial_std`, features to match."""
        k = known("labels", _classes(labels))
        if k.ndim != 1 or k.size == 0:
            raise argument_error("labels", "have the shape (n,), not empty", k.shape)
        size = number("initial_std", initial_std, above=0, at_most=1e70, advice="Use e.g. 1e-3.")
        rng, c = np.random.default_rng(count("seed", seed, at_least=0)), int(k.max()) + 1
        second = size * rng.standard_normal((count("width", width, at_most=10**6), c))
        if c < 2:
            raise argument_error("labels", "name two classes or more", c)
        _check_present(k, c)
        if len(second) < c:
            raise argument_error("width", f"be at least {c}, the number of classes", width)
        R, s, _ = np.linalg.svd(second, full_matrices=False)
        frame = np.linalg.qr(rng.standard_normal((k.size, c)))[0]
        return cls(k, (frame * s) @ R.T, second, learning_rate, centring=centring)

    def features(self, time: Any) -> Any:
        """Features up to a rotation of hidden directions, last two axes (sample, classes)."""
        return compute(_features, self.basis, self._tau(time))

    def last_layer(self, time: Any) -> Any:
        """Last layer in the frame of `features`, last two axes (classes, class)."""
        return compute(_last_layer, self.basis, self._tau(time))

    def outputs(self, time: Any) -> Any:
        """Outputs HW, last two axes (sample, class); a bias comes on top."""
        return compute(_outputs, self.basis, self._tau(time))

    def loss(self, time: Any) -> Any:
        """Half the squared error, mean over samples."""
        return compute(_loss, self.basis, self.targets, self._tau(time))

    def within_class(self, time: Any) -> Any:
        """NC1, the trace of the within-class covariance over that of the between-class one (Eq. 65)."""
        return compute(_within_class, self.basis, self._tau(time))

    def simplex(self, time: Any) -> Any:
        """NC2, the largest deviation of a cosine of centred class means from −1/(c − 1) (Eq. 66)."""
        return compute(_simplex, self.basis, self._tau(time))

    def duality(self, time: Any) -> Any:
        """NC3, the largest length of last-layer direction minus class-mean direction (Eq. 67)."""
        return compute(_duality, self.basis, self._tau(time))

    def duality_centred(self, time: Any) -> Any:
        """NC3 with the last layer's weights minus their mean over classes."""
        return compute(_duality_centred, self.basis, self._tau(time))

    def disagreement(self, time: Any) -> Any:
        """NC4, the share of samples on which outputs and nearest class mean differ (Eq. 68)."""
        return compute(_disagreement, self.basis, self.bias, self._tau(time))

    @property
    def singular_values(self) -> np.ndarray:
        """Singular values of the label matrix, largest first; modes grow at these rates over n."""
        return np.asarray(self.basis.singular_values)

    def _tau(self, time: Any) -> Any:
        return self.learning_rate * times(time) / self.first.shape[0]


def _check_shapes(labels: Any, first: Any, second: Any) -> None:
    if labels.ndim != 1 or labels.size == 0:
        raise argument_error("labels", "have the shape (n,), not empty", labels.shape)
    if first.ndim != 2 or first.shape[0] != labels.size or first.shape[1] < 1:
        raise argument_error("first", f"have the shape ({labels.size}, width)", first.shape)
    if second.ndim != 2 or second.shape[0] != first.shape[1] or second.shape[1] < 2:
        raise argument_error(
            "second",
            f"have the shape ({first.shape[1]}, classes) with two classes or more",
            second.shape,
        )
    if labels.max() >= second.shape[1]:
        raise argument_error(
            "labels", f"be below {second.shape[1]}, the classes of `second`", labels.max()
        )
    _check_present(labels, second.shape[1])


def _check_present(labels: Any, classes: int) -> None:
    present = np.bincount(labels.astype(int), minlength=classes)
    if not present.all():
        k = int(np.argmin(present))
        raise argument_error(
            "labels", "have a sample of every class", f"none of class {k}", "Leave it out."
        )


def _classes(labels: Any) -> Any:
    return whole("labels", labels, at_least=0, at_most=10**6, advice="Number classes from 0.")


def _check_balance(first: np.ndarray, second: np.ndarray) -> None:
    size = np.sum(first**2) + np.sum(second**2)
    if size == 0:
        raise argument_error(
            "first",
            "not vanish, nor `second`",
            0.0,
            "Nothing grows then: use a small random start.",
        )
    require_balanced((first, second), BALANCED)
    width, classes = second.shape
    if width < classes or np.linalg.matrix_rank(second) < classes:
        raise AssumptionError(
            f"The solution assumes a last layer of rank {classes}, the number of classes, but it has rank "
            f"{np.linalg.matrix_rank(second)}. Use more hidden units, or a random start."
        )


def _basis(targets: np.ndarray, hot: np.ndarray, first: np.ndarray, second: np.ndarray) -> _Basis:
    indicators = hot / np.sqrt(hot.sum(axis=0))
    U, s, Vt = np.linalg.svd(indicators.T @ targets)
    s = np.where(s > 1e-12 * s[0], s, 0.0)
    left = indicators @ U
    frame = np.linalg.svd(second, full_matrices=False)[0]  # the hidden directions in use
    H, W = left.T @ first @ frame, Vt @ second.T @ frame
    growing, shrinking = (H + W) / np.sqrt(2), (H - W) / np.sqrt(2)
    condition = np.linalg.cond(growing)
    if not condition <= CONDITION:
        raise AssumptionError(
            f"The solution assumes that all modes are present at the start, but the part that grows is "
            f"singular (condition number {condition:.2g}). Use a random start."
        )
    rest = first @ frame - left @ H
    return _Basis(s, left, Vt.T, np.linalg.inv(growing), shrinking, rest, hot / hot.sum(axis=0))


def _parts(b: _Basis, tau: Any) -> tuple[Any, Any, Any]:
    """Growing, shrinking and within-class part of the start, propagated, times the root of the bracket."""
    tau = tau[..., None]
    s = b.singular_values
    decay = jnp.exp(-s * tau)
    safe = jnp.where(s > 0, s, 1.0)
    phi = jnp.where(s > 0, -jnp.expm1(-2 * safe * tau) / (2 * safe), tau)  # ∫ e^{−2su} du
    S, N, T = b.shrinking @ b.inverse, b.rest @ b.inverse, b.inverse
    inner = T.T @ T + S.T @ (phi[..., :, None] * S) + tau[..., None] * (N.T @ N)
    bracket = phi[..., None] * jnp.eye(s.shape[0], dtype=s.dtype) + (
        decay[..., :, None] * inner * decay[..., None, :]
    )
    root = jnp.swapaxes(_inverse_root(bracket), -1, -2)
    return (
        root,
        decay[..., :, None] * (S * decay[..., None, :]) @ root,
        (N * decay[..., None, :]) @ root,
    )


def _inverse_root(matrix: Any) -> Any:
    """Inverse of the Cholesky factor, column by column: same digits for one matrix and for many."""
    L = jnp.linalg.cholesky(matrix)
    rows: list[Any] = []
    c = matrix.shape[-1]
    for i in range(c):
        unit = jnp.zeros((c,), matrix.dtype).at[i].set(1.0)
        known = sum((L[..., i, j, None] * rows[j] for j in range(i)), jnp.zeros_like(unit))
        rows.append((unit - known) / L[..., i, i, None])
    return jnp.stack(rows, axis=-2)


@jax.jit  # derivatives would otherwise be taken one small operation at a time
def _means_part(b: _Basis, tau: Any) -> tuple[Any, Any, Any]:
    """Features' part in the class indicators (n, c), within-class part (n, c), last layer's rows (c, c)."""
    grown, shrunk, rest = _parts(b, tau)
    return (
        b.left @ (grown + shrunk) / jnp.sqrt(2.0),
        rest,
        b.right @ (grown - shrunk) / jnp.sqrt(2.0),
    )


def _features(b: _Basis, tau: Any) -> Any:
    means, rest, _ = _means_part(b, tau)
    return means + rest


def _last_layer(b: _Basis, tau: Any) -> Any:
    return jnp.swapaxes(_means_part(b, tau)[2], -1, -2)


def _outputs(b: _Basis, tau: Any) -> Any:
    means, rest, weights = _means_part(b, tau)
    return (means + rest) @ jnp.swapaxes(weights, -1, -2)


def _loss(b: _Basis, targets: Any, tau: Any) -> Any:
    return jnp.sum((_outputs(b, tau) - targets) ** 2, axis=(-2, -1)) / (2 * targets.shape[0])


def _centred_means(means: Any, members: Any) -> Any:
    mu = members.T @ means
    return mu - mu.mean(axis=-2, keepdims=True)


def _within_class(b: _Basis, tau: Any) -> Any:
    means, rest, _ = _means_part(b, tau)
    between = jnp.mean(jnp.sum(_centred_means(means, b.members) ** 2, axis=-1), axis=-1)
    return jnp.sum(rest**2, axis=(-2, -1)) / rest.shape[-2] / between


def _unit(rows: Any) -> Any:
    return rows / jnp.sqrt(jnp.sum(rows**2, axis=-1, keepdims=True))


def _simplex(b: _Basis, tau: Any) -> Any:
    m = _unit(_centred_means(_means_part(b, tau)[0], b.members))
    c = m.shape[-1]
    off = jnp.abs(m @ jnp.swapaxes(m, -1, -2) + 1 / (c - 1)) * (1 - jnp.eye(c, dtype=m.dtype))
    return jnp.max(off, axis=(-2, -1))


def _duality(b: _Basis, tau: Any) -> Any:
    means, _, weights = _means_part(b, tau)
    difference = _unit(weights) - _unit(_centred_means(means, b.members))
    return jnp.max(jnp.sqrt(jnp.sum(difference**2, axis=-1)), axis=-1)


def _duality_centred(b: _Basis, tau: Any) -> Any:
    means, _, weights = _means_part(b, tau)
    shifted = weights - weights.mean(axis=-2, keepdims=True)
    difference = _unit(shifted) - _unit(_centred_means(means, b.members))
    return jnp.max(jnp.sqrt(jnp.sum(difference**2, axis=-1)), axis=-1)


def _disagreement(b: _Basis, bias: Any, tau: Any) -> Any:
    means, rest, weights = _means_part(b, tau)
    h, mu = means + rest, b.members.T @ means
    decided = jnp.argmax(h @ jnp.swapaxes(weights, -1, -2) + bias, axis=-1)
    distances = jnp.sum(mu**2, axis=-1)[..., None, :] - 2 * h @ jnp.swapaxes(mu, -1, -2)
    share = jnp.mean((decided != jnp.argmin(distances, axis=-1)).astype(h.dtype), axis=-1)
    return jnp.where(jnp.isnan(tau), jnp.nan, share)
