"""The energy that new nodes climb once some irreps of the group are learned."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, is_traced, moderate, number
from lazyrich.groups import Group, irreps
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._group_features import GroupFeatures


class ModulatedMaxima(NamedTuple):
    r"""The local maxima of a modulated energy on the unit sphere, returned by `ModulatedEnergy.maxima`.

    $$ \max_{\lVert w\rVert = 1} \mathcal{E}_S = \varrho_k^2\, \frac{M}{2 d_k} \; \text{(real type)}, \qquad
       \varrho_k^2\, \frac{M}{4 d_k} \; \text{(others)} $$

    Symbols:
        $k$ → `irreps`, the values → `energies`.

    Source:
        li2, Theorems 2 and 7, with corrected factors.

    Holds when:
        as `ModulatedEnergy`.

    Checked by:
        check `li2/thm7`.

    Attributes:
        irreps: for each family of maxima the numbers of its complex irreps: one, or a conjugate pair.
        energies: the energy of each family, shape (families,).

    Example:
        >>> from lazyrich.groups import quaternion
        >>> from lazyrich.theory import ModulatedEnergy
        >>> ModulatedEnergy(quaternion(), learned=(1, 2, 3)).maxima
        ModulatedMaxima(irreps=((4,),), energies=array([1.]))
    """

    irreps: tuple[tuple[int, ...], ...]
    energies: np.ndarray


class ModulatedEnergy(Frozen):
    r"""What is left of the energy for new nodes when the others have learned some of the irreps.

    $$ \mathcal{E}_S(w) = \tfrac12\bigl\lVert R^\top \sigma(Xw)\bigr\rVert^2
         = \tfrac12 \sum_{k \ne 0} \varrho_k^2\, \lVert\Pi_k z(w)\rVert^2, \qquad
       R = \tilde Y - \hat Y = \sum_{k \ne 0} \varrho_k\, \Pi_k \otimes \mathbf 1_M, \qquad
       z_h = 2\sum_{ab=h} u_a v_b $$

    with $\varrho_k = 0$ (or a rest) for the learned irreps $k \in S$ and 1 for the missing ones. A node
    that is added to a fitted network, with its own top weights by ridge regression, gets the gradient

    $$ G_F = \frac{1}{\eta + q}\Bigl(RR^\top f
       - \frac{\lVert R^\top f\rVert^2}{\eta + q} P_{\eta}\tilde f\Bigr),
       \qquad q = \tilde f^\top P_{\eta}\tilde f $$

    whose first part climbs $\mathcal{E}_S$; the second only keeps f from growing. So node and network
    together climb $\mathcal{E}_S/(\eta + q)$.

    Symbols:
        $S$ → `learned`, $\varrho_k$ → `remaining` for $k \in S$, $w = [u; v]$ → `weights`, $\Pi_k$ the
        projector on the functions of type k, $P_\eta$ as in `feature_repulsion`, of the nodes that were
        there before.

    Source:
        li2, Theorem 7, Eq. 34, App. G.2. In print the residual has the wrong sign, and is made of characters,
        $\Phi_S\Phi_S^*$ with κ − |S| − 1 columns. That holds for Abelian groups. In general it takes all
        $\sum_k d_k^2$ matrix coefficients of the missing irreps, that is $\Pi_k$.

    Holds when:
        σ(x) = x², all $M^2$ products are samples, and the nodes that have learned k fit all of
        $\Pi_k\tilde Y$ up to the share $\varrho_k$. Ridge regression on a set of features that the
        group maps to itself leaves $\varrho_k = \eta/(\eta + s_k)$, with $s_k$ the eigenvalue of
        $\tilde F\tilde F^\top$ there.

    Computed as:
        the class sums z, then the projection. Maxima as in Theorem 2, with factors corrected: $M/2d_k$ for
        irreps of real type, $M/4d_k$ for complex pairs and for quaternionic ones, times $\varrho_k^2$.

    Checked by:
        checks `li2/thm7`, `li2/eq34`; `tests/theory/test_top_down.py`.

    Args:
        group: the group.
        learned: numbers of the irreps that are learned, as in `groups.irreps`, with the conjugate of each.
        remaining: share of the learned irreps' targets that is still unexplained, in [0, 1].

    Example:
        >>> import numpy as np
        >>> from lazyrich.groups import cyclic
        >>> from lazyrich.theory import ModulatedEnergy
        >>> energy = ModulatedEnergy(cyclic(6), learned=(1, 5))
        >>> energy.maxima
        ModulatedMaxima(irreps=((2, 4), (3,)), energies=array([1.5, 3. ]))
        >>> wave = np.cos(2 * np.pi * np.outer([1, 2], np.arange(6)) / 6) / np.sqrt(6)
        >>> energy.value(np.concatenate([wave, wave], axis=1)).round(12)
        array([0. , 1.5])
    """

    def __init__(self, group: Group, learned: Any = (), remaining: float = 0.0):
        if not isinstance(group, Group):
            raise argument_error("group", "be a group", group, "Pass e.g. groups.cyclic(7).")
        self.group = group
        self.learned = _learned(group, learned)
        self.remaining = number("remaining", remaining, at_least=0, at_most=1, advice="Use 0.")
        quotient = group.table[:, group.inverses]  # [h, h'] = h h'⁻¹
        parts = (
            self._rest(irrep.number) * irrep.dimension / group.order * irrep.character.conj()
            for irrep in irreps(group)[1:]
        )
        self.residual = sum(parts, np.zeros(group.order)).real[
            quotient
        ]  # Eq. 34: Σ ϱ_k Π_k, each a function of the quotient alone
        self._divide = group.table[group.inverses]  # [a, h] = a⁻¹h

    def value(self, weights: Any) -> Any:
        """The energy of nodes of shape (..., 2M), of any length."""
        return self._evaluate(_energy, weights)

    def gradient(self, weights: Any) -> Any:
        """Its gradient, shape (..., 2M)."""
        return self._evaluate(_gradient, weights)

    @property
    def maxima(self) -> ModulatedMaxima:
        """All local maxima on the unit sphere, in the order of the irreps."""
        every = GroupFeatures(self.group).families if self.group.order > 1 else ()
        families = [f for f in every if self._rest(f.members[0]) > 0]
        return ModulatedMaxima(
            tuple(f.members for f in families),
            np.array([self._rest(f.members[0]) ** 2 * f.energy for f in families]),
        )

    def _rest(self, number: int) -> float:
        return self.remaining if number in self.learned else 1.0

    def _evaluate(self, function: Any, weights: Any) -> Any:
        w = moderate("weights", weights, advice="Pass nodes without NaN.")
        if np.ndim(w) < 1 or np.shape(w)[-1] != 2 * self.group.order:
            raise argument_error(
                "weights", f"have the shape (..., {2 * self.group.order})", np.shape(w),
                "Pass the weights of the first factor, then those of the second.",
            )  # fmt: skip
        if is_traced(w):
            return compute(function, w, self.residual, self._divide, self.group.table)
        return function(w, self.residual, self._divide, self.group.table, np)  # nothing to compile


def _learned(group: Group, learned: Any) -> tuple[int, ...]:
    every = irreps(group)
    try:
        numbers = sorted({int(k) for k in learned if int(k) == k and not isinstance(k, bool)})
        valid = len(numbers) == len(set(learned)) and all(0 < k < len(every) for k in numbers)
    except (TypeError, ValueError, OverflowError):
        numbers, valid = [], False
    if not valid:
        raise argument_error(
            "learned", f"hold numbers of irreps from 1 to {len(every) - 1}", learned,
            "Count as groups.irreps does; number 0 is the trivial one, which needs no learning.",
        )  # fmt: skip
    alone = [k for k in numbers if every[k].conjugate not in numbers]
    if alone:
        raise argument_error(
            "learned", "hold the conjugate of each irrep", tuple(numbers),
            f"Add {every[alone[0]].conjugate}: real weights learn both or none.",
        )  # fmt: skip
    return tuple(numbers)


def _class_sums(w: Any, divide: Any, xp: Any) -> Any:
    """Class sums up to a constant, and v(a⁻¹h)."""
    u, v = xp.split(w, 2, axis=-1)
    shifted = v[..., divide.astype(int)]
    return 2 * xp.sum(u[..., :, None] * shifted, axis=-2), shifted


def _energy(w: Any, residual: Any, divide: Any, table: Any, xp: Any = jnp) -> Any:
    return 0.5 * xp.sum((_class_sums(w, divide, xp)[0] @ residual.T) ** 2, axis=-1)


def _gradient(w: Any, residual: Any, divide: Any, table: Any, xp: Any = jnp) -> Any:
    z, shifted = _class_sums(w, divide, xp)
    y = z @ residual.T @ residual
    first = 2 * xp.sum(shifted * y[..., None, :], axis=-1)
    u = xp.split(w, 2, axis=-1)[0]
    second = 2 * xp.sum(u[..., :, None] * y[..., table.astype(int)], axis=-2)
    return xp.concatenate([first, second], axis=-1)
