"""In-context linear regression."""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from lazyrich.core import argument_error, count, real, standard_normal
from lazyrich.core._random import checked_key
from lazyrich.tasks._dataset import DataSet
from lazyrich.tasks._gaussian import MOST_INPUTS, covariance_root, normal_nodes


class TokenMoments(NamedTuple):
    r"""Exact population moments of $z_{abc} = (XX^\top)_{ab}\, x_{q,c}$ and the query's label y."""

    correlation: Any  # E[z_abc y], shape (D+1,)*3
    covariance: Any  # E[z_abc z_def], shape (D+1,)*6
    output_power: Any  # E[y²]


LARGEST = 1e90
"""Entries of a covariance up to which its third powers are no infinities."""


def _covariance(value: Any) -> Any:
    return real("covariance", value, at_least=-LARGEST, at_most=LARGEST)


@dataclasses.dataclass(frozen=True, eq=False)
class InContextRegression:
    r"""A context of N examples of a linear map, and a query.

    $$ X = \begin{bmatrix} x_1 & \cdots & x_N & x_q \\ w^\top x_1 & \cdots & w^\top x_N & 0 \end{bmatrix},
       \qquad y = w^\top x_q, \qquad x_n, x_q \sim \mathcal{N}(0, \Lambda), \; w \sim \mathcal{N}(0, I) $$

    A sample is a sequence of N + 1 tokens, each of D + 1 entries, the query last.

    Source:
        saddles, App. I (linear self-attention).

    Attributes:
        covariance: Λ, shape (D, D), or D for Λ = 1.
        context: N.
        num_samples: number of sequences in a training set.

    Example:
        >>> import jax
        >>> from lazyrich.tasks import InContextRegression
        >>> task = InContextRegression([[0.5, 0], [0, 0.5]], context=32, num_samples=100)
        >>> task.dataset(jax.random.key(0)).inputs.shape
        (100, 33, 3)
    """

    covariance: Any
    context: int = 32
    num_samples: int = 8192

    def __post_init__(self) -> None:
        if np.ndim(self.covariance) == 0:
            size = count(
                "covariance", self.covariance, at_most=MOST_INPUTS,
                advice="Pass a matrix or the dimension D.",
            )  # fmt: skip
            object.__setattr__(self, "covariance", np.eye(size))
        object.__setattr__(self, "covariance", _covariance(self.covariance))
        covariance_root(self.covariance)
        count("context", self.context, advice="Pass e.g. 32.")
        count("num_samples", self.num_samples, advice="Pass e.g. 8192.")

    @property
    def input_dimension(self) -> int:
        """D."""
        return self.covariance.shape[0]

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one sequence: N + 1 tokens of D + 1 entries."""
        return (self.context + 1, self.input_dimension + 1)

    @property
    def output_dimension(self) -> int:
        """One, the query's label."""
        return 1

    def dataset(self, key: Any) -> DataSet:
        """A training set of sequences."""
        keys, P, N, D = (
            jax.random.split(checked_key(key)),
            self.num_samples,
            self.context,
            self.input_dimension,
        )
        x = standard_normal(keys[0], (P, N + 1, D)) @ covariance_root(self.covariance)
        w = standard_normal(keys[1], (P, D))
        y = np.einsum("nd,ntd->nt", w, x)
        tokens = np.concatenate([x, y[:, :, None]], axis=2)
        tokens[:, -1, -1] = 0
        return DataSet(tokens, y[:, -1:], np.full(P, 1 / P))

    def moments(self) -> TokenMoments:
        """What linear attention's loss depends on, over the whole distribution.

        Given the map w and the query, the moments of the context's sums are Gaussian ones; what remains is
        a polynomial in w of degree 4 and in the query of degree 6, which small quadratures average exactly.
        """
        D = self.input_dimension
        if D > 4:
            raise argument_error("covariance", "be at most 4 × 4 here", D, "Draw samples instead.")
        w, w_share = normal_nodes(3, D)
        q, q_share = normal_nodes(4, D)
        q = np.pad(q @ covariance_root(self.covariance), ((0, 0), (0, 1)))
        token_map = np.concatenate([np.broadcast_to(np.eye(D), (len(w), D, D)), w[:, None]], axis=1)
        C = token_map @ self.covariance @ token_map.transpose(0, 2, 1)  # of a token, given w
        return self._averaged(C, w_share, w, q, q_share)

    def _averaged(self, C: Any, w_share: Any, w: Any, q: Any, q_share: Any) -> TokenMoments:
        N = self.context
        pairs = [np.einsum("w,wab,wcd->abcd", w_share, C, C)]  # over the map
        pairs += [pairs[0].transpose(order) for order in ((0, 2, 1, 3), (0, 2, 3, 1))]
        CC = N * N * pairs[0] + N * (pairs[1] + pairs[2])  # E[S_ab S_cd] of the context alone
        C1 = N * np.einsum("w,wab->ab", w_share, C)
        q2 = np.einsum("q,qa,qb->ab", q_share, q, q)
        q4 = np.einsum("q,qa,qb,qc,qd->abcd", q_share, q, q, q, q)
        q6 = np.einsum("q,qa,qb,qc,qd,qe,qf->abcdef", q_share, q, q, q, q, q, q, optimize=True)
        covariance = np.einsum("abde,cf->abcdef", CC, q2) + q6.transpose(0, 1, 4, 2, 3, 5)
        covariance += np.einsum("ab,decf->abcdef", C1, q4) + np.einsum("abcf,de->abcdef", q4, C1)
        D = self.input_dimension
        # E[y z]: y = w·x_q is odd in w, so only the context's part of the sums correlates with it
        Cw = N * np.einsum("w,wab,wg->abg", w_share, C, w)
        correlation = np.einsum("abg,gc->abc", Cw, q2[:D])
        return TokenMoments(correlation, covariance, float(np.trace(self.covariance)))
