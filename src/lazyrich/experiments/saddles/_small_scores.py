"""Softmax attention while its scores are small."""

import dataclasses
from typing import Any

import jax.numpy as jnp

from lazyrich import models


@dataclasses.dataclass(frozen=True)
class SmallScores(models.Attention):
    r"""Softmax attention to first order in its scores.

    $$ \operatorname{softmax}(X^\top d_i) \approx \tfrac1T (1 + X^\top d_i - \bar x^\top d_i), \qquad
       f(X) = \sum_i V_i (\bar x + C d_i), \qquad d_i = K_i^\top Q_i\, x_q $$

    with the mean $\bar x$ and the covariance C of the T tokens of a sequence. This is linear in the features
    $\bar x_a$ and $C_{ab}\, x_{q,c}$, so that second moments of these describe any number of sequences, and
    a plateau of a million steps costs no more than one of a hundred on samples.

    Source:
        saddles, Sec. 5 end: small weights follow the lowest orders of their expansion.
    """

    @property
    def has_features(self) -> bool:
        """It has."""
        return True

    def apply(self, weights: Any, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs)."""
        return self.features(inputs) @ self.coefficients(weights)

    def features(self, inputs: Any) -> Any:
        """Means of tokens, then products of covariances and query, shape (samples, features)."""
        mean = jnp.mean(inputs, axis=1)
        centred = inputs - mean[:, None]
        products = jnp.einsum("nta,ntb,nc->nabc", centred / inputs.shape[1], centred, inputs[:, -1])
        return jnp.concatenate([mean, products.reshape(len(mean), -1)], axis=1)

    def coefficients(self, weights: Any) -> Any:
        """Coefficients of the features, shape (features, outputs)."""
        V = weights.second  # (heads, entries, outputs)
        mixed = jnp.einsum("hao,hbc->abco", V, self.key_query(weights))
        return jnp.concatenate([V.sum(axis=0), mixed.reshape(-1, V.shape[-1])])
