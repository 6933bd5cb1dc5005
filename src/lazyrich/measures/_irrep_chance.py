"""How pure in one irrep random weights are."""

from typing import Any

import numpy as np

from lazyrich.groups import Group, irreps, real_irreps


def purity_chance(group: Group, purity: Any, *, is_complex: bool = False) -> np.ndarray:
    r"""Probability that a node of random weights is at least this pure.

    $$ P\Bigl(\max_k p_k \ge p\Bigr) \le \sum_{k \ne 0} P\bigl(B_k \ge p\bigr), \qquad
       B_k \sim \mathrm{Beta}\Bigl(\frac{a_k}2, \frac{\sum_{l \ne 0} a_l - a_k}2\Bigr) $$

    Shares of the power of Gaussian weights have a Dirichlet distribution, with $a_k$ the number of real
    weights that belong to the real irrep k: twice $d_k^2$, summed over its members, as there are two
    halves. Complex weights have irreps instead of real ones, and $4d_k^2$ real numbers in each. The sum is
    the probability itself for p ≥ ½, where at most one share can be so large, and a bound below.
    """
    from scipy.special import betaincc

    sizes = _sizes(group, is_complex)
    p, total = np.asarray(purity), sizes.sum()
    if sizes.size < 2:
        return np.ones_like(p)  # one irrep besides the trivial one: all weights are in it
    known, (a, counts) = np.isfinite(p), np.unique(sizes, return_counts=True)
    each = betaincc(a / 2, (total - a) / 2, np.clip(np.where(known, p, 0.0), 0, 1)[..., None])
    return np.where(known, np.minimum(each @ counts, 1.0), np.nan)


def _sizes(group: Group, is_complex: bool) -> np.ndarray:
    """Real weights of both halves in each irrep, or real irrep, but the trivial one."""
    every = irreps(group)
    if is_complex:
        return np.array([4.0 * irrep.dimension**2 for irrep in every[1:]])
    return np.array(
        [
            2.0 * sum(every[k].dimension ** 2 for k in real.members)
            for real in real_irreps(group)[1:]
        ]
    )
