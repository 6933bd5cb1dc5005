"""What a hidden node learns when it multiplies in a group: the maxima of its energy."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import ArgumentError, argument_error, count, flag, moderate, number, untraced
from lazyrich.groups import Group, Irrep, irreps, power
from lazyrich.quantities import FeatureEnergy, GroupEnergy
from lazyrich.theory._frozen import Frozen

CRITICAL = 1e-6
"""A point is a maximum when its gradient along the sphere, over the whole, and the relative gap to the energy
predicted are below this. Ascents that stop at their default tolerance are far below."""


@dataclasses.dataclass(frozen=True)
class FeatureFamily:
    r"""The maxima that belong to one irrep, or to one pair of conjugate irreps.

    $$ \mathcal{E}^* = \frac{b^2 M}{2 d_k} \;\text{(real type)}, \quad
       \frac{b^2 M}{4 d_k} \;\text{(complex pair or quaternionic type)} $$

    Symbols:
        $\mathcal{E}^*$ → `energy`, $d_k$ → `dimension`.

    Source:
        li2, Theorem 2, corrected.

    Holds when:
        as `GroupFeatures`.

    Checked by:
        checks `li2/thm2`, `li2/cor2`; `tests/theory/test_group_features.py`.

    Attributes:
        index: the place in `GroupFeatures.families`, from 0: what `sample` and `maximum` take.
        irrep: the number that `measures.node_features` reports: in `groups.real_irreps(group)`, with complex
            weights in `groups.irreps(group)`. The trivial one, 0, has no maxima, so it is `index` + 1.
        members: numbers in `groups.irreps(group)`: one, or a conjugate pair.
        kind: "real", "complex" or "quaternionic"; with complex weights always "complex".
        dimension: $d_k$ of the irreps.
        energy: the energy of each maximum.
        flat_directions: the dimension of the manifold they form, and of the Hessian's kernel on the sphere.
        num_components: how many connected pieces the manifold has: 4 (isolated points), or 1.
        kernel: elements at which the irrep is the identity. The features are those of the quotient by it.
        quotient_order: the number of cosets of the kernel.

    Example:
        >>> from lazyrich.groups import cyclic
        >>> from lazyrich.theory import GroupFeatures
        >>> family = GroupFeatures(cyclic(5)).families[0]
        >>> family.members, family.kind, family.energy
        ((1, 4), 'complex', 1.25)
    """

    index: int
    irrep: int
    members: tuple[int, ...]
    kind: str
    dimension: int
    energy: float
    flat_directions: int
    num_components: int
    kernel: tuple[int, ...]
    quotient_order: int


class NodeClasses(NamedTuple):
    r"""What nodes have learned, returned by `GroupFeatures.classify`; one entry for each node.

    $$ k = \operatorname{arg\,max}_k \frac{\lVert\hat w_k\rVert^2}{\lVert w\rVert^2}, \qquad
       \frac{\mathcal{E}(w/\lVert w\rVert)}{\mathcal{E}_k^*}, \qquad
       \frac{\lVert(1 - ww^\top)\nabla\mathcal{E}\rVert}{\lVert\nabla\mathcal{E}\rVert} $$

    Symbols:
        $k$ → `family`, its share → `share`, the two ratios → `relative_energy` and `slope`.

    Source:
        li2, Theorem 2, which says what the maxima are.

    Holds when:
        as `GroupFeatures`; any nodes.

    Checked by:
        `tests/theory/test_group_features.py`.

    Attributes:
        family: index of the family with the largest share of the squared norm, −1 for a node of zeros.
        irrep: its `FeatureFamily.irrep`, likewise.
        share: that share. Constants in the halves lower it, as they lower the energy; `NodeFeatures.purity`
            leaves them out.
        energy: the energy of the normalised node.
        relative_energy: that over the family's.
        slope: length of the gradient along the sphere over that of the whole, 1 where there is none.
        is_maximum: whether the node is at a maximum.

    Example:
        >>> from lazyrich.groups import cyclic
        >>> from lazyrich.theory import GroupFeatures
        >>> features = GroupFeatures(cyclic(5))
        >>> features.classify(features.sample(1)).family
        array([1])
    """

    family: np.ndarray
    irrep: np.ndarray
    share: np.ndarray
    energy: np.ndarray
    relative_energy: np.ndarray
    slope: np.ndarray
    is_maximum: np.ndarray


class EnergyCurvature(NamedTuple):
    r"""The Hessian of the energy on the sphere, returned by `GroupFeatures.curvature`.

    $$ P\left(\nabla^2\mathcal{E} - \langle w, \nabla\mathcal{E}\rangle\right)P, \qquad P = 1 - ww^\top $$

    Symbols:
        its eigenvalues → `eigenvalues`, how many there are of each sign → `num_negative`, `num_flat`,
        `num_positive`.

    Source:
        li2, Corollaries 1 and 2, which say how flat maxima are.

    Holds when:
        as `GroupFeatures`; at any nodes but zero.

    Checked by:
        checks `li2/cor1`, `li2/cor2`; `tests/theory/test_group_features.py`.

    Attributes:
        num_negative: how many eigenvalues are negative, for each node.
        num_flat: how many are zero.
        num_positive: how many are positive; none at a maximum.
        eigenvalues: all of them, ascending, on the last axis.

    Example:
        >>> from lazyrich.groups import cyclic
        >>> from lazyrich.theory import GroupFeatures
        >>> features = GroupFeatures(cyclic(5))
        >>> found = features.curvature(features.sample(1))
        >>> found.num_negative, found.num_flat, found.num_positive
        (array([7]), array([2]), array([0]))
    """

    num_negative: np.ndarray
    num_flat: np.ndarray
    num_positive: np.ndarray
    eigenvalues: np.ndarray


class GroupFeatures(Frozen):
    r"""All local maxima of the energy of a node, for all products in a group and $\sigma(x) = ax + bx^2$.

    On the sphere $\lVert w\rVert = 1$ they are the nodes $w = [w_1; w_2]$ whose unitary Fourier coefficients
    live in one irrep (or one conjugate pair), have rank one there and share the inner vector,

    $$ \hat w_{1,k} = c\, x y^*, \qquad \hat w_{2,k} = c\, y z^*, \qquad
       \mathcal{E}^* = \frac{b^2 M}{2 d_k} \;\text{(real type)}, \quad
       \frac{b^2 M}{4 d_k} \;\text{(complex pair or quaternionic type)} $$

    with any unit vectors x, y, z (for the quaternionic type: and its mirror image). There is no other local
    maximum. With $w_2 = Pv$ they contain the printed $v = \pm u$ as the part with $z = \pm x$ and u of rank
    one. The families form manifolds of dimension $3(d_k - 1)$, $6d_k - 4$ and $6d_k - 6$ for the real,
    complex and quaternionic type. So maxima in real irreps of dimension one are isolated points, four for
    each; all others are flat, and each family is connected.

    On the sphere the Hessian at a maximum has the eigenvalues 0, $-4\mathcal{E}^*$ and $-8\mathcal{E}^*$.
    Constants added to a half, the trivial irrep, have no energy: they only take norm away, as all other
    irreps do.

    Symbols:
        $a$ → `linear`, $b$ → `quadratic`, $d_k$ → `FeatureFamily.dimension`, $M$ → `group.order`,
        $\mathcal{E}^*$ → `FeatureFamily.energy`.

    Source:
        li2, Theorem 2, Corollaries 1 and 2, Sec. 4.3, App. F.1. Printed energies lack a factor 4, and
        the printed maxima are only a part.

    Holds when:
        the data are all $M^2$ products, once each; b is not 0. The linear part does not matter.

    Computed as:
        it is written, from the group's irreps.

    Checked by:
        checks `li2/thm2`, `li2/cor1`, `li2/cor2`, `li2/eq19`, `li2/eq20`, `li2/eq21`;
        `tests/theory/test_group_features.py`.

    Args:
        group: the group.
        linear: a.
        quadratic: b, not 0.
        complex_weights: maxima over complex nodes: one family for each complex irrep, of energy
            $b^2M/2d_k$, with $6d_k - 4$ flat directions. The activation is $ax + bx^2$, not its modulus.

    Example:
        >>> from lazyrich.groups import dihedral
        >>> from lazyrich.theory import GroupFeatures
        >>> features = GroupFeatures(dihedral(5))
        >>> for family in features.families:
        ...     print(family.members, family.dimension, family.energy, family.flat_directions)
        (1,) 1 5.0 0
        (2,) 2 2.5 3
        (3,) 2 2.5 3
        >>> nodes = features.sample(2, num=4, seed=0)
        >>> found = features.classify(nodes)
        >>> found.family, found.is_maximum.all()
        (array([2, 2, 2, 2]), np.True_)
    """

    def __init__(
        self, group: Group, linear: Any = 0.0, quadratic: Any = 1.0, *, complex_weights: bool = False
    ):  # fmt: skip
        self.linear = number("linear", linear, advice="Pass a of ax + bx².")
        self.group_energy = GroupEnergy(group, quadratic)
        self.group, self.quadratic = group, self.group_energy.quadratic
        self.complex_weights = flag("complex_weights", complex_weights)
        if group.order < 2:
            raise argument_error("group", "have at least two elements", group.order)

    @functools.cached_property
    def families(self) -> tuple[FeatureFamily, ...]:
        """One family for each nontrivial irrep or conjugate pair, in the order of the first member."""
        found = []
        for irrep in irreps(self.group)[1:]:
            if irrep.conjugate >= irrep.number or self.complex_weights:
                found.append(self._family(len(found), irrep))
        return tuple(found)

    def _family(self, index: int, irrep: Irrep) -> FeatureFamily:
        d, M, b2 = irrep.dimension, self.group.order, self.quadratic**2
        kind = "complex" if self.complex_weights else irrep.kind
        is_pair = kind == "complex" and not self.complex_weights
        halves = 4 if (is_pair or kind == "quaternionic") else 2
        flat = {"real": 3 * (d - 1), "complex": 6 * d - 4, "quaternionic": 6 * d - 6}[kind]
        return FeatureFamily(
            index, index + 1, (irrep.number, irrep.conjugate) if is_pair else (irrep.number,), kind, d,
            b2 * M / (halves * d), flat, 4 if flat == 0 else 1,
            tuple(int(g) for g in irrep.kernel), M // len(irrep.kernel),
        )  # fmt: skip

    def sample(self, family: int, num: int = 1, seed: int = 0) -> np.ndarray:
        """Random maxima of one family, uniform on its manifold, shape (num, 2M)."""
        member = self._chosen(family)
        n = count("num", num, at_most=10**6, advice="Pass how many nodes you want.")
        rng = np.random.default_rng(count("seed", seed, at_least=0, advice="Use e.g. 0."))
        d = member.dimension
        x, y, z = rng.standard_normal((3, n, d)) + 0j
        if member.kind != "real":
            x, y, z = (v + 1j * rng.standard_normal((n, d)) for v in (x, y, z))
        return self.maximum(family, x, y, z)

    @untraced
    def maximum(self, family: int, x: Any, y: Any, z: Any) -> np.ndarray:
        """The maximum (..., 2M) with vectors x, y, z of shape (..., d); their lengths do not matter."""
        member = self._chosen(family)
        vectors = [_complex(name, v) for name, v in zip("xyz", (x, y, z), strict=True)]
        for name, v in zip("xyz", vectors, strict=True):
            if v.ndim < 1 or v.shape[-1] != member.dimension:
                raise argument_error(name, f"have the shape (..., {member.dimension})", v.shape)
            if not np.all(np.isfinite(v)) or not np.all(np.any(v, axis=-1)):
                raise argument_error(name, "be finite and not zero", v)
            if member.kind == "real" and np.any(np.imag(v)):
                raise argument_error(name, "be real for an irrep of the real kind", v)
        p, q, r = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in vectors)
        pair = [p[..., :, None] * q[..., None, :].conj(), q[..., :, None] * r[..., None, :].conj()]
        flat = np.stack([m.reshape(*m.shape[:-2], -1) for m in np.broadcast_arrays(*pair)], -2)
        blocks = np.zeros((*flat.shape[:-1], self.group.order), complex)
        blocks[..., self._slice(member.members[0])] = flat
        w = self.group_energy.from_blocks(blocks)
        w = (
            w if self.complex_weights else np.real(w)
        )  # the real part adds the conjugate or mirror image
        return w / np.linalg.norm(w, axis=-1, keepdims=True)

    @untraced
    def power(self, weights: Any) -> np.ndarray:
        """Share of the squared norm in the trivial irrep, then in each family, shape (..., 1 + families)."""
        w = self._nodes(weights)
        # not `pair_power`: it reads the second half backwards, which swaps conjugates in complex nodes
        sums = power(self.group, w.reshape(*w.shape[:-1], 2, self.group.order)).sum(-2)
        parts = [sums[..., :1]] + [
            sums[..., list(f.members)].sum(-1, keepdims=True) for f in self.families
        ]
        total = sums.sum(-1, keepdims=True)
        return np.concatenate(parts, -1) / np.where(total > 0, total, 1.0)

    @untraced
    def classify(self, weights: Any) -> NodeClasses:
        """Which irrep nodes (..., 2M) have learned, how purely, and whether they are at a maximum."""
        w = self._nodes(weights)
        shares = self.power(w)[..., 1:]
        norm = np.linalg.norm(w, axis=-1, keepdims=True)
        is_zero = norm[..., 0] == 0
        family = np.where(is_zero, -1, np.argmax(shares, -1))
        unit = w / np.where(norm > 0, norm, 1.0)
        energy, slope = self.group_energy.value(unit), self._slope(unit)
        relative = energy / np.array([f.energy for f in self.families])[family]
        is_maximum = (slope < CRITICAL) & (np.abs(relative - 1) < CRITICAL) & ~is_zero
        irrep = np.where(is_zero, -1, np.array([f.irrep for f in self.families])[family])
        return NodeClasses(family, irrep, np.max(shares, -1), energy, relative, slope, is_maximum)

    @untraced
    def curvature(self, weights: Any, tolerance: float = 1e-8) -> EnergyCurvature:
        """Signs of the Hessian of the energy on the sphere at nodes of shape (..., 2M).

        An eigenvalue counts as zero below the tolerance times the largest. At a point that is not critical
        they are those of the Riemannian Hessian.
        """
        w = self._nodes(weights)
        tolerance = number("tolerance", tolerance, at_least=0, below=1, advice="Use 1e-8.")
        norm = np.linalg.norm(w, axis=-1, keepdims=True)
        if np.any(norm == 0):
            raise argument_error("weights", "not be zero", 0.0, "Leave such nodes out.")
        unit = w / norm
        H = self._hessian(unit)
        if np.iscomplexobj(unit):
            unit = np.concatenate([unit.real, unit.imag], -1)
        lam = np.einsum("...i,...ij,...j->...", unit, H, unit) / 3  # w·∇𝓔: 𝓔 is of degree four
        P = np.eye(unit.shape[-1]) - unit[..., :, None] * unit[..., None, :]
        on_sphere = P @ (H - lam[..., None, None] * np.eye(unit.shape[-1])) @ P
        # the radial direction gets an eigenvalue far below all others, which is then left out
        size = np.abs(on_sphere).sum(-1).max(-1)[..., None, None] + 1
        values = np.linalg.eigvalsh(on_sphere - 2 * size * (np.eye(unit.shape[-1]) - P))[..., 1:]
        zero = tolerance * np.maximum(np.abs(values).max(-1, keepdims=True), np.finfo(float).tiny)
        negative, positive = (values < -zero).sum(-1), (values > zero).sum(-1)
        return EnergyCurvature(negative, values.shape[-1] - negative - positive, positive, values)

    def _hessian(self, unit: np.ndarray) -> np.ndarray:
        if not np.iscomplexobj(unit):
            return self.group_energy.hessian(unit)
        pairs = np.stack(np.divmod(np.arange(self.group.order**2), self.group.order), 1)
        labels = self.group.table[pairs[:, 0], pairs[:, 1]]
        return self.quadratic**2 * FeatureEnergy(pairs, labels, "quadratic").hessian(unit)

    def _slope(self, unit: np.ndarray) -> np.ndarray:
        g = self.group_energy.gradient(unit)
        along = np.sum(unit.conj() * g, -1, keepdims=True).real * unit
        size = np.linalg.norm(g, axis=-1)
        return np.where(
            size > 0, np.linalg.norm(g - along, axis=-1) / np.where(size > 0, size, 1.0), 1.0
        )

    def _nodes(self, weights: Any) -> np.ndarray:
        if np.iscomplexobj(weights) and not self.complex_weights:
            raise argument_error(
                "weights", "be real", weights, "Use GroupFeatures(group, complex_weights=True)."
            )
        w = np.asarray(weights)
        for part in (np.real(w), np.imag(w)) if np.iscomplexobj(w) else (w,):
            moderate("weights", part, advice="Pass nodes of shape (..., 2M).")
        if w.ndim < 1 or w.shape[-1] != 2 * self.group.order:
            raise argument_error(
                "weights", f"have the shape (..., {2 * self.group.order})", w.shape
            )
        return w + 0j if self.complex_weights else w

    def _chosen(self, family: int) -> FeatureFamily:
        if (
            isinstance(family, bool)
            or not isinstance(family, int | np.integer)
            or not (0 <= family < len(self.families))
        ):
            raise ArgumentError(
                f"`family` must be a whole number from 0 to {len(self.families) - 1}, got {family!r}. "
                "Choose one of GroupFeatures.families."
            )
        return self.families[family]

    def _slice(self, irrep: int) -> slice:
        sizes = [r.dimension**2 for r in irreps(self.group)]
        start = sum(sizes[:irrep])
        return slice(start, start + sizes[irrep])


def _complex(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    for part in (np.real(array), np.imag(array)) if np.iscomplexobj(array) else (array,):
        moderate(name, part, advice="Pass a vector.")
    return array + 0j
