"""How much of a hidden node's activation the labels explain, beyond what is additive in the inputs."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, as_array, moderate, untraced
from lazyrich.measures._hidden_arrays import (
    class_numbers,
    each,
    gathered,
    has_integer_type,
    hidden_features,
)

ADDITIVE = 1e-12
"""Up to this share of its variance, what is left of a node's activation is rounding, also in float32."""


class ClassShare(NamedTuple):
    """How much labels explain of each node's activation, shape (..., nodes).

    Attributes:
        share: adjusted so that 0 is what labels explain of a random node, on average, and 1 is everything;
            NaN for a node without activation beyond what is additive.
        chance: probability that a random node has at least this share, from the F distribution.
    """

    share: Any
    chance: Any


@untraced
def class_share(features: Any, labels: Any, inputs: Any) -> ClassShare:
    r"""Part of a node's activation that the label explains, with additive effects of the inputs taken out.

    $$ s_j = \frac{R_j^2 - r/d}{1 - r/d}, \qquad
       R_j^2 = \frac{\lVert \Pi_{QY}\, Q f_j\rVert^2}{\lVert Q f_j\rVert^2} $$

    Q projects onto what is orthogonal to 1 and to the columns of the inputs X, $\Pi_{QY}$ onto the r
    dimensions of QY with Y the labels one-hot, and $d = n - \operatorname{rank}[1, X]$.

    On the samples that a network was trained on it says whether a node has learned about their labels, on
    held-out ones whether this generalises. In group arithmetic a function of $h_1$ plus a function of $h_2$
    says nothing about $h_1 h_2$, but is most of a ReLU's activation. With it taken out a node of a single
    frequency has a share close to ½ for $x^2$, ReLU and SiLU alike: half is about $h_1 h_2$, half about
    $h_1 h_2^{-1}$.

    Args:
        features: activations, shape (..., samples, nodes), real; leading axes are runs or times.
        labels: classes, whole numbers from 0, shape (samples,).
        inputs: X, shape (samples, d); or pairs, whole numbers of an integer type, shape (samples, 2), that
            stand for two one-hot vectors.

    Returns:
        The share of each node and its chance. The chance is exact for Gaussian activations.

    Cost:
        with pairs of M symbols $5nKM + 9nM^2$ multiplications; the processor time of about two
        training steps.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import class_share
        >>> a, b = np.divmod(np.arange(49), 7)
        >>> wave = np.cos(2 * np.pi * np.arange(7) / 7)
        >>> sums = wave[a] + wave[b]
        >>> nodes = np.stack([sums**2, np.maximum(sums, 0), wave[a] * wave[b] ** 2])
        >>> class_share(nodes.T, (a + b) % 7, np.stack([a, b], axis=1)).share.round(2)
        array([ 0.4,  0.4, -0.2])
    """
    F = hidden_features(features)
    if np.iscomplexobj(F):
        raise argument_error(
            "features", "be real", "complex features", "Pass real and imaginary parts side by side."
        )
    directions = label_directions(labels, inputs, F.shape[-2])
    lead, each_features = each(F)
    return ClassShare(*gathered([share_of(one, *directions) for (one,) in each_features], lead))


def label_directions(labels: Any, inputs: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases of what is additive, and of the labels beyond it."""
    k = class_numbers("labels", labels, n, one_run=True)
    X = _design(inputs, n)
    additive = _basis(np.hstack([np.ones((n, 1)), X]))
    Y = _one_hot(k)
    classes = _basis(Y - additive @ (additive.T @ Y))
    rest = n - additive.shape[1]
    if classes.shape[1] == 0 or rest <= classes.shape[1]:
        raise argument_error(
            "features", f"have more samples than {additive.shape[1]} additive effects and "
            f"{classes.shape[1]} classes beyond them", n, "Labels explain everything there, or nothing.",
        )  # fmt: skip
    return additive, classes


def _design(inputs: Any, n: int) -> np.ndarray:
    if has_integer_type(inputs) and as_array(inputs).shape == (n, 2):
        pairs = class_numbers("inputs", as_array(inputs).T, n)
        return np.hstack([_one_hot(symbols) for symbols in pairs])
    X = moderate("inputs", inputs, advice="Pass inputs, or pairs of whole numbers.")
    if X.ndim != 2 or len(X) != n:
        raise argument_error("inputs", f"have the shape ({n}, d), or ({n}, 2) for pairs", X.shape)
    return X


def _one_hot(numbers: np.ndarray) -> np.ndarray:
    """A column for each number that occurs: others would be zero, and may be more than memory holds."""
    return (numbers[:, None] == np.unique(numbers)).astype(float)


def _basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the columns' span, from their Gram matrix, much smaller than they are."""
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns[:, lengths > 1e-10 * max(1.0, lengths.max())]  # rounding is no direction
    if columns.shape[1] == 0:
        return columns
    columns = columns / np.linalg.norm(columns, axis=0)
    sizes, vectors = np.linalg.eigh(columns.T @ columns)
    kept = sizes > 1e-10 * sizes[-1]
    return columns @ (vectors[:, kept] / np.sqrt(sizes[kept]))


def share_of(F: np.ndarray, additive: np.ndarray, classes: np.ndarray) -> tuple[Any, Any]:
    """Share and chance of the columns of F, real, shape (n, K)."""
    from scipy.special import betaincc

    F = F - F.mean(axis=0)
    whole = np.sum(F**2, axis=0)
    F = F - additive @ (additive.T @ F)  # and not a difference of squares, which would lose digits
    left = np.sum(F**2, axis=0)
    explained = np.sum((classes.T @ F) ** 2, axis=0)
    r, d = classes.shape[1], len(F) - additive.shape[1]
    valid = left > ADDITIVE * whole
    R2 = np.where(valid, np.clip(explained / np.where(valid, left, 1.0), 0, 1), np.nan)
    chance = betaincc(r / 2, (d - r) / 2, np.where(valid, R2, 0.0))
    return (R2 - r / d) / (1 - r / d), np.where(valid, chance, np.nan)
