"""Gram matrices of random features."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import argument_error, compute, count, number
from lazyrich.models import activation as activation_of
from lazyrich.theory._activation_moments import activation_moments
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._gaussian_pairs import hermite_coefficients, mean_product, mean_square
from lazyrich.theory._marchenko_pastur import MarchenkoPastur


class RandomFeatureGram(Frozen):
    r"""What the Gram matrix of a wide random layer is, and how much gradient ridge regression on it leaves.

    $$ \tfrac1K \mathbb{E}[FF^\top]_{ij} = \sum_l a_l^2 \rho_{ij}^l, \qquad a = \sum_l a_l^2, \quad
       b = \sum_l a_l^2\rho^l, \quad c = \sum_l l\,a_l^2 = s^2\,\mathbb{E}[\sigma'(sZ)^2], \qquad
       a_l = \mathbb{E}[\sigma(sZ)\phi_l(Z)] $$

    for inputs of norm s and correlation ρ. If $\rho_{ij}$ is ρ to within ε, entries off the diagonal are b
    to within
    cε, and $\tilde F\tilde F^\top \approx K c_1 (I - 11^\top/n)$ with $c_1 = a - b$. The centred columns of
    F are then
    isotropic with the same variance, so that the paper's second constant is $c_2 = c_1$. Then

    $$ G_F(\infty) \approx \gamma\,\tilde Y\tilde Y^\top\tilde F, \qquad
       \gamma = \frac{\eta\,m\,u}{(Kc_1)^2} \to \begin{cases} \eta/(Kc_1 + \eta)^2 & K \gg n \\
       1/(nc_1 + \eta) & K \ll n \end{cases} $$

    where $m$ is the mean of $1/(\nu + \eta/Kc_1)$ over the Marchenko–Pastur law of ratio $q = (n-1)/K$ and
    $u = m/(1 + qm)$.

    Symbols:
        σ → `activation`, s → `norm`, ρ → `correlation`, a → `diagonal`, b → `off_diagonal`, $c_1$ →
        `contrast`, c → `slope`,
        γ → `gradient_factor`, K → `width`, n → `num_samples`, η → `ridge`.

    Source:
        li2, Lemma 1, Eq. 5, 12, corrected: its $\tilde F^\top\tilde F$ and $\tilde F\tilde F^\top$ cannot
        both be multiples of
        the identity, having the same eigenvalues.

    Holds when:
        weights are independent standard normal numbers, inputs have one norm and all pairs of them one
        correlation;
        σ is continuous. For γ also: n and K are large, targets do not depend on the features and have few
        outputs, and ρ = 0 or
        K ≫ n (else columns of F have different lengths). γ is the best multiple; the rest of $G_F$ is small
        only
        where K ≫ n or η ≫ K, n.

    Computed as:
        Gauss–Legendre panels with an edge at 0, where σ may have a kink. For ρ ≥ 0, $c_1$ is a mean of
        variances and keeps
        its digits when ρ is near 1. `uncertainty` is the change when panels are halved: about 1e-14, and
        more if σ
        has kinks elsewhere.

    Checked by:
        checks `li2/lemma1`, `li2/eq5`, `li2/eq12`; `tests/theory/test_random_feature_gram.py`.

    Args:
        activation: a name of `models.activation`, or a function that JAX can differentiate.
        norm: s > 0, the length of every input.
        correlation: ρ in [−1, 1], the cosine of the angle between inputs.

    Example:
        >>> from lazyrich.theory import RandomFeatureGram
        >>> gram = RandomFeatureGram("quadratic", norm=2**0.5, correlation=0.5)
        >>> round(gram.diagonal, 9), round(gram.off_diagonal, 9), round(gram.slope, 9)
        (12.0, 6.0, 16.0)
        >>> factor = RandomFeatureGram("relu").gradient_factor(width=10**5, num_samples=100, ridge=1.0)
        >>> f"{factor:.3g}"
        '8.62e-10'
    """

    def __init__(
        self, activation: "str | Callable[[Any], Any]", norm: Any = 1.0, correlation: Any = 0.0
    ):
        self.activation = activation
        self.norm = number(
            "norm", norm, above=0, at_most=1e6, advice="Use 1 for inputs of unit length."
        )
        self.correlation = number("correlation", correlation, at_least=-1, at_most=1,
                                  advice="Pass the cosine of the angle between inputs.")  # fmt: skip
        sigma = activation_of(activation)
        self.diagonal = mean_square(sigma, self.norm)
        self.off_diagonal, self.contrast = mean_product(sigma, self.norm, self.correlation)
        finer = mean_product(sigma, self.norm, self.correlation, 16)
        self.uncertainty = max(
            abs(finer[0] - self.off_diagonal), abs(finer[1] - self.contrast),
            abs(mean_square(sigma, self.norm, 32) - self.diagonal),
        )  # fmt: skip
        q = np.float64(self.norm**2)
        moments = compute(lambda q: activation_moments(sigma, q), q, jit=False)
        self.slope = float(q * (moments.slope_variance + moments.slope**2))

    def coefficients(self, num_terms: int) -> np.ndarray:
        """Hermite coefficients $a_l$ for l < `num_terms`, at most 128 of them."""
        terms = count("num_terms", num_terms, advice="Pass how many coefficients you want.")
        if terms > 128:  # the nodes do not resolve the polynomials of higher order
            raise argument_error("num_terms", "be at most 128", num_terms, "Use `off_diagonal`.")
        return hermite_coefficients(activation_of(self.activation), self.norm, terms)

    def gradient_factor(self, width: Any, num_samples: Any, ridge: Any) -> float:
        r"""The multiple γ of $\tilde Y\tilde Y^\top\tilde F$ in the gradient that remains (Eq. 5)."""
        K = count("width", width, at_most=10**12, advice="Pass the number of nodes.")
        n = count(
            "num_samples", num_samples, at_least=2, at_most=10**12, advice="Count training samples."
        )
        eta = number("ridge", ridge, above=0, advice="Pass η > 0: without decay nothing remains.")
        return remaining_share(self.contrast, K, n - 1, eta)


def remaining_share(variance: float, width: int, modes: int, ridge: float) -> float:
    """γ for columns that have one variance in each of so many modes.

    For free matrices the mean of RACA, with A of low rank, is that of A² times those of R and of RC.
    """
    scale = width * variance
    if not scale > 0:
        return 1 / ridge
    m = float(MarchenkoPastur(modes / width).resolvent(ridge / scale))
    rest = m / (1 + modes / width * m)  # 1 − zm, without the difference
    return ridge * m * rest / scale**2
