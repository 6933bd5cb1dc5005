"""How far the top layer is from what ridge regression on its features gives."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, centred, number, untraced
from lazyrich.measures._backpropagated_gradient import second_layer
from lazyrich.measures._hidden_arrays import each, gathered, hidden_features, target_rows


class RidgeDistance(NamedTuple):
    r"""Relative distances of a top layer from ridge regression. Numbers, or arrays over runs.

    Attributes:
        weights: $\lVert V - V_\mathrm{ridge}\rVert / \lVert V_\mathrm{ridge}\rVert$.
        outputs: the same of $PFV$ on the training samples: directions that no sample sees do not count.
    """

    weights: Any
    outputs: Any


@untraced
def ridge_distance(
    features: Any, targets: Any, second: Any, ridge: Any, *, centring: str = "samples"
) -> RidgeDistance:
    r"""Distance of V from the ridge solution on the features of this moment.

    $$ V_\mathrm{ridge} = (\tilde F^*\tilde F + \eta)^{-1}\tilde F^*\tilde Y $$

    Args:
        features: F on the training samples, shape (..., samples, nodes), real or complex; complex residuals
            count by their squared modulus, and $F^*$ is the conjugate transpose.
        targets: classes of an integer type, shape (..., samples), or rows, shape (..., samples, classes).
        second: V, shape (..., nodes, classes).
        ridge: η ≥ 0 of $\frac12\lVert\tilde Y - \tilde F V\rVert^2 + \frac\eta2\lVert V\rVert^2$. Training
            on the mean over n samples without ½, with a decay that adds wd·V to the gradient, has η =
            n·wd/2.
        centring: as in `backpropagated_gradient`. With `classes` the features stay as they are, and the
            targets lose their mean over classes.

    Returns:
        Both distances. With η = 0 a Gram matrix of lower rank than nodes is refused: there V is not unique.

    Cost:
        $nK\min(n, K) + \min(n, K)^3/3$ multiplications: at M = 71, K = 2048, n = 2016 those of 13
        training steps, and the processor time of 6.

    Source:
        li2, Prop. 1, Eq. 4.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import ridge_distance
        >>> F, labels = np.random.default_rng(0).standard_normal((50, 8)), np.arange(50) % 5
        >>> ridge_distance(F, labels, np.zeros((8, 5)), ridge=1.0)
        RidgeDistance(weights=np.float64(1.0), outputs=np.float64(1.0))
    """
    F = hidden_features(features)
    V = second_layer(second, F.shape[-1])
    Y = target_rows(targets, F.shape[-2], V.shape[-1])
    eta = number("ridge", ridge, at_least=0, advice="Use e.g. n·wd/2.")
    lead, each_run = each(F, Y, V)
    return RidgeDistance(*gathered([_one(eta, centring, *run) for run in each_run], lead))


def _one(eta: float, centring: str, F: np.ndarray, Y: np.ndarray, V: np.ndarray) -> tuple[Any, Any]:
    if centring in ("samples", "both"):
        F = centred(F)
    V_ridge = _solve(F, centred(Y, centring), eta)
    found = []
    for now, limit in ((V, V_ridge), (F @ V, F @ V_ridge)):
        size = np.linalg.norm(limit)
        found.append(np.linalg.norm(now - limit) / size if size > 0 else np.inf)
    return found[0], found[1]


def _solve(F: np.ndarray, Y: np.ndarray, eta: float) -> np.ndarray:
    n, K = F.shape
    if eta == 0:
        singular = np.linalg.svd(F, compute_uv=False)
        rank = int(np.sum(singular > singular[0] * max(n, K) * np.finfo(float).eps))
        if rank < K:
            raise argument_error(
                "ridge", f"be > 0 for a Gram matrix of rank {rank} < {K} nodes", eta,
                "V is not unique without it; use a small ridge.",
            )  # fmt: skip
        return np.linalg.lstsq(F, Y, rcond=None)[0]
    back = F.conj().T
    if n < K:  # (F*F + η)⁻¹F* = F*(FF* + η)⁻¹, the smaller matrix
        return back @ np.linalg.solve(F @ back + eta * np.eye(n), Y)
    return np.linalg.solve(back @ F + eta * np.eye(K), back @ Y)
