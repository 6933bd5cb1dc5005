"""The saddles of linear attention on in-context regression."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lazyrich.core import count, covariance_spectrum, moderate, untraced
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._modes import chosen_modes


class AttentionSaddles(Frozen):
    r"""Fixed points of linear self-attention that learns in-context linear regression, mode by mode.

    A head adds to the answer $w^\top \hat X A\, x_q$ with $\hat X = \sum_n x_n x_n^\top$; what all heads
    learn is the matrix A. Averaged over contexts, maps and queries,

    $$ \mathcal{L}(A) = \operatorname{Tr}\bigl[A^\top \bigl(N(N+1)\Lambda^2 + N \operatorname{Tr}(\Lambda)\,
       \Lambda\bigr) A \Lambda\bigr] - 2N \operatorname{Tr}[\Lambda A \Lambda] + \operatorname{Tr}\Lambda $$

    Heads of rank one learn one eigenvector of Λ each. With the modes $\mathcal{A}$ learned,

    $$ A_\mathcal{A} = \sum_{d\in\mathcal{A}} \frac{e_d e_d^\top}{(N+1)\lambda_d + \operatorname{Tr}\Lambda},
       \qquad \mathcal{L}_\mathcal{A} = \operatorname{Tr}\Lambda - \sum_{d\in\mathcal{A}}
       \frac{N\lambda_d^2}{(N+1)\lambda_d + \operatorname{Tr}\Lambda} $$

    Near such a point a small unused head obeys the quadratic dynamics with the correlations
    $N\lambda_d^2$ of the modes that are missing.

    Symbols:
        Λ → `covariance`, N → `context`, $\mathcal{A}$ → `modes` (numbers from 0, largest $\lambda$ first).

    Source:
        saddles, Eq. 69, 70, App. I. The losses are not in the paper; they are derived here from the
        fourth moments of Gaussian tokens.

    Holds when:
        loss = mean squared error of the query's label without ½ (Eq. 64), over the whole distribution;
        sums over tokens without 1/N; the query token holds no label; $w \sim \mathcal{N}(0, I)$.

    Checked by:
        `tests/theory/test_attention_saddles.py`.

    Args:
        covariance: Λ, shape (D, D), symmetric, positive semi-definite.
        context: N, the number of examples before the query.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import AttentionSaddles
        >>> saddles = AttentionSaddles(np.eye(2) / 2, context=32)
        >>> [round(float(saddles.loss(modes)), 4) for modes in ([], [0], [0, 1])]
        [1.0, 0.5429, 0.0857]
    """

    @untraced
    def __init__(self, covariance: Any, context: int):
        L = moderate("covariance", covariance, advice="Pass the covariance of the inputs x.")
        values, vectors = covariance_spectrum(L)
        kept = values[::-1] > 1e-12 * values[-1]
        self.covariance = L
        self.eigenvalues = values[::-1][kept]
        self.eigenvectors = vectors[:, ::-1][:, kept]
        self.context = count("context", context, advice="Pass e.g. 32.")

    @property
    def num_modes(self) -> int:
        """How many modes there are to learn."""
        return self.eigenvalues.size

    @property
    def gains(self) -> np.ndarray:
        """By how much each mode lowers the loss."""
        N, lam = self.context, self.eigenvalues
        return N * lam**2 / ((N + 1) * lam + lam.sum())

    def loss(self, modes: Sequence[int]) -> Any:
        """The loss with these modes learned."""
        return self.eigenvalues.sum() - self.gains[self._modes(modes)].sum()

    def map(self, modes: Sequence[int]) -> np.ndarray:
        """The matrix A there, shape (D, D)."""
        chosen = self._modes(modes)
        E, lam = self.eigenvectors[:, chosen], self.eigenvalues
        return (E / ((self.context + 1) * lam[chosen] + lam.sum())) @ E.T

    def correlations(self, modes: Sequence[int] = ()) -> np.ndarray:
        """The correlations that drive the heads still unused, one for each missing mode, largest first."""
        missing = np.setdiff1d(np.arange(self.num_modes), self._modes(modes))
        return self.context * self.eigenvalues[missing] ** 2

    def _modes(self, modes: Sequence[int]) -> np.ndarray:
        return chosen_modes(modes, self.num_modes)
