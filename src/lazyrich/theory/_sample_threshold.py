"""How many products must be known for features of an irrep to stay maxima of the energy."""

from typing import Any

import jax.numpy as jnp

from lazyrich.core import compute, real, whole


def sample_threshold(
    order: Any, dimension: Any = 1, failure: Any = 1.0, constant: Any = 1.0
) -> Any:
    r"""Number of samples from which, up to a constant, maxima of the energy survive.

    $$ n = C\, d_k^2\, M \log(M/\delta), \qquad p = n/M^2 $$

    Symbols:
        $M$ → `order`, $d_k$ → `dimension`, $\delta$ → `failure`, $C$ → `constant`.

    Source:
        li2, Theorem 4, Eq. 31. The paper gives no constant; the dotted line of its Fig. 5 is
        C = 2.7482 with δ = 1.

    Holds when:
        M is so large that $n < M^2$ by far; it is a sufficient condition. By the Hessian at the maxima on
        random subsets, σ(x) = x², these become unstable at C = 3.4, 2.4, 1.7 and 1.1 for $d_k$ = 1, 2, 3
        and 4 (M = 192), where conjugate pairs count with $2d_k$, as in their energy $M/2(2d_k)$. So in
        cyclic groups p is about $10\log(M)/M$ (M from 97 to 797), and where that is no small number the law
        says nothing. `benchmarks/energy.py --stability` prints such numbers.

    Computed as:
        it is written.

    Checked by:
        check `li2/thm4`; `tests/theory/test_sample_threshold.py`.

    Args:
        order: M ≥ 2, any shape.
        dimension: $d_k$ ≥ 1, any shape that broadcasts.
        failure: δ in (0, 1], the probability with which a maximum may be lost.
        constant: C > 0.

    Returns:
        n, not rounded; above $M^2$ the condition cannot be met.

    Example:
        >>> from lazyrich.theory import sample_threshold
        >>> sample_threshold([71, 127], constant=2.7482).round(0)
        array([ 832., 1691.])
    """
    M = whole("order", order, at_least=2, at_most=10**18, advice="Pass the order of a group.")
    d = whole(
        "dimension", dimension, at_least=1, at_most=10**9, advice="Pass the dimension of an irrep."
    )
    delta = real("failure", failure, above=0, at_most=1, advice="Pass a probability such as 0.05.")
    C = real("constant", constant, above=0, advice="Pass a positive number.")
    return compute(_sample_threshold, M, d, delta, C)


def _sample_threshold(M: Any, d: Any, delta: Any, C: Any) -> Any:
    return C * d**2 * M * (jnp.log(M) - jnp.log(delta))  # M/δ may be too large for a float
