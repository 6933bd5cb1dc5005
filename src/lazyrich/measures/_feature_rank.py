"""How many dimensions features or weights take up."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, centred, choice, number, real, untraced


class FeatureRank(NamedTuple):
    """Ranks of one matrix (numbers) or of a record of them (arrays over time).

    `numerical` counts singular values; `effective` is the exponential of the entropy of their squares'
    shares, a count without a threshold; `singular_values` are largest first.
    """

    numerical: Any
    effective: Any
    singular_values: np.ndarray


@untraced
def feature_rank(features: Any, *, centring: str = "none", tolerance: float = 0.01) -> FeatureRank:
    r"""How many dimensions the rows of a matrix span, over time where it is a record.

    $$ r = \#\{i: s_i > \tau s_1\}, \qquad r_\mathrm{eff} = \exp\Bigl(-\sum_i p_i \ln p_i\Bigr), \quad
       p_i = \frac{s_i^2}{\sum_j s_j^2} $$

    Args:
        features: the matrix, shape (samples, width), or (..., samples, width) for records.
        centring: `samples` subtracts the mean over samples first, `none` nothing. Collapsed features of c
            classes have rank c, and c − 1 when centred.
        tolerance: τ, the share of the largest singular value up to which one counts as zero.

    Returns:
        Both ranks and the singular values. A matrix of zeros has rank 0.

    Source:
        layerwise, Sec. 5.2, Eq. 13.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import feature_rank
        >>> found = feature_rank(np.diag([1.0, 1.0, 1e-4]))
        >>> int(found.numerical), round(float(found.effective), 4)
        (2, 2.0)
    """
    x = real("features", features, advice="Pass a matrix without NaN.")
    if x.ndim < 2 or 0 in x.shape:
        raise argument_error("features", "have the shape (..., samples, width), not empty", x.shape)
    share = number("tolerance", tolerance, above=0, below=1, advice="Use e.g. 0.01.")
    x = centred(x, choice("centring", centring, ("samples", "none")))
    s = np.linalg.svd(x, compute_uv=False)
    largest = s[..., :1]
    p = (s / np.where(largest > 0, largest, 1)) ** 2
    p = p / np.where(largest > 0, p.sum(axis=-1, keepdims=True), 1)
    entropy = -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=-1)
    effective = np.where(largest[..., 0] > 0, np.exp(entropy), 0.0)
    return FeatureRank(np.sum(s > share * largest, axis=-1)[()], effective[()], s)
