"""What every hidden node has learned, named by the group's irreps."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, choice, number, untraced
from lazyrich.groups import Group, real_irreps
from lazyrich.groups import power as irrep_power
from lazyrich.measures._hidden_arrays import matrices
from lazyrich.measures._irrep_chance import purity_chance
from lazyrich.measures._irrep_energy import energy_ratio
from lazyrich.measures._node_kinds import DEAD, LabelEvidence, kinds, label_evidence

KINDS = ("generalising", "memorising", "undecided", "random")
"""What a live node may be."""


class CyclicNodes(NamedTuple):
    r"""What only nodes of a cyclic group have.

    Attributes:
        frequency: of the dominant irrep, between 1 and M/2, shape (..., nodes).
        phases: φ of both halves at that frequency k, each $\propto \cos(2\pi k g/M + \varphi)$, between −π
            and π, shape (..., nodes, 2).
    """

    frequency: np.ndarray
    phases: np.ndarray


@dataclasses.dataclass(frozen=True)
class NodeFeatures:
    r"""What the nodes of a first layer have learned. Arrays have the shape (..., nodes) where nothing is
    said.

    Attributes:
        group: the group.
        power: of both halves together in each real irrep, of complex weights in each irrep, the trivial one
            first, shape (..., nodes, irreps).
        irrep: number of the dominant one in `groups.real_irreps(group)`, of complex weights in
            `groups.irreps(group)`; never the trivial one, 0. The `irrep` of `theory.FeatureFamily`.
        purity: its share of the power outside the trivial irrep; NaN for a node that has none. The `share` of
            `theory.GroupFeatures.classify` is times 1 − `trivial`.
        chance: probability that a node of random weights is as pure.
        inverse_participation: $\sum_k p_k^2$ of these shares: 1 for one irrep, 1/m for m equal ones.
        trivial: share of the trivial irrep, a constant in each half, in the whole power.
        norm: length of the node's weights.
        agree: whether the dominant irrep has more than half of the power of either half of the weights.
        energy_ratio: energy for $x^2$ and all products, over that of halves with the same power in each
            irrep, of equal length and random directions: about 1 for these, $d_k$ at the maxima of irrep k,
            0 if the halves do not fit; NaN for a node without power outside the trivial irrep.
        energy: $\mathcal E(w/\lVert w\rVert)$ on the pairs; None without pairs.
        labels: what the labels explain of the activations, on the pairs and on those left out; None without
            pairs.
        kind: words, see `node_features`.
        cyclic: frequencies and phases, if element g of the group is the residue g.
    """

    group: Group
    power: np.ndarray
    irrep: np.ndarray
    purity: np.ndarray
    chance: np.ndarray
    inverse_participation: np.ndarray
    trivial: np.ndarray
    norm: np.ndarray
    agree: np.ndarray
    energy_ratio: np.ndarray
    energy: np.ndarray | None
    labels: LabelEvidence | None
    kind: np.ndarray
    cyclic: CyclicNodes | None

    @property
    def live(self) -> np.ndarray:
        """Whether a node is not dead."""
        return self.kind != DEAD

    @property
    def nodes_per_irrep(self) -> np.ndarray:
        """Generalising nodes in each irrep of `power`, shape (..., irreps); none in the trivial one."""
        numbers = np.arange(self.power.shape[-1])
        found = (self.kind == "generalising")[..., None] & (self.irrep[..., None] == numbers)
        return found.sum(axis=-2)

    @property
    def num_features(self) -> Any:
        """Distinct features found: irreps with at least one generalising node."""
        return (self.nodes_per_irrep > 0).sum(axis=-1)

    def share(self, kind: str) -> Any:
        """Share of the live nodes that are of a kind; NaN if all are dead."""
        kind = choice("kind", kind, KINDS)
        live = self.live.sum(axis=-1)
        found = (self.kind == kind).sum(axis=-1) / np.maximum(live, 1)
        return np.where(live > 0, found, np.nan)[()]

    def phase_gaps(self) -> np.ndarray:
        r"""Largest arc without a node, in radians, for each irrep of a cyclic group: (..., irreps).

        Of the phases of $\cos(2\pi k(g + h)/M + \varphi + \varphi')$, which is what a node of frequency k
        says about
        the sum: 2π for no node or one, small if nodes cover all phases.
        """
        if self.cyclic is None:
            raise argument_error(
                "group", "be cyclic, element g the residue g", self.group, "Phases need it."
            )
        lead, K = self.irrep.shape[:-1], self.irrep.shape[-1]
        angle = np.mod(self.cyclic.phases.sum(axis=-1), 2 * np.pi).reshape(-1, K)
        found = np.where(self.kind == "generalising", self.irrep, 0).reshape(-1, K)
        gaps = np.full((len(angle), self.power.shape[-1]), 2 * np.pi)
        for row, k in np.argwhere(np.ones_like(gaps, bool)):
            chosen = np.sort(angle[row][found[row] == k]) if k else np.zeros(0)
            if chosen.size > 1:
                gaps[row, k] = np.max(np.diff(chosen, append=chosen[0] + 2 * np.pi))
        return gaps.reshape(*lead, -1)


@untraced
def node_features(
    first: Any,
    group: Group,
    *,
    pairs: Any = None,
    activation: Any = "quadratic",
    smallest: Any = 0.1,
) -> NodeFeatures:
    r"""Names what every hidden node has learned: its irrep, how pure, and whether it generalises.

    $$ p_k = \frac{\lVert\Pi_k u\rVert^2 + \lVert\Pi_k v\rVert^2}
                  {\sum_{l \ne 0} (\lVert\Pi_l u\rVert^2 + \lVert\Pi_l v\rVert^2)}, \qquad w = [u; Pv] $$

    A conjugate pair of irreps counts as one for real weights, which cannot tell them apart, and as two for
    complex ones. The trivial irrep does not count: constants in u and v change nothing that sums over all
    pairs see.

    Kinds of nodes, of which the first that holds counts:

    - `dead`: shorter than `smallest` times the longest node.
    - `generalising`: more than half of its power, and of either half's, is in one irrep, and random weights
      are not as pure by chance; or its labels' share on the pairs left out is at least ¼, and not by
      chance. In either case its energy ratio is at least ¼: a node with one half far shorter than the
      other, or with halves whose product vanishes, has an irrep but says nothing about products.
    - `memorising`: its labels' share on the pairs is at least ¼; or its weights are peaked at a few
      elements, more than random ones are by chance.
    - `undecided`: no pairs are given, or too few.
    - `random`: its labels' share on the pairs is below ¼.

    "By chance" is set so that each of the three tests (pure, labels on the pairs left out, peaked) lets a
    node of a layer of random weights pass with a probability of at most 1 %; the second takes activations
    as Gaussian, the third extends a tail of drawn weights. The level of ¼ has no such rate: of random nodes
    on few pairs some pass (1 % at n = 132, M = 23).

    The labels' share is `class_share`: 0 for random nodes, close to ½ for those of a single irrep. In runs at
    M = 23 and 41 the median node of networks stuck at random features had 0.1 to 0.2, as these turn a
    little, too; at the end of runs with learned features, generalising or memorising, 0.27 to 0.5. On the
    way there networks can generalise with 0.16: then purity tells, and the share does not.

    Args:
        first: W, shape (..., 2M, nodes), real or complex: the rows of the first factor's elements, then
            those of the second's. Torch's `Linear.weight` is its transpose. Leading axes are runs or times.
        group: of order M; its products are the labels.
        pairs: (h₁, h₂) that the network was trained on, shape (samples, 2). With them the energies, and what
            labels explain of the activations on these pairs and on all others.
        activation: σ, a name of `models.activation` or a function of arrays. Only used with pairs.
        smallest: length, as a share of the longest node's, below which a node is dead.

    Returns:
        The record. Labels' shares need real weights, and more pairs than about 3M.

    Cost:
        at M = 71, K = 2048, n = 2016 half the processor time of a training step; with pairs that of seven,
        as activations are needed on all $M^2$ pairs.

    Source:
        li2, Sec. 4.2, 4.3, Theorems 2, 5, Corollary 2. The kinds are this library's.

    Example:
        >>> import numpy as np
        >>> from lazyrich import groups
        >>> from lazyrich.measures import node_features
        >>> g = np.arange(23)
        >>> wave = np.cos(2 * np.pi * 3 * g / 23 + 1)
        >>> noise = np.random.default_rng(0).standard_normal(46)
        >>> first = np.stack([[*wave, *wave], noise, np.eye(46)[4] + np.eye(46)[30]], axis=1)
        >>> found = node_features(first, groups.cyclic(23))
        >>> found.kind.tolist(), int(found.cyclic.frequency[0]), round(float(found.purity[0]), 6)
        (['generalising', 'undecided', 'memorising'], 3, 1.0)
    """
    M = _order(group)
    W = _first_layer(first, M)
    least = number("smallest", smallest, at_least=0, at_most=1, advice="Use e.g. 0.1.")
    nodes = np.swapaxes(W, -1, -2)
    halves = _half_power(group, nodes)  # (..., K, 2, irreps)
    power = halves.sum(axis=-2)
    irrep = 1 + np.argmax(power[..., 1:], axis=-1)
    shares = _shares(power)
    agree = np.all(_chosen(halves, irrep) > 0.5 * halves[..., 1:].sum(axis=-1), axis=-1)
    norm = np.linalg.norm(nodes, axis=-1)
    purity = np.max(shares, axis=-1)
    chance = purity_chance(group, purity, is_complex=np.iscomplexobj(W))
    evidence = None if pairs is None else label_evidence(W, group, pairs, activation)
    live = (norm > 0) & (norm >= least * norm.max(axis=-1, keepdims=True))
    ratio = energy_ratio(group, nodes, power)
    return NodeFeatures(
        group=group, power=power, irrep=irrep, purity=purity, chance=chance,
        inverse_participation=np.sum(shares**2, axis=-1),
        trivial=power[..., 0] / np.where(norm > 0, norm**2, 1.0),
        norm=norm, agree=agree, energy_ratio=ratio,
        energy=None if evidence is None else evidence.energy,
        labels=evidence,
        kind=kinds(nodes, live, (purity > 0.5) & agree, chance, ratio, evidence),
        cyclic=_cyclic(group, W, irrep),
    )  # fmt: skip


def _order(group: Any) -> int:
    if not isinstance(group, Group):
        raise argument_error(
            "group", "be a Group", group, "Pass groups.cyclic(7), or groups.Group(table)."
        )
    if group.order < 2:
        raise argument_error("group", "have at least two elements", group.order)
    return group.order


def _first_layer(first: Any, M: int) -> np.ndarray:
    advice = "Transpose torch's `Linear.weight`."
    W = matrices("first", first, f"(..., {2 * M}, nodes)", advice=advice)
    if W.shape[-2] != 2 * M:
        raise argument_error("first", f"have the shape (..., {2 * M}, nodes)", W.shape, advice)
    return W


def _half_power(group: Group, nodes: np.ndarray) -> np.ndarray:
    """Of both halves in each irrep, shape (..., 2, irreps); conjugates together for real weights.

    The second half is not read backwards: that changes nothing for real weights, and in complex ones it would
    swap conjugates, where both halves of a maximum are in the same irrep.
    """
    powers = irrep_power(group, nodes.reshape(*nodes.shape[:-1], 2, group.order))
    if np.iscomplexobj(nodes):
        return powers
    columns = [powers[..., list(real.members)].sum(axis=-1) for real in real_irreps(group)]
    return np.stack(columns, axis=-1)


def _shares(power: np.ndarray) -> np.ndarray:
    """Of the power outside the trivial irrep; NaN where what is there is rounding."""
    rest = power[..., 1:].sum(axis=-1, keepdims=True)
    valid = rest > 1e-24 * power.sum(axis=-1, keepdims=True)
    return np.where(valid, power[..., 1:] / np.where(valid, rest, 1.0), np.nan)


def _chosen(halves: np.ndarray, irrep: np.ndarray) -> np.ndarray:
    """Power of each half in the node's irrep, shape (..., K, 2)."""
    return np.take_along_axis(halves, irrep[..., None, None], axis=-1)[..., 0]


def _cyclic(group: Group, W: np.ndarray, irrep: np.ndarray) -> CyclicNodes | None:
    M = group.order
    if not np.array_equal(group.table, np.add.outer(np.arange(M), np.arange(M)) % M):
        return None
    is_complex = np.iscomplexobj(W)
    numbers = range(M) if is_complex else [real.members[0] for real in real_irreps(group)]
    k = np.array([min(number, M - number) for number in numbers])[irrep]
    halves = np.stack([W[..., :M, :], W[..., M:, :]], axis=-1)  # (..., M, K, 2)
    waves = np.fft.fft(halves, axis=-3)
    at = np.take_along_axis(waves, k[..., None, :, None], axis=-3)[..., 0, :, :]
    if is_complex:  # one rotation each way; the stronger has the phase
        back = np.take_along_axis(waves, (M - k)[..., None, :, None], axis=-3)[..., 0, :, :]
        weaker = np.sum(np.abs(at) ** 2, axis=-1) < np.sum(np.abs(back) ** 2, axis=-1)
        at = np.where(weaker[..., None], back, at)
    return CyclicNodes(k, np.angle(at))
