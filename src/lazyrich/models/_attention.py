"""One layer of self-attention that answers the last token."""

import dataclasses
import functools
import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, flag
from lazyrich.models._network import check_inputs
from lazyrich.models._softmax_means import softmax_means
from lazyrich.models._two_layer import OneHiddenLayer, TwoLayerWeights
from lazyrich.models._unit_kind import UnitKind


@dataclasses.dataclass(frozen=True)
class Attention(OneHiddenLayer):
    r"""Self-attention, linear or softmax, read off at the last token, a sum over its heads.

    $$ f(X) = \sum_i V_i X X^\top K_i^\top Q_i\, x_q, \qquad \text{or} \qquad
       f(X) = \sum_i V_i X \operatorname{softmax}\bigl(X^\top K_i^\top Q_i\, x_q\bigr) $$

    with the tokens in the columns of X and the last of them, the query, $x_q$. Sums over tokens, no 1/N.
    Of $V_i$ only the rows of the outputs are kept: for in-context regression the one that writes the label.
    A linear head is linear in its merged key and query $K_i^\top Q_i$, quadratic in the separate ones.

    Source:
        saddles, Eq. 2, 69, 70.

    Attributes:
        token_dimension: D + 1, the length of a token.
        heads: number of heads H.
        rank: rows R of keys and queries. Not used when merged.
        output_dimension: number of outputs.
        merged: whether key and query are one matrix of full rank.
        softmax: whether attention weights are a softmax.

    Example:
        >>> import jax
        >>> from lazyrich.models import Attention
        >>> model = Attention(token_dimension=3, heads=10)
        >>> weights = model.init(jax.random.key(0), std=5e-3)
        >>> model.apply(weights, jax.numpy.ones((5, 33, 3))).shape, model.kinds[0].order
        ((5, 1), 2)
    """

    token_dimension: int
    heads: int
    rank: int = 1
    output_dimension: int = 1
    merged: bool = False
    softmax: bool = False

    def __post_init__(self) -> None:
        for name in ("token_dimension", "heads", "rank", "output_dimension"):
            object.__setattr__(
                self, name, count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            )
        for name in ("merged", "softmax"):
            object.__setattr__(self, name, flag(name, getattr(self, name)))
        if self.rank > self.token_dimension:
            raise argument_error(
                "rank", f"be at most `token_dimension`, {self.token_dimension}", self.rank,
                "A higher rank adds nothing.",
            )  # fmt: skip

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the heads."""
        if self.softmax:
            return (UnitKind(0),)
        return (UnitKind(1, 1, True, True) if self.merged else UnitKind(2, degree=2, signed=True),)

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """A context of any length, of tokens."""
        return (None, self.token_dimension)

    @property
    def has_features(self) -> bool:
        """Whether attention is linear: its features are then the products of token sums and query."""
        return not self.softmax

    def shapes(self) -> TwoLayerWeights:
        """Shapes of the weights: keys and queries of a head one after the other, row by row."""
        size, rows = self.token_dimension, self.token_dimension if self.merged else 2 * self.rank
        return TwoLayerWeights((rows * size, self.heads), (self.heads, size, self.output_dimension))

    @property
    def products(self) -> np.ndarray:
        """The indices a ≤ b and c of the features, three rows."""
        return _products(self.token_dimension)

    def key_query(self, weights: TwoLayerWeights) -> Any:
        r"""$K_i^\top Q_i$, shape (heads, tokens' entries, query's entries)."""
        self.check_weights(weights)
        heads = weights.first.shape[1]
        if self.merged:
            return weights.first.T.reshape(heads, self.token_dimension, self.token_dimension)
        both = weights.first.T.reshape(heads, 2, self.rank, self.token_dimension)
        return jnp.einsum("hrb,hrc->hbc", both[:, 0], both[:, 1])

    def apply(self, weights: TwoLayerWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs), for inputs of shape (samples, tokens, entries), query last."""
        check_inputs(inputs, self.input_shape)
        M = self.key_query(weights)
        if self.softmax:
            attended = softmax_means(inputs, jnp.einsum("hab,nb->nha", M, inputs[:, -1]))
            return jnp.einsum("nha,hao->no", attended, weights.second)
        sums = jnp.einsum("nta,ntb->nab", inputs, inputs)
        mixed = jnp.einsum("hao,hbc->abco", weights.second, M)
        return jnp.einsum("nab,abco,nc->no", sums, mixed, inputs[:, -1])

    def features(self, inputs: Any) -> Any:
        r"""Products $(XX^\top)_{ab}\, x_{q,c}$ with a ≤ b, shape (samples, products)."""
        if self.softmax:
            return super().features(inputs)
        check_inputs(inputs, self.input_shape)
        a, b, c = self.products
        sums = jnp.einsum("nta,ntb->nab", inputs, inputs)
        return sums[:, a, b] * inputs[:, -1, c]

    def coefficients(self, weights: TwoLayerWeights) -> Any:
        """Coefficients of the products, shape (products, outputs)."""
        if self.softmax:
            return super().coefficients(weights)
        self.check_weights(weights)
        mixed = jnp.einsum("hao,hbc->abco", weights.second, self.key_query(weights))
        a, b, c = self.products
        return jnp.where((a < b)[:, None], mixed[a, b, c] + mixed[b, a, c], mixed[a, b, c])


@functools.lru_cache
def _products(size: int) -> np.ndarray:
    pairs = itertools.combinations_with_replacement(range(size), 2)
    return np.array([(a, b, c) for a, b in pairs for c in range(size)]).T
