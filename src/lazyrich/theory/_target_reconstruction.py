"""How many single-irrep features write the targets of a group task exactly."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, flag, moderate
from lazyrich.groups import Group, irreps
from lazyrich.groups._irreps import invariant_form
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._group_features import FeatureFamily, GroupFeatures

FORMS = ("printed", "conjugate", "economical")


class TargetReconstruction(Frozen):
    r"""Nodes with $\sigma(x) = x^2$, each in one irrep, whose features reproduce the centred targets.

    A pair of nodes $[u; \pm Pv]$ has the feature $f_{+} - f_{-} = 4\, u_{hg} v_g$ on the pair
    $(hg, g^{-1})$ with product h: the diagonal of $4 R_h^\top u v^\top$. The targets are diagonals of
    $R_h^\top\Pi_kR_{h'}$, so

    $$ \hat Y = \tilde Y \Leftrightarrow \Pi_k R_{h} \in \operatorname{span}\{u v^\top\}
       \quad \text{for all } h, k \ne 0 $$

    With $v = u$, as printed, the span holds symmetric matrices only and the targets are out of reach, for
    real and for complex nodes alike, since the square of a complex number is not that of its modulus. With
    $v = \bar u$ it is the span of $uu^*$ that the paper's proof uses, and its $\sum_k d_k^4$ pairs do. With
    maxima of the energy chosen well $\sum_k d_k^3$ pairs do (complex nodes); for real nodes $d_k^3$,
    $3d_k^3$ and $2d_k^3$ pairs for irreps of the real type, conjugate pairs and the quaternionic type.

    Symbols:
        $d_k$ the dimensions of the irreps, $\tilde Y$ → `targets`, $\hat Y$ → `outputs`,
        $\tilde F^*\tilde F$ → `gram`, $\kappa$ → `num_nontrivial`.

    Source:
        li2, Theorem 3, Sec. 4.4, App. F.2.

    Holds when:
        the data are all $M^2$ products, the top layer is the least-squares solution (η = 0).

    Computed as:
        it is written; outputs by least squares.

    Checked by:
        checks `li2/thm3`, `li2/sec4-4`; `tests/theory/test_target_reconstruction.py`.

    Args:
        group: the group.
        complex_weights: complex nodes, as the theorem assumes, or real ones.

    Example:
        >>> import numpy as np
        >>> from lazyrich.groups import cyclic
        >>> from lazyrich.theory import TargetReconstruction
        >>> target = TargetReconstruction(cyclic(5))
        >>> errors = [target.error(target.nodes(form)) for form in ("printed", "conjugate")]
        >>> target.num_nodes, np.round(errors, 6)
        (8, array([1., 0.]))
        >>> real = TargetReconstruction(cyclic(5), complex_weights=False)
        >>> nodes = real.nodes("economical")
        >>> nodes.shape, round(real.error(nodes), 6), round(real.error(real.nodes("printed")), 6)
        ((10, 12), 0.0, 0.5)
    """

    def __init__(self, group: Group, *, complex_weights: bool = True):
        self.features = GroupFeatures(group, complex_weights=complex_weights)
        self.group, self.complex_weights = group, flag("complex_weights", complex_weights)
        self._dimensions = np.array([r.dimension for r in irreps(group)[1:]])

    @property
    def num_nontrivial(self) -> int:
        """κ, the number of irreps but for the trivial one."""
        return self._dimensions.size

    @property
    def num_nodes(self) -> int:
        r"""The paper's $K = 2\sum_{k \ne 0} d_k^4$."""
        return int(2 * np.sum(self._dimensions**4))

    @property
    def bound(self) -> int:
        r"""$2[(M - \kappa)^2 + \kappa - 1]$, which K does not exceed."""
        M, kappa = self.group.order, self.num_nontrivial
        return 2 * ((M - kappa) ** 2 + kappa - 1)

    @property
    def num_economical(self) -> int:
        """How many nodes `nodes("economical")` has."""
        pairs = {"real": 1, "quaternionic": 2, "complex": 1 if self.complex_weights else 3}
        return 2 * sum(pairs[f.kind] * f.dimension**3 for f in self.features.families)

    @property
    def targets(self) -> np.ndarray:
        """Centred one-hot targets of all pairs (a, b), b running fastest, shape (M², M)."""
        return np.eye(self.group.order)[self.group.table.ravel()] - 1 / self.group.order

    def nodes(self, form: str, seed: int = 0) -> np.ndarray:
        """First-layer weights, shape (2M, K), each pair with both signs.

        Args:
            form: "printed" [u; ±Pu] and "conjugate" [u; ±Pū] with random u of rank one, as many as the paper
                says (for real nodes: the square of the family's real dimension, all one can use);
                "economical" are few maxima of the energy that suffice: without one pair they do not, but
                some single nodes of a pair may be left out.
            seed: of the random u.
        """
        if form not in FORMS:
            raise argument_error("form", f"be one of {', '.join(FORMS)}", form)
        rng, halves = np.random.default_rng(count("seed", seed, at_least=0)), []
        for family in self.features.families:
            if form == "economical":
                w = self.features.maximum(
                    family.index, *_vectors(self.group, family, self.complex_weights)
                )
            else:
                w = self._repeated(family, form, rng)
            halves.append(w)
        nodes = np.concatenate(halves)
        M = self.group.order
        flipped = np.concatenate([nodes[:, :M], -nodes[:, M:]], axis=1)
        return np.concatenate([nodes, flipped]).T

    def _repeated(self, family: FeatureFamily, form: str, rng: Any) -> np.ndarray:
        """[u; Pu] or [u; Pū] for random u, whose number is that of all products of two basis functions."""
        d, M = family.dimension, self.group.order
        size = d * d * (2 if family.kind == "complex" and not self.complex_weights else 1)
        w = self.features.sample(family.index, size * size, int(rng.integers(2**31)))
        u = w[:, :M]
        v = u.conj() if form == "conjugate" else u
        return np.concatenate([u, v[:, self.group.inverses]], axis=1)

    def node_features(self, first: Any) -> np.ndarray:
        """Centred features of first-layer weights (2M, K) on all pairs, shape (M², K)."""
        W = np.asarray(first)
        M = self.group.order
        for part in (np.real(W), np.imag(W)) if np.iscomplexobj(W) else (W,):
            moderate("first", part, advice="Pass first-layer weights, shape (2M, K).")
        if W.ndim != 2 or W.shape[0] != 2 * M or W.shape[1] < 1:
            raise argument_error("first", f"have the shape ({2 * M}, K)", W.shape)
        F = ((W[:M, None] + W[None, M:]) ** 2).reshape(M * M, -1)
        return F - F.mean(0)

    def gram(self, first: Any) -> np.ndarray:
        """The Gram matrix of centred features, shape (K, K); pairs of different irreps are orthogonal."""
        F = self.node_features(first)
        return F.conj().T @ F

    def outputs(self, first: Any) -> np.ndarray:
        """What the best top layer makes of the features, shape (M², M)."""
        F, Y = self.node_features(first), self.targets
        V = np.linalg.lstsq(F, Y.astype(F.dtype), rcond=1e-10)[0]
        return F @ V

    def error(self, first: Any) -> float:
        """Share of the targets' squared norm that the best top layer misses, between 0 and 1."""
        Y = self.targets
        return float(np.sum(np.abs(Y - self.outputs(first)) ** 2) / np.sum(Y**2))


def _vectors(group: Group, family: FeatureFamily, complex_weights: bool) -> tuple[Any, Any, Any]:
    """x, y and z of few maxima whose products span what the targets need; see the class."""
    d, e = family.dimension, np.eye(family.dimension) + 0j
    if family.kind == "quaternionic":
        x, y = np.concatenate([e, 1j * e]), _quaternionic_lines(group, family)
    else:
        x = y = e
    i, j, m = (index.ravel() for index in np.indices((len(x), len(y), len(x))))
    if family.kind == "complex" and not complex_weights:
        # three products of real numbers make one of complex numbers: phases whose doubles add up to zero
        turns = np.exp(1j * np.pi * np.arange(3) / 3)
        every = [(x[i] * t, y[j], x[m] * np.conj(t)) for t in turns]
        return tuple(np.concatenate(part) for part in zip(*every, strict=True))  # pyright: ignore[reportReturnType]
    return x[i], y[j], x[m].reshape(-1, d)


def _quaternionic_lines(group: Group, family: FeatureFamily) -> np.ndarray:
    """Orthonormal vectors that, with their mirror images U conj(y), span everything; shape (d/2, d)."""
    d = family.dimension
    U = invariant_form(irreps(group)[family.members[0]].matrices)
    lines, used = [], np.zeros((0, d), complex)
    for candidate in np.eye(d) + 0j:
        y = candidate - (used.conj() @ candidate) @ used
        if np.linalg.norm(y) > 1e-6 and len(lines) < d // 2:
            y = y / np.linalg.norm(y)
            lines.append(y)
            used = np.concatenate([used, [y, U @ y.conj()]])
    return np.array(lines)
