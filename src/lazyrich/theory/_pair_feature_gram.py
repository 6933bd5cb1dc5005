"""Gram matrices of random features of pairs of symbols."""

from collections.abc import Callable
from typing import Any

from lazyrich.core import count, number
from lazyrich.models import activation as activation_of
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._gaussian_pairs import mean_product, mean_square
from lazyrich.theory._random_feature_gram import remaining_share


class PairFeatureGram(Frozen):
    r"""The Gram matrix of a wide random layer on all pairs of M symbols, two one-hot vectors each.

    $$ \tfrac1K\mathbb{E}[FF^\top] = k_0\, J\otimes J + (k_1 - k_0)(I\otimes J + J\otimes I)
       + (k_2 - 2k_1 + k_0)\, I\otimes I $$

    $k_0, k_1, k_2$ belong to pairs that share no, one or both symbols, J is a matrix of ones. Eigenvalues:
    $\lambda = k_2 - 2k_1 + k_0$ for
    functions with mean 0 in each symbol, among them the labels of every group; $\lambda + M(k_1 - k_0)$ for
    functions of one symbol. So $c_1$ of Lemma 1 is λ here, not $k_2 - k_0$ or $k_2 - k_1$.

    Symbols:
        σ → `activation`, M → `num_symbols`, $(k_0, k_1, k_2)$ → `kernel`, λ → `label_eigenvalue`.

    Source:
        li2, Lemma 1, applied to its inputs: $s^2 = 2$ and correlations of 0 and ½, so that ε is not small.

    Holds when:
        weights are independent normal numbers, all pairs are seen, the layer is wide. If a share p of pairs
        is seen, about 2/(pM) of the
        labels lies in functions of one symbol.

    Computed as:
        as in `RandomFeatureGram`.

    Checked by:
        checks `li2/eq5`, `li2/lemma1`; `tests/theory/test_random_feature_gram.py`.

    Args:
        activation: a name of `models.activation`, or a function.
        num_symbols: M ≥ 2.
        initial_std: standard deviation of the weights.

    Example:
        >>> from lazyrich.theory import PairFeatureGram
        >>> gram = PairFeatureGram("quadratic", num_symbols=7)
        >>> [round(k, 9) for k in gram.kernel]
        [4.0, 6.0, 12.0]
        >>> round(gram.label_eigenvalue, 9), round(gram.symbol_eigenvalue, 9)
        (4.0, 18.0)
    """

    def __init__(
        self, activation: "str | Callable[[Any], Any]", num_symbols: Any, initial_std: Any = 1.0
    ):
        self.activation = activation
        self.num_symbols = count(
            "num_symbols", num_symbols, at_least=2, at_most=10**9, advice="Use e.g. 71."
        )
        self.initial_std = number(
            "initial_std",
            initial_std,
            above=0,
            at_most=1e6,
            advice="Use 1 for standard normal weights.",
        )
        sigma, norm = activation_of(activation), 2**0.5 * self.initial_std
        none, one = (mean_product(sigma, norm, rho)[0] for rho in (0.0, 0.5))
        self.kernel = (none, one, mean_square(sigma, norm))

    @property
    def label_eigenvalue(self) -> float:
        """λ, for functions with mean 0 in each symbol."""
        none, one, both = self.kernel
        return both - 2 * one + none

    @property
    def symbol_eigenvalue(self) -> float:
        """For functions of one symbol with mean 0."""
        return self.label_eigenvalue + self.num_symbols * (self.kernel[1] - self.kernel[0])

    def gradient_factor(self, width: Any, ridge: Any) -> float:
        r"""The multiple of $\tilde Y\tilde Y^\top\tilde F$ in the gradient that remains, on all pairs."""
        K = count("width", width, at_most=10**12, advice="Pass the number of nodes.")
        eta = number("ridge", ridge, above=0, advice="Pass η > 0: without decay nothing remains.")
        return remaining_share(self.label_eigenvalue, K, (self.num_symbols - 1) ** 2, eta)
