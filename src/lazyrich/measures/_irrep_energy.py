"""How much energy a node makes of the power that it has in each irrep."""

import numpy as np

from lazyrich.groups import Group, irreps, real_irreps
from lazyrich.quantities import GroupEnergy


def energy_ratio(group: Group, nodes: np.ndarray, power: np.ndarray) -> np.ndarray:
    r"""Energy of nodes over that of nodes with the same power in each irrep, but halves without relation.

    $$ r = \mathcal{E}(w) \Big/ \sum_{k \ne 0} \frac{\mathcal{E}^*_k}{d_k} p_k^2 $$

    for $\sigma(x) = x^2$ and all products, with $p_k$ the power of both halves in irrep k and
    $\mathcal E^*_k$ the energy of its maxima. Halves of equal length and random directions in an irrep have
    $1/d_k$ of that on average, as $E\|AB\|^2 = \|A\|^2 \|B\|^2/d$ for random matrices, and twice as much in
    one of quaternionic type. So r is about 1 for them, $d_k$ at a maximum, and 0 where the halves of a node
    make no energy together.

    Args:
        group: the group.
        nodes: weights, shape (..., 2M), real or complex.
        power: of the nodes in each real irrep, or of complex nodes in each irrep, shape (..., irreps).

    Returns:
        The ratios, shape (...); NaN for a node without power outside the trivial irrep.
    """
    every = irreps(group)
    if np.iscomplexobj(nodes):
        best = [group.order / (2 * k.dimension**2) for k in every]
    else:
        first = [every[real.members[0]] for real in real_irreps(group)]
        parts = [2 if k.kind == "real" else 4 for k in first]
        best = [group.order / (n * k.dimension**2) for n, k in zip(parts, first, strict=True)]
    length = np.sqrt(power[..., 1:].sum(axis=-1))  # constants have no energy
    safe = np.where(length > 0, length, 1.0)
    usual = (power[..., 1:] / safe[..., None] ** 2) ** 2 @ np.array(best[1:])
    energy = GroupEnergy(group).value(nodes / safe[..., None])
    return np.where(usual > 0, energy / np.where(usual > 0, usual, 1.0), np.nan)
