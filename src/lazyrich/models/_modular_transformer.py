"""A transformer of one layer that adds modulo p."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, number
from lazyrich.models._network import check_form, checked_pairs, draw


class TransformerWeights(NamedTuple):
    """Weights of a `ModularTransformer`; D is the model's dimension, H its heads, d = D/H."""

    tokens: Any  # (p + 1, D), embeddings of the residues and of "="
    positions: Any  # (3, D)
    queries: Any  # (H, D, d)
    keys: Any  # (H, D, d)
    values: Any  # (H, D, d)
    written: Any  # (H, d, D)
    hidden: Any  # (D, M)
    hidden_bias: Any  # (M,)
    returned: Any  # (M, D)
    returned_bias: Any  # (D,)
    unembedding: Any  # (D, p)


@dataclasses.dataclass(frozen=True)
class ModularTransformer:
    r"""One layer of attention and a ReLU layer, read at the last of three tokens: n, m, "=".

    $$ r = x_= + \sum_h O_h^\top V_h^\top \sum_t a_{ht} x_t, \quad
       a_h = \operatorname{softmax}_t \frac{(K_h^\top x_t) \cdot (Q_h^\top x_=)}{\sqrt d}, \quad
       f = \alpha\, U^\top \bigl(r + B^\top \operatorname{relu}(A^\top r + b) + c\bigr) $$

    with $x_t$ the embedding of a token plus that of its place, and α the scale of the output. No layer norm:
    it would undo the scales. Weights start Gaussian with the standard deviations of `lecun`. The
    embeddings are few among all weights, and their scale is what makes the first layer light or heavy.

    A token at a place is one of p residues: scores and values are computed for each residue once, not for
    each pair, and pairs look them up.

    Source:
        layerwise, Fig. 8b, App. F.3; architecture of Nanda et al. (2023).

    Attributes:
        num_symbols: p.
        dimension: D, of the residual stream.
        heads: H, which must divide D.
        width: M, of the ReLU layer.
        output_scale: α > 0.

    Example:
        >>> import jax
        >>> from lazyrich.models import ModularTransformer
        >>> network = ModularTransformer(num_symbols=7, dimension=16, heads=2, width=32)
        >>> weights = network.init(jax.random.key(0), network.lecun(embedding_scale=0.5))
        >>> network.apply(weights, jax.numpy.array([[1, 6], [0, 3]])).shape
        (2, 7)
    """

    num_symbols: int
    dimension: int = 128
    heads: int = 4
    width: int = 512
    output_scale: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (("num_symbols", 2), ("dimension", 1), ("heads", 1), ("width", 1)):
            object.__setattr__(self, name, count(name, getattr(self, name), at_least=least))
        if self.dimension % self.heads:
            raise argument_error(
                "heads", f"divide `dimension`, {self.dimension}", self.heads, "Use e.g. 4 and 128."
            )
        scale = number("output_scale", self.output_scale, above=0, advice="Use 1 as usual.")
        object.__setattr__(self, "output_scale", float(scale))

    def shapes(self) -> TransformerWeights:
        """Shapes of the weights."""
        p, D, H, M = self.num_symbols, self.dimension, self.heads, self.width
        d = D // H
        read = (H, D, d)
        return TransformerWeights(
            (p + 1, D), (3, D), read, read, read, (H, d, D), (D, M), (M,), (M, D), (D,), (D, p)
        )

    def lecun(self, scale: Any = 1.0, embedding_scale: Any = 1.0) -> TransformerWeights:
        r"""Standard deviations for `init`: $1/\sqrt{n}$ with n the inputs of an array, times a scale.

        Args:
            scale: of all weights.
            embedding_scale: of the token embeddings besides, whose n is D. Below 1 is upstream.
        """
        advice = "Use 1 as usual."
        scale = number("scale", scale, at_least=0, advice=advice)
        first = number("embedding_scale", embedding_scale, at_least=0, advice=advice)
        D, M = scale / np.sqrt(self.dimension), scale / np.sqrt(self.width)
        return TransformerWeights(first * D, D, D, D, D, D, D, 0.0, M, 0.0, D)

    def init(self, key: Any, std: Any) -> TransformerWeights:
        """Independent normal weights.

        Args:
            key: a random key.
            std: standard deviations, one for all or one for each array of weights.
        """
        return draw(key, std, self.shapes())

    def apply(self, weights: TransformerWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, p), for pairs of residues, whole numbers of shape (samples, 2)."""
        check_form("weights", weights, self.shapes())
        w, p = weights, self.num_symbols
        inputs = checked_pairs("inputs", inputs, p)
        n, m = inputs[:, 0], inputs[:, 1]
        end = w.tokens[p] + w.positions[2]
        places = jnp.stack(
            [w.tokens[:p] + w.positions[0], w.tokens[:p] + w.positions[1]]
        )  # (2, p, D)
        query = jnp.einsum("hDd,D->hd", w.queries, end)
        read = jnp.einsum("hDd,hd->hD", w.keys, query) / np.sqrt(self.dimension // self.heads)
        mixed = jnp.einsum("hDd,hdE->hDE", w.values, w.written)
        scores, last = jnp.einsum("tpD,hD->tph", places, read), read @ end  # (2, p, h), (h,)
        shown, shown_last = (
            jnp.einsum("tpD,hDE->tphE", places, mixed),
            jnp.einsum("D,hDE->hE", end, mixed),
        )
        three = jnp.stack([scores[0, n], scores[1, m], jnp.broadcast_to(last, (len(n), len(last)))])
        a = jax.nn.softmax(three, axis=0)  # (3, samples, h)
        r = (
            end
            + jnp.einsum("nh,nhE->nE", a[0], shown[0, n])
            + jnp.einsum("nh,nhE->nE", a[1], shown[1, m])
        )
        r = r + a[2] @ shown_last
        r = r + jax.nn.relu(r @ w.hidden + w.hidden_bias) @ w.returned + w.returned_bias
        return self.output_scale * r @ w.unembedding
