"""What the top layer sends back to the hidden nodes, and whether it is about the labels."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, centred, untraced
from lazyrich.measures._hidden_arrays import (
    each,
    gathered,
    hidden_features,
    matrices,
    target_rows,
)


class BackpropagatedGradient(NamedTuple):
    r"""Size and direction of $G_F$. Numbers or arrays over runs; `node_…` have a last axis over nodes.

    Attributes:
        norm: $\lVert G_F\rVert_F$.
        alignment: cosine between $G_F$ and $\tilde Y \tilde Y^\top \tilde F$; NaN where one of them vanishes.
        node_norms: lengths of the columns $g_j$.
        node_alignments: cosine of each column with $\tilde Y \tilde Y^\top \tilde f_j$; NaN where one
            vanishes.
    """

    norm: Any
    alignment: Any
    node_norms: Any
    node_alignments: Any


@untraced
def backpropagated_gradient(
    features: Any, targets: Any, second: Any, *, centring: str = "samples"
) -> BackpropagatedGradient:
    r"""The gradient that the top layer sends to the hidden nodes: its size, and whether it is about labels.

    $$ G_F = P(Y - FV)V^*, \qquad
       \cos = \frac{\langle G_F, \tilde Y \tilde Y^\top \tilde F\rangle}
                   {\lVert G_F\rVert\, \lVert\tilde Y \tilde Y^\top \tilde F\rVert} $$

    Near 1 every node climbs its own energy, independently of the others. Near 0 the gradient is noise (at the
    start), or nodes act on one another (late).

    Args:
        features: F on the training samples, shape (..., samples, nodes), real or complex. Complex outputs
            FV count by the squared modulus of their residual, as in `simulate.FeatureLearning`: the
            imaginary part has the target 0, and $V^*$ is the conjugate transpose.
        targets: classes, whole numbers of an integer type, shape (..., samples); or rows Y of targets, shape
            (..., samples, classes).
        second: V, shape (..., nodes, classes). Torch's `Linear` has it transposed.
        centring: what P takes out of the residual: the mean over `samples` (Eq. 2), over `classes` (the
            loss of the public code), `both` (its gradient by the centred features), or `none`. The gradient
            of a loss that is not centred stalls at a large value.

    Returns:
        Norms and cosines. They are of the sum over samples; a loss that is a mean over n samples without ½
        has 2/n times this gradient.

    Computed as:
        with $C = \tilde Y^\top\tilde F$, classes × nodes: $\lVert\tilde Y C\rVert$ and
        $\langle G_F, \tilde Y C\rangle$ need matrices of classes × classes only, and nothing of
        samples × samples is formed.

    Cost:
        $3nKM + O((n + K)M^2)$ multiplications, those of one training step, and its processor time.

    Source:
        li2, Eq. 2, 3, 5, 49.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import backpropagated_gradient
        >>> rng = np.random.default_rng(0)
        >>> F, labels = rng.standard_normal((50, 8)), np.arange(50) % 5
        >>> Y = np.eye(5)[labels]
        >>> V = 1e-3 * F.T @ (Y - Y.mean(axis=0))  # after a first small step from zero
        >>> found = backpropagated_gradient(F, labels, V)
        >>> round(float(found.alignment), 3)
        1.0
    """
    F = hidden_features(features)
    V = second_layer(second, F.shape[-1])
    Y = target_rows(targets, F.shape[-2], V.shape[-1])
    lead, each_run = each(F, Y, V)
    return BackpropagatedGradient(*gathered([_one(centring, *run) for run in each_run], lead))


def second_layer(second: Any, num_nodes: int) -> np.ndarray:
    """V, shape (..., K, M), checked against the number of nodes."""
    advice = "Transpose torch's `Linear.weight`."
    V = matrices("second", second, "(..., nodes, classes)", advice=advice)
    if V.shape[-2] != num_nodes:
        raise argument_error(
            "second", f"have the shape (..., {num_nodes}, classes)", V.shape, advice
        )
    return V


def _one(centring: str, F: np.ndarray, Y: np.ndarray, V: np.ndarray) -> tuple[Any, ...]:
    R = centred(Y - F @ V, centring)
    Y = centred(Y)
    C = Y.T @ F  # Ỹᵀ F̃ (M, K), as Ỹ is centred
    node_norms = np.linalg.norm(R @ V.conj().T, axis=0)
    key_norms = np.sqrt(np.maximum(np.sum(C.conj() * ((Y.T @ Y) @ C), axis=0).real, 0.0))
    inner = np.sum(((R.conj().T @ Y) @ C) * V.T, axis=0).real  # of g_j and ỸỸᵀf_j
    norm, key = np.linalg.norm(node_norms), np.linalg.norm(key_norms)
    return norm, _ratio(inner.sum(), norm * key), node_norms, _ratio(inner, node_norms * key_norms)


def _ratio(inner: Any, size: Any) -> Any:
    return np.where(size > 0, np.clip(inner / np.where(size > 0, size, 1.0), -1, 1), np.nan)[()]
