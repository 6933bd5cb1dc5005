"""What a layer of random weights does to a gradient that passes it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, centred, compute, known, number
from lazyrich.models import activation as activation_of
from lazyrich.theory._readout_arguments import checked_pair

REACH, MOST = 9.0, 401
"""Standard deviations that the trapezoidal rule covers on each side, and its largest number of points."""


class RandomLayerGradient(NamedTuple):
    r"""A mean gradient and the two kernels that it is made of, returned by `random_layer_gradient`.

    $$ \tfrac1K\,\mathbb{E}[G_{L-1}] = \tau^2\left[(\tilde Y\tilde Y^\top\circ K')\,F_{L-1}
       + \operatorname{diag}\bigl((\tilde Y\tilde Y^\top\circ K'')1\bigr)\,F_{L-1}\right] $$

    Symbols:
        the left side → `gradient`, $K'$ → `gate`, $K''$ → `bend`.

    Source:
        li2, Eq. 11, corrected.

    Holds when:
        as `random_layer_gradient`.

    Checked by:
        check `li2/eq11`; `tests/theory/test_random_layer_gradient.py`.

    Attributes:
        gradient: for each node, shape (n, width below).
        gate: how often two samples open a gate together, shape (n, n).
        bend: what comes of gates that depend on the weights, shape (n, n).

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import random_layer_gradient
        >>> random_layer_gradient(np.eye(2), [[1.0], [-1.0]], "relu").gradient.shape
        (2, 2)
    """

    gradient: Any
    gate: Any
    bend: Any


def random_layer_gradient(
    features: Any, targets: Any, activation: Any = "relu", initial_std: Any = 1.0
) -> RandomLayerGradient:
    r"""The mean gradient below a random node that itself receives its part of $\tilde Y\tilde Y^\top F_L$.

    $$ \tfrac1K\,\mathbb{E}[G_{L-1}] = \tau^2\left[(\tilde Y\tilde Y^\top\circ K')\,F_{L-1}
       + \operatorname{diag}\bigl((\tilde Y\tilde Y^\top\circ K'')1\bigr)\,F_{L-1}\right], \qquad
       K'_{ik} = \mathbb{E}[\sigma'(z_i)\sigma'(z_k)], \quad K''_{ik} = \mathbb{E}[\sigma''(z_i)\sigma(z_k)]
       $$

    with $z = F_{L-1}w$. The first kernel is the mean of $D_j\tilde Y\tilde Y^\top D_j$ over nodes j, each
    with its own gates
    $D_j = \operatorname{diag}\sigma'(F_{L-1}w_j)$: samples are not reweighed, pairs of samples are. The
    second comes in because gates and weights
    depend on each other (Stein's lemma).

    Symbols:
        $F_{L-1}$ → `features`, $Y$ → `targets`, σ → `activation`, τ → `initial_std`, ∘ → the product entry by
        entry.

    Source:
        li2, Eq. 11, corrected: its $D_L$ is one matrix for all nodes.

    Holds when:
        entries of $W_L$ are independent normal numbers of standard deviation τ. A layer of K nodes differs
        from the mean by about
        $\sqrt{\text{width below}/K}$ of it, hence as much as it is large if both are equally wide.

    Computed as:
        for `"relu"` with the angles θ between activations, $K' = (\pi - \theta)/2\pi$ and
        $K''_{ik} = \sin\theta\,\lVert f_k\rVert / 2\pi\lVert f_i\rVert$; else the trapezoidal rule, to
        about 1e-13 where σ is analytic and no τ‖f‖ is above 4.

    Checked by:
        check `li2/eq11`; `tests/theory/test_random_layer_gradient.py`.

    Args:
        features: $F_{L-1}$, shape (n, width below), no row zero.
        targets: $Y$, shape (n, M); their mean over samples is subtracted.
        activation: `"relu"`, another name of `models.activation`, or a smooth function.
        initial_std: τ > 0.

    Returns:
        The mean gradient for each node, and both kernels.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import random_layer_gradient
        >>> found = random_layer_gradient(np.eye(2), [[1.0], [-1.0]], "relu")
        >>> found.gate
        array([[0.5 , 0.25],
               [0.25, 0.5 ]])
    """
    F, Y = checked_pair(features, targets, centring="none")
    known("features and targets", (F, Y))
    tau = number(
        "initial_std",
        initial_std,
        above=0,
        at_most=1e50,
        advice="Use 1/√K as at the start of training.",
    )
    length = np.linalg.norm(F, axis=1)
    if not np.all(length > 0):
        row = int(np.argmin(length))
        raise argument_error(f"features[{row}]", "not be zero", 0.0, "Leave such samples out.")
    cosine = np.clip(F @ F.T / np.outer(length, length), -1, 1)
    if activation == "relu":
        gate, bend = _relu_kernels(F / length[:, None], length)
    else:
        gate, bend = _smooth_kernels(activation_of(activation), tau * length, cosine)
    Y = centred(Y)
    A = Y @ Y.T
    gradient = tau**2 * ((A * gate) @ F + np.sum(A * bend, axis=1)[:, None] * F)
    return RandomLayerGradient(gradient, gate, bend)


def _relu_kernels(unit: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By sums and differences of unit vectors, one row at a time for memory.

    Cosines would leave half of the digits of small angles, and of the angle 0 of a sample with itself.
    """
    size = np.array([np.linalg.norm([unit - row, unit + row], axis=-1) for row in unit])
    apart, together = size[:, 0], size[:, 1]  # 2 sin θ/2, 2 cos θ/2
    gate = np.arctan2(together, apart) / np.pi  # (π − θ)/2π
    return gate, apart * together / 2 * length / (2 * np.pi * length[:, None])


def _smooth_kernels(
    sigma: Callable[[Any], Any], length: np.ndarray, cosine: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One row of pairs at a time, for memory."""
    # the poles of tanh and its like come as near as 1/length
    x = np.linspace(-REACH, REACH, min(2 * int(40 * length.max()) + 33, MOST))
    w = np.exp(-(x**2) / 2)
    weight = np.outer(w, w) / w.sum() ** 2

    def row(first: Any, lengths: Any, cosines: Any) -> Any:
        slope = lambda z: jax.jvp(lambda z: sigma(z) + 0 * z, (z,), (jnp.ones_like(z),))[1]  # noqa: E731
        d1, d2 = jax.jvp(slope, (first * x,), (jnp.ones_like(first * x),))
        sine = jnp.sqrt(jnp.maximum(1 - cosines**2, 0))
        z = lengths[:, None, None] * (cosines[:, None, None] * x[:, None] + sine[:, None, None] * x)
        gate = jnp.einsum("ab,a,kab->k", weight, d1, slope(z))
        return gate, jnp.einsum("ab,a,kab->k", weight, d2, sigma(z) + 0 * z)

    def kernels(length: Any, cosine: Any) -> Any:
        return jax.lax.map(lambda pair: row(pair[0], length, pair[1]), (length, cosine))

    return compute(kernels, length, cosine, jit=False)
