"""How the top layer's fit makes nodes with similar features push each other apart."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, known, moderate, number


class FeatureRepulsion(NamedTuple):
    r"""What other nodes do to the gradient of each, returned by `feature_repulsion`.

    $$ [\tilde F B]_j = b_{jj}\tilde f_j + \sum_{l \ne j} b_{jl}\tilde f_l $$

    Symbols:
        $b_{jl}$ → `coefficients`, $\tilde f_j^\top P_{\eta,-jl}\tilde f_l$ → `residual_similarity`,
        $[\tilde F B]_j$ → column j of `mixed`.

    Source:
        li2, Theorem 6, Eq. 9.

    Holds when:
        as `feature_repulsion`.

    Checked by:
        checks `li2/thm6`, `li2/eq9`.

    Attributes:
        coefficients: B, shape (nodes, nodes). Negative: the two nodes repel each other.
        residual_similarity: what is left of the product of two features after ridge regression of both on
            all others, shape (nodes, nodes). On the diagonal, of one feature on all others.
        similarity: the plain product of the centred features, shape (nodes, nodes).
        mixed: what takes the place of the features in the backpropagated gradient, shape (samples, nodes).

    Example:
        >>> from lazyrich.theory import feature_repulsion
        >>> feature_repulsion([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.3]], ridge=0.1).coefficients[0, 1] < 0
        np.True_
    """

    coefficients: Any
    residual_similarity: Any
    similarity: Any
    mixed: Any


def feature_repulsion(features: Any, ridge: float) -> FeatureRepulsion:
    r"""Which nodes repel and which attract each other once the top layer is fitted by ridge regression.

    $$ B = (\tilde F^\top \tilde F + \eta I)^{-1}, \qquad
       \tilde f_j^\top P_{\eta,-jl}\tilde f_l = \frac{-b_{jl}}{b_{jj}b_{ll} - b_{jl}^2}, \qquad
       P_{\eta,-jl} = I - \tilde F_{-jl}(\tilde F_{-jl}^\top\tilde F_{-jl} + \eta I)^{-1}\tilde
       F_{-jl}^\top $$

    The gradient that reaches the hidden layer is $G_F = P_\eta\tilde Y\tilde Y^\top\tilde F B$. Two nodes
    repel each other where $b_{jl} < 0$: where their features are similar in what all other nodes leave
    unexplained. Plain similarity does not decide it, and can have the other sign.

    Symbols:
        $F$ → `features`, $\tilde F$ → the same without their means over samples, $\eta$ → `ridge`.

    Source:
        li2, Theorem 6, Eq. 9, App. G.1. In print the sum of Eq. 9 counts node j twice, and
        $P_{\eta,-jl}$ is called a projection, which it is for η = 0 only.

    Holds when:
        the top layer is at its ridge optimum; η is the constant of
        $\tfrac12\lVert\tilde Y - \tilde FV\rVert^2 + \tfrac\eta2\lVert V\rVert^2$. For a loss that is a
        mean over n samples without ½, with weight decay wd, it is n·wd/2.

    Computed as:
        one inverse for all pairs: the 2 × 2 block of B for a pair is the inverse of the Schur complement of
        all others, so that no pair needs a fit of its own. From singular values, so that neither a small nor
        a large η takes digits.

    Checked by:
        checks `li2/thm6`, `li2/eq9`; `tests/theory/test_feature_repulsion.py`, against a fit for each pair.

    Args:
        features: activations of the hidden nodes, shape (samples, nodes), centred or not.
        ridge: η > 0; 0 where no centred feature is a combination of the others.

    Returns:
        The coefficients, the similarities and the mixed features.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import feature_repulsion
        >>> F = np.array([[1.0, 0.9, 0.0], [-1.0, -0.9, 0.1], [0.5, 0.7, -1.0], [-0.5, -0.7, 0.9]])
        >>> np.sign(feature_repulsion(F, ridge=0.01).coefficients[0]).tolist()
        [1.0, -1.0, -1.0]
    """
    F = _features(features)
    eta = number("ridge", ridge, at_least=0, advice="Pass n × weight decay / 2, e.g. 0.01.")
    moderate("ridge", eta)
    F = F - F.mean(axis=0)
    B, explained, mixed = _inverse(F, eta)
    determinant = np.multiply.outer(np.diag(B), np.diag(B)) - B**2
    np.fill_diagonal(determinant, 1.0)
    residual = -B / determinant
    np.fill_diagonal(residual, explained / np.diag(B))  # 1/b − η, one feature against all others
    return FeatureRepulsion(B, residual, F.T @ F, mixed)


def _features(features: Any) -> np.ndarray:
    F = moderate("features", features, advice="Pass activations without NaN.")
    known("features", F, "Call outside `jit`.")
    if F.ndim != 2 or 0 in F.shape:
        raise argument_error("features", "have the shape (samples, nodes), not empty", F.shape)
    return F


def _inverse(F: np.ndarray, eta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """B, the diagonal of 1 − ηB, and F̃B, from singular values: their squares keep half of the digits.

    Off the diagonal B is that of Q diag(1/(s² + η) − c) Qᵀ for any c. With c = 1/(s₁² + η) the small entries
    that a large η leaves are sums of small terms.
    """
    samples, nodes = F.shape
    padded = np.pad(F, ((0, max(nodes - samples, 0)), (0, 0)))
    P, s, Qt = np.linalg.svd(padded, full_matrices=False)
    values = s**2 + eta
    if not values[-1] > nodes * np.finfo(float).eps * values[0]:
        raise argument_error(
            "ridge", "be large enough for the Gram matrix to have an inverse", eta,
            "Features are linearly dependent: pass a larger one.",
        )  # fmt: skip
    excess = (s[0] - s) * (s[0] + s) / (values * values[0])
    B = (Qt.T * excess) @ Qt + np.eye(nodes) / values[0]
    explained = (s**2 / values) @ Qt**2
    return B, explained, (P[:samples] * (s / values)) @ Qt
