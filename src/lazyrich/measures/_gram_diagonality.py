"""How far the Gram matrices of hidden features are from diagonal."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import centred, flag, untraced
from lazyrich.measures._hidden_arrays import each, gathered, hidden_features


class OffDiagonal(NamedTuple):
    r"""How large the entries off the diagonal of a Gram matrix A of m rows are. Numbers, or arrays over runs.

    Attributes:
        typical: root mean square of the entries off the diagonal over that of the diagonal.
        share: part of $\lVert A\rVert_F^2$ that is off the diagonal, between 0 and 1.
        mean: mean size of the entries off the diagonal over the mean of the diagonal. None if not asked for.
        largest: their largest size over the mean of the diagonal. None if not asked for.
    """

    typical: Any
    share: Any
    mean: Any
    largest: Any


class GramDiagonality(NamedTuple):
    r"""Of both Gram matrices: `nodes` of $\tilde F^\top \tilde F$, `samples` of $\tilde F \tilde F^\top$."""

    nodes: OffDiagonal
    samples: OffDiagonal


@untraced
def gram_diagonality(features: Any, *, entries: bool = False) -> GramDiagonality:
    r"""Are the Gram matrices of the centred features diagonal, as independent learning of nodes asks for?

    $$ \mathrm{typical}(A) = \sqrt{\frac{\sum_{i \ne j} |A_{ij}|^2}{(m - 1) \sum_i A_{ii}^2}}, \qquad
       \mathrm{share}(A) = \frac{\sum_{i \ne j} |A_{ij}|^2}{\lVert A\rVert_F^2}, \qquad
       A = \tilde F^\top \tilde F \text{ or } \tilde F \tilde F^\top $$

    "Diagonal with up to 8 % error" may mean several things. `typical` and `mean` say how large one entry
    off the diagonal is beside one on it; they differ in how entries are averaged (by a factor of 1.25 for
    entries of a Gaussian spread). `largest` looks at the worst entry. `share` counts all entries together:
    for K independent nodes on n samples it is about K/(K + n), however small each entry is. In the paper's
    network (M = 71, K = 2048, n = 2016, $x^2$) at the start `typical` is 3 % for both matrices, `mean` 2 to
    3 %, `largest` 20 and 25 %, `share` 68 %. So the paper's 8 % can only be of the first kind, and
    `typical` is what this library takes unless asked for entries.

    Both matrices have the same Frobenius norm, so `typical` and `share` of both need the smaller of them and
    the lengths of the rows and columns of $\tilde F$.

    Args:
        features: hidden activations F on the training samples, shape (..., samples, nodes), real or complex;
            leading axes are runs or times.
        entries: also `mean` and `largest`, which need every entry of both matrices.

    Returns:
        The measures of both matrices. A Gram matrix of zeros gives NaN.

    Cost:
        $n K \min(n, K)$ multiplications, with `entries` $nK(n + K)$. At M = 71, K = 2048, n = 2016 that is 9
        or 19 times a training step's $3nKM$, and 3 or 7 times its processor time, both in NumPy: take it on a
        logarithmic grid of epochs.

    Source:
        li2, Fig. 3; Lemma 1 for random features.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import gram_diagonality
        >>> features = np.random.default_rng(0).standard_normal((400, 100))
        >>> found = gram_diagonality(features, entries=True)
        >>> round(float(found.nodes.typical), 3), round(float(found.nodes.mean), 3)
        (0.05, 0.04)
        >>> round(float(found.nodes.share), 2), round(float(found.samples.typical), 2)
        (0.2, 0.1)
    """
    F = hidden_features(features, largest=np.inf)
    entries = flag("entries", entries)
    lead, each_features = each(F)
    rows = [_both(centred(one), entries) for (one,) in each_features]
    values = gathered(rows, lead)
    if not entries:
        values = (*values[:2], None, None, *values[2:], None, None)
    return GramDiagonality(OffDiagonal(*values[:4]), OffDiagonal(*values[4:]))


def _both(F: np.ndarray, entries: bool) -> tuple[float, ...]:
    n, K = F.shape
    size = np.abs(F).max()
    F = F / size if size > 0 else F  # fourth powers of the features must not overflow
    small = F.conj().T @ F if n >= K else F @ F.conj().T
    whole = float(np.sum(np.abs(small) ** 2))
    found: list[float] = []
    for axis in (0, 1):
        diagonal = np.sum(np.abs(F) ** 2, axis=axis)
        found += _from_norms(whole, diagonal)
        if entries:
            is_small = (n >= K) == (axis == 0)
            gram = small if is_small else (F.conj().T @ F if axis == 0 else F @ F.conj().T)
            found += _from_entries(gram, diagonal)
    return tuple(found)


def _from_norms(whole: float, diagonal: np.ndarray) -> list[float]:
    on = float(np.sum(diagonal**2))
    if on == 0:
        return [np.nan, np.nan]
    off = max(whole - on, 0.0)
    return [np.sqrt(off / on / max(diagonal.size - 1, 1)), off / whole]


def _from_entries(gram: np.ndarray, diagonal: np.ndarray) -> list[float]:
    m, on = diagonal.size, float(np.mean(diagonal))
    if on == 0:
        return [np.nan, np.nan]
    sizes = np.abs(gram)
    np.fill_diagonal(sizes, 0.0)
    return [float(sizes.sum()) / max(m * (m - 1), 1) / on, float(sizes.max()) / on]
