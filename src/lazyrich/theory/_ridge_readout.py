"""The readout that ridge regression gives, and how large the first gradient is."""

from typing import Any

import numpy as np

from lazyrich.core import AssumptionError, known, number, untraced
from lazyrich.theory._lazy_readout import feature_basis
from lazyrich.theory._readout_arguments import checked_pair


def ridge_readout(
    features: Any, targets: Any, ridge: Any, output_scale: Any = 1.0, centring: str = "samples"
) -> Any:
    r"""Weights of the readout that minimise the squared error plus their decay.

    $$ V_\mathrm{ridge} = \beta(\beta^2\tilde F^\top\tilde F + \eta I)^{-1}\tilde F^\top\tilde Y $$

    Symbols:
        $F$ → `features`, $Y$ → `targets`, $\eta$ → `ridge`, $\beta$ → `output_scale`.

    Source:
        li2, Proposition 1.

    Holds when:
        the loss is $\tfrac12\lVert\tilde Y - \beta\tilde F V\rVert_F^2 + \tfrac\eta2\lVert V\rVert_F^2$;
        for the
        mean over n samples of the squared error, no ½, and weight decay wd, η = n·wd/2. With η = 0 the Gram
        matrix must
        not be singular, else there is more than one solution.

    Computed as:
        $\sum_i q_i\,\beta s_i/(\beta^2 s_i^2 + \eta)\,p_i^\top\tilde Y$ in the singular value decomposition
        of $\tilde F$.

    Checked by:
        check `li2/eq4`; `tests/theory/test_ridge_readout.py`.

    Args:
        features: $F$, shape (n, K).
        targets: $Y$, shape (n, M).
        ridge: η ≥ 0, for a mean over n samples n·wd/2.
        output_scale: β > 0.
        centring: `samples` subtracts means over samples first, `none` nothing.

    Returns:
        $V_\mathrm{ridge}$, shape (K, M).

    Example:
        >>> from lazyrich.theory import ridge_readout
        >>> ridge_readout([[1.0], [-1.0]], [[2.0], [-2.0]], ridge=2.0)
        array([[1.]])
    """
    F, Y = checked_pair(features, targets, centring)
    known("features and targets", (F, Y), "Use `LazyReadout`.")
    eta = number("ridge", ridge, at_least=0, advice="Use 0 for least squares.")
    beta = number("output_scale", output_scale, above=0, at_most=1e50, advice="Use 1 as usual.")
    P, s, Q = feature_basis(F)
    rank = len(s)
    if eta == 0 and rank < F.shape[1]:
        raise AssumptionError(
            "The Gram matrix of `features` must not be singular where `ridge` is 0, got rank "
            f"{rank} for {F.shape[1]} nodes. Use a ridge > 0, or `LazyReadout(...).limit()` for the solution "
            "that training reaches."
        )
    s = beta * s
    return Q @ ((s / (s**2 + eta))[:, None] * (P.T @ Y))


@untraced
def initial_gradient_norm(
    features: Any,
    targets: Any,
    initial_std: Any,
    output_scale: Any = 1.0,
    centring: str = "samples",
) -> Any:
    r"""How large the backpropagated gradient of a random readout is, as a root mean square.

    $$ \mathbb{E}\lVert G_F(0)\rVert_F^2 = \beta^2\alpha^2 K\lVert\tilde Y\rVert_F^2
       + \beta^4\alpha^4 M(K + M + 1)\lVert\tilde F\rVert_F^2 $$

    Symbols:
        $F$ → `features`, $Y$ → `targets`, $\alpha$ → `initial_std`, $\beta$ → `output_scale`.

    Source:
        li2, Proposition 1, where it is given as $O(\epsilon\sqrt{KM})$.

    Holds when:
        entries of the readout are independent normal numbers of standard deviation α.

    Computed as:
        it is written; the second moment of a Wishart matrix gives the last term.

    Checked by:
        check `li2/prop1`; `tests/theory/test_ridge_readout.py`.

    Args:
        features: $F$, shape (n, K).
        targets: $Y$, shape (n, M).
        initial_std: α ≥ 0.
        output_scale: β > 0.
        centring: `samples` subtracts means over samples first, `none` nothing.

    Returns:
        $\sqrt{\mathbb{E}\lVert G_F(0)\rVert_F^2}$.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import initial_gradient_norm
        >>> initial_gradient_norm(np.eye(4), np.eye(4), initial_std=0.1, centring="none").round(4)
        np.float64(0.4176)
    """
    F, Y = checked_pair(features, targets, centring)
    alpha = number("initial_std", initial_std, at_least=0, at_most=1e20, advice="Use e.g. 0.01.")
    beta = number("output_scale", output_scale, above=0, at_most=1e50, advice="Use 1 as usual.")
    (_, K), M = F.shape, Y.shape[1]
    noise = (beta * alpha) ** 2 * K * np.sum(Y**2)
    return np.sqrt(noise + (beta * alpha) ** 4 * M * (K + M + 1) * np.sum(F**2))
