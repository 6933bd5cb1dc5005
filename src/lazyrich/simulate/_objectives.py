"""Losses of outputs, their centring, and the ridge solution of a top layer."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


def _squared(outputs: Any, targets: Any) -> Any:
    return (outputs - targets) ** 2


def _cross_entropy(outputs: Any, targets: Any) -> Any:
    return -jnp.sum(targets * jax.nn.log_softmax(outputs), axis=-1)


def _stable_cross_entropy(outputs: Any, targets: Any) -> Any:
    """With s(x) = x + 1 for x ≥ 0 and 1/(1 − x) below in place of the exponential."""
    grown = jnp.where(outputs >= 0, outputs + 1, 1 / (1 - jnp.minimum(outputs, 0)))
    logs = jnp.log(grown) - jnp.log(jnp.sum(grown, axis=-1, keepdims=True))
    return -jnp.sum(targets * logs, axis=-1)


class Objective(NamedTuple):
    """A loss of classification: its terms, whose mean it is, and the loss in words."""

    terms: Callable[
        [Any, Any], Any
    ]  # of outputs and one-hot vectors, scaled or not, (samples, classes)
    words: str


OBJECTIVES = {
    "squared": Objective(_squared, "mean over samples and outputs of the squared error, no ½"),
    "cross-entropy": Objective(
        _cross_entropy, "mean over samples of the cross-entropy, natural logarithm"
    ),
    "stable-softmax": Objective(
        _stable_cross_entropy,
        "mean over samples of the cross-entropy of a stable softmax, natural logarithm",
    ),
}


def centred(values: Any, share: Any, centring: str) -> Any:
    """The residual or the features without their mean over what is centred; rows without share are zero."""
    counted = share[:, None] > 0
    if centring == "samples":
        values = values - share @ values
    elif centring == "classes":
        values = values - jnp.mean(values, axis=1, keepdims=True)
    return jnp.where(counted, values, 0)


def squared_norm(residual: Any) -> Any:
    """Of every row; for complex numbers that of real and imaginary part together."""
    return jnp.sum(jnp.real(residual) ** 2 + jnp.imag(residual) ** 2, axis=1)


def ridge_top(features: Any, targets: Any, share: Any, ridge: Any, centring: str) -> Any:
    r"""The top layer that minimises $\|P(Y - FV)\|^2 + \eta\|V\|^2$.

    With P over samples it acts on F and Y from the left; over classes on Y from the right, and V inherits it.
    By the smaller of the two Gram matrices, of units or of samples:
    $V = (F^* F + \eta I)^{-1} F^* Y = F^* (F F^* + \eta I)^{-1} Y$.
    """
    F = centred_features(features, share, centring)
    Y = centred(targets, share, centring).astype(F.dtype)
    back = F.conj().T
    if F.shape[1] <= F.shape[0]:
        return _solve(back @ F, ridge, back @ Y)
    return back @ _solve(F @ back, ridge, Y)


def centred_features(features: Any, share: Any, centring: str) -> Any:
    """P F where P acts on samples, F where it does not."""
    return centred(features, share, "samples" if centring == "samples" else "none")


def _solve(gram: Any, ridge: Any, right: Any) -> Any:
    factor = jax.scipy.linalg.cho_factor(gram + ridge * jnp.eye(gram.shape[0], dtype=gram.dtype))
    return jax.scipy.linalg.cho_solve(factor, right)
